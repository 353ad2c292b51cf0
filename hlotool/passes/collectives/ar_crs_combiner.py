"""One all-reduce of all devices in place of one of partitions and one of replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllReduce
from hlotool.ops.shape_changing import Reshape, Reverse, Transpose
from hlotool.ops.unary import Copy
from hlotool.passes.collectives.all_reduce_folder import folded
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

_PERMUTING = (Copy, Reshape, Reverse, Transpose)
"""What may lie between the two, as each element stays one."""
_MOST_STEPS = 16

patterns = PatternSet("ar-crs-combiner")


@patterns.rewrites(AllReduce)
def all_reduce_across_movement(instruction: Instruction, builder: Builder) -> Instruction | None:
    """all-reduce(reshape(all-reduce(x))) -> all-reduce(reshape(x))"""
    between: list[Instruction] = []
    current = instruction.operands[0]
    while isinstance(current.op, _PERMUTING) and len(between) < _MOST_STEPS:
        if not _is_single_array(current):
            return None
        between.append(current)
        (current,) = current.operands
    if not isinstance(current.op, AllReduce) or not _is_single_array(current):
        return None
    operand = current.operands[0]
    for movement in reversed(between):
        operand = builder.add(movement.op, operand, shape=array_shape(movement))
    return folded(instruction, current, operand, builder)


def _is_single_array(instruction: Instruction) -> bool:
    is_free = len(instruction.users) == 1 and not instruction.has_control_edges
    return instruction.shape.is_array and is_free


@dataclass(frozen=True)
class ArCrsCombiner(PatternPass):
    """Joins all-reduces across partitions with those across replicas that follow them."""

    name: ClassVar[str] = "ar-crs-combiner"
    identities: ClassVar[PatternSet] = patterns
