"""Dropping the calls that only carry a sharding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ops.custom_call import CustomCall
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal

_TARGETS = {
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "xla.sdy.FuncResultSharding",
}


@dataclass(frozen=True)
class ShardingRemover(Pass):
    """Drops custom calls that only carry a sharding, with the sharding."""

    name: ClassVar[str] = "sharding-remover"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Lets users of such calls take their operands, side effects or not."""
        changed = False
        for computation in unfused_computations(module):
            for instruction in list(computation.instructions):
                if _only_carries(instruction) and journal.hit("drop_sharding_call"):
                    _drop(instruction, computation)
                    changed = True
        if changed:
            module.settle()
        return changed


def _only_carries(instruction: Instruction) -> bool:
    op = instruction.op
    if not isinstance(op, CustomCall) or op.custom_call_target not in _TARGETS:
        return False
    # Where shapes differ the array is cut into tiles, or joined of them.
    shape = instruction.shape.plain_text
    return [operand.shape.plain_text for operand in instruction.operands] == [shape]


def _drop(instruction: Instruction, computation: Computation) -> None:
    (operand,) = instruction.operands
    same = Builder(computation, instruction).in_layout(operand, instruction.shape)
    computation.replace_uses(instruction, same)
    computation.remove(instruction)
