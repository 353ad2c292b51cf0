"""Taking control edges away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class ControlDepRemover(Pass):
    """Removes all control predecessors; a schedule stays as it is."""

    name: ClassVar[str] = "control-dep-remover"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Removes the control edges of every computation."""
        changed = False
        for instruction in module.instructions():
            if instruction.control_predecessors and journal.hit("control edges removed"):
                instruction.control_predecessors = ()
                changed = True
        if changed:
            module.settle()
        return changed
