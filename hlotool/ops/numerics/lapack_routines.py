"""Routines of LAPACK on one matrix each, with parameters and results as XLA names them.

A routine takes the letter of its element type, the parameters of the call, and arrays by name;
it returns its results by name. Parameters are codes of letters (`uplo`, 76 for L) or, in the
older spelling, flags (`lower`). What LAPACK leaves of its operands stands in results that reuse
them: the triangle that a factor does not take, reflectors below a diagonal. Signs of vectors,
and the order of equal values, are left to the implementation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np
from hlotool.ir.lazy import scipy_linalg

Parameters = Mapping[str, Any]
Results = dict[str, Any]

_NOT_FINITE = -4
"""The `info` of what is not tried because a number is infinite or no number."""


def potrf(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns the Cholesky factor in the triangle named; the other one stays as it is.

    `info` is the order of the first leading minor that is not positive.
    """
    _check_square("potrf", a)
    factor, info = _lapack(letter, "potrf")(a, lower=_is_lower(parameters), clean=False)
    return {"a": factor, "info": _s32(info)}


def getrf(letter: str, _: Parameters, a: Array) -> Results:
    """Returns L below the diagonal and U above, and the row that each row changed places with.

    Rows are counted from 1. `info` is the first zero on the diagonal of U.
    """
    factors, pivots, info = _lapack(letter, "getrf")(a)
    return {"a": factors, "pivots": _s32(pivots + 1), "info": _s32(info)}


def permutation(pivots: Array, rows: int) -> Array:
    """Returns the order of rows after each, from 0, has changed places with its pivot, from 0.

    A pivot that is no row moves nothing.
    """
    order = np.arange(rows, dtype=np.int32)
    for row, pivot in enumerate(pivots):
        if 0 <= pivot < rows:
            order[[row, pivot]] = order[[pivot, row]]
    return order


def geqrf(letter: str, _: Parameters, a: Array) -> Results:
    """Returns R, below it the reflectors that make up Q, and their factors `tau`."""
    factors, tau, _, info = _lapack(letter, "geqrf")(a)
    return {"a": factors, "tau": tau, "info": _s32(info)}


def geqp3(letter: str, _: Parameters, a: Array, pivots: Array) -> Results:
    """Returns the same as `geqrf` of the columns in the order `pivots`, counted from 1.

    Only columns that are free to move are supported, those with 0 in `pivots`.
    """
    if pivots.any():
        raise UnsupportedError("geqp3: columns that are kept in front are not evaluated")
    factors, order, tau, _, info = _lapack(letter, "geqp3")(a)
    return {"a": factors, "pivots": _s32(order), "tau": tau, "info": _s32(info)}


def orgqr(letter: str, _: Parameters, a: Array, tau: Array) -> Results:
    """Returns the first columns of the product of reflectors, as many as `a` has."""
    name = "ungqr" if letter in "cz" else "orgqr"
    product, _, info = _lapack(letter, name)(a, tau)
    return {"a": product, "info": _s32(info)}


