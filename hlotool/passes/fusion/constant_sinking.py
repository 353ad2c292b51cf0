"""Constants of one element, moved into the fusions that read them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.source import Parameter
from hlotool.passes.fusion.multi_output import is_mergeable
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.outlining import is_scalar_constant
from hlotool.rewriting.rewriter import remove_dead


@dataclass(frozen=True)
class FusionConstantSinking(Pass):
    """Gives fusions their own copies of the constants of one element that they read."""

    name: ClassVar[str] = "fusion_constant_sinking"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Sinks constants into every fusion that shares its body with no other."""
        callers = Counter(called for one in module.instructions() for called in one.calls)
        changed = False
        for fusion in list(module.instructions()):
            if not fusion.op.is_fusion or not is_mergeable(fusion):
                continue
            if not any(map(is_scalar_constant, fusion.operands)):
                continue
            if callers[fusion.calls[0]] > 1:
                journal.note("other fusions have the same body, so constants stay out", fusion)
            elif journal.hit("sink"):
                _sink(fusion, module)
                changed = True
        if changed:
            module.settle()
        return changed


def _sink(fusion: Instruction, module: Module) -> None:
    (body,) = fusion.calls
    constants = dict.fromkeys(filter(is_scalar_constant, fusion.operands))
    kept: list[tuple[Instruction, Instruction]] = []
    copies: dict[Instruction, Instruction] = {}
    for parameter, operand in zip(body.parameters, fusion.operands, strict=True):
        if operand not in constants:
            kept.append((parameter, operand))
            continue
        copy = copies.get(operand)
        if copy is None:
            copy = copies[operand] = operand.copied(())
            copy.annotations = operand.annotations
            copy.name = module.instruction_name(operand.name)
            body.add(copy)
        body.replace_uses(parameter, copy)
    for parameter in set(body.parameters) - {parameter for parameter, _ in kept}:
        body.remove(parameter)
    for number, (parameter, _) in enumerate(kept):
        parameter.op = Parameter(number)
    body.parameters = tuple(parameter for parameter, _ in kept)
    fusion.operands = tuple(operand for _, operand in kept)
    assert fusion.parent is not None
    remove_dead(fusion.parent, constants)
