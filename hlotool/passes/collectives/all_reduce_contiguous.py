"""All-reduces of several arrays as one of a single array that holds them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllReduce, AllReduceStart
from hlotool.ops.shape_changing import Concatenate
from hlotool.passes.collectives.combining import is_static
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("all-reduce-contiguous")


@patterns.rewrites(AllReduce)
def reduce_one_array(instruction: Instruction, builder: Builder) -> Instruction | None:
    """all-reduce(x, y) -> parts of all-reduce(concatenate(x, y))"""
    operands = instruction.operands
    if isinstance(instruction.op, AllReduceStart) or len(operands) < 2:
        return None
    if not is_static(instruction):
        return None
    leaves = [leaf for _, leaf in instruction.shape.leaves() if isinstance(leaf, ArrayShape)]
    types = {array_shape(one).element_type for one in operands}
    types |= {leaf.element_type for leaf in leaves}
    if len(types) > 1:
        return None
    lines = [builder.reshape(one, [array_shape(one).element_count]) for one in operands]
    joined = builder.add(Concatenate(0), *lines)
    reduced = builder.add(
        instruction.op, joined, calls=instruction.calls, shape=array_shape(joined)
    )
    parts, start = [], 0
    for leaf in leaves:
        end = start + leaf.element_count
        part = builder.slice(reduced, [start], [end])
        parts.append(builder.reshape(part, leaf.dimensions))
        start = end
    return builder.tuple(*parts)


@dataclass(frozen=True)
class AllReduceContiguous(PatternPass):
    """Packs the operands of an all-reduce into one contiguous array."""

    name: ClassVar[str] = "all-reduce-contiguous"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
