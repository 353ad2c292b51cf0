"""Kernels of custom calls, by their target; all other targets are functions of the host.

Targets that yield their operand as it is are copies.
"""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.kernels.kernel import BYTES_A_NANOSECOND, Emit, Kernel, Launch, kernel
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.custom_calls.registry import Yields, is_supplied, yields_of

_BLOCK_BYTES = 1 << 12

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
    target = op.custom_call_target
    emit = TARGETS.get(target)
    if emit is None and yields_of(target) is Yields.THE_SAME:
        emit = _emit_copy
    if emit is None or is_supplied(target):
        raise NotCompiled(f"the custom call {target}")
    return emit(kernel)


def _emit_copy(kernel: Kernel) -> Launch:
    """Writes the kernel of a call that yields its operand: its bytes are copied in blocks."""
    function = kernel.function
    if len(kernel.body.inputs) != 1 or len(kernel.body.outputs) != 1:
        raise NotCompiled("copies of several arrays")
    shape = kernel.input_shape(0)
    if shape.text != kernel.output_shape(0).text:
        raise NotCompiled("a copy to another layout")
    total = constant("i64", shape.element_count * shape.element_type.storage_bytes)
    block, lanes = constant("i64", _BLOCK_BYTES), kernel.target.vector_bytes
    with function.loop(kernel.begin, kernel.end) as items:
        begin = function.binary("mul", items.index, block)
        end = function.intrinsic("smin", function.binary("add", begin, block), total)
        length = function.binary("sub", end, begin)
        whole = function.binary("and", length, constant("i64", -lanes))
        middle = function.binary("add", begin, whole)
        _copy_bytes(function, begin, middle, lanes)
        _copy_bytes(function, middle, end, 1)
    return Launch(-(-int(total.name) // _BLOCK_BYTES), 8, _BLOCK_BYTES / BYTES_A_NANOSECOND)


def _copy_bytes(function: FunctionWriter, begin: Value, end: Value, lanes: int) -> None:
    source, target = Value("%in0", "ptr"), Value("%out0", "ptr")

    def write() -> None:
        with function.loop(begin, end, lanes) as loop:
            held = function.load_again(function.offset(source, loop.index), "i8", lanes)
            function.store(held, function.offset(target, loop.index))

    function.branch(function.compare("slt", begin, end), write)
