"""Routines of LAPACK: what factors must be, in both spellings, and what real modules hold."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError, UnsupportedError
from tests.evaluating import entry, evaluated

KINDS = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
NUMPY = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
LETTERS = pytest.mark.parametrize("letter", "sdcz")


def tolerance(letter: str) -> float:
    return 3e-4 if letter in "sc" else 1e-10


def random(letter: str, *sizes: int, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    numbers = generator.standard_normal(sizes)
    if letter in "cz":
        numbers = numbers + 1j * generator.standard_normal(sizes)
    return numbers.astype(NUMPY[letter])


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def ffi(letter: str, name: str, results: str, config: str, *arrays: Any) -> Any:
    """Calls a routine in the newer spelling; `T` in `results` stands for the element type."""
    lines = []
    for number, array in enumerate(arrays):
        kind = "s32" if array.dtype == np.int32 else KINDS[letter]
        sizes = ",".join(map(str, array.shape))
        lines.append(f"  p{number} = {kind}[{sizes}] parameter({number})")
    operands = ", ".join(f"p{number}" for number in range(len(arrays)))
    real = {"c": "f32", "z": "f64"}.get(letter, KINDS[letter])
    declared = results.replace("T", KINDS[letter]).replace("R", real)
    lines.append(
        f"  ROOT r = {declared} custom-call({operands}),"
        f' custom_call_target="lapack_{letter}{name}_ffi", api_version=API_VERSION_TYPED_FFI,'
        f" backend_config={{{config}}}"
    )
    return evaluated(entry("\n".join(lines)), *arrays)


def code(letter: str) -> str:
    return f"{ord(letter)} : ui8"


@LETTERS
@pytest.mark.parametrize("uplo", "LU")
def test_cholesky_factors(letter: str, uplo: str) -> None:
    a = random(letter, 2, 4, 4)
    a = a @ adjoint(a) + np.eye(4, dtype=a.dtype)
    factor, info = ffi(letter, "potrf", "(T[2,4,4], s32[2])", f"uplo = {code(uplo)}", a)
    assert info.tolist() == [0, 0]
    kept, other = (np.tril, np.triu) if uplo == "L" else (np.triu, np.tril)
    lower = kept(factor) if uplo == "L" else adjoint(kept(factor))
    assert np.allclose(lower @ adjoint(lower), a, atol=tolerance(letter))
    # The triangle that is not named is left as it came.
    offset = 1 if uplo == "L" else -1
    assert np.array_equal(other(factor, offset), other(a, offset))


def test_what_is_not_positive_is_told_by_its_order() -> None:
    a = np.diag([1.0, 2, -1, 4]).astype(np.float32)
    _, info = ffi("s", "potrf", "(T[4,4], s32[])", f"uplo = {code('L')}", a)
    assert info == 3


@LETTERS
@pytest.mark.parametrize("sizes", [(4, 4), (5, 3), (3, 5)])
def test_triangular_factors_with_exchanged_rows(letter: str, sizes: tuple[int, int]) -> None:
    rows, columns = sizes
    least = min(sizes)
    a = random(letter, 2, *sizes)
    declared = f"(T[2,{rows},{columns}], s32[2,{least}], s32[2])"
    factors, pivots, info = ffi(letter, "getrf", declared, "", a)
    assert info.tolist() == [0, 0]
    assert pivots.min() >= 1
    for found, given_matrix, exchanges in zip(factors, a, pivots, strict=True):
        lower = np.tril(found, -1)[:, :least] + np.eye(rows, least)
        exchanged = given_matrix.copy()
        for row, other in enumerate(exchanges - 1):
            exchanged[[row, other]] = exchanged[[other, row]]
        product = lower @ np.triu(found)[:least]
        assert np.allclose(product, exchanged, atol=tolerance(letter))


def test_a_singular_matrix_has_factors_and_tells_the_zero() -> None:
    a = np.array([[1, 2], [2, 4]], np.float64)
    factors, pivots, info = ffi("d", "getrf", "(T[2,2], s32[2], s32[])", "", a)
    assert pivots.tolist() == [2, 2]
    assert factors.tolist() == [[2, 4], [0.5, 0]]
    assert info == 2


@LETTERS
@pytest.mark.parametrize("sizes", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("is_pivoted", [False, True])
def test_orthogonal_factors(letter: str, sizes: tuple[int, int], *, is_pivoted: bool) -> None:
    rows, columns = sizes
    least = min(sizes)
    a = random(letter, 2, *sizes)
    order = np.broadcast_to(np.arange(1, columns + 1), (2, columns))
    shape = f"T[2,{rows},{columns}]"
    if is_pivoted:
        free = np.zeros((2, columns), np.int32)
        declared = f"({shape}, s32[2,{columns}], T[2,{least}])"
        factors, order, tau = ffi(letter, "geqp3", declared, "", a, free)
    else:
        factors, tau = ffi(letter, "geqrf", f"({shape}, T[2,{least}])", "", a)
    name = "ungqr" if letter in "cz" else "orgqr"
    reflectors = factors[..., :least]
    q = ffi(letter, name, f"T[2,{rows},{least}]", "", reflectors, tau)
    assert np.allclose(adjoint(q) @ q, np.eye(least), atol=tolerance(letter))
    product = q @ np.triu(factors)[:, :least]
    moved = np.stack([one[:, at - 1] for one, at in zip(a, order, strict=True)])
    assert np.allclose(product, moved, atol=tolerance(letter))


def test_columns_kept_in_front_are_not_evaluated() -> None:
    a = np.eye(2, dtype=np.float32)
    with pytest.raises(UnsupportedError, match="geqp3: columns that are kept in front"):
        ffi("s", "geqp3", "(T[2,2], s32[2], T[2])", "", a, np.array([0, 1], np.int32))


@LETTERS
@pytest.mark.parametrize("uplo", "LU")
def test_eigenvectors_of_hermitian_matrices(letter: str, uplo: str) -> None:
    full = random(letter, 2, 4, 4)
    full = full + adjoint(full)
    # The other triangle must not be read.
    a = np.tril(full) if uplo == "L" else np.triu(full)
    name = "heevd" if letter in "cz" else "syevd"
    config = f"mode = {code('V')}, uplo = {code(uplo)}"
    vectors, values, info = ffi(letter, name, "(T[2,4,4], R[2,4], s32[2])", config, a)
    assert info.tolist() == [0, 0]
    assert np.allclose(full @ vectors, vectors * values[:, None], atol=tolerance(letter))
    assert (np.diff(values) >= 0).all()
    config = config.replace(code("V"), code("N"))
    _, alone, _ = ffi(letter, name, "(T[2,4,4], R[2,4], s32[2])", config, a)
    assert np.allclose(alone, values, atol=tolerance(letter))


@LETTERS
@pytest.mark.parametrize("name", ["gesdd", "gesvd"])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5)])
@pytest.mark.parametrize("mode", "AS")
def test_singular_values(letter: str, name: str, sizes: tuple[int, int], mode: str) -> None:
    rows, columns = sizes
    u_columns, vt_rows = sizes if mode == "A" else (3, 3)
    a = random(letter, 2, *sizes)
    declared = (
        f"(T[2,{rows},{columns}], R[2,3], T[2,{rows},{u_columns}], T[2,{vt_rows},{columns}],"
        " s32[2])"
    )
    _, values, u, vt, info = ffi(letter, name, declared, f"mode = {code(mode)}", a)
    assert info.tolist() == [0, 0]
    assert (np.diff(values) <= 0).all()
    product = (u[..., :3] * values[:, None]) @ vt[:, :3]
    assert np.allclose(product, a, atol=tolerance(letter))
    assert np.allclose(adjoint(u) @ u, np.eye(u_columns), atol=tolerance(letter))


def test_singular_values_alone_leave_vectors_zero() -> None:
    a = np.diag([3.0, 4]).astype(np.float32)
    declared = "(T[2,2], R[2], T[2,2], T[2,2], s32[])"
    _, values, u, vt, info = ffi("s", "gesdd", declared, f"mode = {code('N')}", a)
    assert values.tolist() == [4, 3]
    assert not u.any()
    assert not vt.any()
    assert info == 0


@LETTERS
def test_eigenvectors_of_any_matrices(letter: str) -> None:
    a = random(letter, 2, 5, 5)
    vectors = "C[2,5,5]".replace("C", "c64" if letter in "sc" else "c128")
    values = "T[2,5]" if letter in "cz" else "T[2,5], T[2,5]"
    declared = f"({values}, {vectors}, {vectors}, s32[2])"
    config = f"compute_left = {code('V')}, compute_right = {code('V')}"
    *parts, left, right, info = ffi(letter, "geev", declared, config, a)
    eigenvalues = parts[0] if letter in "cz" else parts[0] + 1j * parts[1]
    assert info.tolist() == [0, 0]
    assert np.allclose(a @ right, right * eigenvalues[:, None], atol=tolerance(letter))
    assert np.allclose(adjoint(left) @ a, eigenvalues[..., None] * adjoint(left), atol=3e-4)


def test_a_matrix_with_nan_has_no_eigenvalues() -> None:
    a = np.array([[np.nan, 0], [0, 1]], np.float32)
    config = f"compute_left = {code('N')}, compute_right = {code('V')}"
    declared = "(T[2], T[2], c64[2,2], c64[2,2], s32[])"
    assert ffi("s", "geev", declared, config, a)[-1] == -4


@LETTERS
@pytest.mark.parametrize("mode", "VN")
def test_schur_forms(letter: str, mode: str) -> None:
    a = random(letter, 2, 4, 4)
    values = "T[2,4]" if letter in "cz" else "T[2,4], T[2,4]"
    declared = f"(T[2,4,4], T[2,4,4], {values}, s32[2], s32[2])"
    config = f"mode = {code(mode)}, sort = {code('N')}"
    form, vectors, *_, selected, info = ffi(letter, "gees", declared, config, a)
    assert selected.tolist() == info.tolist() == [0, 0]
    assert not np.tril(form, -1 if letter in "cz" else -2).any()
    if mode == "V":
        assert np.allclose(vectors @ form @ adjoint(vectors), a, atol=tolerance(letter))
    else:
        assert not vectors.any()


def test_a_choice_of_eigenvalues_is_not_evaluated() -> None:
    config = f"mode = {code('V')}, sort = {code('S')}"
    declared = "(T[2,2], T[2,2], T[2], T[2], s32[], s32[])"
    with pytest.raises(UnsupportedError, match="gees: eigenvalues that a function selects"):
        ffi("s", "gees", declared, config, np.eye(2, dtype=np.float32))


def reflected(form: Any, tau: Any) -> Any:
    """Returns the product of the reflectors below the first subdiagonal."""
    size = form.shape[-1]
    q = np.eye(size, dtype=form.dtype)
    for column in range(size - 1):
        vector = form[:, column].copy()
        vector[: column + 1] = 0
        vector[column + 1] = 1
        q = q @ (np.eye(size) - tau[column] * np.outer(vector, vector.conj()))
    return q


@LETTERS
def test_hessenberg_forms(letter: str) -> None:
    a = random(letter, 4, 4)
    form, tau, info = ffi(
        letter, "gehrd", "(T[4,4], T[3], s32[])", "low = 1 : i32, high = 4 : i32", a
    )
    q = reflected(form, tau)
    assert info == 0
    assert np.allclose(q @ np.triu(form, -1) @ adjoint(q), a, atol=tolerance(letter))


@LETTERS
def test_tridiagonal_forms(letter: str) -> None:
    a = random(letter, 4, 4)
    a = a + adjoint(a)
    name = "hetrd" if letter in "cz" else "sytrd"
    declared = "(T[4,4], R[4], R[3], T[3], s32[])"
    form, d, e, tau, _ = ffi(letter, name, declared, f"uplo = {code('L')}", a)
    q = reflected(form, tau)
    middle = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    assert np.allclose(q @ middle @ adjoint(q), a, atol=tolerance(letter))


@LETTERS
@pytest.mark.parametrize("size", [1, 2, 5])
def test_tridiagonal_systems(letter: str, size: int) -> None:
    lower, upper = (random(letter, 2, size, seed=seed) for seed in (1, 2))
    diagonal = random(letter, 2, size, seed=3) + NUMPY[letter](4)
    b = random(letter, 2, size, 3, seed=4)
    row = f"T[2,{size}]"
    declared = f"({row}, {row}, {row}, T[2,{size},3], s32[2])"
    *_, x, info = ffi(letter, "gtsv", declared, "", lower, diagonal, upper, b)
    assert info.tolist() == [0, 0]
    for n in range(2):
        a = np.diag(diagonal[n]) + np.diag(lower[n, 1:], -1) + np.diag(upper[n, :-1], 1)
        assert np.allclose(a @ x[n], b[n], atol=tolerance(letter))


@LETTERS
@settings(derandomize=True, deadline=None, max_examples=20)
@given(
    is_left=st.booleans(),
    is_lower=st.booleans(),
    transposed=st.sampled_from("NTC"),
    is_unit=st.booleans(),
)
def test_triangular_systems(
    letter: str, *, is_left: bool, is_lower: bool, transposed: str, is_unit: bool
) -> None:
    a = random(letter, 2, 4, 4) + 3 * np.eye(4, dtype=NUMPY[letter])
    b = random(letter, 2, 4, 3, seed=1) if is_left else random(letter, 2, 3, 4, seed=1)
    config = ", ".join(
        f"{name} = {code(value)}"
        for name, value in {
            "diag": "NU"[is_unit],
            "side": "RL"[is_left],
            "trans_x": transposed,
            "uplo": "UL"[is_lower],
        }.items()
    )
    x = ffi(letter, "trsm", f"T[{','.join(map(str, b.shape))}]", config, a, b)
    triangle = np.tril(a) if is_lower else np.triu(a)
    if is_unit:
        triangle[:, range(4), range(4)] = 1
    if transposed != "N":
        triangle = np.swapaxes(triangle, -1, -2)
    if transposed == "C":
        triangle = np.conj(triangle)
    product = triangle @ x if is_left else x @ triangle
    assert np.allclose(product, b, atol=tolerance(letter))


def old(name: str, operands: list[Any], results: str) -> Any:
    """Calls a routine in the older spelling, in f32 if it is an array and s32 if a number."""
    lines, names = [], []
    arrays: list[Any] = []
    for number, operand in enumerate(operands):
        names.append(f"p{number}")
        if isinstance(operand, int | str):
            kind = "s32" if isinstance(operand, int) else "u8"
            value = operand if isinstance(operand, int) else ord(operand)
            lines.append(f"  p{number} = {kind}[] constant({value})")
        else:
            kind = "s32" if operand.dtype == np.int32 else "f32"
            sizes = ",".join(map(str, operand.shape))
            lines.append(f"  p{number} = {kind}[{sizes}] parameter({len(arrays)})")
            arrays.append(operand)
    lines.append(
        f'  ROOT r = {results} custom-call({", ".join(names)}), custom_call_target="{name}"'
    )
    return evaluated(entry("\n".join(lines)), *arrays)


A = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32)


def test_the_older_spelling_has_parameters_as_operands() -> None:
    factor, info = old("lapack_spotrf", [1, 1, 3, A], "(f32[3,3], s32[])")
    assert np.allclose(np.tril(factor) @ np.tril(factor).T, A, atol=1e-5)
    assert info == 0
    factors, pivots, info = old("lapack_sgetrf", [1, 3, 3, A], "(f32[3,3], s32[3], s32[])")
    lower = np.tril(factors, -1) + np.eye(3)
    assert np.allclose(lower @ np.triu(factors), A, atol=1e-5)
    assert pivots.tolist() == [1, 2, 3]
    one = np.ones((), np.float32)
    b = np.arange(6, dtype=np.float32).reshape(3, 2)
    x = old("blas_strsm", [1, 1, 0, 0, 3, 2, 1, one, A, b], "f32[3,2]")
    assert np.allclose(np.tril(A) @ x, b, atol=1e-5)


def test_the_older_spelling_has_room_for_work_among_its_results() -> None:
    declared = "(f32[3,3], f32[3], s32[], f32[96])"
    factors, tau, _, work = old("lapack_sgeqrf", [1, 3, 3, 96, A], declared)
    assert not work.any()
    q, *_ = old("lapack_sorgqr", [1, 3, 3, 3, 96, factors, tau], "(f32[3,3], s32[], f32[96])")
    assert np.allclose(q @ np.triu(factors), A, atol=1e-5)
    vectors, values, *_ = old(
        "lapack_ssyevd", [1, 1, 3, A], "(f32[3,3], f32[3], s32[], f32[9], s32[9])"
    )
    assert np.allclose(A @ vectors, vectors * values, atol=1e-5)
    declared = "(f32[3,3], f32[3], f32[3,3], f32[3,3], s32[], s32[24], f32[99])"
    _, values, u, vt, *_ = old("lapack_sgesdd", [1, 1, 1, 3, 3, 99, A], declared)
    assert np.allclose((u * values) @ vt, A, atol=1e-5)
    declared = "(f32[3,3], f32[3,3], f32[3,3], f32[3], f32[3], c64[3,3], c64[3,3], s32[])"
    *_, real, imaginary, _, right, _ = old("lapack_sgeev", [1, 3, "V", "V", A], declared)
    assert np.allclose(A @ right, right * (real + 1j * imaginary), atol=1e-5)
    declared = "(f32[3,3], f32[3], f32[3], f32[3,3], s32[], s32[])"
    form, _, _, vectors, *_ = old("lapack_sgees", [1, 3, "V", "N", A], declared)
    assert np.allclose(vectors @ form @ vectors.T, A, atol=1e-5)
    declared = "(f32[3,3], f32[2], s32[], f32[96])"
    form, tau, *_ = old("lapack_sgehrd", [3, 1, 3, 3, 1, 96, A], declared)
    q = reflected(form, tau)
    assert np.allclose(q @ np.triu(form, -1) @ q.T, A, atol=1e-5)
    declared = "(f32[3,3], f32[3], f32[2], f32[2], s32[], f32[96])"
    form, d, e, tau, *_ = old("lapack_ssytrd", [3, 1, 3, 1, 96, A], declared)
    q = reflected(form, tau)
    middle = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    assert np.allclose(q @ middle @ q.T, A, atol=1e-5)


def test_arrays_without_elements_give_zeros() -> None:
    empty = np.zeros((0, 3, 3), np.float32)
    factor, info = ffi("s", "potrf", "(T[0,3,3], s32[0])", f"uplo = {code('L')}", empty)
    assert factor.shape == (0, 3, 3)
    assert info.shape == (0,)


@pytest.mark.parametrize(
    ("declared", "config", "message"),
    [
        ("(T[3,3], s32[])", "", "lapack_spotrf_ffi: uplo is not given"),
        ("(T[3,3], s32[])", "uplo = 78 : ui8", "uplo is 78, the code of one of L, U is wanted"),
        ("T[3,3]", "uplo = 76 : ui8", "1 results are declared, a, info are wanted"),
    ],
)
def test_what_does_not_fit_is_refused(declared: str, config: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        ffi("s", "potrf", declared, config, A)


def test_operands_must_be_of_the_type_that_the_target_names() -> None:
    body = """
  a = f64[3,3] parameter(0)
  ROOT r = (f64[3,3], s32[]) custom-call(a), custom_call_target="lapack_spotrf_ffi",
    backend_config={uplo = 76 : ui8}
"""
    with pytest.raises(EvaluationError, match=r"a is float64\[3, 3\], float32 is wanted"):
        evaluated(entry(body), A.astype(np.float64))


def test_a_call_out_of_a_module_of_jax() -> None:
    text = """HloModule jit_triangular_solve
ENTRY main {
  a = f32[2,2]{0,1} parameter(0)
  b = f32[2,1]{0,1} parameter(1)
  ROOT triangular_solve.1 = f32[2,1]{0,1} custom-call(a, b),
    custom_call_target="lapack_strsm_ffi",
    operand_layout_constraints={f32[2,2]{0,1}, f32[2,1]{0,1}},
    output_to_operand_aliasing={{}: (1, {})}, api_version=API_VERSION_TYPED_FFI,
    frontend_attributes={num_batch_dims="0"},
    backend_config={diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}
}
"""
    a = np.array([[2, 99], [1, 4]], np.float32)
    assert evaluated(text, a, np.array([[2], [9]], np.float32)).tolist() == [[1], [2]]
