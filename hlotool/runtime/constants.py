"""Constants as they lie in memory."""

from __future__ import annotations

import numpy as np

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Array
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.source import Constant

ELIDED_NOTES = (
    "JAX keeps values with as_hlo_text(print_large_constants=True)",
    "XLA's dumps have them with --xla_dump_large_constants, and protos always",
    "run-hlo makes such values up",
)
"""What helps where constants are left out of a text."""


def constant_array(instruction: Instruction) -> Array:
    """Returns a constant's elements in the order of its layout, the slowest dimension first."""
    op, shape = instruction.op, instruction.shape
    assert isinstance(op, Constant)
    assert isinstance(shape, ArrayShape)
    if not shape.element_count:
        # The other dimensions may be larger than any array of numpy's.
        return np.zeros(0, shape.element_type.numpy)
    order = shape.layout.minor_to_major[::-1]
    array = op.literal.array()
    return np.ascontiguousarray(np.transpose(array, order) if order else array)


def check_constants(module: Module) -> None:
    """Raises `EvaluationError` where the text of a module leaves the value of a constant out."""
    for instruction in module.instructions():
        op = instruction.op
        if isinstance(op, Constant) and op.literal.has_elision:
            raise EvaluationError(
                f"the value of {instruction.name} is left out of the text as {{...}}",
                instruction.location,
                notes=ELIDED_NOTES,
            )


def constant_bytes(instruction: Instruction) -> bytes:
    """Returns a constant as it lies in memory."""
    return constant_array(instruction).tobytes()
