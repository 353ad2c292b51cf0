"""Splitting all-reduces so that most of the work is done on pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.combinations import combination_of
from hlotool.ir.frame import Place
from hlotool.ir.instruction import Instruction
from hlotool.ops.collective import AllReduce, AllReduceStart
from hlotool.ops.indexing import DynamicSlice
from hlotool.passes.collectives.device_groups import (
    Groups,
    device_groups,
    next_channel,
    with_groups,
)
from hlotool.passes.collectives.own_piece import pieces_taken
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("all-reduce-splitter")


@patterns.rewrites(DynamicSlice)
def split_before_slice(instruction: Instruction, builder: Builder) -> Instruction | None:
    """dynamic-slice(all-reduce(x, all), i) -> all-reduce(dynamic-slice(all-reduce(x), i))"""
    reduced = instruction.operands[0]
    op = reduced.op
    if not isinstance(op, AllReduce) or isinstance(op, AllReduceStart):
        return None
    if len(reduced.operands) != 1 or len(reduced.users) > 1 or reduced.control_successors:
        return None
    if combination_of(reduced.calls[0], array_shape(reduced).element_type) is None:
        return None
    module = builder.module
    groups, pieces = device_groups(reduced, module), pieces_taken(instruction, module)
    split = None if groups is None or pieces is None else _split(groups, pieces)
    if split is None:
        return None
    within, across = split
    # The channel of the first stays; the second one needs its own.
    first, second = with_groups(op, within, module), with_groups(op, across, module)
    if second.channel_id is not None:
        second = second.replace(channel_id=next_channel(module))
    part = builder.add(first, *reduced.operands, calls=reduced.calls, shape=reduced.shape)
    _, *starts = instruction.operands
    piece = builder.add(instruction.op, part, *starts, shape=instruction.shape)
    return builder.add(second, piece, calls=reduced.calls, shape=instruction.shape)


def _split(groups: Groups, pieces: dict[Place, int]) -> tuple[Groups, Groups] | None:
    """Returns groups in which each takes another piece, and groups that take the same one."""
    within: list[tuple[Place, ...]] = []
    across: list[tuple[Place, ...]] = []
    for group in groups:
        by_piece: dict[int, list[Place]] = {}
        for place in group:
            by_piece.setdefault(pieces[place], []).append(place)
        counts = {len(places) for places in by_piece.values()}
        if len(by_piece) == 1 or counts == {1} or len(counts) > 1:
            return None
        in_order = [tuple(by_piece[piece]) for piece in sorted(by_piece)]
        across += in_order
        within += zip(*in_order, strict=True)
    return tuple(within), tuple(across)


@dataclass(frozen=True)
class AllReduceSplitter(PatternPass):
    """Splits an all-reduce whose result is sliced into one before and one behind the slice.

    The first one can become a reduce-scatter. Only where the order of reducing is free.
    """

    name: ClassVar[str] = "all-reduce-splitter"
    identities: ClassVar[PatternSet] = patterns
