"""Loop nests that are found step by step: begun anew whenever an index asks for other loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from hlotool.codegen.indexing.cuts import CutCounter, CutNeeded
from hlotool.codegen.indexing.index import Counter, SplitNeeded

_MOST_PIECES = 32
"""How many times the body of a nest may be written because loops are cut."""


class TransposeNeeded(Exception):  # noqa: N818 - nothing is wrong: loops are made anew
    """An operand lies the other way round, so that the nest had better run in tiles."""

    def __init__(self, counter: Counter) -> None:
        super().__init__("the nest must run in tiles")
        self.counter = counter
        """The loop whose elements lie side by side in the operand."""


@dataclass(frozen=True)
class Piece:
    """A part of a loop: `length` rounds from `begin` on."""

    begin: int
    length: int


class Nest:
    """Loops over the elements of an array, in the order in which they lie in memory.

    `split` makes two of one where an index needs both counters.
    """

    def __init__(self, extents: Sequence[int]) -> None:
        self.extents = list(extents)

    def split(self, position: int, stride: int) -> bool:
        """Cuts a loop, so that the new inner one has `stride` rounds; says whether it can be."""
        extent = self.extents[position]
        if extent % stride:
            return False
        self.extents[position : position + 1] = [extent // stride, stride]
        return True


class ElementNest(Nest):
    """The nest of a kernel of plain loops, which may also be cut in pieces and run in tiles."""

    def __init__(self, count: int, smallest: int = 2, most_pieces: int = _MOST_PIECES) -> None:
        super().__init__([count])
        self.smallest = smallest
        """The least number of rounds of an innermost loop that is made by a split."""
        self.most_pieces = most_pieces
        self.cuts: dict[int, tuple[int, ...]] = {}
        """Where loops are cut, by their position."""
        self.across: int | None = None
        """The position of the loop that, with the innermost one, runs through tiles."""
        self._whole: set[tuple[int, int]] = set()
        """Loops that cannot be split, by position and extent."""
        self._uncut: set[tuple[int, int]] = set()
        self._untiled = False

    def pieces(self, position: int) -> list[Piece]:
        """Returns the parts that a loop is cut in."""
        bounds = [0, *self.cuts.get(position, ()), self.extents[position]]
        return [Piece(begin, end - begin) for begin, end in pairwise(bounds)]

    def counter(self, position: int, extent: int) -> CutCounter:
        """Returns a counter for a part of a loop, which says what it may ask for."""
        key = position, self.extents[position]
        in_tile = self.across is not None and position in (self.across, len(self.extents) - 1)
        return CutCounter(
            extent,
            splits=key not in self._whole,
            cuts=key not in self._uncut and position not in self.cuts and not in_tile,
        )

    @property
    def may_tile(self) -> bool:
        """Whether the nest may ask for tiles."""
        return self.across is None and not self._untiled

    def learn(self, need: SplitNeeded | CutNeeded | TransposeNeeded, position: int) -> None:
        """Changes the loops as the need of the one at a position says, or notes that it cannot."""
        if isinstance(need, SplitNeeded):
            self._divide(position, need.stride)
        elif isinstance(need, CutNeeded):
            self._cut(position, need.places)
        else:
            self._tile(position)

    def _divide(self, position: int, stride: int) -> None:
        extent = self.extents[position]
        is_last = position == len(self.extents) - 1
        too_small = is_last and stride < self.smallest
        if too_small or extent == stride or not self.split(position, stride):
            self._whole.add((position, extent))
            return
        # Positions count anew; what is still needed will be asked for again.
        self.cuts.clear()
        self._uncut.clear()
        self._whole = {(p + (p > position), n) for p, n in self._whole if p != position}
        self.across = None
        self._untiled = False

    def _cut(self, position: int, places: tuple[int, ...]) -> None:
        count = prod(len(self.pieces(p)) for p in self.cuts) * (len(places) + 1)
        if count > self.most_pieces:
            self._uncut.add((position, self.extents[position]))
        else:
            self.cuts[position] = places

    def _tile(self, position: int) -> None:
        last = len(self.extents) - 1
        if {position, last} & self.cuts.keys() or position == last:
            self._untiled = True
        else:
            self.across = position
