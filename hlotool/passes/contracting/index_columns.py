"""Index vectors of gathers and scatters as rows of a matrix, and single ones as scalars."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.rewriting.builder import Builder, array_shape


def index_batch(indices: Instruction, vector_dimension: int) -> list[int]:
    """Returns the sizes of all dimensions of indices but the one that runs through a vector."""
    sizes = array_shape(indices).dimensions
    return [size for d, size in enumerate(sizes) if d != vector_dimension]


def index_rows(build: Builder, indices: Instruction, vector_dimension: int) -> Instruction:
    """Returns indices with a vector in each row, in the order in which they stood."""
    sizes = array_shape(indices).dimensions
    batch = index_batch(indices, vector_dimension)
    length = sizes[vector_dimension] if vector_dimension < len(sizes) else 1
    order = [d for d in range(len(sizes)) if d != vector_dimension]
    if vector_dimension < len(sizes):
        order.append(vector_dimension)
    return build.reshape(build.transpose(indices, order), [prod(batch), length])


def index_scalars(
    build: Builder, indices: Instruction, vector_dimension: int, index_map: Sequence[int], rank: int
) -> list[Instruction]:
    """Returns the only index vector, a scalar for each of `rank` dimensions, 0 where unnamed."""
    row = index_rows(build, indices, vector_dimension)
    element_type = array_shape(indices).element_type if index_map else S32
    zero = build.constant(0, element_type)
    starts = [zero] * rank
    for place, dimension in enumerate(index_map):
        number = row if len(index_map) == 1 else build.slice(row, (0, place), (1, place + 1))
        starts[dimension] = build.reshape(number, ())
    return starts


def with_index_map_first(index_map: Sequence[int], rank: int) -> tuple[int, ...]:
    """Returns the dimensions of an operand, those that indices name first, in their order."""
    return (*index_map, *(d for d in range(rank) if d not in index_map))


def inverse(order: Sequence[int]) -> list[int]:
    """Returns the permutation that takes another one back."""
    return [order.index(dimension) for dimension in range(len(order))]


def interleaved(rank: int, inner: Sequence[int], first_inner: int) -> list[int]:
    """Returns an order of dimensions: at `inner` those from `first_inner` on, else those before."""
    numbers = iter(range(first_inner, rank))
    outer = iter(range(first_inner))
    return [next(numbers if place in inner else outer) for place in range(rank)]
