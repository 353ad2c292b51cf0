"""Matrix products of cuBLAS."""

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf

from hlotool.errors import EvaluationError, UnsupportedError
from tests.evaluating import entry, evaluated

KINDS = {
    "float32": "f32", "bfloat16": "bf16", "float64": "f64", "complex64": "c64",
    "int8": "s8", "int32": "s32", "float8_e4m3fn": "f8e4m3fn",
}  # fmt: skip
NUMBERS = {
    "lhs_contracting_dimensions": ["1"],
    "rhs_contracting_dimensions": ["0"],
    "lhs_batch_dimensions": [],
    "rhs_batch_dimensions": [],
}


def gemm(
    target: str, result: str, arrays: list[Any], numbers: Any = NUMBERS, **parameters: Any
) -> Any:
    config = {"gemm_backend_config": {"dot_dimension_numbers": numbers, **parameters}}
    lines = [
        f"  p{n} = {KINDS[a.dtype.name]}[{','.join(map(str, a.shape))}] parameter({n})"
        for n, a in enumerate(arrays)
    ]
    names = ", ".join(f"p{n}" for n in range(len(arrays)))
    lines.append(
        f'  ROOT r = {result} custom-call({names}), custom_call_target="{target}",'
        f" backend_config={json.dumps(config)}"
    )
    return evaluated(entry("\n".join(lines)), *arrays)


A = np.array([[1, -2, 3], [0, 1, -1]], np.float32)
B = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
C = np.array([[10, 20], [30, 40]], np.float32)
PRODUCT = A @ B  # [[10, 12], [-2, -2]]


def test_a_product_is_scaled_and_added_to() -> None:
    assert gemm("__cublas$gemm", "f32[2,2]", [A, B]).tolist() == PRODUCT.tolist()
    found = gemm("__cublas$gemm", "f32[2,2]", [A, B, C], alpha_real=2, beta=0.5)
    assert found.tolist() == (2 * PRODUCT + 0.5 * C).tolist()


def test_alpha_has_the_digits_of_the_type() -> None:
    one = np.ones((1, 1))
    assert gemm("__cublas$gemm", "f64[1,1]", [one, one], alpha_real=0.1).tolist() == [[0.1]]
    rotated = gemm(
        "__cublas$gemm", "c64[1,1]", [one.astype(np.complex64)] * 2, alpha_real=0.5, alpha_imag=2
    )
    assert rotated.tolist() == [[0.5 + 2j]]


def test_room_for_work_comes_out_zero() -> None:
    value, work = gemm("__cublas$gemm", "(f32[2,2], s8[5])", [A, B], alpha_real=1, beta=0)
    assert value.tolist() == PRODUCT.tolist()
    assert work.tolist() == [0] * 5


def test_parameters_may_stand_at_the_top() -> None:
    config = json.dumps({"alpha_real": 3, "dot_dimension_numbers": NUMBERS})
    body = f"""
  a = f32[2,3] parameter(0)
  b = f32[3,2] parameter(1)
  ROOT r = f32[2,2] custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={config}
"""
    assert evaluated(entry(body), A, B).tolist() == (3 * PRODUCT).tolist()


BIAS = np.array([1, -20], np.float32)


@pytest.mark.parametrize(
    ("epilogue", "wanted"),
    [
        ("DEFAULT", PRODUCT),
        ("RELU", np.maximum(PRODUCT, 0)),
        ("BIAS", PRODUCT + BIAS),
        ("BIAS_RELU", np.maximum(PRODUCT + BIAS, 0)),
        ("SILU", PRODUCT / (1 + np.exp(-PRODUCT))),
    ],
)
def test_epilogues(epilogue: str, wanted: np.ndarray) -> None:
    arrays = [A, B, BIAS] if "BIAS" in epilogue else [A, B]
    found = gemm("__cublas$lt$matmul", "f32[2,2]", arrays, epilogue=epilogue, beta=0)
    assert np.allclose(found, wanted, rtol=1e-6)


def test_gelu_may_keep_what_it_was_given() -> None:
    arrays = [A / 10, B / 10, C / 100, BIAS / 10]
    value, kept = gemm(
        "__cublas$lt$matmul", "(f32[2,2], f32[2,2])", arrays,
        epilogue="BIAS_GELU_AUX", beta=1,
    )  # fmt: skip
    x = PRODUCT / 100 + C / 100 + BIAS / 10
    assert np.allclose(kept, x, atol=1e-6)
    # The approximation by a hyperbolic tangent is near the exact one.
    assert np.allclose(value, x * (1 + erf(x / np.sqrt(2))) / 2, atol=1e-3)


