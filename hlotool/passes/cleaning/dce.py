"""Dead code elimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import can_be_removed
from hlotool.ir.computation import Computation
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class DeadCodeElimination(Pass):
    """Removes instructions that nothing uses and computations that nothing calls."""

    name: ClassVar[str] = "dce"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Removes what neither a root nor a side effect needs."""
        changed = False
        for computation in module.computations:
            changed |= _removes_any(computation, journal)
        changed |= _drops_any(module, journal)
        if changed:
            module.settle()
        return changed


def _removes_any(computation: Computation, journal: Journal) -> bool:
    changed = False
    # Users stand behind what they use, so that operands come when their last user is gone.
    for instruction in reversed(computation.instructions):
        if can_be_removed(instruction) and journal.hit(instruction.opcode):
            computation.remove(instruction)
            changed = True
    computation.settle()
    return changed


def _drops_any(module: Module, journal: Journal) -> bool:
    """Drops what the entry does not lead to: all at once, as one calls the other."""
    called = {called for instruction in module.instructions() for called in instruction.calls}
    is_any_dead = any(one not in called and one is not module.entry for one in module.computations)
    return is_any_dead and journal.hit("computations") and module.drop_unreachable()
