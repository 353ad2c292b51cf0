"""Barriers go, when nothing can move past them any more that should not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.control_flow import OptBarrier
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite

patterns = PatternSet("cse_barrier_expander")


@patterns.rewrites(OptBarrier)
def barrier(instruction: Instruction, _: Builder) -> Instruction | None:
    """opt-barrier(x) -> x"""
    return instruction.operands[0]


@dataclass(frozen=True)
class CseBarrierExpander(Pass):
    """Removes optimization barriers."""

    name: ClassVar[str] = "cse_barrier_expander"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Lets the users of barriers use what these are given."""
        return rewrite(module, patterns, journal)
