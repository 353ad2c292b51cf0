"""Reshaping before collectives instead of behind them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllGather, AllGatherStart, AllReduce, AllReduceStart
from hlotool.ops.shape_changing import Reshape
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("collective-transformation-reorderer")


@patterns.rewrites(Reshape)
def reshape_before_reducing(instruction: Instruction, builder: Builder) -> Instruction | None:
    """reshape(all-reduce(x)) -> all-reduce(reshape(x))"""
    (reduced,) = instruction.operands
    op = reduced.op
    if not isinstance(op, AllReduce) or isinstance(op, AllReduceStart):
        return None
    if not _is_only_reshaped(reduced):
        return None
    operand = builder.reshape(reduced.operands[0], array_shape(instruction).dimensions)
    return builder.add(op, operand, calls=reduced.calls, shape=instruction.shape)


@patterns.rewrites(Reshape)
def reshape_before_gathering(instruction: Instruction, builder: Builder) -> Instruction | None:
    """reshape(all-gather(x)) -> all-gather(reshape(x))"""
    (gathered,) = instruction.operands
    op = gathered.op
    if not isinstance(op, AllGather) or isinstance(op, AllGatherStart):
        return None
    if not _is_only_reshaped(gathered):
        return None
    whole, result = array_shape(gathered), array_shape(instruction)
    piece = array_shape(gathered.operands[0]).dimensions[op.dimensions]
    count = whole.dimensions[op.dimensions] // piece
    dimension = _dimension_of_pieces(whole, op.dimensions, result, count)
    if dimension is None:
        return None
    sizes = list(result.dimensions)
    sizes[dimension] //= count
    operand = builder.reshape(gathered.operands[0], sizes)
    return builder.add(op.replace(dimensions=dimension), operand, shape=result)


def _is_only_reshaped(collective: Instruction) -> bool:
    shapes = [collective.shape, *(operand.shape for operand in collective.operands)]
    return (
        len(collective.operands) == 1
        and len(collective.users) == 1
        and not collective.has_control_edges
        and all(
            isinstance(shape, ArrayShape) and shape.is_static and shape.element_count > 0
            for shape in shapes
        )
    )


def _dimension_of_pieces(
    whole: ArrayShape, joined: int, result: ArrayShape, count: int
) -> int | None:
    """Returns along which dimension of the result pieces lie that were joined in the whole."""
    before = prod(whole.dimensions[:joined])
    for dimension, size in enumerate(result.dimensions):
        # Where sizes of 1 come first, the one behind them has the pieces.
        if prod(result.dimensions[:dimension]) == before and size % count == 0:
            return dimension
    return None


@dataclass(frozen=True)
class CollectiveTransformationReorderer(PatternPass):
    """Swaps all-gathers and all-reduces with the reshapes that follow them."""

    name: ClassVar[str] = "collective-transformation-reorderer"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
