from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hlotool.evaluation.api import evaluate
from hlotool.ir.module import Module
from hlotool.passes.expanders.cholesky import CholeskyExpander
from hlotool.passes.expanders.eigh import EighExpander
from hlotool.passes.expanders.qr import QrExpander
from hlotool.passes.expanders.triangular_solve import TriangularSolveExpander
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed

_TYPES = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}  # fmt: skip
_RNG = np.random.default_rng(5)


def _matrices(element_type: str, *sizes: int) -> Any:
    found = _RNG.normal(size=sizes) + 0j
    if element_type[0] == "c":
        found = found + 1j * _RNG.normal(size=sizes)
        return found.astype(_TYPES[element_type])
    return found.real.astype(_TYPES[element_type])


def _adjoint(matrices: Any) -> Any:
    return np.conj(np.swapaxes(matrices, -1, -2))


def _triangular(
    element_type: str, transpose: str, *, left: bool = True, lower: bool = True, unit: bool = False
) -> str:
    b = "2,3,4" if left else "2,4,3"
    flags = f"left_side={left}, lower={lower}, unit_diagonal={unit}".lower()
    return f"""HloModule m
ENTRY e {{
  a = {element_type}[2,3,3] parameter(0)
  b = {element_type}[{b}] parameter(1)
  ROOT x = {element_type}[{b}] triangular-solve(a, b), {flags}, transpose_a={transpose}
}}
"""


@pytest.mark.parametrize("element_type", ["f32", "c128"])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
def test_triangular_solve(element_type: str, transpose: str) -> None:
    for left, lower, unit in product((True, False), repeat=3):
        a = _matrices(element_type, 2, 3, 3)
        a += 3 * np.eye(3, dtype=a.dtype)
        # Neither the other triangle nor a diagonal of ones is read.
        unread = np.triu(np.ones((3, 3), bool), 1 - unit)
        a[:, unread if lower else unread.T] = np.nan
        b = _matrices(element_type, 2, *((3, 4) if left else (4, 3)))
        text = _triangular(element_type, transpose, left=left, lower=lower, unit=unit)
        module = passed(text, TriangularSolveExpander(), a, b)
        assert "triangular-solve" not in opcodes(module)


@pytest.mark.parametrize("element_type", ["bf16", "f16", "f64", "c64"])
def test_triangular_solve_in_other_types(element_type: str) -> None:
    a = _matrices(element_type, 2, 3, 3) + 4 * np.eye(3, dtype=_TYPES[element_type])
    text = _triangular(element_type, "NO_TRANSPOSE")
    passed(text, TriangularSolveExpander(), a, _matrices(element_type, 2, 3, 4))


def test_triangular_solve_of_one_matrix_of_none_and_with_a_zero_to_divide_by() -> None:
    text = _triangular("f32", "NO_TRANSPOSE")
    alone = text.replace("[2,3,", "[3,")
    zero = np.array([[1, 0, 0], [2, 0, 0], [1, 1, 1]], np.float32)
    passed(alone, TriangularSolveExpander(), zero, np.ones((3, 4), np.float32))
    passed(text.replace("[2,3,", "[0,3,"), TriangularSolveExpander())
    passed(text.replace("3,3]", "0,0]").replace("3,4]", "0,4]"), TriangularSolveExpander())


def _cholesky(element_type: str, lower: str, sizes: str = "2,4,4") -> str:
    return f"""HloModule m
ENTRY e {{
  a = {element_type}[{sizes}] parameter(0)
  ROOT x = {element_type}[{sizes}] cholesky(a), lower={lower}
}}
"""


@pytest.mark.parametrize("element_type", list(_TYPES))
@pytest.mark.parametrize("lower", ["true", "false"])
def test_cholesky(element_type: str, lower: str) -> None:
    wide = {"bf16": "f64", "f16": "f64"}.get(element_type, element_type)
    root = _matrices(wide, 2, 4, 4)
    a = (root @ _adjoint(root) + 2 * np.eye(4)).astype(_TYPES[element_type])
    unread = np.triu(np.ones((4, 4), bool), 1)
    a[:, unread if lower == "true" else unread.T] = np.nan
    module = passed(_cholesky(element_type, lower), CholeskyExpander(), a)
    assert "cholesky" not in opcodes(module)


def test_cholesky_of_what_is_not_definite_is_nan() -> None:
    a = np.stack([np.eye(4), np.diag([1, 0, 1, 1])]).astype(np.float32)
    passed(_cholesky("f32", "true"), CholeskyExpander(), a)
    passed(_cholesky("f32", "true"), CholeskyExpander(), -a)
    passed(_cholesky("f32", "true", "0,4,4"), CholeskyExpander())
    passed(_cholesky("f32", "true", "3,1,1"), CholeskyExpander())


def _qr(element_type: str, rows: int, columns: int) -> str:
    a, taus = f"{element_type}[2,{rows},{columns}]", f"{element_type}[2,{min(rows, columns)}]"
    return f"""HloModule m
ENTRY e {{
  a = {a} parameter(0)
  ROOT r = ({a}, {taus}) custom-call(a), custom_call_target="Qr"
}}
"""


