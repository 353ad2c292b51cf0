"""Dimensions of arrays: which of one shape are which of another, and new shapes from old."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_changing import Reshape
from hlotool.rewriting.builder import Builder, array_shape


def are_static(*instructions: Instruction) -> bool:
    """Whether all yield arrays of known sizes."""
    for instruction in instructions:
        shape = instruction.shape
        if not isinstance(shape, ArrayShape) or shape.dynamic:
            return False
    return True


def has_elements(*instructions: Instruction) -> bool:
    """Whether all yield arrays of known sizes, with one element at least."""
    return are_static(*instructions) and all(0 not in sizes(i) for i in instructions)


def sizes(instruction: Instruction) -> tuple[int, ...]:
    """Returns the sizes of the dimensions of an array."""
    return array_shape(instruction).dimensions


def count_of(instruction: Instruction) -> int:
    """Returns how many elements an array has."""
    return array_shape(instruction).element_count


def resized(instruction: Instruction, dimensions: Sequence[int]) -> ArrayShape:
    """Returns the row-major shape of other dimensions and the same elements."""
    return ArrayShape(array_shape(instruction).element_type, dimensions)


def is_used_once(instruction: Instruction) -> bool:
    """Whether one instruction alone takes the value, so that it goes when that one does."""
    return len(instruction.users) == 1 and not instruction.is_root


def is_increasing(numbers: Sequence[int]) -> bool:
    """Whether each number is greater than the one before."""
    return all(one < other for one, other in pairwise(numbers))


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """Returns the permutation that undoes another."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def without(values: Sequence[int], gone: Collection[int]) -> tuple[int, ...]:
    """Returns the values whose positions are not among `gone`."""
    return tuple(value for position, value in enumerate(values) if position not in gone)


def renumbered(dimensions: Sequence[int], gone: Collection[int]) -> tuple[int, ...]:
    """Returns the numbers that dimensions have once others are gone."""
    return tuple(d - sum(one < d for one in gone) for d in dimensions)


def interleaved(rank: int, inner: Collection[int], first_inner: int) -> list[int]:
    """Returns an order of dimensions: at `inner` those from `first_inner` on, else those before."""
    numbers = iter(range(first_inner, rank))
    outer = iter(range(first_inner))
    return [next(numbers if place in inner else outer) for place in range(rank)]


def more_than_one(dimensions: Sequence[int], numbers: Sequence[int]) -> list[int]:
    """Returns those of the numbered dimensions whose size is not 1."""
    return [number for number in numbers if dimensions[number] != 1]


def groups(one: Sequence[int], other: Sequence[int]) -> list[tuple[range, range]]:
    """Returns the shortest runs of dimensions that hold equally many elements on both sides.

    Both shapes have as many elements, at least one.
    """
    found = []
    begins, ends = [0, 0], [0, 0]
    dimensions = (one, other)
    while ends[0] < len(one) or ends[1] < len(other):
        counts = [1, 1]
        for side in (0, 1):
            if ends[side] < len(dimensions[side]):
                counts[side] = dimensions[side][ends[side]]
                ends[side] += 1
        while counts[0] != counts[1]:
            lesser = int(counts[0] > counts[1])
            counts[lesser] *= dimensions[lesser][ends[lesser]]
            ends[lesser] += 1
        found.append((range(begins[0], ends[0]), range(begins[1], ends[1])))
        begins = list(ends)
    return found


def same_but_ones(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two lists of sizes differ in nothing but dimensions of size 1."""
    return [size for size in one if size != 1] == [size for size in other if size != 1]


def broadcast_to(
    build: Builder, operand: Instruction, dimensions: Sequence[int], result: Sequence[int]
) -> Instruction:
    """Returns the operand along `dimensions` of a result; the operand where that is the same."""
    return build.broadcast(operand, dimensions, resized(operand, result))


def only_adds_or_drops_ones(instruction: Instruction) -> bool:
    """Whether a reshape of a static array changes nothing but dimensions of size 1."""
    (operand,) = instruction.operands
    return (
        isinstance(instruction.op, Reshape)
        and are_static(instruction, operand)
        and same_but_ones(sizes(operand), sizes(instruction))
    )
