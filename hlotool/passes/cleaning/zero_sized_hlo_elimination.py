"""Constants in the place of what computes arrays without elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import has_side_effect
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import ArrayShape
from hlotool.ops.asynchronous import AsyncContinuation
from hlotool.ops.host import CopyDone
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace

_STAYING = (AsyncContinuation, Constant, CopyDone)
"""Constants themselves, and what must follow where something was started."""


@dataclass(frozen=True)
class ZeroSizedHloElimination(Pass):
    """Replaces instructions that yield no elements by empty constants."""

    name: ClassVar[str] = "zero_sized_hlo_elimination"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Replaces each that is no parameter and has no side effect."""
        fused = fused_computations(module)
        changed = False
        for computation in module.computations:
            if computation in fused:
                continue
            for instruction in list(computation.instructions):
                if instruction.parent is None or not _yields_nothing(instruction):
                    continue
                if not journal.hit("empty constant"):
                    continue
                builder = Builder(computation, instruction)
                assert isinstance(instruction.shape, ArrayShape)
                replace(instruction, builder.literal(Literal(instruction.shape, b"")), builder)
                changed = True
        if changed:
            # The bodies of fusions that are gone would no longer be known as such.
            module.drop_unreachable()
            module.settle()
        return changed


def _yields_nothing(instruction: Instruction) -> bool:
    shape = instruction.shape
    if not isinstance(shape, ArrayShape) or not shape.is_static or shape.element_count:
        return False
    if isinstance(instruction.op, _STAYING) or instruction.op.parameter_number is not None:
        return False
    return not has_side_effect(instruction)
