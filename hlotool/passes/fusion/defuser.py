"""Taking fusions apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.tuples import GetTupleElement
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.calls import in_layout
from hlotool.rewriting.inlining import inlined
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import remove_dead, replace


@dataclass(frozen=True)
class Defuser(Pass):
    """Puts the bodies of fusions in the place of the fusions."""

    name: ClassVar[str] = "defuser"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Takes every fusion apart, those inside others first."""
        changed = False
        for computation in list(module.computations):
            for instruction in list(computation.instructions):
                is_there = instruction.parent is computation
                if is_there and instruction.op.is_fusion and journal.hit("defuse"):
                    _take_apart(instruction, Builder(computation, instruction))
                    changed = True
            computation.settle()
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


def _take_apart(fusion: Instruction, builder: Builder) -> None:
    (body,) = fusion.calls
    body.settle()
    pairs = zip(fusion.operands, body.parameters, strict=True)
    given = [in_layout(operand, parameter.shape, builder) for operand, parameter in pairs]
    root = inlined(body, given, builder)
    for user in list(fusion.users):
        if isinstance(user.op, GetTupleElement):
            element = in_layout(builder.element(root, user.op.index), user.shape, builder)
            replace(user, element, builder)
    if fusion.parent is not None:
        replace(fusion, in_layout(root, fusion.shape, builder), builder)
    remove_dead(builder.computation, [root])
