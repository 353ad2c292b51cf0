"""Reductions without dimensions of size 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.reduction import Reduce
from hlotool.passes.contracting.reductions import add_reduce, known_reduction
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import renumbered, without
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reduction-degenerate-dim-remover")


@patterns.rewrites(Reduce)
def drop_dimensions_of_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(x[1,m,k], init) -> reshape(reduce(reshape(x)[m,k], init))"""
    reduction = known_reduction(instruction)
    if reduction is None:
        return None
    sizes = reduction.sizes
    single = [dimension for dimension, size in enumerate(sizes) if size == 1]
    folded = [dimension for dimension in reduction.op.dimensions if sizes[dimension] != 1]
    # Where nothing else is folded away the reduction stays, as it combines with initial values.
    if not single or not folded:
        return None
    inputs = [build.reshape(one, without(sizes, single)) for one in reduction.inputs]
    reduced = add_reduce(build, instruction, inputs, renumbered(folded, single))
    results = [
        build.reshape(one, shape.dimensions)
        for one, shape in zip(reduced, reduction.results, strict=True)
    ]
    return build.joined(results, instruction.shape)


@dataclass(frozen=True)
class ReductionDegenerateDimRemover(PatternPass):
    """Removes dimensions of size 1 from what reductions take and yield."""

    name: ClassVar[str] = "reduction-degenerate-dim-remover"
    identities: ClassVar[PatternSet] = patterns
