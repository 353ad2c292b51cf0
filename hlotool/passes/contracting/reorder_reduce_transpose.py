"""Reductions before transposes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.callees.reducers import Combination, recognized
from hlotool.ops.reduction import Reduce
from hlotool.ops.shape_changing import Transpose
from hlotool.passes.contracting.reductions import KnownReduction, add_reduce, known_reduction
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reorder-reduce-transpose")


@patterns.rewrites(Reduce)
def reduce_first(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(transpose(x), init) -> transpose(reduce(x, init))"""
    reduction = known_reduction(instruction)
    order = None if reduction is None else _common_order(reduction)
    if reduction is None or order is None:
        return None
    folded = [order[dimension] for dimension in reduction.op.dimensions]
    in_order = [order[dimension] for dimension in sorted(reduction.op.dimensions)]
    if in_order != sorted(in_order) and not _goes_in_any_order(instruction):
        return None
    kept = [order[dimension] for dimension in reduction.kept]
    inputs = [one.operands[0] for one in reduction.inputs]
    reduced = add_reduce(build, instruction, inputs, sorted(folded))
    places = [sorted(kept).index(dimension) for dimension in kept]
    return build.joined([build.transpose(one, places) for one in reduced], instruction.shape)


def _common_order(reduction: KnownReduction) -> tuple[int, ...] | None:
    """Returns the dimensions of the transposes that all inputs are; `None` where they are not."""
    orders = {
        one.op.dimensions if isinstance(one.op, Transpose) else None for one in reduction.inputs
    }
    return orders.pop() if len(orders) == 1 else None


def _goes_in_any_order(instruction: Instruction) -> bool:
    """Whether the reducer tells nothing of the order of the elements."""
    components = recognized(instruction.calls[0])
    return components is not None and all(isinstance(one, Combination) for one in components)


@dataclass(frozen=True)
class ReorderReduceTranspose(PatternPass):
    """Reduces before it transposes: nothing, or less, is left to move."""

    name: ClassVar[str] = "reorder-reduce-transpose"
    identities: ClassVar[PatternSet] = patterns
