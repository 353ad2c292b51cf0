"""One form for all gathers, and no gather for a single window."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import Gather
from hlotool.passes.contracting.products import has_known_sizes
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import interleaved, inverse, without
from hlotool.rewriting.index_vectors import (
    index_batch,
    index_rows,
    only_starts,
    with_index_map_first,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("gather_simplifier")


@patterns.rewrites(Gather)
def zeros_of_no_window(instruction: Instruction, build: Builder) -> Instruction | None:
    """gather(x, indices), slice_sizes={0} -> broadcast(0)"""
    op = instruction.op
    if not isinstance(op, Gather) or not has_known_sizes(instruction):
        return None
    shape = array_shape(instruction)
    return build.full(0, shape.with_default_layout()) if 0 in op.slice_sizes else None


@patterns.rewrites(Gather)
def slice_of_one_window(instruction: Instruction, build: Builder) -> Instruction | None:
    """gather(x, indices) -> dynamic-slice(x, indices...), where there is one index vector"""
    op = _plain_gather(instruction)
    if op is None:
        return None
    operand, indices = instruction.operands
    if prod(index_batch(indices, op.index_vector_dim)) != 1:
        return None
    rank = array_shape(operand).rank
    starts = only_starts(build, indices, op.index_vector_dim, op.start_index_map, rank)
    part = build.dynamic_slice(operand, starts, op.slice_sizes)
    return build.reshape(part, array_shape(instruction).dimensions)


@patterns.rewrites(Gather)
def canonical_gather(instruction: Instruction, build: Builder) -> Instruction | None:
    """gather(x, indices) -> transpose(reshape(gather(transpose(x), reshape(indices))))"""
    op = _plain_gather(instruction)
    if op is None:
        return None
    operand, indices = instruction.operands
    rank = array_shape(operand).rank
    order = with_index_map_first(op.start_index_map, rank)
    canonical = op.replace(
        offset_dims=tuple(range(1, rank + 1)),
        collapsed_slice_dims=(),
        start_index_map=tuple(range(len(op.start_index_map))),
        index_vector_dim=1,
        slice_sizes=tuple(op.slice_sizes[d] for d in order),
    )
    if op == canonical and array_shape(indices).rank == 2:
        return None
    rows = index_rows(build, indices, op.index_vector_dim)
    gathered = build.add(canonical, build.transpose(operand, order), rows)
    in_order = build.transpose(gathered, [0, *(1 + d for d in inverse(order))])
    batch = index_batch(indices, op.index_vector_dim)
    window = without(op.slice_sizes, op.collapsed_slice_dims)
    parted = build.reshape(in_order, [*batch, *window])
    places = interleaved(len(batch) + len(window), op.offset_dims, len(batch))
    return build.transpose(parted, places)


def _plain_gather(instruction: Instruction) -> Gather | None:
    """Returns the op of a gather of known sizes without explicit batching."""
    op = instruction.op
    if not isinstance(op, Gather) or not has_known_sizes(instruction):
        return None
    return None if op.operand_batching_dims else op


@dataclass(frozen=True)
class GatherSimplifier(PatternPass):
    """Makes gathers take windows of whole rank for the rows of a matrix of indices."""

    name: ClassVar[str] = "gather_simplifier"
    identities: ClassVar[PatternSet] = patterns
