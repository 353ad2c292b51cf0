"""Sums of products of matrices, in arithmetic at least as wide as the element types involved."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from hlotool.errors import UnsupportedError
from hlotool.ir.element_type import C64, C128, F32, F64, PRED, S64, U64, ElementType
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.numerics.widths import converted, integer_limits

if TYPE_CHECKING:
    import numpy

    from hlotool.ir.frame import Array

_EXACT_IN_F64 = 1 << 53
_COMPUTING_TYPES = {
    "bool": PRED,
    "int64": S64,
    "uint64": U64,
    "float32": F32,
    "float64": F64,
    "complex64": C64,
    "complex128": C128,
}
PACKED = "packed_nibble"
"""The precision of integers that hold two signed numbers of 4 bits each."""


def computing_type(operands: Sequence[Shape], result: Shape) -> numpy.dtype[Any]:
    """Returns the numpy type that products of these operands are made and summed in.

    Integers have 64 bits. Floats have the width of the widest type involved, f32 at least.
    """
    given = [_element_type(shape) for shape in operands]
    wanted = _element_type(result)
    if all(one is PRED for one in (*given, wanted)):
        return np.dtype(np.bool_)
    if all(one.is_integer or one is PRED for one in given):
        is_signed = any(one.is_signed for one in given)
        return np.dtype(np.int64 if is_signed else np.uint64)
    is_double = any(not one.is_integer and one.component.bits == 64 for one in (*given, wanted))
    if any(one.is_complex for one in (*given, wanted)):
        return np.dtype(np.complex128 if is_double else np.complex64)
    return np.dtype(np.float64 if is_double else np.float32)


def _element_type(shape: Shape) -> ElementType:
    assert isinstance(shape, ArrayShape)
    return shape.element_type


def without_integers(lhs: Array, rhs: Array, terms: int) -> tuple[Array, Array]:
    """Returns both arrays in f64 where sums of `terms` products are exact there, else as given.

    All products and partial sums are then integers of at most 53 bits, in any order of adding,
    and f64 has the fast matrix product that integers lack.
    """
    if lhs.dtype.kind not in "iu" or not lhs.size or not rhs.size:
        return lhs, rhs
    if _magnitude(lhs) * _magnitude(rhs) * terms >= _EXACT_IN_F64:
        return lhs, rhs
    return lhs.astype(np.float64), rhs.astype(np.float64)


def _magnitude(array: Array) -> int:
    return max(abs(int(array.min())), abs(int(array.max())))


def matrix_product(lhs: Array, rhs: Array) -> Array:
    """Returns [batch, rows, columns] for lhs [batch, rows, n] and rhs [batch, n, columns].

    Both are of one computing type, and so is the result. How the arrays lie in memory does not
    count: libraries add in another order where a matrix is transposed.
    """
    lhs, rhs = np.ascontiguousarray(lhs), np.ascontiguousarray(rhs)
    if lhs.dtype.kind == "c":
        return _complex_product(lhs, rhs)
    one, other = without_integers(lhs, rhs, lhs.shape[-1])
    product: Array = np.matmul(one, other)
    return product.astype(lhs.dtype, copy=False)


def _complex_product(lhs: Array, rhs: Array) -> Array:
    # BLAS multiplies complex sums by 1+0i, which makes NaN of infinities.
    product = np.empty((*lhs.shape[:-1], rhs.shape[-1]), lhs.dtype)
    product.real = lhs.real @ rhs.real - lhs.imag @ rhs.imag
    product.imag = lhs.real @ rhs.imag + lhs.imag @ rhs.real
    return product


def product_of_paired(lhs: Array, rhs: Array, batch: int, contracting: int) -> Array:
    """Returns the product [batch, rows, columns] of [batch, rows, n] and [batch, n, columns].

    `batch` and `contracting` say for how many dimensions batch and n stand; rows and columns
    stand for all others.
    """
    batches, rows = lhs.shape[:batch], lhs.shape[batch : lhs.ndim - contracting]
    terms, columns = rhs.shape[batch : batch + contracting], rhs.shape[batch + contracting :]
    product = matrix_product(
        lhs.reshape(prod(batches), prod(rows), prod(terms)),
        rhs.reshape(prod(batches), prod(terms), prod(columns)),
    )
    return product.reshape((*batches, *rows, *columns))


def stored_sums(sums: Array, result: Shape, *, saturate: bool = False) -> Array:
    """Returns sums of a computing type in the element type of `result`.

    Floats are rounded; integers lose their high bits, or stop at both ends with `saturate`.
    """
    element_type = _element_type(result)
    if saturate and element_type.is_integer:
        sums = _clipped(sums, element_type)
    return converted(sums, _COMPUTING_TYPES[sums.dtype.name], element_type)


def _clipped(sums: Array, element_type: ElementType) -> Array:
    least, most = integer_limits(element_type)
    held = np.iinfo(sums.dtype)
    low, high = max(least, int(held.min)), min(most, int(held.max))
    return np.clip(sums, sums.dtype.type(low), sums.dtype.type(high))


def unpacked(
    operands: Sequence[Array], precisions: Sequence[str], opcode: str
) -> list[tuple[Array, ...]]:
    """Returns the operands once, or their low and then their high nibbles where they are packed.

    Operands are of a computing type; sums of products of all that is returned add up.
    """
    if PACKED not in precisions:
        return [tuple(operands)]
    if set(precisions) != {PACKED} or any(one.dtype.kind not in "iu" for one in operands):
        raise UnsupportedError(
            f"{opcode}: operand_precision {PACKED} can be evaluated for integers, and for both"
            " operands at once"
        )
    return [
        tuple(((one.astype(np.int64) >> shift & 15) ^ 8) - 8 for one in operands)
        for shift in (0, 4)
    ]
