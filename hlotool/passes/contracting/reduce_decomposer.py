"""Reductions that yield the layout that is left of their operands' one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import Layout
from hlotool.ops.reduction import Reduce
from hlotool.passes.contracting.reductions import add_reduce, known_reduction
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("reduce-decomposer")


@patterns.rewrites(Reduce)
def copy_to_layout(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(x{2,1,0}, init){0,1} -> copy(reduce(x{2,1,0}, init){1,0}){0,1}"""
    reduction = known_reduction(instruction)
    layout = None if reduction is None else reduction.layout()
    if reduction is None or layout is None:
        return None
    kept = reduction.kept
    remaining = Layout([kept.index(d) for d in layout.minor_to_major if d in kept])
    if all(shape.layout == remaining or shape.layout.has_tail for shape in reduction.results):
        return None
    results = add_reduce(build, instruction, reduction.inputs, reduction.op.dimensions, remaining)
    return build.joined(results, instruction.shape)


@dataclass(frozen=True)
class ReduceDecomposer(PatternPass):
    """Makes reductions yield what is left of their operand's layout, and copies another one."""

    name: ClassVar[str] = "reduce-decomposer"
    identities: ClassVar[PatternSet] = patterns
