"""Cuts of loops where what they compute changes: at edges of padding, between joined arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hlotool.codegen.indexing.index import Counter, Index, Quotient


class CutNeeded(Exception):  # noqa: N818 - nothing is wrong: loops are made anew
    """A loop had better run piece by piece, each piece with code of its own."""

    def __init__(self, counter: CutCounter, places: tuple[int, ...]) -> None:
        super().__init__(f"the loop must be cut at {places}")
        self.counter = counter
        self.places = places
        """Where a new piece begins, counted as the counter counts; ascending."""


@dataclass(eq=False)
class CutCounter(Counter):
    """A counter whose loop may be cut in pieces; `cuts` says whether it still may."""

    cuts: bool = True


def ask_for_cuts(index: Index, bounds: Iterable[int]) -> None:
    """Raises `CutNeeded` where an index passes one of `bounds` and its loop can be cut there.

    After the cut each piece knows on which side of each bound the index is.
    """
    bounds = [bound for bound in bounds if index.low < bound <= index.high]
    while len(index.terms) == 1:
        ((term, factor),) = index.terms
        if factor < 1:
            return
        # index >= bound is the same as term >= bound.
        bounds = [-(-(bound - index.offset) // factor) for bound in bounds]
        if isinstance(term, Quotient):
            bounds = [bound * term.divisor for bound in bounds]
            index = term.index
            continue
        if isinstance(term, CutCounter) and term.cuts:
            places = tuple(sorted({one for one in bounds if 0 < one < term.extent}))
            if places:
                raise CutNeeded(term, places)
        return
