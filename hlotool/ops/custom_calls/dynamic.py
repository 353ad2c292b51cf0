"""Arrays of a bounded size as static ones with their live sizes beside them, and back."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import TupleShape
from hlotool.ops.custom_calls.registry import Yields, custom_call, fault
from hlotool.ops.custom_calls.results import first_result


@custom_call("PadToStatic", yields=Yields.ELEMENTS)
def pad_to_static(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the array padded to its bounds, then the live size of each dimension as s32.

    What stands in the padding is left to the implementation; here it is zero.
    """
    (operand,) = operands
    if not isinstance(frame.shape, TupleShape):
        raise fault(frame, f"{frame.shape.plain_text} is declared, a tuple is wanted")
    bounds = first_result(frame).dimensions
    if len(bounds) != operand.ndim or any(map(int.__gt__, operand.shape, bounds)):
        raise fault(
            frame, f"sizes {list(operand.shape)} are given, at most {list(bounds)} is wanted"
        )
    padded = np.zeros(bounds, operand.dtype)
    padded[tuple(map(slice, operand.shape))] = operand
    return padded, *(np.array(size, np.int32) for size in operand.shape)


@custom_call("shape_assertion")
def shape_assertion(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns an empty tuple; raises `EvaluationError` where what is asserted does not hold."""
    holds, *sizes = operands
    if not holds:
        shown = ", ".join(str(int(size)) for size in sizes)
        raise fault(frame, f"sizes {shown} are not those that are wanted")
    return ()


@custom_call("SliceToDynamic", yields=Yields.ELEMENTS)
def slice_to_dynamic(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the first elements of an array, as many as the other operands say."""
    operand, *given = operands
    sizes = [int(size) for size in given]
    if len(sizes) != operand.ndim or not all(
        0 <= size <= bound for size, bound in zip(sizes, operand.shape, strict=False)
    ):
        raise fault(frame, f"sizes {sizes} are given, at most {list(operand.shape)} is wanted")
    return operand[tuple(map(slice, sizes))]
