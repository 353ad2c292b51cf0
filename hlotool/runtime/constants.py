"""Constants as they lie in memory."""

from __future__ import annotations

import numpy as np

from hlotool.ir.frame import Array
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.source import Constant


def constant_array(instruction: Instruction) -> Array:
    """Returns a constant's elements in the order of its layout, the slowest dimension first."""
    op, shape = instruction.op, instruction.shape
    assert isinstance(op, Constant)
    assert isinstance(shape, ArrayShape)
    order = shape.layout.minor_to_major[::-1]
    array = op.literal.array()
    return np.ascontiguousarray(np.transpose(array, order) if order else array)


def constant_bytes(instruction: Instruction) -> bytes:
    """Returns a constant as it lies in memory."""
    return constant_array(instruction).tobytes()
