"""Checks who calls whom: no recursion, and each computation in one kind of place."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.analysis.faults import Faults
from hlotool.analysis.verifier_graph import back_edges
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart
from hlotool.ops.control_flow import Call, Conditional, While
from hlotool.ops.custom_call import CustomCall

_CONTROL_FLOW = (Call, While, Conditional, AsyncStart, AsyncContinuation)
# What a custom call does with a computation, nobody knows.
_EITHER = (CustomCall,)


def check_calls(module: Module, faults: Faults) -> None:
    """Adds what is wrong with the computations of a module and the calls between them."""
    names: set[str] = set()
    for computation in module.computations:
        if computation.name in names:
            faults.add(computation, f"the module has another computation {computation.name}")
        names.add(computation.name)
    callers = _callers(module)
    members = set(module.computations)
    if module.entry not in members:
        faults.add(None, f"the entry {module.entry.name} is not in the module")
    for callee, instructions in callers.items():
        if callee not in members:
            for instruction in instructions:
                faults.add(
                    instruction,
                    f"{instruction.opcode}: computation {callee.name} is not in the module",
                )
        _check_context(callee, instructions, faults)
        _check_async_starts(callee, instructions, faults)
    _check_recursion(module, callers, faults)


def _callers(module: Module) -> dict[Computation, list[Instruction]]:
    callers: dict[Computation, list[Instruction]] = {}
    for instruction in module.instructions():
        for callee in dict.fromkeys(instruction.calls):
            callers.setdefault(callee, []).append(instruction)
    return callers


def _check_context(callee: Computation, callers: list[Instruction], faults: Faults) -> None:
    first: dict[bool, Instruction] = {}
    for caller in callers:
        if not isinstance(caller.op, _EITHER):
            first.setdefault(isinstance(caller.op, _CONTROL_FLOW), caller)
    if len(first) == 2:
        earlier, later = first.values()
        faults.add(
            later,
            f"{later.opcode}: computation {callee.name} is already used by the"
            f" {earlier.opcode} {earlier.name}: control flow and other ops cannot share it",
        )


def _check_async_starts(callee: Computation, callers: list[Instruction], faults: Faults) -> None:
    starts = [caller for caller in callers if isinstance(caller.op, AsyncStart)]
    for other in starts[1:]:
        faults.add(
            other,
            f"{other.opcode}: computation {callee.name} is already started by {starts[0].name}",
        )


def _check_recursion(
    module: Module, callers: dict[Computation, list[Instruction]], faults: Faults
) -> None:
    called: dict[Computation, dict[Computation, Instruction]] = {}
    for callee, instructions in callers.items():
        for instruction in instructions:
            if instruction.parent is not None:
                called.setdefault(instruction.parent, {}).setdefault(callee, instruction)

    def callees(computation: Computation) -> Iterator[Computation]:
        yield from called.get(computation, {})

    for caller, callee in back_edges(module.computations, callees):
        instruction = called[caller][callee]
        faults.add(
            instruction, f"{instruction.opcode}: computation {callee.name} comes to call itself"
        )
