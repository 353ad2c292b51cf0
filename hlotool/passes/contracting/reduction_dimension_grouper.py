"""Reductions whose neighbouring dimensions are one where they share their fate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.reduction import Reduce
from hlotool.passes.contracting.reductions import add_reduce, known_reduction
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reduction-dimension-grouper")


@patterns.rewrites(Reduce)
def group_neighbours(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(x[a,b,c,d], init), {0,1} -> reshape(reduce(reshape(x)[ab,cd], init), {0})"""
    reduction = known_reduction(instruction)
    if reduction is None:
        return None
    layout = reduction.layout()
    if layout is None or not layout.is_default:
        return None
    sizes = reduction.sizes
    folded = set(reduction.op.dimensions)
    groups = [
        (is_folded, prod(sizes[dimension] for dimension in dimensions))
        for is_folded, dimensions in groupby(range(len(sizes)), folded.__contains__)
    ]
    if len(groups) == len(sizes):
        return None
    grouped = [size for _, size in groups]
    dimensions = [number for number, (is_folded, _) in enumerate(groups) if is_folded]
    inputs = [build.reshape(one, grouped) for one in reduction.inputs]
    reduced = add_reduce(build, instruction, inputs, dimensions)
    results = [
        build.reshape(one, shape.dimensions)
        for one, shape in zip(reduced, reduction.results, strict=True)
    ]
    return build.joined(results, instruction.shape)


@dataclass(frozen=True)
class ReductionDimensionGrouper(PatternPass):
    """Merges neighbouring dimensions that a reduction keeps, and those that it folds away."""

    name: ClassVar[str] = "reduction-dimension-grouper"
    identities: ClassVar[PatternSet] = patterns
