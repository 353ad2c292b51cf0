"""Custom calls that tell a compiler something about a value and leave it as it is."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Frame, Value
from hlotool.ops.custom_calls.registry import custom_call
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
)
def marker(operands: Sequence[Value], _frame: Frame) -> Value:
    """Returns the operand, or the tuple of the operands."""
    return single_or_tuple(operands)


@custom_call("HostExecute")
def host_execute(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns what the called computation yields for the operands."""
    if len(frame.calls) != 1:
        raise EvaluationError(f"HostExecute: one computation wanted, {len(frame.calls)} called")
    return frame.calls[0](*operands)


@custom_call("AllocateBuffer", "CreateBuffer")
def allocate_buffer(_operands: Sequence[Value], frame: Frame) -> Value:
    """Returns zeros; what stands in a new buffer is left to the implementation."""
    return context(frame.shape)
