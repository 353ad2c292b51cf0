"""Index vectors of gathers and scatters in one form: a row each, with a number a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.ir.element_type import S32, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.index_vectors import DimensionMap
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
        first = leading_starts(build, number, 2)
        row = build.dynamic_slice(rows, first, [1, len(self.dimensions)])
        return _starts_of(build, row, self.dimensions, rank)


def index_batch(indices: Instruction, vector_dimension: int) -> list[int]:
    """Returns the sizes of all dimensions of indices but the one that runs through a vector."""
    sizes = array_shape(indices).dimensions
    return [size for d, size in enumerate(sizes) if d != vector_dimension]


def index_rows(build: Builder, indices: Instruction, vector_dimension: int) -> Instruction:
    """Returns indices with a vector in each row, in the order in which they stood."""
    count, length = prod(index_batch(indices, vector_dimension)), 1
    if vector_dimension < array_shape(indices).rank:
        indices = with_last_vectors(build, indices, vector_dimension)
        length = array_shape(indices).dimensions[-1]
    return build.reshape(indices, [count, length])


def only_starts(
    build: Builder, indices: Instruction, vector_dimension: int, index_map: Sequence[int], rank: int
) -> list[Instruction]:
    """Returns for each dimension of the operand where the only window starts."""
    return _starts_of(build, index_rows(build, indices, vector_dimension), index_map, rank)


def _starts_of(
    build: Builder, row: Instruction, index_map: Sequence[int], rank: int
) -> list[Instruction]:
    """Returns the numbers of one row as scalars, 0 for dimensions that none stands for."""
    starts = [build.constant(0, array_shape(row).element_type)] * rank
    for column, dimension in enumerate(index_map):
        number = row if len(index_map) == 1 else build.slice(row, (0, column), (1, column + 1))
        starts[dimension] = build.reshape(number, ())
    return starts


def with_index_map_first(index_map: Sequence[int], rank: int) -> tuple[int, ...]:
    """Returns the dimensions of an operand, those that indices name first, in their order."""
    return (*index_map, *(d for d in range(rank) if d not in index_map))


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


def leading_starts(build: Builder, number: Instruction, rank: int) -> list[Instruction]:
    """Returns starts that are 0 but for the first, which is an s32 number."""
    return [number, *[build.constant(0, S32)] * (rank - 1)]


def holds(element_type: ElementType, size: int) -> bool:
    """Whether integers of a type hold every index of a dimension."""
    bits = element_type.bits - element_type.is_signed
    return size <= 1 << bits
