"""What ops make of padded arrays: for each class of ops a rule.

A rule takes an instruction and its operands as padded arrays; it returns the padded arrays of
the results, or `None` where it cannot tell what is live. Rules of ops that yield no dynamic
array return one all of which is live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ir.window import WindowDimension
from hlotool.ops.elementwise import Add, Divide, Elementwise, Maximum, Minimum, Multiply, Subtract
from hlotool.ops.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    GetDimensionSize,
    SetDimensionSize,
)
from hlotool.ops.shape_changing import (
    Broadcast,
    Concatenate,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from hlotool.ops.unary import Copy
from hlotool.passes.types.padded_array import PaddedArray, first_sizes, static
from hlotool.rewriting.builder import Builder, array_shape

Rule = Callable[[Instruction, list[PaddedArray], Builder], list[PaddedArray] | None]

RULES: dict[type[Op], Rule] = {}
"""The rules by class; `rule_of` finds that of a class below one of these."""


def rule(*classes: type[Op]) -> Callable[[Rule], Rule]:
    """Enters a function as the rule of classes of ops."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(classes, function))
        return function

    return enter


def rule_of(op: Op) -> Rule | None:
    """Returns the rule of the nearest class of an op that has one."""
    return next((RULES[one] for one in type(op).__mro__ if one in RULES), None)


def number(value: int, builder: Builder) -> Instruction:
    """Returns an `s32[]` constant."""
    return builder.constant(value, S32)


def zero_like(shape: ArrayShape, builder: Builder) -> Callable[[], Instruction]:
    """Returns what makes the zero of the element type of a shape."""
    return lambda: builder.constant(0, shape.element_type)


def made(
    instruction: Instruction,
    operands: Sequence[Instruction],
    sizes: Sequence[Instruction | None],
    builder: Builder,
) -> list[PaddedArray]:
    """Returns the same op on padded operands, with the live sizes of the result."""
    shape = static(array_shape(instruction))
    array = builder.add(instruction.op, *operands, calls=instruction.calls, shape=shape)
    return [PaddedArray(array, tuple(sizes))]


def windowed(size: Instruction, window: WindowDimension, builder: Builder) -> Instruction:
    """Returns how many windows fit on a live size."""
    dilated = _dilated(size, window.base_dilation, builder)
    extent = (window.size - 1) * window.window_dilation + 1
    around = window.padding_low + window.padding_high
    room = builder.add(Add(), dilated, number(around - extent + window.stride, builder))
    return _divided(room, window.stride, builder)


def _dilated(size: Instruction, step: int, builder: Builder) -> Instruction:
    # Of no element there is nothing, of one just itself.
    if step == 1:
        return size
    less = builder.add(Multiply(), size, number(step, builder))
    spread = builder.add(Subtract(), less, number(step - 1, builder))
    return builder.add(Maximum(), spread, number(0, builder))


def _divided(size: Instruction, step: int, builder: Builder) -> Instruction:
    whole = builder.add(Maximum(), size, number(0, builder))
    return whole if step == 1 else builder.add(Divide(), whole, number(step, builder))


