"""Identities that begin at a concatenate."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.instruction import Instruction
from hlotool.ir.window import PaddingDimension
from hlotool.ops.shape_changing import Broadcast, Concatenate, Pad, Slice
from hlotool.passes.algsimp.constants import number_of
from hlotool.passes.algsimp.slicing import bounds_of
from hlotool.passes.algsimp.values import is_same, is_same_scalar, only_scalar, scalar_of
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    has_elements,
    is_used_once,
    sizes,
    without,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp concatenating")

_MOST_PIECES = 64
"""Of a chain of concatenates so many pieces become one, as each link takes all before it."""


def _joined(build: Builder, along: int, pieces: Sequence[Instruction]) -> Instruction:
    """Returns the pieces one behind the other; a single one as it is."""
    return pieces[0] if len(pieces) == 1 else build.add(Concatenate(along), *pieces)


def _along(instruction: Instruction) -> int:
    assert isinstance(instruction.op, Concatenate)
    return instruction.op.dimensions


@patterns.rewrites(Concatenate)
def concatenate_of_one(instruction: Instruction, _: Builder) -> Instruction | None:
    """concatenate(x) -> x"""
    first, *others = instruction.operands
    return None if others else first


@patterns.rewrites(Concatenate)
def concatenate_with_nothing(instruction: Instruction, build: Builder) -> Instruction | None:
    """concatenate(x, y) -> x, where y has size 0 along the dimension"""
    pieces, along = instruction.operands, _along(instruction)
    if not are_static(*pieces):
        return None
    kept = [piece for piece in pieces if sizes(piece)[along]]
    if len(kept) == len(pieces):
        return None
    return _joined(build, along, kept or pieces[:1])


@patterns.rewrites(Concatenate)
def concatenate_of_concatenate(instruction: Instruction, build: Builder) -> Instruction | None:
    """concatenate(concatenate(x, y), z) -> concatenate(x, y, z)"""
    along = _along(instruction)
    pieces: list[Instruction] = []
    for piece in instruction.operands:
        is_nested = isinstance(piece.op, Concatenate) and _along(piece) == along
        pieces += piece.operands if is_nested and is_used_once(piece) else [piece]
    if not len(instruction.operands) < len(pieces) <= _MOST_PIECES or not are_static(*pieces):
        return None
    return build.add(Concatenate(along), *pieces)


@patterns.rewrites(Concatenate)
def concatenate_of_neighbours(instruction: Instruction, build: Builder) -> Instruction | None:
    """concatenate(slice(x, [0:2]), slice(x, [2:5])) -> slice(x, [0:5])"""
    along = _along(instruction)
    runs: list[list[Instruction]] = []
    for piece in instruction.operands:
        if runs and _continues(runs[-1][-1], piece, along):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    if len(runs) == len(instruction.operands):
        return None
    return _joined(build, along, [_merged(build, run, along) for run in runs])


def _continues(one: Instruction, other: Instruction, along: int) -> bool:
    """Whether a slice begins where another of the same array ends."""
    match one, other:
        case (Instruction(op=Slice(), operands=[x]), Instruction(op=Slice(), operands=[y])) if (
            x is y and are_static(x)
        ):
            ours, theirs = bounds_of(one), bounds_of(other)
            is_aligned = all(
                mine == its
                for d, (mine, its) in enumerate(zip(ours, theirs, strict=True))
                if d != along
            )
            (_, end, stride), (start, _, step) = ours[along], theirs[along]
            return is_aligned and end == start and stride == step == 1
    return False


def _merged(build: Builder, run: Sequence[Instruction], along: int) -> Instruction:
    if len(run) == 1:
        return run[0]
    bounds = list(bounds_of(run[0]))
    bounds[along] = (bounds[along][0], bounds_of(run[-1])[along][1], 1)
    return build.add(Slice(tuple(bounds)), run[0].operands[0])


@patterns.rewrites(Concatenate)
def concatenate_of_broadcasts(instruction: Instruction, build: Builder) -> Instruction | None:
    """concatenate(broadcast(x), broadcast(x)) -> broadcast(x), where the dimension is new"""
    pieces, along = instruction.operands, _along(instruction)
    if not are_static(instruction, *pieces) or len(pieces) == 1:
        return None
    match pieces[0]:
        case Instruction(op=Broadcast(dimensions=mapped) as op, operands=[x]) if (
            along not in mapped
            and are_static(x)
            and all(piece.op == op and is_same(piece.operands[0], x) for piece in pieces)
        ):
            return broadcast_to(build, x, mapped, sizes(instruction))
    return None


@patterns.rewrites(Concatenate)
def concatenate_of_repeated(instruction: Instruction, build: Builder) -> Instruction | None:
    """concatenate(x, x, x) -> broadcast(reshape(x)), where x has size 1 along the dimension"""
    (x, *others), along = instruction.operands, _along(instruction)
    if not others or any(other is not x for other in others):
        return None
    if not are_static(x) or sizes(x)[along] != 1:
        return None
    kept = [d for d in range(len(sizes(x))) if d != along]
    flat = build.reshape(x, without(sizes(x), {along}))
    return broadcast_to(build, flat, kept, sizes(instruction))


@patterns.rewrites(Concatenate)
def concatenate_with_edges(instruction: Instruction, build: Builder) -> Instruction | None:
    """concatenate(broadcast(c), x, broadcast(c)) -> pad(x, c)"""
    pieces, along = instruction.operands, _along(instruction)
    if not has_elements(*pieces):
        return None
    inside = [n for n, piece in enumerate(pieces) if not _is_one_value(piece)]
    if len(inside) != 1 or len(pieces) == 1:
        return None
    (place,) = inside
    edges = [piece for piece in pieces if piece is not pieces[place]]
    if not all(is_same_scalar(edge, edges[0]) for edge in edges):
        return None
    value = only_scalar(edges[0], build)
    assert value is not None
    low = sum(sizes(piece)[along] for piece in pieces[:place])
    high = sum(sizes(piece)[along] for piece in pieces[place + 1 :])
    padding = [
        PaddingDimension(low, high) if d == along else PaddingDimension(0, 0)
        for d in range(len(sizes(pieces[place])))
    ]
    return build.add(Pad(tuple(padding)), pieces[place], value)


def _is_one_value(piece: Instruction) -> bool:
    return scalar_of(piece) is not None or number_of(piece) is not None
