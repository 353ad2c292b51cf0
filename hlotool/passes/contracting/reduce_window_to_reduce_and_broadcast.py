"""Windows that show all elements at every place, as reductions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ir.window import WindowDimension
from hlotool.ops.numerics.windows import spans
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.passes.contracting.products import has_known_sizes
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("ReduceWindowToReduceAndBroadcast")


@patterns.rewrites(ReduceWindow)
def reduce_all_at_once(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce-window(x, init) -> broadcast(reduce(x, init)), where windows show all of x"""
    op = instruction.op
    if (
        not isinstance(op, ReduceWindow)
        or len(instruction.operands) != 2
        or not has_known_sizes(instruction)
    ):
        return None
    operand, init = instruction.operands
    sizes = array_shape(operand).dimensions
    pairs = list(enumerate(zip(op.window, sizes, strict=True)))
    kept = [number for number, (dimension, _) in pairs if dimension == WindowDimension(1)]
    folded = tuple(number for number, _ in pairs if number not in kept)
    if not folded or not all(_shows_all(op.window[d], sizes[d]) for d in folded):
        return None
    shape = array_shape(instruction)
    reduced_shape = ArrayShape(shape.element_type, [sizes[d] for d in kept])
    reduced = build.add(Reduce(folded), operand, init, calls=instruction.calls, shape=reduced_shape)
    return build.broadcast(reduced, kept, shape.with_default_layout())


def _shows_all(dimension: WindowDimension, size: int) -> bool:
    """Whether the window shows every element at each place."""
    if dimension.window_dilation > 1:
        return False
    starts, ends = spans(dimension, size)
    return bool((starts == 0).all() and (ends == size).all())


@dataclass(frozen=True)
class ReduceWindowToReduceAndBroadcast(PatternPass):
    """Makes a reduce-window that always shows everything a reduction that is repeated."""

    name: ClassVar[str] = "ReduceWindowToReduceAndBroadcast"
    identities: ClassVar[PatternSet] = patterns
