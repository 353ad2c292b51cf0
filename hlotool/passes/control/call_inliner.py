"""Calls become what they call."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ops.control_flow import Call
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import asynchronous_computations, call_counts, inline_call
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class CallInliner(Pass):
    """Puts the instructions of called computations in the place of calls.

    Calls that a backend has configured stay, and those that run asynchronously.
    """

    name: ClassVar[str] = "call-inliner"
    is_exact: ClassVar[bool] = True

    max_copied: int = option(
        10_000, "the most instructions of a computation that is copied for several calls"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Inlines calls: what has one caller goes there with all inside, then from the inside out.

        Calls that double at every level end as calls of computations of limited size.
        """
        changed = False
        # Where computations have gone, others may have only one caller left.
        while self._inlines_any(module, journal):
            changed = True
            module.drop_unreachable()
            module.settle()
        for instruction in module.instructions():
            if isinstance(instruction.op, Call) and self._is_large(instruction.calls[0]):
                count = len(instruction.calls[0].instructions)
                journal.note(f"a call of {count} instructions is one of several", instruction)
        return changed

    def _inlines_any(self, module: Module, journal: Journal) -> bool:
        counts = call_counts(module)
        kept = fused_computations(module) | asynchronous_computations(module)
        outside_in = [one for one in reversed(module.computations) if one not in kept]
        gone: set[Computation] = set()
        changed = False
        # From the inside out a long chain of calls would be copied again at every level.
        for computation in outside_in:
            if computation not in gone:
                changed |= self._inlines_alone(computation, counts, gone, journal)
        for computation in reversed(outside_in):
            for instruction in list(computation.instructions) if computation not in gone else ():
                if self._is_inlined(instruction, counts, computation) and _has_fuel(journal):
                    _inline(instruction, computation)
                    changed = True
            computation.settle()
        return changed

    def _inlines_alone(
        self,
        computation: Computation,
        counts: Counter[Computation],
        gone: set[Computation],
        journal: Journal,
    ) -> bool:
        """Inlines what only this computation calls, once, and what only that calls."""
        changed = False
        waiting = deque(one for one in computation.instructions if isinstance(one.op, Call))
        while waiting:
            call = waiting.popleft()
            (body,) = call.calls
            if counts[body] > 1 or not self._is_inlined(call, counts, computation):
                continue
            if not _has_fuel(journal):
                break
            gone.add(body)
            made = _inline(call, computation)
            waiting += (one for one in made if isinstance(one.op, Call))
            changed = True
        computation.settle()
        return changed

    def _is_inlined(
        self, instruction: Instruction, counts: Counter[Computation], computation: Computation
    ) -> bool:
        if not isinstance(instruction.op, Call):
            return False
        (body,) = instruction.calls
        attributes = instruction.annotations.frontend_attributes
        return (
            attributes.get("inlineable") != "false"
            # It says how the backend runs the call.
            and not instruction.annotations.backend_config
            and body.execution_thread == computation.execution_thread
            and (counts[body] == 1 or not self._is_large(body))
        )

    def _is_large(self, body: Computation) -> bool:
        return len(body.instructions) > self.max_copied


def _inline(call: Instruction, computation: Computation) -> list[Instruction]:
    """Puts what is called in the place of a call; returns the new instructions."""
    builder = Builder(computation, call)
    inline_call(call, call.calls[0], call.operands, builder)
    return builder.made


def _has_fuel(journal: Journal) -> bool:
    return journal.hit("inlined-call")
