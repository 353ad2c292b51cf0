"""Reducing only the piece that a device needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllReduce, AllReduceStart, ReduceScatter
from hlotool.ops.indexing import DynamicSlice
from hlotool.passes.collectives.device_groups import as_op, device_groups
from hlotool.passes.collectives.own_piece import sliced_dimension, takes_own_piece
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reduce-scatter-creator")


@patterns.rewrites(DynamicSlice)
def own_piece_of_reduced(instruction: Instruction, builder: Builder) -> Instruction | None:
    """dynamic-slice(all-reduce(x), own place) -> reduce-scatter(x)"""
    reduced = instruction.operands[0]
    op, dimension = reduced.op, sliced_dimension(instruction)
    if not isinstance(op, AllReduce) or isinstance(op, AllReduceStart) or dimension is None:
        return None
    if len(reduced.operands) != 1 or len(reduced.users) > 1 or reduced.control_successors:
        return None
    groups = device_groups(reduced, builder.module)
    if groups is None or not takes_own_piece(instruction, groups, builder.module):
        return None
    scattering = as_op(op, ReduceScatter, dimensions=dimension)
    return builder.add(scattering, *reduced.operands, calls=reduced.calls, shape=instruction.shape)


@dataclass(frozen=True)
class ReduceScatterCreator(PatternPass):
    """Makes a reduce-scatter of an all-reduce of which each device takes its own piece."""

    name: ClassVar[str] = "reduce-scatter-creator"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
