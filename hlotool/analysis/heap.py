"""Packing of blocks that are needed for a while each into as little memory as may be."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

_MOST_COMPARED = 2000
"""Up to how many blocks each one is compared with all that are placed already."""


@dataclass(frozen=True, slots=True)
class Block:
    """Memory that is needed from step `start` to step `end`, both included."""

    size: int
    start: int
    end: int


def packed(blocks: Sequence[Block], alignment: int) -> tuple[list[int], int]:
    """Returns an offset for each block, a multiple of `alignment`, and the bytes of all.

    Blocks that are needed at one step do not overlap.
    """
    found = _by_time(blocks, alignment)
    if len(blocks) <= _MOST_COMPARED:
        found = min(_by_size(blocks, alignment), found, key=lambda result: result[1])
    return found


def _by_size(blocks: Sequence[Block], alignment: int) -> tuple[list[int], int]:
    """Places the largest first, each in the smallest gap that takes it."""
    offsets = [0] * len(blocks)
    placed: list[tuple[int, int, Block]] = []
    for number in sorted(range(len(blocks)), key=lambda n: -blocks[n].size):
        block = blocks[number]
        taken = [
            (offset, offset + other.size)
            for offset, _, other in placed
            if other.start <= block.end and block.start <= other.end
        ]
        offsets[number] = _best_gap(taken, block.size, alignment)
        if block.size:
            insort(placed, (offsets[number], number, block), key=lambda entry: entry[:2])
    return offsets, _total(blocks, offsets)


def _best_gap(taken: Sequence[tuple[int, int]], size: int, alignment: int) -> int:
    best: tuple[int, int] | None = None
    free = 0
    for start, end in taken:
        if start - free >= size and (best is None or start - free < best[0]):
            best = start - free, free
        free = max(free, _aligned(end, alignment))
    return free if best is None else best[1]


def _by_time(blocks: Sequence[Block], alignment: int) -> tuple[list[int], int]:
    """Takes and gives back memory step by step, each time from the smallest piece that fits."""
    offsets = [0] * len(blocks)
    free = _FreeList()
    ending: list[tuple[int, int]] = []
    for number in sorted(range(len(blocks)), key=lambda n: (blocks[n].start, -blocks[n].size)):
        block = blocks[number]
        while ending and ending[0][0] < block.start:
            _, done = heapq.heappop(ending)
            free.give(offsets[done], _aligned(blocks[done].size, alignment))
        size = _aligned(block.size, alignment)
        if size:
            offsets[number] = free.take(size)
            heapq.heappush(ending, (block.end, number))
    return offsets, _total(blocks, offsets)


class _FreeList:
    """Pieces that are free, by size and by both ends; memory grows where none is large enough."""

    def __init__(self) -> None:
        self._by_size: list[tuple[int, int]] = []
        self._by_start: dict[int, int] = {}
        self._by_end: dict[int, int] = {}
        self._top = 0

    def take(self, size: int) -> int:
        """Returns the offset of a piece that is free no more."""
        at = bisect_left(self._by_size, (size, 0))
        if at == len(self._by_size):
            # The last piece, where it is free, is made longer.
            begin = self._by_end.get(self._top, self._top)
            if begin < self._top:
                self._remove(begin)
            self._top = begin + size
            return begin
        found, begin = self._by_size[at]
        self._remove(begin)
        if found > size:
            self._add(begin + size, found - size)
        return begin

    def give(self, begin: int, size: int) -> None:
        """Makes a piece free, joined with those on both sides."""
        end = begin + size
        if begin in self._by_end:
            before = self._by_end[begin]
            self._remove(before)
            begin = before
        if end in self._by_start:
            after = self._by_start[end]
            self._remove(end)
            end += after
        if end > begin:
            self._add(begin, end - begin)

    def _add(self, begin: int, size: int) -> None:
        self._by_start[begin] = size
        self._by_end[begin + size] = begin
        insort(self._by_size, (size, begin))

    def _remove(self, begin: int) -> None:
        size = self._by_start.pop(begin)
        del self._by_end[begin + size]
        del self._by_size[bisect_left(self._by_size, (size, begin))]


def _total(blocks: Sequence[Block], offsets: Sequence[int]) -> int:
    ends = (offset + block.size for offset, block in zip(offsets, blocks, strict=True))
    return max(ends, default=0)


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
