"""Index vectors of gathers and scatters in one form: a row each, with a number a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.ir.element_type import S32, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.index_vectors import DimensionMap
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice
from hlotool.ops.shape_changing import Concatenate
from hlotool.rewriting.builder import Builder, array_shape


class IndexRows:
    """The index vectors as the rows of a matrix.

    `batch` are the sizes of the dimensions that were flattened into rows, `dimensions` says
    which dimension of the operand each column counts, batching dimensions included.
    """

    def __init__(
        self,
        indices: Instruction,
        vector_dimension: int,
        dimension_map: DimensionMap,
        build: Builder,
    ) -> None:
        vectors = with_last_vectors(build, wide_indices(build, indices), vector_dimension)
        vectors = with_batching_columns(build, vectors, dimension_map, vector_dimension)
        *batch, length = array_shape(vectors).dimensions
        self.batch = batch
        self.count = prod(batch)
        self.dimensions = (*dimension_map.batching, *dimension_map.index_map)
        self.rows = build.reshape(vectors, [self.count, length])

    def starts(
        self, build: Builder, rows: Instruction, number: Instruction, rank: int
    ) -> list[Instruction]:
        """Returns for each dimension of the operand where the window of a row starts."""
        element_type = array_shape(rows).element_type
        length = len(self.dimensions)
        zero = build.constant(0, element_type)
        row = sliced(build, rows, [number, build.constant(0, S32)], [1, length])
        starts = [zero] * rank
        for column, dimension in enumerate(self.dimensions):
            one = build.slice(row, [0, column], [1, column + 1])
            starts[dimension] = build.reshape(one, [])
        return starts


def wide_indices(build: Builder, indices: Instruction) -> Instruction:
    """Returns indices in a type that holds the sizes that they are compared with."""
    element_type = array_shape(indices).element_type
    return build.convert(indices, S32) if element_type.bits < S32.bits else indices


def with_last_vectors(build: Builder, indices: Instruction, vector_dimension: int) -> Instruction:
    """Returns the array of indices with the vectors along its last dimension."""
    shape = array_shape(indices)
    if vector_dimension == shape.rank:
        return build.reshape(indices, [*shape.dimensions, 1])
    order = [d for d in range(shape.rank) if d != vector_dimension]
    return build.transpose(indices, [*order, vector_dimension])


def with_batching_columns(
    build: Builder, vectors: Instruction, dimension_map: DimensionMap, vector_dimension: int
) -> Instruction:
    """Returns vectors with a number in front for each batching dimension: its own index."""
    shape = array_shape(vectors)
    if not dimension_map.batching:
        return vectors
    column = ArrayShape(shape.element_type, [*shape.dimensions[:-1], 1])
    columns = [
        build.iota(along - int(along > vector_dimension), column)
        for along in dimension_map.indices_batching
    ]
    if not shape.dimensions[-1]:
        return build.add(Concatenate(shape.rank - 1), *columns)
    return build.add(Concatenate(shape.rank - 1), *columns, vectors)


def sliced(
    build: Builder, operand: Instruction, starts: Sequence[Instruction], sizes: Sequence[int]
) -> Instruction:
    """Returns the part of an array that starts at scalars."""
    return build.add(DynamicSlice(tuple(sizes)), operand, *starts)


def updated(
    build: Builder, operand: Instruction, update: Instruction, starts: Sequence[Instruction]
) -> Instruction:
    """Returns an array with a part, that starts at scalars, replaced."""
    return build.add(DynamicUpdateSlice(), operand, update, *starts)


def leading_starts(build: Builder, number: Instruction, rank: int) -> list[Instruction]:
    """Returns starts that are 0 but for the first, which is an s32 number."""
    return [number, *[build.constant(0, S32)] * (rank - 1)]


def holds(element_type: ElementType, size: int) -> bool:
    """Whether integers of a type hold every index of a dimension."""
    bits = element_type.bits - element_type.is_signed
    return size <= 1 << bits
