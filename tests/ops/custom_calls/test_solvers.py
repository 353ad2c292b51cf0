"""Factors of matrices as GPUs and TPUs call them."""

import json
from typing import Any

import numpy as np
import pytest

from hlotool.errors import EvaluationError
from tests.evaluating import entry, evaluated

KINDS = {"float32": "f32", "float64": "f64", "complex64": "c64", "int32": "s32", "uint32": "u32"}


def call(target: str, result: str, config: str, *arrays: Any) -> Any:
    lines = [
        f"  p{n} = {KINDS[a.dtype.name]}[{','.join(map(str, a.shape))}] parameter({n})"
        for n, a in enumerate(arrays)
    ]
    names = ", ".join(f"p{n}" for n in range(len(arrays)))
    lines.append(
        f'  ROOT r = {result} custom-call({names}), custom_call_target="{target}",'
        f" backend_config={config}"
    )
    return evaluated(entry("\n".join(lines)), *arrays)


GENERATOR = np.random.default_rng(0)
A = GENERATOR.standard_normal((2, 3, 3)).astype(np.float32)
WIDE = (GENERATOR.standard_normal((2, 4)) + 1j * GENERATOR.standard_normal((2, 4))).astype(
    np.complex64
)
LIBRARIES = pytest.mark.parametrize("library", ["cusolver", "hipsolver"])


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


@LIBRARIES
def test_factors_on_gpus(library: str) -> None:
    positive = A @ adjoint(A) + np.eye(3, dtype=np.float32)
    config = "{lower = true}"
    factor, info = call(f"{library}_potrf_ffi", "(f32[2,3,3], s32[2])", config, positive)
    assert np.allclose(np.tril(factor) @ adjoint(np.tril(factor)), positive, atol=1e-5)
    declared = "(f32[2,3,3], f32[2,3], s32[2])"
    config = "{algorithm = 0 : ui8, lower = true}"
    vectors, values, info = call(f"{library}_syevd_ffi", declared, config, positive)
    assert np.allclose(positive @ vectors, vectors * values[:, None], atol=1e-4)
    factors, tau = call(f"{library}_geqrf_ffi", "(f32[2,3,3], f32[2,3])", "{}", A)
    q = call(f"{library}_orgqr_ffi", "f32[2,3,3]", "{}", factors, tau)
    assert np.allclose(q @ np.triu(factors), A, atol=1e-5)
    declared = "(f32[2,3,3], f32[2,3], f32[2,2], f32[2,2], s32[2])"
    _, d, e, _, info = call(f"{library}_sytrd_ffi", declared, "{lower = true}", positive)
    assert np.allclose(d.sum(-1), np.trace(positive, axis1=1, axis2=2), atol=1e-4)
    assert e.shape == (2, 2)
    assert info.tolist() == [0, 0]


@LIBRARIES
def test_rows_and_pivots(library: str) -> None:
    declared = "(f32[2,3,3], s32[2,3], s32[2])"
    factors, pivots, info = call(f"{library}_getrf_ffi", declared, "{}", A)
    assert info.tolist() == [0, 0]
    name = {"cusolver": "cu", "hipsolver": "hip"}[library]
    target = f"{name}_lu_pivots_to_permutation"
    orders = call(target, "s32[2,3]", "{}", (pivots - 1).astype(np.int32))
    for found, given, order in zip(factors, A, orders, strict=True):
        lower = np.tril(found, -1) + np.eye(3)
        assert np.allclose(lower @ np.triu(found), given[order], atol=1e-5)


