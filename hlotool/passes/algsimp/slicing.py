"""Identities that begin at a slice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from hlotool.ir.instruction import Instruction
from hlotool.ir.window import PaddingDimension
from hlotool.ops.indexing import DynamicUpdateSlice
from hlotool.ops.shape_changing import (
    Broadcast,
    Concatenate,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from hlotool.ops.source import Iota
from hlotool.passes.algsimp.starts import constant_starts
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    groups,
    has_elements,
    is_used_once,
    more_than_one,
    resized,
    sizes,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp slicing")

Bounds = tuple[int, int, int]


def bounds_of(instruction: Instruction) -> tuple[Bounds, ...]:
    """Returns first index, end and stride of each dimension of a slice."""
    assert isinstance(instruction.op, Slice)
    return instruction.op.slice


def _cut(build: Builder, x: Instruction, bounds: Sequence[Bounds]) -> Instruction:
    """Returns the part of an array; the array where that is all of it."""
    if all(map(_is_whole, bounds, sizes(x))):
        return x
    return build.add(Slice(tuple(bounds)), x)


def _is_whole(bounds: Bounds, size: int) -> bool:
    return bounds == (0, size, 1)


@patterns.rewrites(Slice)
def slice_of_all(instruction: Instruction, _: Builder) -> Instruction | None:
    """slice(x) -> x, where nothing is cut off"""
    (x,) = instruction.operands
    return x if are_static(instruction, x) and sizes(x) == sizes(instruction) else None


@patterns.rewrites(Slice)
def slice_beyond_last(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(x), slice={[0:4:3]} -> slice(x), slice={[0:4:3]} with the nearest end and stride

    The end comes right behind the last element, and the stride of one element is 1.
    """
    (x,) = instruction.operands
    if not are_static(x):
        return None
    bounds = tuple(map(_nearest, bounds_of(instruction), sizes(instruction)))
    return None if bounds == bounds_of(instruction) else build.add(Slice(bounds), x)


def _nearest(bounds: Bounds, count: int) -> Bounds:
    start, _, stride = bounds
    if count == 0:
        return 0, 0, 1
    return start, start + (count - 1) * stride + 1, stride if count > 1 else 1


