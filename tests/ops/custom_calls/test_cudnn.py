"""Convolutions of cuDNN and their gradients."""

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hlotool.errors import EvaluationError, UnsupportedError
from tests.evaluating import entry, evaluated

LABELS = "b01f_01io->b01f"
WINDOWS = {
    "plain": "size=2x3",
    "padded": "size=2x3 pad=1_0x1_2",
    "strided": "size=2x3 stride=2x1 pad=0_1x1_1",
    "dilated": "size=2x3 rhs_dilate=2x1",
    "uneven": "size=2x3 stride=3x2",
}


def call(target: str, result: str, arrays: list[Any], attributes: str, config: Any = None) -> Any:
    kinds = {"float32": "f32", "bfloat16": "bf16"}
    lines = [
        f"  p{n} = {kinds[a.dtype.name]}[{','.join(map(str, a.shape))}] parameter({n})"
        for n, a in enumerate(arrays)
    ]
    names = ", ".join(f"p{n}" for n in range(len(arrays)))
    lines.append(
        f"  ROOT r = {result} custom-call({names}), {attributes},"
        f' custom_call_target="__cudnn${target}", backend_config={json.dumps(config or {})}'
    )
    return evaluated(entry("\n".join(lines)), *arrays)


def convolution(x: Any, kernel: Any, attributes: str, result: str) -> Any:
    body = f"""
  p0 = f32[{",".join(map(str, x.shape))}] parameter(0)
  p1 = f32[{",".join(map(str, kernel.shape))}] parameter(1)
  ROOT r = {result} convolution(p0, p1), {attributes}
"""
    return evaluated(entry(body), x, kernel)


def output_size(size: int, window: str, place: int) -> int:
    parts = dict(part.split("=") for part in window.split())
    low, high = map(int, parts.get("pad", "0_0x0_0").split("x")[place].split("_"))
    stride, dilation, extent = (
        int(parts.get(name, "1x1").split("x")[place]) for name in ("stride", "rhs_dilate", "size")
    )
    return (size + low + high - (extent - 1) * dilation - 1) // stride + 1


def case(window: str, groups: int) -> tuple[Any, Any, str, str]:
    """Returns input, filter, attributes and the shape of the output."""
    generator = np.random.default_rng(0)
    x = generator.integers(-3, 4, (2, 6, 7, 4)).astype(np.float32)
    kernel = generator.integers(-3, 4, (2, 3, 4 // groups, 6)).astype(np.float32)
    attributes = f"window={{{window}}}, dim_labels={LABELS}, feature_group_count={groups}"
    sizes = output_size(6, window, 0), output_size(7, window, 1)
    return x, kernel, attributes, f"f32[2,{sizes[0]},{sizes[1]},6]"


EACH = pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
GROUPS = pytest.mark.parametrize("groups", [1, 2])


@EACH
@GROUPS
def test_forward_is_the_convolution(window: str, groups: int) -> None:
    x, kernel, attributes, result = case(window, groups)
    wanted = convolution(x, kernel, attributes, result)
    value, work = call("convForward", f"({result}, u8[3])", [x, kernel], attributes)
    assert value.tolist() == wanted.tolist()
    assert work.tolist() == [0, 0, 0]


@EACH
@GROUPS
def test_gradients_are_those_of_the_convolution(window: str, groups: int) -> None:
    x, kernel, attributes, result = case(window, groups)
    output = convolution(x, kernel, attributes, result)
    gradient = np.random.default_rng(1).integers(-3, 4, output.shape).astype(np.float32)
    shape = ",".join(map(str, x.shape))
    of_input = call("convBackwardInput", f"f32[{shape}]", [gradient, kernel], attributes)
    shape = ",".join(map(str, kernel.shape))
    of_kernel = call("convBackwardFilter", f"f32[{shape}]", [x, gradient], attributes)
    # The convolution is linear in both: a step changes the weighted sum by the gradient.
    for index in [(0, 0, 0, 0), (1, 5, 6, 3), (0, 2, 3, 1)]:
        step = np.zeros_like(x)
        step[index] = 1
        change = convolution(step, kernel, attributes, result)
        assert of_input[index] == (change * gradient).sum()
    for index in [(0, 0, 0, 0), (1, 2, -1, 5), (0, 1, 0, 3)]:
        step = np.zeros_like(kernel)
        step[index] = 1
        change = convolution(x, step, attributes, result)
        assert of_kernel[index] == (change * gradient).sum()


@pytest.mark.parametrize(
    ("mode", "activation"),
    [
        ("kNone", lambda x: x),
        ("kRelu", lambda x: np.maximum(x, 0)),
        (2, lambda x: np.maximum(x, 0)),
        ("kRelu6", lambda x: np.clip(x, 0, 6)),
        ("kLeakyRelu", lambda x: np.where(x > 0, x, x / 4)),
        ("kElu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))),
    ],
)
def test_bias_side_input_and_activation(mode: Any, activation: Any) -> None:
    x, kernel, attributes, result = case(WINDOWS["plain"], 1)
    plain = convolution(x, kernel, attributes, result)
    bias = np.arange(6, dtype=np.float32)
    config = {
        "cudnn_conv_backend_config": {
            "activation_mode": mode,
            "conv_result_scale": 0.5,
            "side_input_scale": 2,
            "leakyrelu_alpha": 0.25,
        }
    }
    target = "convBiasActivationForward"
    found = call(target, result, [x, kernel, bias, plain], attributes, config)
    assert np.allclose(found, activation(2.5 * plain + bias), rtol=1e-6)
    found = call(target, result, [x, kernel, bias], attributes, config)
    assert np.allclose(found, activation(0.5 * plain + bias), rtol=1e-6)


def test_narrow_floats_are_rounded_once() -> None:
    x = np.full((1, 1, 1, 3), 1 / 3, ml_dtypes.bfloat16)
    kernel = np.ones((1, 1, 3, 1), ml_dtypes.bfloat16)
    attributes = f"window={{size=1x1}}, dim_labels={LABELS}"
    bias = np.full(1, -1, ml_dtypes.bfloat16)
    found = call("convBiasActivationForward", "bf16[1,1,1,1]", [x, kernel, bias], attributes)
    assert float(found[0, 0, 0, 0]) == float(np.float32(x[0, 0, 0, 0]) * 3 - 1) != 0


def test_what_is_not_known_is_refused() -> None:
    x, kernel, attributes, result = case(WINDOWS["plain"], 1)
    config = {"activation_mode": "kBandPass"}
    with pytest.raises(UnsupportedError, match="convForward: activation kBandPass"):
        call("convForward", result, [x, kernel], attributes, config)
    with pytest.raises(EvaluationError, match="dim_labels are not given"):
        call("convForward", result, [x, kernel], "window={size=2x3}")
