"""Sums of slices that lie one step apart, as windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, TypeAlias

from hlotool.analysis.combinations import neutral_value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.window import WindowDimension
from hlotool.ops.callees.reducers import Combination
from hlotool.ops.elementwise import Add, Maximum, Minimum, Multiply
from hlotool.ops.reduction import ReduceWindow
from hlotool.ops.shape_changing import Slice
from hlotool.passes.contracting.products import has_known_sizes
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite

Bounds: TypeAlias = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class RecognizeReduceWindow(Pass):
    """Finds shifted slices of one array that are combined by one op, and makes them a window."""

    name: ClassVar[str] = "recognize-reduce-window"

    least_slices: int = option(3, "how many slices there must be", least=2)

    def run(self, module: Module, journal: Journal) -> bool:
        """Replaces sums, products, maxima and minima of slices."""
        patterns = PatternSet(self.name)
        patterns.rewrites(Add, Multiply, Maximum, Minimum)(self.shifted_slices)
        return rewrite(module, patterns, journal)

    def shifted_slices(self, instruction: Instruction, build: Builder) -> Instruction | None:
        """add(slice(x, [0:n]), slice(x, [1:n+1]), ...) -> reduce-window(slice(x), neutral)"""
        if _is_inside(instruction) or not has_known_sizes(instruction):
            return None
        slices = _leaves(instruction)
        if slices is None or len(slices) < self.least_slices:
            return None
        ordered = sorted(one.op.slice for one in slices if isinstance(one.op, Slice))
        along = _dimension_of_shift(ordered)
        source = slices[0].operands[0]
        shape = array_shape(instruction)
        combination = Combination(type(instruction.op), shape.element_type)
        neutral = neutral_value(combination)
        if along is None or neutral is None:
            return None
        window = [WindowDimension(1)] * shape.rank
        step = ordered[1][along][0] - ordered[0][along][0]
        stride = ordered[0][along][2]
        window[along] = WindowDimension(len(ordered), stride, window_dilation=step)
        covered = _covered(build, source, ordered, along)
        reducer = build.scalar_function(instruction.op, shape.element_type)
        start = build.constant(neutral, shape.element_type)
        return build.add(ReduceWindow(tuple(window)), covered, start, calls=[reducer])


def _is_inside(instruction: Instruction) -> bool:
    """Whether an instruction is combined on by another one of its kind, and used for that only."""
    users = list(instruction.users)
    return not instruction.is_root and len(users) == 1 and users[0].op == instruction.op


def _leaves(root: Instruction) -> list[Instruction] | None:
    """Returns the slices of one array that are combined; `None` where there is anything else."""
    found: list[Instruction] = []
    waiting = [root]
    while waiting:
        for operand in waiting.pop().operands:
            if operand.op == root.op and len(operand.users) == 1 and not operand.is_root:
                waiting.append(operand)
            elif isinstance(operand.op, Slice):
                found.append(operand)
            else:
                return None
    sources = {one.operands[0] for one in found}
    return found if len(sources) == 1 and array_shape(sources.pop()).is_static else None


def _dimension_of_shift(ordered: Sequence[Bounds]) -> int | None:
    """Returns the only dimension where slices differ, if it is by even steps."""
    differing = {
        dimension
        for bounds in ordered
        for dimension, (own, first) in enumerate(zip(bounds, ordered[0], strict=True))
        if own != first
    }
    if len(differing) != 1:
        return None
    (along,) = differing
    starts = [bounds[along][0] for bounds in ordered]
    steps = {other - one for one, other in pairwise(starts)}
    strides = {bounds[along][2] for bounds in ordered}
    return along if len(steps) == len(strides) == 1 and 0 not in steps else None


def _covered(
    build: Builder, source: Instruction, ordered: Sequence[Bounds], along: int
) -> Instruction:
    """Returns the part of an array that the windows slide over."""
    first, last = ordered[0], ordered[-1]
    bounds = [
        (low, last[d][1], 1) if d == along else (low, high, stride)
        for d, (low, high, stride) in enumerate(first)
    ]
    whole = [(0, size, 1) for size in array_shape(source).dimensions]
    if bounds == whole:
        return source
    starts, limits, strides = zip(*bounds, strict=True)
    return build.slice(source, starts, limits, strides)
