"""Barriers go, when nothing can move past them any more that should not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.control_flow import OptBarrier
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("cse_barrier_expander")


@patterns.rewrites(OptBarrier)
def barrier(instruction: Instruction, _: Builder) -> Instruction | None:
    """opt-barrier(x) -> x"""
    return instruction.operands[0]


@dataclass(frozen=True)
class CseBarrierExpander(PatternPass):
    """Removes optimization barriers."""

    name: ClassVar[str] = "cse_barrier_expander"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