@pytest.mark.parametrize("element_type", ["f32", "f64", "c64", "c128"])
@pytest.mark.parametrize("sizes", [(4, 3), (3, 4), (3, 3), (1, 1), (0, 2)])
def test_reflectors(element_type: str, sizes: tuple[int, int]) -> None:
    a = _matrices(element_type, 2, *sizes)
    module = passed(_qr(element_type, *sizes), QrExpander(), a)
    assert "custom-call" not in opcodes(module)


def test_reflectors_of_zeros_and_of_great_numbers() -> None:
    zeros = np.zeros((2, 3, 3), np.float32)
    passed(_qr("f32", 3, 3), QrExpander(), zeros)
    passed(_qr("f32", 3, 3), QrExpander(), np.tri(3, dtype=np.float32).T * (zeros + 1))
    great = _matrices("f32", 2, 3, 3) * np.float32(1e30)
    passed(_qr("f32", 3, 3), QrExpander(), great)


@pytest.mark.parametrize("element_type", ["f32", "c128"])
@pytest.mark.parametrize("sizes", [(4, 3), (3, 3)])
def test_product_of_reflectors(element_type: str, sizes: tuple[int, int]) -> None:
    rows, columns = sizes
    a, taus = f"{element_type}[2,{rows},{columns}]", f"{element_type}[2,{columns}]"
    text = f"""HloModule m
ENTRY e {{
  a = {a} parameter(0)
  f = ({a}, {taus}) custom-call(a), custom_call_target="Qr"
  r = {a} get-tuple-element(f), index=0
  t = {taus} get-tuple-element(f), index=1
  ROOT q = {a} custom-call(r, t), custom_call_target="ProductOfElementaryHouseholderReflectors"
}}
"""
    module = passed(text, QrExpander(), _matrices(element_type, 2, *sizes))
    assert "custom-call" not in opcodes(module)


def _eigh(element_type: str, size: int, lower: int = 1) -> Module:
    a = f"{element_type}[2,{size},{size}]"
    values = f"{element_type.replace('c64', 'f32').replace('c128', 'f64')}[2,{size}]"
    config = f'custom_call_target="Eigh", backend_config="{lower},1,100,1e-6"'
    module = parse(f"""HloModule m
ENTRY e {{
  a = {a} parameter(0)
  ROOT r = ({a}, {values}) custom-call(a), {config}
}}
""")
    assert changed_by(module, EighExpander())
    assert "custom-call" not in opcodes(module)
    return module


@pytest.mark.parametrize("element_type", ["f32", "f64", "c64", "c128"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_eigenvectors_times_eigenvalues_are_the_matrix(element_type: str, size: int) -> None:
    root = _matrices(element_type, 2, size, size)
    a = root + _adjoint(root)
    for lower in (0, 1):
        vectors, values = evaluate(
            _eigh(element_type, size, lower), np.tril(a) if lower else np.triu(a)
        )
        tolerance = 1e-4 if element_type in {"f32", "c64"} else 1e-12
        rebuilt = (vectors * values[:, None, :]) @ _adjoint(vectors)
        np.testing.assert_allclose(rebuilt, a, atol=tolerance * size)
        identity = np.broadcast_to(np.eye(size), a.shape)
        np.testing.assert_allclose(_adjoint(vectors) @ vectors, identity, atol=tolerance)
        assert (np.diff(values) >= 0).all()
        np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=tolerance * size)


def test_eigenvectors_of_diagonal_matrices_and_of_nan() -> None:
    a = np.stack([np.diag([3.0, 1, 2]), np.full((3, 3), np.nan)]).astype(np.float32)
    vectors, values = evaluate(_eigh("f32", 3), a)
    assert values[0].tolist() == [1, 2, 3]
    assert np.isnan(vectors[1]).all()
    assert np.isnan(values[1]).all()
    vectors, values = evaluate(_eigh("f32", 0), np.zeros((2, 0, 0), np.float32))
    assert values.shape == (2, 0)


def test_calls_that_do_not_say_which_triangle_stay() -> None:
    module = parse("""HloModule m
ENTRY e {
  a = f32[3,3] parameter(0)
  ROOT r = (f32[3,3], f32[3]) custom-call(a), custom_call_target="Eigh"
}
""")
    assert not changed_by(module, EighExpander())


@pytest.mark.parametrize(
    "call",
    [
        '(s4[4,3], s4[3]) custom-call(a), custom_call_target="Qr"',
        '(u8[4,3], f32[3]) custom-call(a), custom_call_target="Qr"',
    ],
)
def test_reflectors_of_integers_stay(call: str) -> None:
    text = f"HloModule m\nENTRY e {{\n  a = {call[1:8]} parameter(0)\n  ROOT r = {call}\n}}\n"
    assert not changed_by(parse(text), QrExpander())


def test_eigenvectors_of_integers_stay() -> None:
    text = """HloModule m
ENTRY e {
  a = u8[4,4] parameter(0)
  ROOT r = (u8[4,4], u8[4]) custom-call(a), custom_call_target="Eigh", backend_config="1,1,100,1e-6"
}
"""
    assert not changed_by(parse(text), EighExpander())
