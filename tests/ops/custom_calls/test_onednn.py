"""Calls of oneDNN."""

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy.special import erf

from hlotool.errors import UnsupportedError
from tests.evaluating import entry, evaluated

KINDS = {"float32": "f32", "bfloat16": "bf16"}


def call(target: str, result: str, arrays: list[Any], config: Any) -> Any:
    lines = [
        f"  p{n} = {KINDS[a.dtype.name]}[{','.join(map(str, a.shape))}] parameter({n})"
        for n, a in enumerate(arrays)
    ]
    names = ", ".join(f"p{n}" for n in range(len(arrays)))
    lines.append(
        f'  ROOT r = {result} custom-call({names}), custom_call_target="__onednn${target}",'
        f" backend_config={json.dumps(config)}"
    )
    return evaluated(entry("\n".join(lines)), *arrays)


def matmul(arrays: list[Any], shape: str = "f32[2,2]", **parameters: Any) -> Any:
    config = {"outer_dimension_partitions": [], "onednn_matmul_config": parameters}
    return call("matmul", shape, arrays, config)


A = np.array([[1, -2, 3], [0, 1, -1]], np.float32)
B = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
PRODUCT = A @ B  # [[10, 12], [-2, -2]]
BIAS = np.array([1, -20], np.float32)


def bits(number: float) -> int:
    return int(np.float32(number).view(np.int32))


def test_products_with_operands_turned() -> None:
    assert matmul([A, B]).tolist() == PRODUCT.tolist()
    assert matmul([A.T.copy(), B], transpose_a=True).tolist() == PRODUCT.tolist()
    assert matmul([A, B.T.copy()], transpose_b=True).tolist() == PRODUCT.tolist()
    value, work = matmul([A, B], "(f32[2,2], u8[3])")
    assert value.tolist() == PRODUCT.tolist()
    assert work.tolist() == [0, 0, 0]


def test_dimensions_in_another_order() -> None:
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    b = np.arange(20, dtype=np.float32).reshape(4, 5)
    # The library sees lhs [3,2,4] and a result [3,2,5] that is stored as [2,3,5].
    order = {"tensor": {"dimensions": ["2", "1", "3"]}}
    found = matmul([a, b], "f32[2,3,5]", lhs=order, result=order)
    assert found.tolist() == (a @ b).tolist()


@pytest.mark.parametrize(
    ("steps", "arrays", "wanted"),
    [
        (["BIAS"], [BIAS], PRODUCT + BIAS),
        (["BIAS", "RELU"], [BIAS], np.maximum(PRODUCT + BIAS, 0)),
        (["BINARY_ADD"], [B[:2]], PRODUCT + B[:2]),
        (["SUM"], [B[:2]], PRODUCT + B[:2]),
        (["BINARY_MUL"], [B[:2]], PRODUCT * B[:2]),
        (["RELU6"], [], np.clip(PRODUCT, 0, 6)),
        (["TANH"], [], np.tanh(PRODUCT)),
        (["SIGMOID"], [], 1 / (1 + np.exp(-PRODUCT))),
        (["SWISH"], [], PRODUCT / (1 + np.exp(-PRODUCT))),
        (["ELU"], [], np.where(PRODUCT > 0, PRODUCT, np.exp(PRODUCT) - 1)),
        (["GELU_ERF"], [], PRODUCT * (1 + erf(PRODUCT / 2**0.5)) / 2),
        (
            ["GELU_TANH"],
            [],
            PRODUCT * (1 + np.tanh((2 / np.pi) ** 0.5 * (PRODUCT + 0.044715 * PRODUCT**3))) / 2,
        ),
        # The bias belongs to the product: it is added before all else.
        (["RELU", "BIAS"], [BIAS], np.maximum(PRODUCT + BIAS, 0)),
    ],
)
def test_what_is_fused_follows_in_order(steps: list[str], arrays: list[Any], wanted: Any) -> None:
    for parameters in ({"fusions": {"ops": steps}}, {"fused_ops": steps}):
        assert np.allclose(matmul([A, B, *arrays], **parameters), wanted, rtol=1e-5, atol=1e-6)


def test_factors_are_numbers_or_patterns_of_bits() -> None:
    steps = {"ops": ["LINEAR", "LINEAR"], "alpha": [2, 0.25]}
    assert matmul([A, B], fusions=steps).tolist() == (PRODUCT / 2).tolist()
    steps = {"ops": ["LINEAR"], "alpha_typecast": bits(-1.5)}
    assert matmul([A, B], fusions=steps).tolist() == (PRODUCT * -1.5).tolist()


