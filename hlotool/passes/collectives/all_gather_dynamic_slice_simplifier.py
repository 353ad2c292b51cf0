"""Cancelling all-gathers whose result each device takes its own operand back from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllGather, AllGatherStart
from hlotool.ops.indexing import DynamicSlice
from hlotool.passes.collectives.device_groups import device_groups
from hlotool.passes.collectives.own_piece import sliced_dimension, takes_own_piece
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("all-gather-dynamic-slice-simplifier")


@patterns.rewrites(DynamicSlice)
def own_piece_of_gathered(instruction: Instruction, builder: Builder) -> Instruction | None:
    """dynamic-slice(all-gather(x), own place) -> x"""
    gathered = instruction.operands[0]
    op = gathered.op
    if not isinstance(op, AllGather) or isinstance(op, AllGatherStart):
        return None
    if len(gathered.operands) != 1 or sliced_dimension(instruction) != op.dimensions:
        return None
    (own,) = gathered.operands
    groups = device_groups(gathered, builder.module)
    if groups is None or not own.shape.compatible(instruction.shape):
        return None
    return own if takes_own_piece(instruction, groups, builder.module) else None


@dataclass(frozen=True)
class AllGatherDynamicSliceSimplifier(PatternPass):
    """Takes the operand of an all-gather where each device slices just its own part again."""

    name: ClassVar[str] = "all-gather-dynamic-slice-simplifier"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
