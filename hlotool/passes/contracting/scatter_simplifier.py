"""One form for all scatters, and no scatter for a single window that is overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hlotool.ir.element_type import PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.reducers import Combination, Taken, recognized
from hlotool.ops.elementwise import And, Compare
from hlotool.ops.indexing import Scatter
from hlotool.ops.numerics.widths import integer_limits
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import inverse
from hlotool.rewriting.index_vectors import (
    index_batch,
    index_rows,
    only_starts,
    with_index_map_first,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("scatter_simplifier")


@patterns.rewrites(Scatter)
def update_of_one_window(instruction: Instruction, build: Builder) -> Instruction | None:
    """scatter(x, indices, u) -> dynamic-update-slice(x, select(is inside, u, dynamic-slice(x)))"""
    op = plain_scatter(instruction)
    if op is None or recognized(instruction.calls[0]) != (Taken.ELEMENT,):
        return None
    operand, indices, update = instruction.operands
    if prod(index_batch(indices, op.index_vector_dim)) != 1:
        return None
    shape = array_shape(operand)
    if array_shape(update).element_type is not shape.element_type:
        return None
    index_map = op.scatter_dims_to_operand_dims
    starts = only_starts(build, indices, op.index_vector_dim, index_map, shape.rank)
    sizes = window_sizes(op, instruction)
    limits = [shape.dimensions[d] - sizes[d] for d in index_map]
    flags = _are_inside(build, [starts[d] for d in index_map], limits)
    window = build.reshape(update, sizes)
    if flags:
        is_inside = flags[0]
        for flag in flags[1:]:
            is_inside = build.add(And(), is_inside, flag)
        spread = build.broadcast(is_inside, (), ArrayShape(PRED, sizes))
        window = build.select(spread, window, build.dynamic_slice(operand, starts, sizes))
    return build.dynamic_update_slice(operand, window, starts)


def _are_inside(
    build: Builder, starts: Sequence[Instruction], limits: Sequence[int]
) -> list[Instruction]:
    """Returns truth values that together say whether starts are from 0 up to their limits."""
    flags = []
    for start, limit in zip(starts, limits, strict=True):
        element_type = array_shape(start).element_type
        least, most = integer_limits(element_type)
        if least < 0:
            flags.append(build.add(Compare("GE"), start, build.constant(0, element_type)))
        if limit < most:
            flags.append(build.add(Compare("LE"), start, build.constant(limit, element_type)))
    return flags


@patterns.rewrites(Scatter)
def canonical_scatter(instruction: Instruction, build: Builder) -> Instruction | None:
    """scatter(x, indices, u) -> transpose(scatter(transpose(x), reshape(indices), reshape(u)))"""
    op = plain_scatter(instruction)
    if op is None or not _keeps_order(op, instruction):
        return None
    count = len(instruction.operands) // 2
    inputs, indices = instruction.operands[:count], instruction.operands[count]
    rank = array_shape(inputs[0]).rank
    order = with_index_map_first(op.scatter_dims_to_operand_dims, rank)
    canonical = op.replace(
        update_window_dims=tuple(range(1, rank + 1)),
        inserted_window_dims=(),
        scatter_dims_to_operand_dims=tuple(range(len(op.scatter_dims_to_operand_dims))),
        index_vector_dim=1,
    )
    if op == canonical and array_shape(indices).rank == 2:
        return None
    rows = index_rows(build, indices, op.index_vector_dim)
    moved = [build.transpose(one, order) for one in inputs]
    updates = [
        _update_rows(build, op, instruction, update, order)
        for update in instruction.operands[count + 1 :]
    ]
    scattered = build.add(canonical, *moved, rows, *updates, calls=instruction.calls)
    results = [scattered] if count == 1 else [build.element(scattered, n) for n in range(count)]
    return build.joined(
        [build.transpose(one, inverse(order)) for one in results], instruction.shape
    )


def _update_rows(
    build: Builder, op: Scatter, instruction: Instruction, update: Instruction, order: Sequence[int]
) -> Instruction:
    """Returns updates as [index vector, window of whole rank in an order of dimensions...]."""
    outer = [d for d in range(array_shape(update).rank) if d not in op.update_window_dims]
    sizes = array_shape(update).dimensions
    grouped = build.transpose(update, [*outer, *op.update_window_dims])
    window = window_sizes(op, instruction)
    whole = build.reshape(grouped, [prod(sizes[d] for d in outer), *window])
    return build.transpose(whole, [0, *(1 + dimension for dimension in order)])


def window_sizes(op: Scatter, instruction: Instruction) -> list[int]:
    """Returns the size of a scatter's window in each dimension of the operand."""
    operand, update = array_shape(instruction.operands[0]), array_shape(instruction.operands[-1])
    return op.window_sizes(operand, update.dimensions)


def plain_scatter(instruction: Instruction) -> Scatter | None:
    """Returns the op of a scatter of known sizes without explicit batching."""
    op = instruction.op
    if not isinstance(op, Scatter) or op.input_batching_dims:
        return None
    return op if all(array_shape(one).is_static for one in instruction.operands) else None


def _keeps_order(op: Scatter, instruction: Instruction) -> bool:
    """Whether updates of one element come in the same order as before, or in any."""
    rank = array_shape(instruction.operands[-1]).rank
    window = op.update_window_dims
    if op.unique_indices or window == tuple(range(rank - len(window), rank)):
        return True
    components = recognized(instruction.calls[0])
    return components is not None and all(isinstance(one, Combination) for one in components)


@dataclass(frozen=True)
class ScatterSimplifier(PatternPass):
    """Makes scatters put windows of whole rank where the rows of a matrix of indices say."""

    name: ClassVar[str] = "scatter_simplifier"
    identities: ClassVar[PatternSet] = patterns
