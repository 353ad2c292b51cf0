"""The plainest schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.passes.memory.scheduling import plain_order
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class HloTrivialScheduler(Pass):
    """Schedules operands right before their users; leaves a scheduled module alone."""

    name: ClassVar[str] = "hlo-trivial-scheduler"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Puts the instructions into the order in which they print, and calls it the schedule."""
        if module.is_scheduled or not journal.hit("schedule added"):
            return False
        fused = fused_computations(module)
        for computation in module.computations:
            if computation not in fused:
                computation.instructions = plain_order(computation)
        module.header = module.header.replace(is_scheduled=True)
        return True
