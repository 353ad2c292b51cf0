"""A constant of its own for each user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class HloConstantSplitter(Pass):
    """Gives every user of a constant one of its own, so that each can be moved and fused."""

    name: ClassVar[str] = "hlo-constant-splitter"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Copies each constant for all its users but the first."""
        fused = fused_computations(module)
        changed = False
        for computation in module.computations:
            if computation not in fused:
                changed |= _split(computation, module, journal)
        if changed:
            module.settle()
        return changed


def _split(computation: Computation, module: Module, journal: Journal) -> bool:
    """Lets each constant go on with its first user; all others get copies of it."""
    taken: set[Instruction] = set()
    changed = False
    for user in list(computation.instructions):
        copies: dict[Instruction, Instruction] = {}
        for constant in dict.fromkeys(user.operands):
            if not isinstance(constant.op, Constant):
                continue
            if constant in taken and journal.hit("constant copied"):
                copies[constant] = _copied(constant, computation, module)
            taken.add(constant)
        if copies:
            user.operands = [copies.get(operand, operand) for operand in user.operands]
            changed = True
    return changed


def _copied(constant: Instruction, computation: Computation, module: Module) -> Instruction:
    copied = constant.copied(())
    copied.name = module.instruction_name(constant.name)
    return computation.add(copied)
