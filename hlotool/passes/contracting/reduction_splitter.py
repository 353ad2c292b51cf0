"""Reductions over dimensions that do not lie together, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import neutral_value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.reduction import Reduce
from hlotool.passes.contracting.reductions import (
    KnownReduction,
    known_reduction,
    reduction_combination,
)
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import renumbered
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite


@dataclass(frozen=True)
class ReductionSplitter(Pass):
    """Splits reductions over dimensions that are no neighbours, the largest dimension first."""

    name: ClassVar[str] = "reduction-splitter"

    least_size: int = option(8, "a dimension as large as this is folded away alone")

    def run(self, module: Module, journal: Journal) -> bool:
        """Splits reductions of one array whose reducer is one op."""
        patterns = PatternSet(self.name)
        patterns.rewrites(Reduce)(self.fold_largest_first)
        return rewrite(module, patterns, journal)

    def fold_largest_first(self, instruction: Instruction, build: Builder) -> Instruction | None:
        """reduce(x, init), {0,2} -> reduce(reduce(x, neutral), {2}, init), {0}"""
        reduction = known_reduction(instruction)
        combination = reduction_combination(instruction)
        neutral = None if combination is None else neutral_value(combination)
        if reduction is None or combination is None or neutral is None:
            return None
        largest = self._first(reduction)
        if largest is None:
            return None
        rest = [dimension for dimension in reduction.op.dimensions if dimension != largest]
        (reducer,) = instruction.calls
        start = build.constant(neutral, combination.element_type)
        inner = build.add(Reduce((largest,)), reduction.inputs[0], start, calls=[reducer])
        outer = Reduce(renumbered(rest, [largest]))
        return build.add(outer, inner, reduction.inits[0], calls=[reducer])

    def _first(self, reduction: KnownReduction) -> int | None:
        """Returns the dimension to fold away first; `None` where all go at once."""
        folded = sorted(reduction.op.dimensions)
        are_together = not folded or folded[-1] - folded[0] == len(folded) - 1
        layout = reduction.layout()
        if are_together or layout is None or not layout.is_default:
            return None
        largest = max(folded, key=lambda dimension: reduction.sizes[dimension])
        return largest if reduction.sizes[largest] >= self.least_size else None
