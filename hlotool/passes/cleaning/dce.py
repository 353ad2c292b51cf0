"""Dead code elimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead


@dataclass(frozen=True)
class DeadCodeElimination(Pass):
    """Removes instructions that nothing uses and computations that nothing calls."""

    name: ClassVar[str] = "dce"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Removes what neither a root nor a side effect needs."""
        changed = False
        for computation in module.computations:
            removed = remove_dead(computation, computation.instructions)
            changed |= removed > 0
        changed |= module.drop_unreachable()
        if changed:
            module.settle()
        return changed
