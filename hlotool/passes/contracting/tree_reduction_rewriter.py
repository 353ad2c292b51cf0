"""Long reductions as trees of windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import neutral_value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.window import WindowDimension
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.passes.contracting.reductions import known_reduction, reduction_combination
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite


@dataclass(frozen=True)
class TreeReductionRewriter(Pass):
    """Splits long reductions into windows, which rounds sums less often."""

    name: ClassVar[str] = "tree_reduction_rewriter"

    window_size: int = option(32, "how many elements are folded at once", least=2)

    def run(self, module: Module, journal: Journal) -> bool:
        """Splits until no dimension that is folded away is longer than a window."""
        patterns = PatternSet(self.name)
        patterns.rewrites(Reduce)(self.fold_windows_first)
        return rewrite(module, patterns, journal)

    def fold_windows_first(self, instruction: Instruction, build: Builder) -> Instruction | None:
        """reduce(x, init) -> reduce(reduce-window(x, neutral), init)"""
        reduction = known_reduction(instruction)
        combination = reduction_combination(instruction)
        neutral = None if combination is None else neutral_value(combination)
        if reduction is None or combination is None or neutral is None:
            return None
        sizes = reduction.sizes
        length = self.window_size
        long = {d for d in reduction.op.dimensions if sizes[d] > length}
        if not long:
            return None
        window = tuple(
            _of_length(length, size) if dimension in long else WindowDimension(1)
            for dimension, size in enumerate(sizes)
        )
        (reducer,) = instruction.calls
        start = build.constant(neutral, combination.element_type)
        folded = build.add(ReduceWindow(window), reduction.inputs[0], start, calls=[reducer])
        return build.add(reduction.op, folded, reduction.inits[0], calls=[reducer])


def _of_length(length: int, size: int) -> WindowDimension:
    """Returns windows side by side that show every element once."""
    missing = -size % length
    return WindowDimension(
        length, stride=length, padding_low=missing // 2, padding_high=missing - missing // 2
    )
