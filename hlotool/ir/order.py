"""The order in which computations and instructions print and are numbered.

It is the reference's order, so that texts and protos can be compared line by line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hlotool.ir.computation import Computation
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module


def computation_order(module: Module) -> list[Computation]:
    """Returns the computations, called ones before their callers.

    Computations that nothing calls come in text order, each behind what it calls.
    """
    called = {
        computation for instruction in module.instructions() for computation in instruction.calls
    }
    order: list[Computation] = []
    visited: set[Computation] = set()
    for computation in module.computations:
        if computation not in called:
            append_with_called(computation, visited, order)
    # A call cycle is an error that the verifier reports; its computations must still print.
    order += [computation for computation in module.computations if computation not in visited]
    return order


def append_with_called(
    computation: Computation, visited: set[Computation], order: list[Computation]
) -> None:
    """Appends a computation behind what it calls and was not visited."""
    visited.add(computation)
    open_walks = [(computation, _called(computation))]
    while open_walks:
        current, called = open_walks[-1]
        for fresh in called:
            if fresh not in visited:
                visited.add(fresh)
                open_walks.append((fresh, _called(fresh)))
                break
        else:
            open_walks.pop()
            order.append(current)


def _called(computation: Computation) -> Iterator[Computation]:
    for caller in computation.instructions:
        calls = caller.calls[::-1] if caller.op.visits_last_call_first else caller.calls
        # The first call is walked first; of several to one computation the last counts.
        yield from reversed(dict.fromkeys(calls[::-1]))


def instructions_within(instruction: Instruction) -> Iterator[Instruction]:
    """Yields what stands in the computations that an instruction calls, and in those they call."""
    waiting = list(dict.fromkeys(instruction.calls))
    visited = set(waiting)
    while waiting:
        for inner in waiting.pop().instructions:
            yield inner
            if not inner.calls:
                continue
            fresh = [called for called in dict.fromkeys(inner.calls) if called not in visited]
            visited.update(fresh)
            waiting += fresh


def unfused_computations(module: Module) -> list[Computation]:
    """Returns the computations but for the bodies of fusions, in text order."""
    fused = fused_computations(module)
    return [computation for computation in module.computations if computation not in fused]


def fused_computations(module: Module) -> set[Computation]:
    """Returns the bodies of fusions: in a scheduled module they have no schedule."""
    return {
        called
        for computation in module.computations
        for instruction in computation.instructions
        # Few instructions call anything, and many passes ask.
        if instruction.calls and instruction.op.is_fusion
        for called in instruction.calls
    }


def instruction_order(computation: Computation) -> list[Instruction]:
    """Returns the instructions, operands and control predecessors before their users."""
    used = {operand for user in computation.instructions for operand in user.operands}
    order: list[Instruction] = []
    entered: set[Instruction] = set()
    done: set[Instruction] = set()
    for start in computation.instructions:
        if start in used or start in done:
            continue
        stack = [start]
        while stack:
            current = stack[-1]
            if current in entered:
                stack.pop()
                if current not in done:
                    done.add(current)
                    order.append(current)
                continue
            entered.add(current)
            stack += [operand for operand in reversed(current.operands) if operand not in entered]
            if current.control_predecessors:
                stack += [p for p in current.control_predecessors if p not in entered]
    if len(order) < len(computation.instructions):
        order += [other for other in computation.instructions if other not in done]
    return order
