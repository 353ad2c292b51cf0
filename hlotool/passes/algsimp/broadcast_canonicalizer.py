"""Broadcasts that keep the order of their operand's dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.shape_changing import Broadcast
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    inverse,
    is_increasing,
    sizes,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("broadcast_canonicalizer")


@patterns.rewrites(Broadcast)
def broadcast_in_other_order(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(x), dimensions={2,0} -> broadcast(transpose(x)), dimensions={0,2}"""
    match instruction:
        case Instruction(op=Broadcast(dimensions=mapped), operands=[x]) if are_static(
            instruction, x
        ) and not is_increasing(mapped):
            moved = build.transpose(x, inverse(mapped))
            return broadcast_to(build, moved, sorted(mapped), sizes(instruction))
    return None


@dataclass(frozen=True)
class BroadcastCanonicalizer(PatternPass):
    """Sorts the dimensions of broadcasts and transposes their operands where need be."""

    name: ClassVar[str] = "broadcast_canonicalizer"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
