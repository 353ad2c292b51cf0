"""Gathering before broadcasting, so that less is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllGather, AllGatherStart
from hlotool.ops.shape_changing import Broadcast
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("all-gather-bcast-reorder")


@patterns.rewrites(AllGather)
def gather_before_broadcast(instruction: Instruction, builder: Builder) -> Instruction | None:
    """all-gather(broadcast(x)) -> broadcast(all-gather(x))"""
    op = instruction.op
    match instruction:
        case Instruction(operands=[Instruction(op=Broadcast() as spread, operands=[x]) as operand]):
            pass
        case _:
            return None
    assert isinstance(op, AllGather)
    if isinstance(op, AllGatherStart) or len(operand.users) > 1 or operand.control_successors:
        return None
    whole, part, source = map(array_shape, (instruction, operand, x))
    shapes = (whole, part, source)
    if not all(shape.is_static and shape.element_count for shape in shapes):
        return None
    if part.element_count <= source.element_count:
        return None
    count = whole.dimensions[op.dimensions] // part.dimensions[op.dimensions]
    if op.dimensions in spread.dimensions:
        place = spread.dimensions.index(op.dimensions)
        return _along_operand(instruction, x, place, count, builder)
    return _along_new(instruction, x, part, count, builder)


def _along_operand(
    instruction: Instruction, x: Instruction, place: int, count: int, builder: Builder
) -> Instruction:
    op, spread = instruction.op, instruction.operands[0].op
    assert isinstance(op, AllGather)
    sizes = list(array_shape(x).dimensions)
    sizes[place] *= count
    shape = ArrayShape(array_shape(x).element_type, sizes)
    gathered = builder.add(op.replace(dimensions=place), x, shape=shape)
    return builder.add(spread, gathered, shape=instruction.shape)


def _along_new(
    instruction: Instruction, x: Instruction, part: ArrayShape, count: int, builder: Builder
) -> Instruction:
    """Gathers along a new first dimension, which then comes before the one that is new in x."""
    op, spread = instruction.op, instruction.operands[0].op
    assert isinstance(op, AllGather)
    assert isinstance(spread, Broadcast)
    source = array_shape(x)
    row = builder.reshape(x, [1, *source.dimensions])
    stacked = ArrayShape(source.element_type, [count, *source.dimensions])
    gathered = builder.add(op.replace(dimensions=0), row, shape=stacked)
    joined = op.dimensions
    sizes = [*part.dimensions[:joined], count, *part.dimensions[joined:]]
    places = [joined, *(d + (d > joined) for d in spread.dimensions)]
    wide = ArrayShape(source.element_type, sizes)
    return builder.reshape(
        builder.broadcast(gathered, places, wide), array_shape(instruction).dimensions
    )


@dataclass(frozen=True)
class AllGatherBroadcastReorder(PatternPass):
    """Moves broadcasts behind all-gathers, which then send less."""

    name: ClassVar[str] = "all-gather-bcast-reorder"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
