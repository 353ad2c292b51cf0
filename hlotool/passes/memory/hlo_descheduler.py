"""Taking the schedule away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class HloDescheduler(Pass):
    """Drops the schedule, so that only operands and control edges order instructions."""

    name: ClassVar[str] = "hlo-descheduler"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Makes a scheduled module one that is not."""
        if not module.is_scheduled or not journal.hit("schedule dropped"):
            return False
        module.header = module.header.replace(is_scheduled=False)
        return True
