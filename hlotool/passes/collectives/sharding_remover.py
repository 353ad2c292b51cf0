"""Dropping the calls that only carry a sharding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.custom_call import CustomCall
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite

_TARGETS = {
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "xla.sdy.FuncResultSharding",
}

patterns = PatternSet("sharding-remover")


@patterns.rewrites(CustomCall)
def drop_sharding_call(instruction: Instruction, _: Builder) -> Instruction | None:
    """custom-call(x), custom_call_target="Sharding" -> x"""
    op = instruction.op
    assert isinstance(op, CustomCall)
    if op.custom_call_target not in _TARGETS or len(instruction.operands) != 1:
        return None
    (operand,) = instruction.operands
    # Where shapes differ the array is cut into tiles, or joined of them.
    return operand if operand.shape.plain_text == instruction.shape.plain_text else None


@dataclass(frozen=True)
class ShardingRemover(Pass):
    """Drops custom calls that only carry a sharding, with the sharding."""

    name: ClassVar[str] = "sharding-remover"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Lets users of such calls take their operands."""
        return rewrite(module, patterns, journal)
