"""Arrays of a bounded size as static ones with their live sizes beside them, and back."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.custom_calls.registry import custom_call


@custom_call("PadToStatic")
def pad_to_static(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the array padded to its bounds, then the live size of each dimension as s32.

    What stands in the padding is left to the implementation; here it is zero.
    """
    (operand,) = operands
    if not isinstance(frame.shape, TupleShape) or not isinstance(
        frame.shape.elements[0], ArrayShape
    ):
        raise EvaluationError(f"PadToStatic: a tuple is wanted, {frame.shape} declared")
    bounds = frame.shape.elements[0].dimensions
    if len(bounds) != operand.ndim or any(map(int.__gt__, operand.shape, bounds)):
        raise EvaluationError(f"PadToStatic: {operand.shape} does not fit into {bounds}")
    padded = np.zeros(bounds, operand.dtype)
    padded[tuple(map(slice, operand.shape))] = operand
    return padded, *(np.array(size, np.int32) for size in operand.shape)


@custom_call("shape_assertion")
def shape_assertion(operands: Sequence[Value], _frame: Frame) -> Value:
    """Returns an empty tuple; raises `EvaluationError` where what is asserted does not hold."""
    holds, *sizes = operands
    if not holds:
        shown = ", ".join(str(int(size)) for size in sizes)
        raise EvaluationError(f"shape_assertion: sizes {shown} are not those that are wanted")
    return ()


@custom_call("SliceToDynamic")
def slice_to_dynamic(operands: Sequence[Value], _frame: Frame) -> Value:
    """Returns the first elements of an array, as many as the other operands say."""
    operand, *given = operands
    sizes = [int(size) for size in given]
    if len(sizes) != operand.ndim or not all(
        0 <= size <= bound for size, bound in zip(sizes, operand.shape, strict=False)
    ):
        raise EvaluationError(f"SliceToDynamic: there are no {sizes} elements of {operand.shape}")
    return operand[tuple(map(slice, sizes))]
