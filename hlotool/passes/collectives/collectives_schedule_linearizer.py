"""Giving all collectives of a computation one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.collective_groups import Collective
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import change_each


@dataclass(frozen=True)
class CollectivesScheduleLinearizer(Pass):
    """Lets each collective wait for the one before it, so that all devices keep one order."""

    name: ClassVar[str] = "collectives-schedule-linearizer"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Adds control edges where no dependency is there already."""
        return change_each(module, lambda computation: _linearize(computation, journal))


def _linearize(computation: Computation, journal: Journal) -> bool:
    # The number of the last collective that must have run before an instruction has.
    last: dict[Instruction, int] = {}
    before: Instruction | None = None
    count = 0
    changed = False
    for instruction in computation.instructions:
        known = max((last[one] for one in instruction.dependencies), default=0)
        if not isinstance(instruction.op, Collective):
            last[instruction] = known
            continue
        if before is not None and known < count and journal.hit("ordered"):
            predecessors = instruction.control_predecessors
            instruction.control_predecessors = (*predecessors, before)
            changed = True
        before = instruction
        count += 1
        last[instruction] = count
    return changed
