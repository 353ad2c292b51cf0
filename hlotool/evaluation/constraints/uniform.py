"""Arrays that hold one number everywhere, recognised without a run."""

from __future__ import annotations

import numpy as np

from hlotool.evaluation.following import maker
from hlotool.ir.element_type import Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.conversion import Convert
from hlotool.ops.shape_changing import Bitcast, Broadcast, Reshape
from hlotool.ops.source import Constant


def uniform_value(instruction: Instruction) -> float | None:
    """Returns the real number that every element is by constants alone, `None` for others."""
    instruction, index = maker(instruction, ())
    while not index and isinstance(instruction.op, Broadcast | Reshape | Bitcast | Convert):
        instruction, index = maker(instruction.operands[0], ())
    shape = instruction.shape
    if not isinstance(instruction.op, Constant) or not isinstance(shape, ArrayShape):
        return None
    literal = instruction.op.literal
    if literal.elided or not shape.element_count:
        return None
    if shape.element_type.is_complex or shape.element_type.kind is Kind.PRED:
        return None
    array = literal.array()
    first = array.reshape(-1)[0]
    if shape.rank and not bool(np.all(array == first)):
        return None
    value = float(first)
    return value if np.isfinite(value) else None
