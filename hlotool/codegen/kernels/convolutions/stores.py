"""What becomes of the sums of a convolution's tile: they are made elements of the result."""

from __future__ import annotations

from itertools import groupby
from math import prod

from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.indexing.places import increased, scaled
from hlotool.codegen.kernels.convolutions.axes import Axis
from hlotool.codegen.kernels.convolutions.summing import TilePart, Totals
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element, Parts
from hlotool.codegen.numbers.memory import Memory

_FEW_SUMS = 2
"""So few vectors of sums are stored from where they are."""
_ZERO = constant("i64", 0)


class TileStores(TilePart):
    """Writes the stores of one tile.

    Sums of more than a few elements go through memory on the stack, where a loop over the tile's
    elements finds them: so what is made of a sum is written once, not once for each element.
    """

    def write(self, totals: Totals) -> None:
        """Writes the stores of all sums of the tile."""
        tile = self._tile
        if len(tile.pixels) * len(tile.block.widths) > _FEW_SUMS and self._sums.lane != "i1":
            self._keep(totals)
            self.write_kept()
            return
        block = tile.block
        for number, pixel in enumerate(tile.pixels):
            positions = {axis: self._moved(axis, by) for axis, by in pixel.items()}
            pairs = zip(totals[number], block.starts, block.widths, strict=True)
            for total, start, width in pairs:
                self._store(positions, self._counter(constant("i64", start), width), total)

    def write_kept(self) -> None:
        """Writes the stores of all sums of the tile, which are in memory already."""
        block, function = self._tile.block, self._function
        starts = dict(zip(block.starts, block.widths, strict=True))
        for width, group in groupby(starts, starts.__getitem__):
            found = list(group)
            if len(found) == 1:
                self._kept_vectors(constant("i64", found[0]), width)
                continue
            begin, end = constant("i64", found[0]), constant("i64", found[-1] + width)
            with function.loop(begin, end, width) as loop, self._emitter.region():
                self._kept_vectors(loop.index, width)

    def _kept_vectors(self, start: Value, width: int) -> None:
        """Writes the stores of a vector of channels of each element of the tile."""
        axes = [number for number, one in self._tile.segments.items() if one.width > 1]
        self._over_tile(axes, {}, self._counter(start, width), start)

    def _over_tile(
        self, axes: list[int], positions: dict[int, Index], channel: Counter, place: Value
    ) -> None:
        """Writes loops over elements of the tile; `place` is where the first one's sums are."""
        if not axes:
            self._store(positions, channel, self._kept(place, channel.lanes))
            return
        (number, *others), function = axes, self._function
        segment = self._tile.segments[number]
        each = prod(self._tile.segments[one].width for one in others)
        each *= sum(self._tile.block.widths)
        with function.loop(_ZERO, constant("i64", segment.width)) as loop, self._emitter.region():
            origin = self._tile.origins[number]
            position = function.binary("add nsw", origin, loop.index)
            inside = {**positions, number: self._counted(number, position, segment.width)}
            step = scaled(function, loop.index, each)
            self._over_tile(others, inside, channel, function.binary("add nsw", place, step))

    def _counter(self, start: Value, width: int) -> Counter:
        """Returns the counter of some channels of the tile."""
        function, first = self._function, self._tile.block.first
        if start.integer is not None:
            value = increased(function, first, start.integer)
        else:
            value = function.binary("add nsw", first, start)
        return Counter(self._problem.channels.count, value, width, splits=False)

    def _store(self, positions: dict[int, Index], channel: Counter, total: Parts) -> None:
        """Writes what becomes of the sums of some channels of an element, and their stores."""
        found = [index_of(start) for start in self._problem.starts]
        for number, axis in enumerate(self._problem.axes):
            position = positions.get(number)
            _add_shares(found, axis, self._moved(number, 0) if position is None else position)
        _add_shares(found, self._problem.channels, index_of(channel))
        with self._emitter.with_lanes(channel.lanes):
            self._emitter.store(tuple(found), self._sums.stored(self._function, total))

    def _keep(self, totals: Totals) -> None:
        """Writes all sums to the stack."""
        place = 0
        for number in range(len(self._tile.pixels)):
            for total, width in zip(totals[number], self._tile.block.widths, strict=True):
                parts = tuple(self._function.splat(part, width) for part in total)
                self._summing.kept.moved(place).store(Element(self._sums.held_type, parts))
                place += width

    def _kept(self, place: Value, width: int) -> Parts:
        """Writes the load of the sums of some channels of an element."""
        address = self._summing.kept.moved(place).address
        memory = Memory(address, self._sums.held_type, is_written=True)
        return memory.load(self._function, address, width).parts

    def _moved(self, number: int, offset: int) -> Index:
        """Returns the position of an element of the tile along an axis."""
        origin = self._tile.origins[number]
        if origin.integer is not None:
            return Index((), origin.integer + offset)
        return self._counted(number, origin, 1) + offset

    def _counted(self, number: int, position: Value, width: int) -> Index:
        segment = self._tile.segments.get(number)
        extent = self._problem.axes[number].count
        if segment is not None:
            extent = segment.start + (segment.count - 1) * segment.width + width
        return index_of(self._summing.counter(position, extent))


def _add_shares(index: list[Index], axis: Axis, position: Index) -> None:
    for share in axis.shares:
        part = position // share.divisor
        if share.modulus:
            part = part % share.modulus
        index[share.dimension] = index[share.dimension] + part * share.factor
