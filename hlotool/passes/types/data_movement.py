"""Which operands an op only moves, so that conversions may come before or after it."""

from __future__ import annotations

from collections.abc import Iterable

from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Select
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice, Gather
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
from hlotool.rewriting.builder import Builder

_MOVED: dict[type[Op], slice] = {
    Broadcast: slice(0, 1),
    Concatenate: slice(None),
    Copy: slice(0, 1),
    DynamicSlice: slice(0, 1),
    DynamicUpdateSlice: slice(0, 2),
    Gather: slice(0, 1),
    Pad: slice(0, 2),
    Reshape: slice(0, 1),
    Reverse: slice(0, 1),
    Select: slice(1, 3),
    Slice: slice(0, 1),
    Transpose: slice(0, 1),
}
"""The operands that each op takes the elements of its result from."""


def moved_operands(instruction: Instruction) -> range:
    """Returns which operands have the elements of the result; none where the op makes them."""
    found = _MOVED.get(type(instruction.op))
    count = len(instruction.operands)
    if found is None or not isinstance(instruction.shape, ArrayShape):
        return range(0)
    return range(count)[found]


def moved_with(
    instruction: Instruction, changed: Iterable[Instruction], builder: Builder
) -> Instruction:
    """Returns the same movement of other arrays, all of one element type."""
    operands = list(instruction.operands)
    for number, operand in zip(moved_operands(instruction), changed, strict=True):
        operands[number] = operand
    shape = instruction.shape
    assert isinstance(shape, ArrayShape)
    moved = operands[moved_operands(instruction)[0]].shape
    assert isinstance(moved, ArrayShape)
    return builder.add(instruction.op, *operands, shape=shape.with_element_type(moved.element_type))