def test_narrow_floats_are_rounded_once() -> None:
    a = np.full((1, 3), 1 / 3, ml_dtypes.bfloat16)
    b = np.full((3, 1), 257, ml_dtypes.bfloat16)
    numbers = np.float32(a[0, 0]) * np.float32(b[0, 0]) * 3
    found = gemm("__cublas$gemm", "bf16[1,1]", [a, b], alpha_real=0.5)
    assert found[0, 0] == (numbers / 2).astype(ml_dtypes.bfloat16)


def test_integers_and_complex_numbers() -> None:
    a = np.full((2, 3), 100, np.int8)
    found = gemm("__cublas$gemm", "s32[2,2]", [a, a.T.copy()], alpha_real=1)
    assert found.tolist() == [[30000] * 2] * 2
    z = np.array([[1 + 1j]], np.complex64)
    found = gemm("__cublas$gemm", "c64[1,1]", [z, z], alpha_real=0, alpha_imag=1)
    assert found.tolist() == [[-2]]


SCALES = [np.array(number, np.float32) for number in (2, 3, 1, 0.5)]


@pytest.mark.parametrize(("given_scales", "factor"), [(2, 6), (3, 6), (4, 3)])
def test_scales_of_eight_bits(given_scales: int, factor: float) -> None:
    # Of three scales the last one is the result's, which is 1 here.
    a, b = (x.astype(ml_dtypes.float8_e4m3fn) for x in (A, B))
    arrays = [a, b, *SCALES[:given_scales]]
    found = gemm("__cublas$lt$matmul$f8", "f32[2,2]", arrays, beta=0)
    assert found.tolist() == (factor * PRODUCT).tolist()


def test_eight_bits_with_all_there_is() -> None:
    a, b = (x.astype(ml_dtypes.float8_e4m3fn) for x in (A, B))
    arrays = [a, b, C, *SCALES[:2], SCALES[3], BIAS]
    value, largest, work = gemm(
        "__cublas$lt$matmul$f8", "(f8e4m3fn[2,2], f32[], s8[4])", arrays,
        beta=1, epilogue="BIAS_RELU", damax_output=True,
    )  # fmt: skip
    wide = np.maximum(6 * PRODUCT + C + BIAS, 0)
    assert largest == wide.max()
    wanted = (wide / 2).astype(ml_dtypes.float8_e4m3fn)
    assert value.astype(float).tolist() == wanted.astype(float).tolist()
    assert not work.any()


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"__cublas.lt.matmul: epilogue DGELU"):
        gemm("__cublas$lt$matmul", "f32[2,2]", [A, B], epilogue="DGELU")
    with pytest.raises(EvaluationError, match=r"operands \[2, 2\] are given for scales"):
        gemm("__cublas$lt$matmul", "f32[2,2]", [A, B, C], beta=0)
    body = """
  a = f32[2,3] parameter(0)
  ROOT r = f32[2,2] custom-call(a, a), custom_call_target="__cublas$gemm"
"""
    with pytest.raises(EvaluationError, match="dot_dimension_numbers are not given"):
        evaluated(entry(body), A)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    lhs_turned=st.booleans(),
    rhs_turned=st.booleans(),
    batch=st.integers(0, 2),
    seed=st.integers(0, 99),
)
def test_any_dimensions_may_be_summed_over(
    *, lhs_turned: bool, rhs_turned: bool, batch: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    a = generator.integers(-3, 4, (batch, 2, 4)).astype(np.float32)
    b = generator.integers(-3, 4, (batch, 4, 3)).astype(np.float32)
    wanted = np.zeros((batch, 2, 3))
    for n, row, column, term in np.ndindex(batch, 2, 3, 4):
        wanted[n, row, column] += a[n, row, term] * b[n, term, column]
    numbers = {
        "lhs_contracting_dimensions": ["1" if lhs_turned else "2"],
        "rhs_contracting_dimensions": ["2" if rhs_turned else "1"],
        "lhs_batch_dimensions": ["0"],
        "rhs_batch_dimensions": ["0"],
    }
    arrays = [
        a.swapaxes(1, 2).copy() if lhs_turned else a,
        b.swapaxes(1, 2).copy() if rhs_turned else b,
    ]
    found = gemm("__cublas$gemm", f"f32[{batch},2,3]", arrays, numbers)
    assert found.tolist() == wanted.tolist()
