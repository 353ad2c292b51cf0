"""Tiles that are summed by functions which kernels share: the calls for one tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hlotool.codegen.indexing.places import scaled
from hlotool.codegen.kernels.convolutions.axes import Axis, Problem
from hlotool.codegen.kernels.convolutions.summing import Summing, Tile, TilePart
from hlotool.codegen.kernels.convolutions.taps import Taps, taps_at
from hlotool.codegen.kernels.convolutions.tiles import Segment
from hlotool.codegen.kernels.pointers import Pointer
from hlotool.codegen.kernels.tile_functions import Distances, TileForm, call_tile, unrolled_terms
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element

_MANY_FEATURES = 8
"""So many must be summed at least for a call to cost little."""


def can_call(problem: Problem) -> bool:
    """Whether tiles of a problem can be summed by functions that kernels share.

    In these all channels of an element have the same element of the base as a factor.
    """
    is_dense = not problem.is_empty and not problem.channels.lhs
    return is_dense and problem.features[0] >= _MANY_FEATURES


@dataclass(frozen=True)
class _Part:
    """Some elements of a tile and some taps, while the calls for them are written."""

    lhs: Pointer
    rhs: Pointer
    ranges: dict[int, range]
    """Elements along the axes that have tiles, from the first one of the tile on."""
    taps: tuple[Value | int, int, int]
    """Those that the function goes over: how many, and how far apart in both operands."""
    adds: Value
    """Whether there are sums to add to (`i1`)."""


class TileCalls(TilePart):
    """Writes the calls that sum one tile into memory."""

    def __init__(self, summing: Summing, tile: Tile) -> None:
        super().__init__(summing, tile)
        axes = [n for n, axis in enumerate(self._problem.axes) if axis.taps > 1]
        self._outer = set(axes[:-1])
        """Axes with loops over taps around the calls; those of the last one are in the function."""

    def write(self, lhs: Pointer, rhs: Pointer) -> None:
        """Writes all calls; operands are where the first tap of the first element lies."""
        ranges = {number: range(one.width) for number, one in self._tile.segments.items()}
        begins = all(self._begins_whole(number) for number in range(len(self._problem.axes)))
        if not begins:
            self._clear()
        part = _Part(lhs, rhs, ranges, (1, 0, 0), constant("i1", 0 if begins else 1))
        self._over_axes(0, part)

    def _begins_whole(self, number: int) -> bool:
        """Whether the first taps along an axis are ones that all elements of the tile meet."""
        segment = self._tile.segments.get(number)
        if segment is not None and segment.is_static:
            first = next(_groups(self._problem.axes[number], segment), None)
            return first is not None and len(first[1]) == segment.width
        taps = self._taps(number)
        return not taps.may_be_none and taps.count != 0

    def _taps(self, number: int) -> Taps:
        segment = self._tile.segments.get(number)
        inner = segment is not None and segment.is_inner
        axis, origin = self._problem.axes[number], self._tile.origins[number]
        return taps_at(self._function, axis, origin, inner=inner)

    def _over_axes(self, number: int, part: _Part) -> None:
        """Writes the calls for all taps along an axis and those behind it."""
        if number == len(self._problem.axes):
            self._call(part)
            return
        axis, segment = self._problem.axes[number], self._tile.segments.get(number)
        if segment is None or not segment.is_static:
            self._over_taps(number, self._taps(number), part)
            return
        for taps, elements in _groups(axis, segment):
            moved = replace(
                part,
                lhs=part.lhs.moved(elements.start * axis.lhs),
                ranges={**part.ranges, number: elements},
            )
            low, high = constant("i64", taps.start), constant("i64", taps.stop)
            self._over_taps(number, Taps(low, high), moved)
            part = replace(part, adds=constant("i1", 1))

    def _over_taps(self, number: int, taps: Taps, part: _Part) -> None:
        if taps.count == 0:
            return
        axis = self._problem.axes[number]

        def write() -> None:
            if number in self._outer:
                self._loop(number, taps, part)
                return
            count = taps.count or self._function.binary("sub nsw", taps.high, taps.low)
            inside = self._moved(part, axis, taps.low)
            if axis.taps > 1:
                inside = replace(inside, taps=(count, axis.lhs_tap, axis.rhs_tap))
            self._over_axes(number + 1, inside)

        if taps.may_be_none:
            self._emitter.branch(self._function.compare("slt", taps.low, taps.high), write)
        else:
            write()

    def _loop(self, number: int, taps: Taps, part: _Part) -> None:
        function = self._function
        with function.loop(taps.low, taps.high) as loop, self._emitter.region():
            is_later = function.compare("ne", loop.index, taps.low)
            adds = function.binary("or", part.adds, is_later)
            moved = self._moved(part, self._problem.axes[number], loop.index)
            self._over_axes(number + 1, replace(moved, adds=adds))

    def _moved(self, part: _Part, axis: Axis, tap: Value) -> _Part:
        lhs = part.lhs.moved(scaled(self._function, tap, axis.lhs_tap))
        rhs = part.rhs.moved(scaled(self._function, tap, axis.rhs_tap))
        return replace(part, lhs=lhs, rhs=rhs)

    def _call(self, part: _Part) -> None:
        """Writes the call for some elements and taps."""
        form = self._form(part)
        count, lhs_step, rhs_step = self._problem.features
        steps = [self._problem.axes[number].lhs for number in self._tile.segments]
        down, across = [0] * (2 - len(steps)) + steps
        rounds, base_round, vectors_round = part.taps
        distances = Distances(
            down=down,
            across=across,
            row=self._row * sum(form.widths),
            terms=count,
            base_step=lhs_step,
            vectors_step=rhs_step,
            rounds=rounds,
            base_round=base_round,
            vectors_round=vectors_round,
        )
        pointers = part.lhs, part.rhs, self._sums_of(part)
        call_tile(self._emitter.kernel, form, self._sums.inner, pointers, part.adds, distances)

    def _form(self, part: _Part) -> TileForm:
        ranges = list(part.ranges.values())
        sizes = [1] * (2 - len(ranges)) + [len(one) for one in ranges]
        widths, (count, lhs_step, _) = self._tile.block.widths, self._problem.features
        sums = sizes[0] * sizes[1] * len(widths)
        return TileForm(
            sizes[0],
            sizes[1],
            widths,
            unrolled_terms(count, sums, self._problem.product_count),
            lhs_step,
            ahead=self._summing.ahead,
        )

    @property
    def _row(self) -> int:
        """How many elements a row of the tile has."""
        widths = [segment.width for segment in self._tile.segments.values()]
        return widths[-1] if widths else 1

    def _sums_of(self, part: _Part) -> Pointer:
        """Writes where the sums of the first of some elements lie."""
        starts = [one.start for one in part.ranges.values()]
        starts = [0] * (2 - len(starts)) + starts
        element = starts[0] * self._row + starts[1]
        return self._summing.kept.moved(element * sum(self._tile.block.widths))

    def _clear(self) -> None:
        """Writes zeros to all sums of the tile."""
        place = 0
        for width in len(self._tile.pixels) * self._tile.block.widths:
            zero = Element(self._sums.held_type, self._sums.zero(width))
            self._summing.kept.moved(place).store(zero)
            place += width


def _groups(axis: Axis, segment: Segment) -> Iterator[tuple[range, range]]:
    """Yields taps at an edge that the same elements of a tile meet, and which these are.

    Those that most elements meet come first.
    """
    found: list[tuple[range, range]] = []
    for tap in range(axis.taps):
        met = [one for one in range(segment.width) if axis.is_met(segment.start + one, tap)]
        if not met:
            continue
        elements = range(met[0], met[-1] + 1)
        if found and found[-1][1] == elements:
            found[-1] = range(found[-1][0].start, tap + 1), elements
        else:
            found.append((range(tap, tap + 1), elements))
    yield from sorted(found, key=lambda one: -len(one[1]))
