"""Batches of matrices with one batch dimension, in terms that loops step through."""

from __future__ import annotations

from math import prod

from hlotool.ir.element_type import S32, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


def are_inexact(*shapes: ArrayShape) -> bool:
    """Whether arrays have real or complex elements, of which there are roots and quotients."""
    return all(shape.element_type.is_float or shape.element_type.is_complex for shape in shapes)


def one_batch(build: Builder, matrices: Instruction, element_type: ElementType) -> Term:
    """Returns matrices with their batch dimensions flattened into one, in another type."""
    *batch, rows, columns = array_shape(matrices).dimensions
    flat = build.reshape(matrices, [prod(batch), rows, columns])
    return Term(build, flat).converted(element_type)


def one_batch_of_vectors(build: Builder, vectors: Instruction, element_type: ElementType) -> Term:
    """Returns vectors with their batch dimensions flattened into one, in another type."""
    *batch, length = array_shape(vectors).dimensions
    return Term(build, build.reshape(vectors, [prod(batch), length])).converted(element_type)


def as_declared(result: Term, shape: ArrayShape) -> Instruction:
    """Returns a result in the element type and with the batch dimensions of a shape."""
    return result.converted(shape.element_type).reshaped(shape.dimensions).instruction


def swapped(matrices: Term) -> Term:
    """Returns each matrix transposed."""
    return matrices.transposed([0, 2, 1])


def row_numbers(matrices: Term) -> Term:
    """Returns at each element the number of its row, as s32."""
    return _numbers(matrices, 1)


def column_numbers(matrices: Term) -> Term:
    """Returns at each element the number of its column, as s32."""
    return _numbers(matrices, 2)


def _numbers(matrices: Term, dimension: int) -> Term:
    shape = ArrayShape(S32, matrices.shape.dimensions)
    return matrices.of(matrices.build.iota(dimension, shape))


def row(matrices: Term, number: Term) -> Term:
    """Returns one row of each matrix."""
    batch, _, columns = matrices.shape.dimensions
    return _part(matrices, [None, number, None], [batch, 1, columns])


def column(matrices: Term, number: Term) -> Term:
    """Returns one column of each matrix."""
    batch, rows, _ = matrices.shape.dimensions
    return _part(matrices, [None, None, number], [batch, rows, 1])


def element(matrices: Term, row_number: Term | None, column_number: Term | None) -> Term:
    """Returns one element of each matrix; `None` stands for the first row or column."""
    batch = matrices.shape.dimensions[0]
    return _part(matrices, [None, row_number, column_number], [batch, 1, 1])


def with_row(matrices: Term, number: Term, new: Term) -> Term:
    """Returns the matrices with one row replaced."""
    return _replaced(matrices, new, [None, number, None])


def with_column(matrices: Term, number: Term, new: Term) -> Term:
    """Returns the matrices with one column replaced."""
    return _replaced(matrices, new, [None, None, number])


def spread(small: Term, like: Term) -> Term:
    """Returns an array repeated along the dimensions in which it has one element."""
    pairs = zip(small.shape.dimensions, like.shape.dimensions, strict=True)
    stretched = [d for d, (ours, theirs) in enumerate(pairs) if ours != theirs]
    return small.spread_along(stretched, like.shape) if stretched else small


def _part(matrices: Term, places: list[Term | None], sizes: list[int]) -> Term:
    starts = _starts(matrices.build, places)
    return matrices.of(matrices.build.dynamic_slice(matrices.instruction, starts, sizes))


def _replaced(matrices: Term, new: Term, places: list[Term | None]) -> Term:
    starts = _starts(matrices.build, places)
    build, old = matrices.build, matrices.instruction
    return matrices.of(build.dynamic_update_slice(old, new.instruction, starts))


def _starts(build: Builder, places: list[Term | None]) -> list[Instruction]:
    zero = build.constant(0, S32)
    return [zero if place is None else place.instruction for place in places]
