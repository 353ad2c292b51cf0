"""Numbers of 64 bits as pairs of 32, as backends without 64 bits keep them."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape
from hlotool.ops.custom_calls.registry import custom_call, fault


@custom_call("X64Combine")
def combine(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the integers of a low and a high half, or the sums of a low and a high float."""
    low, high = operands
    element_type = _element_type(frame)
    if element_type.is_float:
        return high.astype(np.float64) + low.astype(np.float64)
    if not element_type.is_integer:
        raise fault(frame, f"{element_type} is declared, integers or floats are wanted")
    halves = [_half(part, frame).astype(np.uint64) for part in (low, high)]
    return (halves[0] | halves[1] << np.uint64(32)).astype(element_type.numpy)


@custom_call("X64SplitLow")
def split_low(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the low 32 bits, or of floats what the nearest f32 leaves over, as f32."""
    (operand,) = operands
    if _element_type(frame).is_float:
        high = operand.astype(np.float32)
        # An infinity or NaN, or what became one, is all in the high part.
        rest = np.where(np.isfinite(high), operand - high, 0)
        return np.asarray(rest).astype(np.float32)
    return _bits(operand, 0, frame)


@custom_call("X64SplitHigh")
def split_high(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the high 32 bits, or of floats the nearest f32."""
    (operand,) = operands
    if _element_type(frame).is_float:
        return operand.astype(np.float32)
    return _bits(operand, 32, frame)


def _half(part: Array, frame: Frame) -> Array:
    if part.dtype.itemsize != 4 or part.dtype.kind not in "iu":
        raise fault(frame, f"{part.dtype} is given, a half of 32 bits is wanted")
    return part.view(np.uint32)


def _bits(operand: Array, shift: int, frame: Frame) -> Array:
    if operand.dtype.itemsize != 8 or operand.dtype.kind not in "iu":
        raise fault(frame, f"{operand.dtype} is given, an integer of 64 bits is wanted")
    bits = (operand.astype(np.uint64) >> np.uint64(shift)).astype(np.uint32)
    return bits.view(_element_type(frame).numpy)


def _element_type(frame: Frame) -> ElementType:
    assert isinstance(frame.shape, ArrayShape)
    return frame.shape.element_type
