"""The promise that indices of a gather lie inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.unary import Copy
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("AssumeGatherIndicesInBoundRewriteToCopy")


@patterns.rewrites(CustomCall)
def promise_of_indices(instruction: Instruction, build: Builder) -> Instruction | None:
    """custom-call(x), custom_call_target="AssumeGatherIndicesInBound" -> copy(x)"""
    match instruction:
        case Instruction(
            op=CustomCall(
                custom_call_target="AssumeGatherIndicesInBound", custom_call_has_side_effect=False
            ),
            operands=[operand],
        ) if operand.shape.compatible(instruction.shape):
            return build.add(Copy(), operand, shape=instruction.shape)
    return None


@dataclass(frozen=True)
class AssumeGatherIndicesInBoundRewriteToCopy(PatternPass):
    """Puts a copy in the place of each promise that indices of a gather lie inside."""

    name: ClassVar[str] = "AssumeGatherIndicesInBoundRewriteToCopy"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
