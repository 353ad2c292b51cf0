"""Reductions of row-major arrays only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Layout
from hlotool.ops.reduction import Reduce
from hlotool.ops.shape_changing import Bitcast
from hlotool.passes.contracting.reductions import add_reduce, known_reduction
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reduction-layout-normalizer")


@patterns.rewrites(Reduce)
def reduce_as_in_memory(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(x{0,1}, init), {0} -> bitcast(reduce(bitcast(x){1,0}, init), {1})"""
    reduction = known_reduction(instruction)
    if reduction is None:
        return None
    layout = reduction.layout()
    if layout is None or layout.is_default:
        return None
    order = layout.minor_to_major[::-1]
    sizes, kept = reduction.sizes, reduction.kept
    folded = [place for place, dimension in enumerate(order) if dimension not in kept]
    inputs = [
        build.add(
            Bitcast(),
            one,
            shape=ArrayShape(array_shape(one).element_type, [sizes[d] for d in order]),
        )
        for one in reduction.inputs
    ]
    reduced = add_reduce(build, instruction, inputs, folded)
    remaining = Layout([kept.index(d) for d in layout.minor_to_major if d in kept])
    results = [
        _seen_as(build, one, shape.with_layout(remaining))
        for one, shape in zip(reduced, reduction.results, strict=True)
    ]
    return build.joined(results, instruction.shape)


def _seen_as(build: Builder, instruction: Instruction, shape: ArrayShape) -> Instruction:
    if instruction.shape == shape:
        return instruction
    return build.add(Bitcast(), instruction, shape=shape)


@dataclass(frozen=True)
class ReductionLayoutNormalizer(PatternPass):
    """Lets reductions see their operands row-major, in the order of dimensions in memory."""

    name: ClassVar[str] = "reduction-layout-normalizer"
    identities: ClassVar[PatternSet] = patterns
