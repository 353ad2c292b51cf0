"""Reductions that lose much in rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import F32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.callees.reducers import Combination, recognized
from hlotool.ops.collective import AllReduce, AllReduceStart, ReduceScatter
from hlotool.ops.elementwise import Add, Multiply
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal

REDUCTIONS = (Reduce, ReduceWindow, AllReduce, AllReduceStart, ReduceScatter)


@dataclass(frozen=True)
class UnstableReductionDetector(Pass):
    """Notes reductions that add or multiply in less than f32; changes nothing."""

    name: ClassVar[str] = "unstable-reduction-detector"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Looks at every reduction; returns that nothing has changed."""
        for instruction in module.instructions():
            narrow = _narrow(instruction)
            if narrow is not None:
                journal.note(
                    f"{instruction.opcode} folds with {narrow.op.opcode} in"
                    f" {narrow.element_type.name}, which rounds at every step",
                    instruction,
                )
        return False


def _narrow(instruction: Instruction) -> Combination | None:
    """Returns what a reduction rounds in at every step, where it is narrower than f32."""
    if not isinstance(instruction.op, REDUCTIONS):
        return None
    for one in recognized(instruction.calls[0]) or ():
        if (
            isinstance(one, Combination)
            and one.op in {Add, Multiply}
            and one.element_type.is_float
            and one.element_type.bits < F32.bits
        ):
            return one
    return None