def test_the_result_is_rounded_once() -> None:
    a = np.full((1, 3), 1 / 3, ml_dtypes.bfloat16)
    b = np.full((3, 1), 1, ml_dtypes.bfloat16)
    c = np.full((1, 1), -1, ml_dtypes.bfloat16)
    found = matmul([a, b, c], "bf16[1,1]", fusions={"ops": ["BINARY_ADD"]})
    assert float(found[0, 0]) == float(np.float32(a[0, 0]) * 3 - 1) != 0


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"__onednn.matmul: fused QUANTIZE"):
        matmul([A, B], fusions={"ops": ["QUANTIZE"]})
    with pytest.raises(UnsupportedError, match="weights in the library's own layout"):
        matmul([A, B], optimization_config={"weights_prepacked": True})


def conv_config(groups: int, stride: int, dilation: int, pads: tuple[int, int]) -> Any:
    """Returns the parameters of a convolution of b01f_01io->b01f along two dimensions."""
    data = {"data": {"feature_dim": "3", "spatial_dims": ["2", "3"]}}
    kernel = {"input_feature_dim": "2", "output_feature_dim": "3", "spatial_dims": ["1", "2"]}
    return {
        "dims": "4",
        "input": data,
        "kernel": {"filter": kernel},
        "output": data,
        "window": {
            "size": ["3", "3"],
            "pad_left": [str(pads[0] + 1)] * 2,
            "pad_right": [str(pads[1] + 1)] * 2,
            "strides": [str(stride + 1)] * 2,
            "window_dilations": [str(dilation + 1)] * 2,
        },
        "feature_groups": str(groups),
    }


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("stride", "dilation", "pads"), [(1, 1, (0, 0)), (2, 1, (1, 0)), (1, 2, (1, 1))]
)
def test_convolutions(groups: int, stride: int, dilation: int, pads: tuple[int, int]) -> None:
    generator = np.random.default_rng(0)
    x = generator.integers(-3, 4, (2, 5, 5, 4)).astype(np.float32)
    kernel = generator.integers(-3, 4, (2, 2, 4 // groups, 6)).astype(np.float32)
    bias = generator.integers(-3, 4, 6).astype(np.float32)
    padded = np.pad(x, ((0, 0), pads, pads, (0, 0)))
    size = (padded.shape[1] - dilation - 1) // stride + 1
    wanted = np.zeros((2, size, size, 6))
    for n, i, j, o, a, b, f in np.ndindex(2, size, size, 6, 2, 2, 4 // groups):
        feature = o // (6 // groups) * (4 // groups) + f
        found = padded[n, i * stride + a * dilation, j * stride + b * dilation, feature]
        wanted[n, i, j, o] += found * kernel[a, b, f, o]
    config = conv_config(groups, stride, dilation, pads)
    result = f"f32[2,{size},{size},6]"
    value = call("convolution", result, [x, kernel], {"onednn_conv_config": config})
    assert value.tolist() == wanted.tolist()
    config["fusions"] = {"ops": ["BIAS", "RELU"]}
    value = call("convolution", result, [x, kernel, bias], {"onednn_conv_config": config})
    assert value.tolist() == np.maximum(wanted + bias, 0).tolist()


def test_softmax_along_a_dimension() -> None:
    x = np.array([[0, 1000, 2], [0, 1000, -np.inf]], np.float32)
    found = call("softmax", "f32[2,3]", [x], {"onednn_softmax_config": {"softmax_axis": 1}})
    assert found.tolist() == [[0, 1, 0], [0, 1, 0]]
    found = call("softmax", "f32[2,3]", [x], {"onednn_softmax_config": {"softmax_axis": 0}})
    assert found.tolist() == [[0.5, 0.5, 1], [0.5, 0.5, 0]]


def test_rows_are_normalized() -> None:
    x = np.array([[1, 3], [5, 5]], np.float32)
    scale, shift = np.array([2, 4], np.float32), np.array([1, 0], np.float32)
    config = {
        "onednn_layer_norm_config": {"rescale": "SCALE_AND_SHIFT", "epsilon_typecast": bits(3)}
    }
    found = call("layernorm", "f32[2,2]", [x, scale, shift], config)
    # The variances are 1 and 0.
    assert found.tolist() == [[-0.5 * 2 + 1, 0.5 * 4], [1, 0]]
