"""Packing of blocks that are needed for a while each into as little memory as may be."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import itemgetter
from typing import TypeAlias

_MOST_COMPARED = 2000
"""Up to how many blocks each one is compared with all that are placed already."""
_MOST_ORDERED = 300
"""Up to how many blocks they are placed in several orders, of which the best one counts."""


@dataclass(frozen=True, slots=True)
class Block:
    """Memory that is needed from step `start` to step `end`, both included.

    It begins at a multiple of `alignment`.
    """

    size: int
    start: int
    end: int
    alignment: int = 1


@dataclass
class Space:
    """Memory that is needed from step `start` on, in which blocks may lie before that."""

    size: int
    start: int
    _placed: list[tuple[int, int, Block]] = field(default_factory=list)

    def take(self, block: Block) -> int | None:
        """Returns where a block lies in it from now on; `None` where it cannot."""
        if block.size > self.size or block.end >= self.start:
            return None
        offset = _best_gap(_taken(self._placed, block), block)
        if offset + block.size > self.size:
            return None
        insort(self._placed, (offset, len(self._placed), block), key=_begin)
        return offset


_Order: TypeAlias = Callable[[Block], tuple[int, ...]]
_ORDERS: tuple[_Order, ...] = (
    lambda block: (-block.size,),
    lambda block: (-block.size * (block.end - block.start + 1),),
    lambda block: (block.start - block.end, -block.size),
    lambda block: (block.start, block.start - block.end),
)
_Packed: TypeAlias = tuple[list[int], int]
"""An offset for each block, and the bytes of all."""


def packed(blocks: Sequence[Block]) -> _Packed:
    """Returns an offset for each block, and the bytes of all.

    Blocks that are needed at one step do not overlap.
    """
    least = _most_at_once(blocks)
    attempts = _attempts(blocks)
    best = next(attempts)
    while best[1] > least and (found := next(attempts, None)) is not None:
        best = min(best, found, key=itemgetter(1))
    return best


def _attempts(blocks: Sequence[Block]) -> Iterator[_Packed]:
    by_size, *others = _ORDERS
    if len(blocks) <= _MOST_COMPARED:
        yield _in_order(blocks, by_size)
    yield _by_time(blocks)
    if len(blocks) <= _MOST_ORDERED:
        for order in others:
            yield _in_order(blocks, order)


def _most_at_once(blocks: Sequence[Block]) -> int:
    """Returns how many bytes are needed at one step, at most."""
    changes = [0] * (max((block.end for block in blocks), default=0) + 2)
    for block in blocks:
        changes[block.start] += block.size
        changes[block.end + 1] -= block.size
    return max(accumulate(changes))


def _in_order(blocks: Sequence[Block], order: _Order) -> _Packed:
    """Places one after the other, each in the smallest gap that takes it."""
    offsets = [0] * len(blocks)
    placed: list[tuple[int, int, Block]] = []
    for number in sorted(range(len(blocks)), key=lambda n: order(blocks[n])):
        block = blocks[number]
        offsets[number] = _best_gap(_taken(placed, block), block)
        if block.size:
            insort(placed, (offsets[number], number, block), key=_begin)
    return offsets, _total(blocks, offsets)


def _begin(entry: tuple[int, int, Block]) -> tuple[int, int]:
    return entry[:2]


def _taken(placed: Sequence[tuple[int, int, Block]], block: Block) -> list[tuple[int, int]]:
    """Returns where others begin and end that are needed while a block is."""
    start, end = block.start, block.end
    return [
        (offset, offset + other.size)
        for offset, _, other in placed
        if other.start <= end and start <= other.end
    ]


def _best_gap(taken: Sequence[tuple[int, int]], block: Block) -> int:
    best: tuple[int, int] | None = None
    free = 0
    for start, end in taken:
        if start - free >= block.size and (best is None or start - free < best[0]):
            best = start - free, free
        free = max(free, _aligned(end, block.alignment))
    return free if best is None else best[1]


def _by_time(blocks: Sequence[Block]) -> _Packed:
    """Takes and gives back memory step by step, each time from the smallest piece that fits."""
    alignment = max((block.alignment for block in blocks), default=1)
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
