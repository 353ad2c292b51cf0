"""How gather and scatter read index vectors, and what their numbers stand for."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.attribute import INTEGERS
from hlotool.ir.frame import Array
from hlotool.ir.shape import UNBOUNDED, ArrayShape
from hlotool.ops.numerics.gathering import window_starts
from hlotool.ops.shape_checks import (
    INTEGER_KINDS,
    check_dimension,
    check_dimensions,
    check_kind,
    check_length,
    same_size,
)


class IndexVectors:
    """The array of index vectors of a gather or scatter, taken apart.

    `batch` has size and dynamic flag of each dimension but the one that runs through a vector;
    `length` is the number of indices in a vector, `UNBOUNDED` where it is not known.
    """

    __slots__ = ("batch", "length", "shape", "vector_dimension")

    def __init__(self, shape: ArrayShape, vector_dimension: int, opcode: str) -> None:
        check_kind(shape, INTEGER_KINDS, f"{opcode}: the array of indices")
        # Behind the last dimension it means that each index is a vector of its own.
        check_dimension(vector_dimension, shape.rank + 1, f"{opcode}: index_vector_dim")
        pairs = list(zip(shape.dimensions, shape.dynamic_flags(), strict=True))
        self.shape = shape
        self.vector_dimension = vector_dimension
        self.length = 1
        if vector_dimension < shape.rank:
            self.length = pairs.pop(vector_dimension)[0]
        self.batch = pairs


class DimensionMap:
    """How a gather or scatter maps dimensions of its operand; with names as in its attributes.

    `dropped` are dimensions of the operand where a window has one element and no dimension,
    `batching` those which go along with dimensions `indices_batching` of the indices, and
    `index_map` those that the numbers of an index vector stand for.
    """

    __slots__ = ("batching", "dropped", "index_map", "indices_batching", "names", "opcode")

    def __init__(
        self,
        opcode: str,
        names: tuple[str, str, str, str],
        lists: tuple[tuple[int, ...], ...],
    ) -> None:
        self.opcode = opcode
        self.names = names
        self.dropped, self.index_map, self.batching, self.indices_batching = lists

    def check(self, operand: ArrayShape, indices: IndexVectors) -> None:
        """Raises `ShapeError` for dimensions out of range, used twice, or not one an index."""
        names = [f"{self.opcode}: {name}" for name in self.names]
        dropped, index_map, batching, indices_batching = names
        check_dimensions(self.dropped, operand.rank, dropped, increasing=True)
        check_dimensions(self.batching, operand.rank, batching, increasing=True)
        check_dimensions(self.index_map, operand.rank, index_map)
        check_dimensions(self.indices_batching, indices.shape.rank, indices_batching)
        _check_apart(self.batching, self.dropped, f"{batching} and {self.names[0]}")
        _check_apart(self.batching, self.index_map, f"{batching} and {self.names[1]}")
        if indices.vector_dimension in self.indices_batching:
            raise ShapeError(
                f"{indices_batching} contains index_vector_dim {indices.vector_dimension}"
            )
        if indices.length != UNBOUNDED:
            check_length(self.index_map, indices.length, index_map)
        check_length(self.indices_batching, len(self.batching), indices_batching)
        self._check_batching(operand, indices.shape)

    def _check_batching(self, operand: ArrayShape, indices: ArrayShape) -> None:
        for ours, theirs in zip(self.batching, self.indices_batching, strict=True):
            if not same_size(operand.dimensions[ours], indices.dimensions[theirs]):
                raise ShapeError(
                    f"{self.opcode}: batching dimensions {ours} of {operand.plain_text} and"
                    f" {theirs} of {indices.plain_text} differ in size"
                )

    def starts(self, indices: Array, vector_dimension: int) -> dict[int, Array]:
        """Returns where each window starts, by dimension of the operand; the others start at 0."""
        batching = dict(zip(self.batching, self.indices_batching, strict=True))
        return window_starts(indices, vector_dimension, self.index_map, batching)

    def window_dimensions(self, operand: ArrayShape) -> list[int]:
        """Returns the dimensions of the operand that a window has too, in order."""
        gone = {*self.dropped, *self.batching}
        return [dimension for dimension in range(operand.rank) if dimension not in gone]


def _check_apart(one: Sequence[int], other: Sequence[int], what: str) -> None:
    shared = sorted(set(one) & set(other))
    if shared:
        raise ShapeError(f"{what} both contain {INTEGERS.write(tuple(shared))}")
