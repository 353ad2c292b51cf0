"""All-to-all of pieces that are cut apart before and joined behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import TupleShape
from hlotool.ops.permuting import AllToAll
from hlotool.ops.shape_changing import Concatenate
from hlotool.passes.collectives.device_groups import device_groups, same_size_of
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("all_to_all_decomposer")


@patterns.rewrites(AllToAll)
def exchange_tuple(instruction: Instruction, builder: Builder) -> Instruction | None:
    """all-to-all(x), dimensions={0} -> concatenate(all-to-all(piece 0 of x, piece 1 of x))"""
    op = instruction.op
    assert isinstance(op, AllToAll)
    if op.dimensions is None:
        return None
    (operand,) = instruction.operands
    shape = array_shape(operand)
    groups = device_groups(instruction, builder.module)
    count = None if groups is None else same_size_of(groups)
    size = shape.dimensions[op.dimensions]
    if count is None or size % count or not shape.is_static:
        return None
    starts, limits = [0] * shape.rank, list(shape.dimensions)
    pieces = []
    for number in range(count):
        starts[op.dimensions] = number * (size // count)
        limits[op.dimensions] = (number + 1) * (size // count)
        pieces.append(builder.slice(operand, starts, limits))
    exchanged = builder.add(
        op.replace(dimensions=None), *pieces, shape=TupleShape([one.shape for one in pieces])
    )
    received = [builder.element(exchanged, number) for number in range(count)]
    return builder.add(Concatenate(op.dimensions), *received)


@dataclass(frozen=True)
class AllToAllDecomposer(PatternPass):
    """Turns all-to-all of an array into one of a tuple of its pieces."""

    name: ClassVar[str] = "all_to_all_decomposer"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
