"""Scatters into rows that are cut off afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import Scatter
from hlotool.ops.shape_changing import Slice
from hlotool.passes.contracting.scatter_simplifier import plain_scatter, window_sizes
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("scatter-slice-simplifier")


@patterns.rewrites(Slice)
def slice_first(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(scatter(x, indices, updates)) -> scatter(slice(x), indices, updates)"""
    (scatter,) = instruction.operands
    op = plain_scatter(scatter)
    if op is None or len(scatter.operands) != 3 or not _is_only_sliced(scatter):
        return None
    operand, indices, updates = scatter.operands
    limits = array_shape(instruction).dimensions
    assert isinstance(instruction.op, Slice)
    is_prefix = all(low == 0 and stride == 1 for low, _, stride in instruction.op.slice)
    if not is_prefix or not _drops_whole_windows(op, scatter, limits):
        return None
    kept = build.slice(operand, [0] * len(limits), limits)
    return build.add(op, kept, indices, updates, calls=scatter.calls)


def _is_only_sliced(scatter: Instruction) -> bool:
    """Whether nothing but one slice needs a scatter."""
    return len(scatter.users) == 1 and not scatter.is_root and not scatter.has_control_edges


def _drops_whole_windows(op: Scatter, scatter: Instruction, limits: Sequence[int]) -> bool:
    """Whether a window lies either inside of what is kept, or outside: then it is left out."""
    sizes = window_sizes(op, scatter)
    bounds = array_shape(scatter).dimensions
    for dimension, (size, limit) in enumerate(zip(sizes, limits, strict=True)):
        if limit == bounds[dimension]:
            continue
        is_moved = dimension in op.scatter_dims_to_operand_dims
        if (size != 1 or not limit) if is_moved else size > limit:
            return False
    return True


@dataclass(frozen=True)
class ScatterSliceSimplifier(PatternPass):
    """Scatters only into the rows that a slice keeps: what lies outside is left out anyway."""

    name: ClassVar[str] = "scatter-slice-simplifier"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
