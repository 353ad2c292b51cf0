"""Convolutions as part of what a custom call does, before the result is rounded."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.element_type import F32
from hlotool.ir.frame import Array, Frame
from hlotool.ops.convolution import Convolution
from hlotool.ops.custom_calls.results import first_result
from hlotool.ops.numerics.matrix_products import computing_type, stored_sums


def unrounded_convolution(op: Convolution, operands: Sequence[Array], frame: Frame) -> Array:
    """Returns the convolution of two operands, in f32 where the result is narrower."""
    result = first_result(frame)
    computed = computing_type(frame.operand_shapes[:2], result)
    lhs, rhs = (operand.astype(computed, copy=False) for operand in operands)
    is_narrow = result.element_type.is_float and result.element_type.bits < 32
    wide = result.with_element_type(F32) if is_narrow else result
    return stored_sums(op.sums(lhs, rhs), wide, saturate=True)
