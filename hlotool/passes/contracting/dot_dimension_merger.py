"""Dimensions of dots that go side by side in both operands, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import Layout
from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.products import Dimensions, Side, add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import renumbered
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("dot_dimension_merger")


@patterns.rewrites(Dot)
def merge_neighbours(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x[a,b,m,k], y[a,b,k,n]) -> reshape(dot(reshape(x)[ab,m,k], reshape(y)[ab,k,n]))"""
    dot = dense_dot(instruction)
    if dot is None:
        return None
    lhs, rhs = dot.lhs, dot.rhs
    joined = [
        number
        for pairs in (list(zip(lhs.batch, rhs.batch, strict=True)),
                      list(zip(lhs.contracting, rhs.contracting, strict=True)))
        for number in _joined(pairs, lhs, rhs)
    ]  # fmt: skip
    if not joined:
        return None
    lhs_gone, rhs_gone = [one for one, _ in joined], [other for _, other in joined]
    op = dot.op.replace(
        lhs_batch_dims=_kept(lhs.batch, lhs_gone),
        rhs_batch_dims=_kept(rhs.batch, rhs_gone),
        lhs_contracting_dims=_kept(lhs.contracting, lhs_gone),
        rhs_contracting_dims=_kept(rhs.contracting, rhs_gone),
    )
    product = add_product(
        build, op, _merged(build, lhs, lhs_gone), _merged(build, rhs, rhs_gone), dot.element_type
    )
    return build.reshape(product, array_shape(instruction).dimensions)


def _joined(pairs: Sequence[tuple[int, int]], lhs: Side, rhs: Side) -> list[tuple[int, int]]:
    """Returns the pairs of dimensions that follow right behind the pair before them."""
    layouts = [array_shape(side.operand).layout for side in (lhs, rhs)]
    return [
        pair
        for before, pair in pairwise(pairs)
        if all(
            follows == first + 1 and _lies_behind(layout, first)
            for first, follows, layout in zip(before, pair, layouts, strict=True)
        )
    ]


def _lies_behind(layout: Layout, dimension: int) -> bool:
    """Whether in memory nothing comes between a dimension and the next one."""
    order = layout.minor_to_major
    return not layout.has_tail and order.index(dimension) == order.index(dimension + 1) + 1


def _kept(dimensions: Dimensions, gone: Sequence[int]) -> Dimensions:
    return renumbered([d for d in dimensions if d not in gone], gone)


def _merged(build: Builder, side: Side, gone: Sequence[int]) -> Instruction:
    """Returns an operand with each dimension that goes merged into the one before it."""
    sizes = array_shape(side.operand).dimensions
    starts = [d for d in range(len(sizes)) if d not in gone]
    ends = [*starts[1:], len(sizes)]
    merged = [prod(sizes[start:end]) for start, end in zip(starts, ends, strict=True)]
    return build.reshape(side.operand, merged)


@dataclass(frozen=True)
class DotDimensionMerger(PatternPass):
    """Merges batch or contracting dimensions of dots that follow each other on both sides."""

    name: ClassVar[str] = "dot_dimension_merger"
    identities: ClassVar[PatternSet] = patterns