@patterns.rewrites(Slice)
def slice_of_slice(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(slice(x)) -> slice(x)"""
    match instruction:
        case Instruction(operands=[Instruction(op=Slice(), operands=[x]) as inner]) if are_static(
            x
        ) and has_elements(instruction):
            pairs = zip(bounds_of(inner), bounds_of(instruction), strict=True)
            bounds = [
                (first + start * step, first + (end - 1) * step + 1, step * stride)
                for (first, _, step), (start, end, stride) in pairs
            ]
            return build.add(Slice(tuple(bounds)), x)
    return None


@patterns.rewrites(Slice)
def slice_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(broadcast(x)) -> broadcast(slice(x))"""
    match instruction:
        case Instruction(operands=[Instruction(op=Broadcast(dimensions=mapped), operands=[x])]) if (
            are_static(instruction, x)
        ):
            bounds = bounds_of(instruction)
            part = _cut(build, x, [bounds[d] for d in mapped])
            return broadcast_to(build, part, mapped, sizes(instruction))
    return None


@patterns.rewrites(Slice)
def slice_of_concatenate(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(concatenate(x, y)) -> slice(x), where the part lies in some of the operands"""
    match instruction:
        case Instruction(
            operands=[Instruction(op=Concatenate(dimensions=along), operands=pieces)]
        ) if are_static(*pieces) and has_elements(instruction):
            bounds = bounds_of(instruction)
            start, end, stride = bounds[along]
            ends = list(accumulate(sizes(piece)[along] for piece in pieces))
            touched = [
                (piece, last - sizes(piece)[along])
                for piece, last in zip(pieces, ends, strict=True)
                if last > start and last - sizes(piece)[along] < end
            ]
            (first, offset), count = touched[0], len(touched)
            if count == 1:
                moved = (start - offset, end - offset, stride)
                return _cut(build, first, (*bounds[:along], moved, *bounds[along + 1 :]))
            is_aligned = offset == start and end in ends and stride == 1
            if count == len(pieces) or not is_aligned:
                return None
            joined = build.add(Concatenate(along), *(piece for piece, _ in touched))
            return _cut(build, joined, (*bounds[:along], (0, end - start, 1), *bounds[along + 1 :]))
    return None


@patterns.rewrites(Slice)
def slice_of_pad(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(pad(x)) -> slice(x), pad(x) or broadcast(value), where x is left in or out whole"""
    match instruction:
        case Instruction(operands=[Instruction(op=Pad(padding=padding), operands=[x, value])]) if (
            are_static(x) and has_elements(x, instruction)
        ):
            bounds = bounds_of(instruction)
            places = list(zip(bounds, padding, sizes(x), strict=True))
            if any(_misses(*place) for place in places):
                return broadcast_to(build, value, (), sizes(instruction))
            if all(_is_inside(*place) for place in places):
                moved = [(s - p.low, e - p.low, stride) for (s, e, stride), p, _ in places]
                return _cut(build, x, moved)
            if all(_keeps_all(*place) for place in places):
                edges = [
                    PaddingDimension(p.low - start, end - p.low - size)
                    for (start, end, _), p, size in places
                ]
                return build.add(Pad(tuple(edges)), x, value)
    return None


def _misses(bounds: Bounds, padding: PaddingDimension, size: int) -> bool:
    start, end, _ = bounds
    last = padding.low + (size - 1) * (padding.interior + 1)
    return end <= padding.low or start > last


def _is_inside(bounds: Bounds, padding: PaddingDimension, size: int) -> bool:
    start, end, _ = bounds
    return not padding.interior and start >= padding.low and end <= padding.low + size


def _keeps_all(bounds: Bounds, padding: PaddingDimension, size: int) -> bool:
    start, end, stride = bounds
    is_plain = not padding.interior and padding.low >= 0 and padding.high >= 0 and stride == 1
    return is_plain and start <= padding.low and end >= padding.low + size


@patterns.rewrites(Slice)
def slice_of_iota(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(iota) -> iota, where counting begins at 0 still"""
    match instruction:
        case Instruction(operands=[Instruction(op=Iota(iota_dimension=along)) as iota]) if (
            are_static(instruction, iota)
        ):
            start, _, stride = bounds_of(instruction)[along]
            if start == 0 and stride == 1:
                return build.iota(along, resized(instruction, sizes(instruction)))
    return None


@patterns.rewrites(Slice)
def slice_of_reverse(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(reverse(x)) -> reverse(slice(x))"""
    match instruction:
        case Instruction(
            operands=[Instruction(op=Reverse(dimensions=turned), operands=[x]) as inner]
        ) if are_static(x) and has_elements(instruction) and is_used_once(inner):
            bounds = list(bounds_of(instruction))
            for dimension in turned:
                start, _, stride = bounds[dimension]
                last = start + (sizes(instruction)[dimension] - 1) * stride
                size = sizes(x)[dimension]
                bounds[dimension] = (size - 1 - last, size - start, stride)
            return build.add(Reverse(turned), _cut(build, x, bounds))
    return None


@patterns.rewrites(Slice)
def slice_of_transpose(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(transpose(x)) -> transpose(slice(x))"""
    match instruction:
        case Instruction(
            operands=[Instruction(op=Transpose(dimensions=order), operands=[x]) as inner]
        ) if are_static(x) and is_used_once(inner):
            bounds: list[Bounds] = [(0, size, 1) for size in sizes(x)]
            for dimension, cut in zip(order, bounds_of(instruction), strict=True):
                bounds[dimension] = cut
            return build.transpose(_cut(build, x, bounds), order)
    return None


@patterns.rewrites(Slice)
def slice_of_reshape(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(reshape(x)) -> reshape(slice(x)), where the dimensions that are cut stay"""
    match instruction:
        case Instruction(operands=[Instruction(op=Reshape(), operands=[x]) as inner]) if (
            are_static(x, inner) and has_elements(instruction) and is_used_once(inner)
        ):
            bounds = _bounds_before(bounds_of(instruction), sizes(x), sizes(inner))
            if bounds is not None:
                part = _cut(build, x, bounds)
                return build.add(Reshape(), part, shape=resized(x, sizes(instruction)))
    return None


def _bounds_before(
    bounds: Sequence[Bounds], old: Sequence[int], new: Sequence[int]
) -> list[Bounds] | None:
    """Returns the bounds of old dimensions that cut what `bounds` cut of the new ones."""
    found: list[Bounds] = [(0, size, 1) for size in old]
    for before, after in groups(old, new):
        if all(_is_whole(bounds[d], new[d]) for d in after):
            continue
        ours, theirs = more_than_one(old, before), more_than_one(new, after)
        if len(ours) != 1 or len(theirs) != 1:
            return None
        found[ours[0]] = bounds[theirs[0]]
    return found


@patterns.rewrites(Slice)
def slice_of_update(instruction: Instruction, build: Builder) -> Instruction | None:
    """slice(dynamic-update-slice(x, u, start)) -> slice(u) or slice(x), where it is all one"""
    match instruction:
        case Instruction(
            operands=[Instruction(op=DynamicUpdateSlice(), operands=[x, update, *_]) as inner]
        ) if are_static(x, update) and has_elements(instruction, update):
            starts = constant_starts(inner, 2, sizes(update))
            if starts is None:
                return None
            bounds = bounds_of(instruction)
            places = list(zip(bounds, starts, sizes(update), strict=True))
            if any(end <= at or start >= at + size for (start, end, _), at, size in places):
                return build.add(Slice(bounds), x)
            if all(start >= at and end <= at + size for (start, end, _), at, size in places):
                return _cut(build, update, [(s - at, e - at, t) for (s, e, t), at, _ in places])
    return None
