"""Shapes of the arrays that elements belong to."""

from __future__ import annotations

from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape


def array_shape(instruction: Instruction) -> ArrayShape:
    """Returns the shape of an instruction that yields an array; raises `NotCompiled` for others."""
    if not isinstance(instruction.shape, ArrayShape):
        raise NotCompiled(f"{instruction.opcode} of what is no array in a kernel")
    return instruction.shape


def first_array_shape(instruction: Instruction) -> ArrayShape:
    """Returns the shape of an array, or of the first one in a tuple of arrays of equal sizes."""
    (_, shape), *_ = instruction.shape.leaves()
    if not isinstance(shape, ArrayShape):
        raise NotCompiled(f"{instruction.opcode} yields no array")
    return shape


def element_type_of(instruction: Instruction) -> ElementType:
    """Returns the type of the elements that an instruction yields."""
    return array_shape(instruction).element_type