def syevd(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns eigenvectors of a Hermitian matrix in columns and eigenvalues in ascending order."""
    _check_square("syevd", a)
    wants_vectors = _code(parameters, "mode", "NV", default="V") == "V"
    name = "heevd" if letter in "cz" else "syevd"
    values, vectors, info = _lapack(letter, name)(
        a, compute_v=wants_vectors, lower=_is_lower(parameters)
    )
    return {"a": vectors if wants_vectors else a, "w": values, "info": _s32(info)}


def gesdd(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns singular values in descending order, `u` and `vt` as far as they are wanted.

    What LAPACK leaves in `a` means nothing; here it stays as it is.
    """
    return _singular(_lapack(letter, "gesdd"), parameters, a)


def gesvd(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns the same as `gesdd`, by another algorithm."""
    return _singular(_lapack(letter, "gesvd"), parameters, a)


def _singular(routine: Any, parameters: Parameters, a: Array) -> Results:
    mode = "A" if parameters.get("full_matrices") else "S"
    mode = mode if parameters.get("compute_uv", True) else "N"
    mode = _code(parameters, "mode", "ASN", default=mode)
    u, values, vt, info = routine(a, compute_uv=mode != "N", full_matrices=mode == "A")
    found = {"a": a, "s": values, "info": _s32(info)}
    return found if mode == "N" else found | {"u": u, "vt": vt}


def geev(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns eigenvalues, and left and right eigenvectors in columns where they are wanted.

    Vectors are complex also for a matrix of reals. A matrix with an infinity or NaN is not
    tried.
    """
    _check_square("geev", a)
    sides = [_code(parameters, f"compute_{side}", "NV") == "V" for side in ("left", "right")]
    n = len(a)
    none = np.zeros((n, n), np.result_type(a.dtype, np.complex64))
    if not np.isfinite(a).all():
        values = np.zeros(n, a.dtype)
        found = {"w": values, "wr": values, "wi": values, "left": none, "right": none}
        return found | {"info": _s32(_NOT_FINITE)}
    routine = _lapack(letter, "geev")
    *values, left, right, info = routine(a, compute_vl=sides[0], compute_vr=sides[1])
    if letter in "sd":
        left, right = (_unpacked(vectors, values[1]) for vectors in (left, right))
    names = ("w",) if letter in "cz" else ("wr", "wi")
    found = dict(zip(names, values, strict=True))
    found["left"] = left if sides[0] else none
    found["right"] = right if sides[1] else none
    return found | {"info": _s32(info)}


def _unpacked(vectors: Array, imaginary: Array) -> Array:
    """Returns complex vectors.

    Of two that are conjugates one column has the real parts, the next one the imaginary ones.
    """
    is_first = imaginary > 0
    is_second = imaginary < 0
    following = np.roll(vectors, -1, axis=1)
    before = np.roll(vectors, 1, axis=1)
    real = np.where(is_second, before, vectors)
    imaginary_parts = np.where(is_first, following, np.where(is_second, -vectors, 0))
    return np.asarray(real + 1j * imaginary_parts).astype(
        np.result_type(vectors.dtype, np.complex64)
    )


def gees(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns the Schur form, the vectors that lead to it, and the eigenvalues, not sorted."""
    _check_square("gees", a)
    wants_vectors = _code(parameters, "mode", "NV") == "V"
    if _code(parameters, "sort", "NS") == "S":
        raise UnsupportedError("gees: eigenvalues that a function selects are not evaluated")
    form, selected, *values, vectors, _, info = _lapack(letter, "gees")(
        lambda *_: False, a, compute_v=wants_vectors, sort_t=False
    )
    names = ("w",) if letter in "cz" else ("wr", "wi")
    found = dict(zip(names, values, strict=True))
    found |= {"a": form, "selected": _s32(selected), "info": _s32(info)}
    return found | {"vectors": vectors} if wants_vectors else found


def gehrd(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns the Hessenberg form, below it the reflectors that led to it, and their `tau`."""
    _check_square("gehrd", a)
    low, high = parameters["low"] - 1, parameters["high"] - 1
    form, tau, info = _lapack(letter, "gehrd")(a, lo=low, hi=high)
    return {"a": form, "tau": tau, "info": _s32(info)}


def sytrd(letter: str, parameters: Parameters, a: Array) -> Results:
    """Returns the reflectors that make a Hermitian matrix tridiagonal, and its two diagonals."""
    _check_square("sytrd", a)
    name = "hetrd" if letter in "cz" else "sytrd"
    form, d, e, tau, info = _lapack(letter, name)(a, lower=_is_lower(parameters))
    return {"a": form, "d": d, "e": e, "tau": tau, "info": _s32(info)}


def gtsv(letter: str, _: Parameters, dl: Array, d: Array, du: Array, b: Array) -> Results:
    """Returns x in `b` for a tridiagonal matrix of three diagonals, the factor of it in these.

    The first element of `dl` and the last of `du` lie outside of the matrix.
    """
    if len(d) == 1:
        info = _s32(1 if d[0] == 0 else 0)
        return {"dl": dl, "d": d, "du": du, "b": b if d[0] == 0 else b / d[0], "info": info}
    second, diagonal, upper, x, info = _lapack(letter, "gtsv")(dl[1:], d, du[:-1], b)
    lower = np.array(dl)
    lower[1:] = second
    return {
        "dl": lower,
        "d": diagonal,
        "du": np.append(upper, du[-1:]),
        "b": x,
        "info": _s32(info),
    }


def trsm(letter: str, parameters: Parameters, a: Array, b: Array) -> Results:
    """Returns x with op(a)·x = alpha·b, or x·op(a) = alpha·b, for a triangular a."""
    is_left = parameters["left"] if "left" in parameters else (
        _code(parameters, "side", "LR") == "L"
    )  # fmt: skip
    transposed = parameters["transposed"] if "transposed" in parameters else (
        "NTC".index(_code(parameters, "trans_x", "NTC"))
    )  # fmt: skip
    is_unit = parameters["unit"] if "unit" in parameters else (
        _code(parameters, "diag", "NU") == "U"
    )  # fmt: skip
    x = getattr(scipy_linalg.blas, letter + "trsm")(
        parameters.get("alpha", 1),
        a,
        b,
        side=not is_left,
        lower=_is_lower(parameters),
        trans_a=transposed,
        diag=is_unit,
    )
    return {"b": x}


def _check_square(routine: str, a: Array) -> None:
    rows, columns = a.shape
    if rows != columns:
        raise EvaluationError(f"{routine}: a square matrix is wanted, {rows} x {columns} given")


def _lapack(letter: str, name: str) -> Any:
    return getattr(scipy_linalg.lapack, letter + name)


def _is_lower(parameters: Parameters) -> bool:
    if "lower" in parameters:
        return bool(parameters["lower"])
    return _code(parameters, "uplo", "LU") == "L"


def _code(parameters: Parameters, name: str, letters: str, default: str = "") -> str:
    """Returns a parameter that is the code of a letter; raises `ValueError` for another one."""
    if default and name not in parameters:
        return default
    code = parameters[name]
    if not isinstance(code, int) or code < 0 or chr(code) not in letters:
        raise ValueError(f"{name} is {code}, the code of one of {', '.join(letters)} is wanted")
    return chr(code)


def _s32(value: Any) -> Array:
    return np.asarray(value, np.int32)
