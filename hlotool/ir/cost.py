"""What running an instruction takes: arithmetic, memory traffic, and how operands are read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import prod

from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape


class Access(Enum):
    """Which elements of its operands an op needs for one element of its result."""

    WHOLE = "whole"  # any of them, or the op does more than yield a value
    SAME = "same"  # those at the same index
    MOVED = "moved"  # at most one of each operand, at an index that is computed
    FOLDED = "folded"  # a range of the first operands, folded by a computation
    SUMMED = "summed"  # ranges of two operands, as a sum of products
    UPDATED = "updated"  # the one at the same index, or one of a small operand in its place


@dataclass(frozen=True, slots=True)
class Cost:
    """Operations and bytes; `transcendentals` are functions like `exponential`, not in `flops`."""

    flops: int = 0
    transcendentals: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    @property
    def bytes_accessed(self) -> int:
        """What is read and written together."""
        return self.bytes_read + self.bytes_written

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes_read + other.bytes_read,
            self.bytes_written + other.bytes_written,
        )


NO_COST = Cost()


def element_count(shape: Shape) -> int:
    """Returns the number of elements of an array, of a tuple those of all arrays in it.

    Bounded dimensions count with their bound, unbounded ones as 1.
    """
    if isinstance(shape, ArrayShape):
        return prod(1 if size == UNBOUNDED else size for size in shape.dimensions)
    return sum(element_count(leaf) for _, leaf in shape.leaves() if isinstance(leaf, ArrayShape))


def byte_count(shape: Shape) -> int:
    """Returns the bytes that a shape takes in memory, tiles and tuple tables aside."""
    if isinstance(shape, BufferShape):
        return byte_count(shape.array)
    if not isinstance(shape, ArrayShape):
        return sum(byte_count(leaf) for _, leaf in shape.leaves() if leaf is not shape)
    bits = shape.layout.element_size_bits or 8 * shape.element_type.storage_bytes
    return (element_count(shape) * bits + 7) // 8


def traffic(read: int, result: Shape, *, flops: int = 0) -> Cost:
    """Returns the cost of reading some bytes and writing a result."""
    return Cost(flops=flops, bytes_read=read, bytes_written=byte_count(result))