def test_rows_behind_the_last_pivot_may_move() -> None:
    # The last pivots are no rows.
    pivots = np.array([[3, 1], [0, 3], [5, -1]], np.int32)
    found = call("cu_lu_pivots_to_permutation", "s32[3,5]", "{}", pivots)
    assert found.tolist() == [[3, 1, 2, 0, 4], [0, 3, 2, 1, 4], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize("is_full", [True, False])
def test_singular_vectors_in_the_order_declared(*, is_full: bool) -> None:
    size = 4 if is_full else 2
    rest = f'"full_matrices": {json.dumps(is_full)}, "compute_uv": true'
    u_shape, vt_shape = "c64[2,2]", f"c64[{size},4]"
    for turned in (False, True):
        first, second = (vt_shape, u_shape) if turned else (u_shape, vt_shape)
        declared = f"(c64[2,4], f32[2], {first}, {second}, s32[])"
        config = f'{{{rest}, "transposed": {json.dumps(turned)}}}'
        _, values, *pair, info = call("cusolver_gesvd_ffi", declared, config, WIDE)
        u, vt = reversed(pair) if turned else pair
        assert info == 0
        assert np.allclose((u * values) @ vt[:2], WIDE, atol=1e-5)
    declared = f"(c64[2,4], f32[2], {u_shape}, c64[4,{size}], s32[])"
    _, values, u, v, _ = call("cusolver_gesvdj_ffi", declared, f"{{{rest}}}", WIDE)
    assert np.allclose((u * values) @ adjoint(v)[:2], WIDE, atol=1e-5)


def test_singular_values_alone() -> None:
    config = "{compute_uv = false, full_matrices = false, transposed = false}"
    declared = "(c64[2,4], f32[2], c64[], c64[], s32[])"
    _, values, first, *_ = call("cusolver_gesvd_ffi", declared, config, WIDE)
    assert np.allclose(values, np.linalg.svd(WIDE)[1], atol=1e-5)
    assert first == 0


def test_tridiagonal_systems_on_gpus() -> None:
    lower, diagonal, upper = (
        np.array(row, np.float32) for row in ([0, 1, 2], [4, 5, 6], [1, 1, 0])
    )
    b = np.array([[1], [2], [3]], np.float32)
    x = call("cusparse_gtsv2_ffi", "f32[3,1]", "{}", lower, diagonal, upper, b)
    a = np.array([[4, 1, 0], [1, 5, 1], [0, 2, 6]])
    assert np.allclose(a @ x, b, atol=1e-5)


def test_factors_on_tpus() -> None:
    declared = "(f32[2,3,3], s32[2,3], s32[2,3])"
    factors, pivots, orders = call("LuDecomposition", declared, "{}", A)
    for found, given, order in zip(factors, A, orders, strict=True):
        lower = np.tril(found, -1) + np.eye(3)
        assert np.allclose(lower @ np.triu(found), given[order], atol=1e-5)
    assert pivots[0].tolist()[0] == orders[0].tolist()[0]
    factors, tau = call("Qr", "(f32[2,3,3], f32[2,3])", "{}", A)
    q = call("ProductOfElementaryHouseholderReflectors", "f32[2,3,3]", "{}", factors, tau)
    assert np.allclose(q @ np.triu(factors), A, atol=1e-5)
    both = A + adjoint(A)
    for lower, half in ((1, np.tril(both)), (0, np.triu(both))):
        config = f'"{lower},1,15,0.000010"'
        vectors, values = call("Eigh", "(f32[2,3,3], f32[2,3])", config, half)
        assert np.allclose(both @ vectors, vectors * values[:, None], atol=1e-4)
    with pytest.raises(
        EvaluationError, match="Eigh: backend_config is 'x', one that begins with 0"
    ):
        call("Eigh", "(f32[2,3,3], f32[2,3])", '"x"', both)


def test_matrices_that_are_not_square_are_refused() -> None:
    wide = np.ones((2, 4), np.float32)
    with pytest.raises(EvaluationError, match="syevd: a square matrix is wanted, 2 x 4 given"):
        call("Eigh", "(f32[2,4], f32[2])", '"1,1,100,1e-6"', wide)


def test_random_words_of_keys_and_counters() -> None:
    # The vectors that the cipher was published with.
    operands = np.array(
        [
            [0, 0xFFFFFFFF, 0x13198A2E],
            [0, 0xFFFFFFFF, 0x03707344],
            [0, 0xFFFFFFFF, 0x243F6A88],
            [0, 0xFFFFFFFF, 0x85A308D3],
        ],
        np.uint32,
    )
    first, second = call("cu_threefry2x32_ffi", "(u32[3], u32[3])", "{}", *operands)
    assert [hex(word) for word in first] == ["0x6b200159", "0x1cb996fc", "0xc4923a9c"]
    assert [hex(word) for word in second] == ["0x99ba4efe", "0xbb002be7", "0x483df7a0"]


def test_elements_of_a_type_without_routines_are_refused() -> None:
    with pytest.raises(
        EvaluationError, match="cusolver_potrf_ffi: elements of int32 are given, one of"
    ):
        call("cusolver_potrf_ffi", "(s32[1,1], s32[])", "{lower = true}", np.ones((1, 1), np.int32))
