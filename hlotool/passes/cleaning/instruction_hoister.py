"""What takes no time comes first in a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.source import Constant
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal

_FOLLOWING = (Bitcast, GetTupleElement)


@dataclass(frozen=True)
class InstructionHoister(Pass):
    """Moves parameters, constants and names of their parts to the front of schedules."""

    name: ClassVar[str] = "instruction-hoister"
    is_exact: ClassVar[bool] = True

    hoist_parameters: bool = option(default=True, words="whether parameters and parts of them move")
    hoist_constants: bool = option(default=True, words="whether constants move")

    def run(self, module: Module, journal: Journal) -> bool:
        """Reorders the computations of a scheduled module; others have no order to change."""
        if not module.is_scheduled:
            return False
        fused = fused_computations(module)
        changed = False
        for computation in module.computations:
            if computation not in fused:
                changed |= self._is_reordered(computation, journal)
        return changed

    def _is_reordered(self, computation: Computation, journal: Journal) -> bool:
        first: dict[Instruction, None] = {}
        if self.hoist_parameters:
            first.update({one: None for one in computation.parameters if not one.dependencies})
        for one in computation.instructions:
            if one not in first and self._is_hoisted(one, first):
                first[one] = None
        order = [*first, *(one for one in computation.instructions if one not in first)]
        if order == computation.instructions or not journal.hit("hoisted"):
            return False
        computation.instructions = order
        return True

    def _is_hoisted(self, one: Instruction, first: dict[Instruction, None]) -> bool:
        if any(before not in first for before in one.dependencies):
            return False
        if isinstance(one.op, Constant):
            return self.hoist_constants
        return isinstance(one.op, _FOLLOWING) and self.hoist_parameters
