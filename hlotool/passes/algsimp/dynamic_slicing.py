"""Identities of dynamic slices and updates, gathers and scatters."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.instruction import Instruction
from hlotool.ir.window import PaddingDimension
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice, Gather, Scatter
from hlotool.ops.shape_changing import Broadcast, Pad
from hlotool.passes.algsimp.constants import integer_of
from hlotool.passes.algsimp.starts import constant_starts, have_same_starts
from hlotool.passes.algsimp.values import only_scalar
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    count_of,
    has_elements,
    sizes,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp dynamic slicing")


@patterns.rewrites(DynamicSlice)
def dynamic_slice_of_all(instruction: Instruction, _: Builder) -> Instruction | None:
    """dynamic-slice(x, start) -> x, where the part is as large as x"""
    x = instruction.operands[0]
    return x if are_static(instruction, x) and sizes(x) == sizes(instruction) else None


@patterns.rewrites(DynamicSlice)
def dynamic_slice_at_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """dynamic-slice(x, constant) -> slice(x)"""
    window = sizes(instruction)
    starts = constant_starts(instruction, 1, window)
    if starts is None:
        return None
    ends = [start + size for start, size in zip(starts, window, strict=True)]
    return build.slice(instruction.operands[0], starts, ends)


@patterns.rewrites(DynamicSlice)
def dynamic_slice_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """dynamic-slice(broadcast(x), start) -> broadcast(dynamic-slice(x, start))"""
    match instruction:
        case Instruction(
            op=DynamicSlice(dynamic_slice_sizes=window),
            operands=[Instruction(op=Broadcast(dimensions=mapped), operands=[x]), *starts],
        ) if are_static(instruction, x) and len(starts) == len(window):
            small = [window[d] for d in mapped]
            part = x
            if tuple(small) != sizes(x):
                part = build.add(DynamicSlice(tuple(small)), x, *(starts[d] for d in mapped))
            return broadcast_to(build, part, mapped, window)
    return None


@patterns.rewrites(DynamicSlice)
def dynamic_slice_of_update(instruction: Instruction, _: Builder) -> Instruction | None:
    """dynamic-slice(dynamic-update-slice(x, u, start), start) -> u"""
    match instruction:
        case Instruction(
            operands=[
                Instruction(op=DynamicUpdateSlice(), operands=[x, update, *inner]),
                *starts,
            ]
        ) if are_static(x, update, instruction) and have_same_starts(tuple(starts), tuple(inner)):
            return update if update.shape.compatible(instruction.shape) else None
    return None


@patterns.rewrites(DynamicSlice, DynamicUpdateSlice)
def start_without_choice(instruction: Instruction, build: Builder) -> Instruction | None:
    """dynamic-slice(x, i, j) -> dynamic-slice(x, 0, j), where the part is whole along i"""
    count = 1 if isinstance(instruction.op, DynamicSlice) else 2
    array, starts = instruction.operands[0], list(instruction.operands[count:])
    window = instruction if count == 1 else instruction.operands[1]
    if not are_static(array, window) or len(starts) != len(sizes(array)):
        return None
    changed = False
    for dimension, start in enumerate(starts):
        is_whole = sizes(window)[dimension] == sizes(array)[dimension]
        if is_whole and array_shape(start).is_scalar and integer_of(start) is None:
            starts[dimension] = build.constant(0, array_shape(start).element_type)
            changed = True
    if not changed:
        return None
    operands = (*instruction.operands[:count], *starts)
    return build.add(instruction.op, *operands, shape=instruction.shape)


@patterns.rewrites(DynamicUpdateSlice)
def update_of_all(instruction: Instruction, _: Builder) -> Instruction | None:
    """dynamic-update-slice(x, u, start) -> u, where u is as large as x"""
    x, update, *_rest = instruction.operands
    return update if are_static(x, update) and update.shape.compatible(x.shape) else None


@patterns.rewrites(DynamicUpdateSlice)
def update_with_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """dynamic-update-slice(x, u, start) -> x, where u has no elements"""
    x, update, *_rest = instruction.operands
    return x if are_static(x, update) and count_of(update) == 0 else None


@patterns.rewrites(DynamicUpdateSlice)
def update_with_own_slice(instruction: Instruction, _: Builder) -> Instruction | None:
    """dynamic-update-slice(x, dynamic-slice(x, start), start) -> x"""
    match instruction:
        case Instruction(
            operands=[x, Instruction(op=DynamicSlice(), operands=[source, *inner]), *starts]
        ) if source is x and are_static(x) and have_same_starts(tuple(starts), tuple(inner)):
            return x
    return None


@patterns.rewrites(DynamicUpdateSlice)
def update_of_update(instruction: Instruction, build: Builder) -> Instruction | None:
    """dynamic-update-slice(dynamic-update-slice(x, u, start), v, start) -> …(x, v, start)"""
    match instruction:
        case Instruction(
            operands=[
                Instruction(op=DynamicUpdateSlice(), operands=[x, below, *inner]),
                update,
                *starts,
            ]
        ) if are_static(x, below, update) and have_same_starts(tuple(starts), tuple(inner)):
            if sizes(below) == sizes(update):
                return build.add(instruction.op, x, update, *starts, shape=instruction.shape)
    return None


@patterns.rewrites(DynamicUpdateSlice)
def update_of_one_value(instruction: Instruction, build: Builder) -> Instruction | None:
    """dynamic-update-slice(broadcast(c), u, constant) -> pad(u, c)"""
    match instruction:
        case Instruction(operands=[x, update, *_]) if (
            has_elements(x, update)
            and sizes(x)
            and array_shape(x).element_type is array_shape(update).element_type
        ):
            starts = constant_starts(instruction, 2, sizes(update))
            value = None if starts is None else only_scalar(x, build)
            if starts is None or value is None:
                return None
            edges = zip(starts, sizes(update), sizes(x), strict=True)
            padding = [PaddingDimension(low, bound - low - size) for low, size, bound in edges]
            return build.add(Pad(tuple(padding)), update, value)
    return None


@patterns.rewrites(Gather)
def gather_of_one_value(instruction: Instruction, build: Builder) -> Instruction | None:
    """gather(broadcast(c), indices) -> broadcast(c)"""
    match instruction:
        case Instruction(op=Gather(slice_sizes=window), operands=[x, _]) if (
            has_elements(x) and are_static(instruction) and 0 not in window
        ):
            value = only_scalar(x, build)
            return None if value is None else broadcast_to(build, value, (), sizes(instruction))
    return None


@patterns.rewrites(Gather)
def gather_of_one_window(instruction: Instruction, build: Builder) -> Instruction | None:
    """gather(x, index) -> reshape(dynamic-slice(x, index)), where there is one index vector"""
    match instruction:
        case Instruction(
            op=Gather(operand_batching_dims=(), slice_sizes=window) as gather,
            operands=[x, indices],
        ) if has_elements(x, instruction, indices) and 0 not in window:
            vector = gather.index_vector_dim
            length = sizes(indices)[vector] if vector < len(sizes(indices)) else 1
            if count_of(indices) != length or length != len(gather.start_index_map):
                return None
            starts = _starts(build, indices, gather.start_index_map, len(window))
            part = build.add(DynamicSlice(window), x, *starts)
            return build.reshape(part, sizes(instruction))
    return None


def _starts(
    build: Builder, indices: Instruction, index_map: Sequence[int], rank: int
) -> list[Instruction]:
    """Returns the start in each dimension as a scalar, of an array of one index vector."""
    flat = build.reshape(indices, [len(index_map)])
    parts = [flat]
    if len(index_map) > 1:
        parts = [build.slice(flat, [n], [n + 1]) for n in range(len(index_map))]
    given = dict(zip(index_map, parts, strict=True))
    starts = {dimension: build.reshape(part, ()) for dimension, part in given.items()}
    if len(starts) < rank:
        zero = build.constant(0, array_shape(indices).element_type)
        return [starts.get(dimension, zero) for dimension in range(rank)]
    return [starts[dimension] for dimension in range(rank)]


@patterns.rewrites(Scatter)
def scatter_of_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """scatter(x, indices, updates) -> x, where there are no updates"""
    match instruction:
        case Instruction(operands=[x, _, updates]) if (
            are_static(x, updates) and count_of(updates) == 0
        ):
            return x
    return None
