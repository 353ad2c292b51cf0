"""Custom calls that tell a compiler something about a value and leave it as it is."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.frame import Frame, Value
from hlotool.ops.custom_calls.registry import Yields, custom_call, fault
from hlotool.ops.tuple_values import context, single_or_tuple


@custom_call(
    "Sharding",
    "annotate_device_placement",
    "AssumeGatherIndicesInBound",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "Pin",
    "PinToDevice",
    "PinToDeviceSram",
    "PinToDeviceSramForced",
    "ShardBarrier*",
    "Unpin",
    "xla.sdy.*",
    yields=Yields.THE_SAME,
)
def marker(operands: Sequence[Value], _frame: Frame) -> Value:
    """Returns the operand, or the tuple of the operands."""
    return single_or_tuple(operands)


@custom_call("HostExecute", calls=True)
def host_execute(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns what the called computation yields for the operands."""
    if len(frame.calls) != 1:
        raise fault(frame, f"{len(frame.calls)} computations are called, 1 is wanted")
    (callee,) = frame.calls
    wanted = len(callee.computation.parameters)
    if len(operands) != wanted:
        raise fault(frame, f"{len(operands)} operands are given, {wanted} are wanted")
    return callee(*operands)


@custom_call("AllocateBuffer", "CreateBuffer", yields=Yields.ELEMENTS)
def allocate_buffer(_operands: Sequence[Value], frame: Frame) -> Value:
    """Returns zeros; what stands in a new buffer is left to the implementation."""
    return context(frame.shape)
