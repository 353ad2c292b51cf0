"""Kernels of custom calls, by their target; all other targets are functions of the host."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.kernels.kernel import Emit, Kernel, Launch, kernel
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.custom_calls.registry import is_supplied

TARGETS: dict[str, Emit] = {}
"""What has a kernel, unless a user has supplied a function for it."""


def custom_call_kernel(*targets: str) -> Callable[[Emit], Emit]:
    """Enters a function as the one that writes kernels of calls to targets."""

    def enter(emit: Emit) -> Emit:
        for target in targets:
            assert target not in TARGETS, f"custom call {target} has two kernels"
            TARGETS[target] = emit
        return emit

    return enter


@kernel(CustomCall)
def emit_custom_call(kernel: Kernel) -> Launch:
    """Writes the kernel of a custom call."""
    op = kernel.body.instruction.op
    assert isinstance(op, CustomCall)
    emit = TARGETS.get(op.custom_call_target)
    if emit is None or is_supplied(op.custom_call_target):
        raise NotCompiled(f"the custom call {op.custom_call_target}")
    return emit(kernel)