@rule(Elementwise, Copy)
def elementwise(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Keeps what is live: all operands have the same sizes, but for scalars."""
    rank = array_shape(instruction).rank
    whole = [operand for operand in operands if operand.shape.rank == rank]
    if not whole:
        return None
    arrays = [operand.array for operand in operands]
    return made(instruction, arrays, first_sizes(whole), builder)


@rule(GetDimensionSize)
def dimension_size(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Yields the live size."""
    op = instruction.op
    assert isinstance(op, GetDimensionSize)
    size = operands[0].sizes[op.dimensions]
    if size is None:
        size = number(operands[0].shape.dimensions[op.dimensions], builder)
    return [PaddedArray.whole(size)]


@rule(SetDimensionSize)
def dimension_set(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Sets the live size; elements that were cut off before come back as 0."""
    op = instruction.op
    assert isinstance(op, SetDimensionSize)
    operand, size = operands
    array = operand.filled([op.dimensions], zero_like(operand.shape, builder), builder)
    sizes = list(operand.sizes)
    sizes[op.dimensions] = size.array
    return [PaddedArray(array, tuple(sizes))]


@rule(Broadcast)
def broadcast(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Keeps live sizes in their new places; what is new is whole."""
    op, (operand,) = instruction.op, operands
    assert isinstance(op, Broadcast)
    sizes: list[Instruction | None] = [None] * array_shape(instruction).rank
    for size, dimension in zip(operand.sizes, op.dimensions, strict=True):
        sizes[dimension] = size
    return made(instruction, [operand.array], sizes, builder)


@rule(Transpose)
def transpose(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Moves live sizes along."""
    op, (operand,) = instruction.op, operands
    assert isinstance(op, Transpose)
    sizes = [operand.sizes[dimension] for dimension in op.dimensions]
    return made(instruction, [operand.array], sizes, builder)


@rule(Reshape)
def reshape(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Keeps live sizes of dimensions that stay as they are."""
    (operand,) = operands
    shape = array_shape(instruction)
    places = {
        (prod(shape.dimensions[:place]), size): place
        for place, size in reversed(list(enumerate(shape.dimensions)))
    }
    sizes: list[Instruction | None] = [None] * shape.rank
    for dimension in operand.dynamic_dimensions:
        before = prod(operand.shape.dimensions[:dimension])
        place = places.get((before, operand.shape.dimensions[dimension]))
        if place is None:
            return None
        sizes[place] = operand.sizes[dimension]
    return made(instruction, [operand.array], sizes, builder)


@rule(Reverse)
def reverse(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Turns the whole array round and moves what is live to the front again."""
    op, (operand,) = instruction.op, operands
    assert isinstance(op, Reverse)
    shape = static(array_shape(instruction))
    found = builder.add(op, operand.array, shape=shape)
    for dimension in op.dimensions:
        size = operand.sizes[dimension]
        if size is not None:
            found = _moved_to_front(found, dimension, size, builder)
    return [PaddedArray(found, operand.sizes)]


def _moved_to_front(
    array: Instruction, dimension: int, size: Instruction, builder: Builder
) -> Instruction:
    """Returns an array whose last `size` elements along a dimension come first."""
    shape = array_shape(array)
    twice = list(shape.dimensions)
    twice[dimension] *= 2
    wide = ArrayShape(shape.element_type, twice, shape.layout)
    doubled = builder.add(Concatenate(dimension), array, array, shape=wide)
    dead = builder.add(Subtract(), number(shape.dimensions[dimension], builder), size)
    zero = number(0, builder)
    starts = [dead if d == dimension else zero for d in range(shape.rank)]
    return builder.add(DynamicSlice(shape.dimensions), doubled, *starts, shape=shape)


@rule(Slice)
def slice_(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Counts the elements of the part that are live."""
    op, (operand,) = instruction.op, operands
    assert isinstance(op, Slice)
    shape = array_shape(instruction)
    sizes: list[Instruction | None] = [None] * shape.rank
    for dimension in operand.dynamic_dimensions:
        if shape.is_dynamic(dimension):
            size = operand.sizes[dimension]
            assert size is not None
            sizes[dimension] = _sliced(size, *op.slice[dimension], builder)
    return made(instruction, [operand.array], sizes, builder)


def _sliced(
    size: Instruction, start: int, limit: int, stride: int, builder: Builder
) -> Instruction:
    end = builder.add(Minimum(), size, number(limit, builder))
    room = builder.add(Add(), end, number(stride - 1 - start, builder))
    return _divided(room, stride, builder)


@rule(Pad)
def pad(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Fills what is not live with the padding too, so that it begins behind the last element."""
    op, (operand, value) = instruction.op, operands
    assert isinstance(op, Pad)
    sizes: list[Instruction | None] = [None] * operand.shape.rank
    for dimension in operand.dynamic_dimensions:
        padding = op.padding[dimension]
        if padding.low < 0 or padding.high < 0:
            return None
        size = operand.sizes[dimension]
        assert size is not None
        dilated = _dilated(size, padding.interior + 1, builder)
        around = number(padding.low + padding.high, builder)
        sizes[dimension] = builder.add(Add(), dilated, around)
    filled = operand.filled(operand.dynamic_dimensions, lambda: value.array, builder)
    return made(instruction, [filled, value.array], sizes, builder)


@rule(Concatenate)
def concatenate(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Puts each operand behind what is live of those before it."""
    op = instruction.op
    assert isinstance(op, Concatenate)
    joined = op.dimensions
    sizes = list(first_sizes(operands))
    if sizes[joined] is None:
        return made(instruction, [operand.array for operand in operands], sizes, builder)
    shape = static(array_shape(instruction))
    found = builder.full(0, shape)
    offset = zero = number(0, builder)
    for operand in operands:
        starts = [offset if d == joined else zero for d in range(shape.rank)]
        # What is not live of an operand is covered by the next one.
        found = builder.add(DynamicUpdateSlice(), found, operand.array, *starts, shape=shape)
        size = operand.sizes[joined] or number(operand.shape.dimensions[joined], builder)
        offset = builder.add(Add(), offset, size)
    sizes[joined] = offset
    return [PaddedArray(found, tuple(sizes))]


def paired_sizes(
    lhs: PaddedArray, rhs: PaddedArray, pairs: Iterator[tuple[int, int]], builder: Builder
) -> tuple[PaddedArray, PaddedArray]:
    """Returns both arrays with the lesser live size in both dimensions of each pair."""
    ours, theirs = list(lhs.sizes), list(rhs.sizes)
    for one, other in pairs:
        first, second = ours[one], theirs[other]
        size = first or second
        if first is not None and second is not None and first is not second:
            size = builder.add(Minimum(), first, second)
        ours[one] = theirs[other] = size
    return PaddedArray(lhs.array, tuple(ours)), PaddedArray(rhs.array, tuple(theirs))
