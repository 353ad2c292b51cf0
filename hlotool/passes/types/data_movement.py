"""Which operands an op only moves, so that conversions may come before or after it."""

from __future__ import annotations

from collections.abc import Iterable

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.rewriting.builder import Builder, array_shape


def moved_operands(instruction: Instruction) -> range:
    """Returns which operands have the elements of the result; none where the op makes them."""
    if not isinstance(instruction.shape, ArrayShape):
        return range(0)
    return range(len(instruction.operands))[instruction.op.moved_operands]


def moved_with(
    instruction: Instruction, changed: Iterable[Instruction], builder: Builder
) -> Instruction:
    """Returns the same movement of other arrays, all of one element type."""
    numbers = moved_operands(instruction)
    operands = list(instruction.operands)
    for number, operand in zip(numbers, changed, strict=True):
        operands[number] = operand
    moved = array_shape(operands[numbers[0]])
    shape = array_shape(instruction).with_element_type(moved.element_type)
    return builder.add(instruction.op, *operands, shape=shape)
