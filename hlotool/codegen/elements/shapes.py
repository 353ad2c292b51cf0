"""Shapes of the arrays that elements belong to."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape


def array_shape(instruction: Instruction) -> ArrayShape:
    """Returns the shape of an instruction that yields an array."""
    assert isinstance(instruction.shape, ArrayShape), f"{instruction.name} is no array"
    return instruction.shape
