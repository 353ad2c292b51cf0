"""A computation of its own for each call."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.calls import RUNNING_OPS, call_counts, own_called
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class FlattenCallGraph(Pass):
    """Copies computations so that each is called by one loop, branch or call, or only by others.

    What reductions, sorts and their like call for each element stays shared.
    """

    name: ClassVar[str] = "flatten-call-graph"
    is_exact: ClassVar[bool] = True

    max_instructions: int = option(1_000_000, "the most instructions of the module afterwards")

    def run(self, module: Module, journal: Journal) -> bool:
        """Copies what is called more than once, callers before what they call."""
        size = _flattened_size(module)
        if size > self.max_instructions:
            journal.note(f"the module would have {size} instructions, so nothing is copied")
            return False
        counts = call_counts(module)
        waiting = module.computations[::-1]
        copies: dict[Computation, list[Computation]] = {}
        changed = False
        for computation in waiting:
            for caller in (computation, *copies.get(computation, ())):
                for instruction in caller.instructions:
                    changed |= _is_separated(instruction, counts, copies, journal)
        if changed:
            module.settle()
        return changed


def _is_separated(
    instruction: Instruction,
    counts: Counter[Computation],
    copies: dict[Computation, list[Computation]],
    journal: Journal,
) -> bool:
    """Gives an instruction computations of its own where others call them too."""
    calls = instruction.calls
    is_shared = any(counts[called] > 1 for called in calls)
    if not isinstance(instruction.op, RUNNING_OPS) or not is_shared:
        return False
    if not journal.hit("copied-computation"):
        return False
    own_called(instruction, counts)
    for called, own in zip(calls, instruction.calls, strict=True):
        if own is not called:
            copies.setdefault(called, []).append(own)
    # The steps after an asynchronous start name its computation again.
    waiting = list(instruction.users) if isinstance(instruction.op, AsyncStart) else []
    while waiting:
        user = waiting.pop()
        if isinstance(user.op, AsyncContinuation):
            user.calls = instruction.calls if user.calls else ()
            waiting += user.users
    return True


def _flattened_size(module: Module) -> int:
    """Returns how many instructions there are when all is copied, as the sum over all calls."""
    runs: Counter[Computation] = Counter({module.entry: 1})
    total = 0
    for computation in reversed(module.computations):
        copies = max(1, runs[computation])
        total += copies * len(computation.instructions)
        for instruction in computation.instructions:
            if isinstance(instruction.op, RUNNING_OPS):
                for called in instruction.calls:
                    runs[called] += copies
    return total
