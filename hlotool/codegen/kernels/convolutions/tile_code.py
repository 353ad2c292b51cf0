"""The innermost loops of a convolution: what a tile holds is summed, and stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hlotool.codegen.indexing.places import scaled
from hlotool.codegen.kernels.convolutions.stores import TileStores
from hlotool.codegen.kernels.convolutions.summing import Summing, Tile, TilePart, Totals
from hlotool.codegen.kernels.convolutions.taps import Taps, taps_at
from hlotool.codegen.kernels.convolutions.tile_calls import TileCalls
from hlotool.codegen.kernels.pointers import Pointer
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Parts

_UNROLLED_FEATURES = 4


class TileCode(TilePart):
    """The sums of one tile, here or by calls, and what becomes of them."""

    def __init__(self, summing: Summing, tile: Tile) -> None:
        super().__init__(summing, tile)
        self._starts = tile.block.starts

    def write(self) -> None:
        """Writes the sums over taps and features, then the stores."""
        tile, problem = self._tile, self._problem
        if self._summing.calls:
            TileCalls(self._summing, tile).write(*self._origin())
            TileStores(self._summing, tile).write_kept()
            return
        totals: Totals = {
            number: [self._sums.zero(width) for width in tile.block.widths]
            for number in range(len(tile.pixels))
        }
        if not problem.is_empty:
            lhs, rhs = self._origin()
            totals = self._over_axes(0, lhs, rhs, totals)
        TileStores(self._summing, tile).write(totals)

    def _origin(self) -> tuple[Pointer, Pointer]:
        """Writes where the operands of the first tap of the tile's first element lie."""
        lhs, rhs = self._summing.operands
        for number, origin in self._tile.origins.items():
            axis = self._problem.axes[number]
            lhs = lhs.moved(self._times(origin, axis.lhs))
            rhs = rhs.moved(self._times(origin, axis.rhs))
        channels, block = self._problem.channels, self._tile.block
        lhs = lhs.moved(self._times(block.first, channels.lhs))
        if self._problem.rhs_block:
            return lhs, rhs.moved(self._times(block.number, self._problem.rhs_block))
        return lhs, rhs.moved(self._times(block.first, channels.rhs))

    def _over_axes(self, number: int, lhs: Pointer, rhs: Pointer, totals: Totals) -> Totals:
        """Writes the loop over the taps along an axis, and all further ones inside it."""
        if number == len(self._problem.axes):
            return self._over_features(lhs, rhs, totals)
        axis = self._problem.axes[number]
        segment = self._tile.segments.get(number)

        def one_tap(tap: Value | int, within: Totals) -> Totals:
            step = tap if isinstance(tap, Value) else constant("i64", tap)
            one = lhs.moved(self._times(step, axis.lhs_tap))
            other = rhs.moved(self._times(step, axis.rhs_tap))
            return self._over_axes(number + 1, one, other, within)

        if segment is not None and segment.is_static:
            return self._over_static_taps(number, totals, one_tap)
        inner = segment is not None and segment.is_inner
        taps = taps_at(self._function, axis, self._tile.origins[number], inner=inner)
        if taps.count == 0:
            return totals
        if taps.count == 1:
            return one_tap(taps.low, totals)
        if taps.count == axis.taps and self._is_even(number):
            return self._over_features(lhs, rhs, totals, axis.taps)
        return self._over_met_taps(taps, totals, one_tap)

    def _over_met_taps(
        self, taps: Taps, totals: Totals, one_tap: Callable[[Value | int, Totals], Totals]
    ) -> Totals:
        if not taps.may_be_none:
            return self._looped(taps.low, taps.high, totals, one_tap)
        keys = list(totals)

        def then() -> list[Value]:
            with self._emitter.region():
                return _flat(self._looped(taps.low, taps.high, totals, one_tap), keys)

        is_any = self._function.compare("slt", taps.low, taps.high)
        found = self._function.branch(is_any, then, lambda: _flat(totals, keys))
        return self._unflat(found, totals)

    def _over_static_taps(
        self, number: int, totals: Totals, one_tap: Callable[[Value | int, Totals], Totals]
    ) -> Totals:
        axis, segment = self._problem.axes[number], self._tile.segments[number]
        found = dict(totals)
        for tap in range(axis.taps):
            within = {
                pixel: held
                for pixel, held in found.items()
                if axis.is_met(segment.start + self._tile.pixels[pixel][number], tap)
            }
            if within:
                found.update(one_tap(tap, within))
        return found

    def _looped(
        self,
        low: Value,
        high: Value,
        totals: Totals,
        body: Callable[[Value, Totals], Totals],
        step: int = 1,
    ) -> Totals:
        keys = list(totals)
        carried = _flat(totals, keys)
        with self._function.loop(low, high, step, carried) as loop, self._emitter.region():
            within = self._unflat(loop.carried, totals)
            loop.next = tuple(_flat(body(loop.index, within), keys))
        return self._unflat(loop.results, totals)

    def _is_even(self, number: int) -> bool:
        """Whether taps along the last axis and features are one row in both operands."""
        axis = self._problem.axes[number]
        count, lhs_step, rhs_step = self._problem.features
        is_row = axis.lhs_tap == count * lhs_step and axis.rhs_tap == count * rhs_step
        return number == len(self._problem.axes) - 1 and is_row

    def _over_features(self, lhs: Pointer, rhs: Pointer, totals: Totals, times: int = 1) -> Totals:
        count, lhs_step, rhs_step = self._problem.features
        count *= times
        sums = len(totals) * len(self._starts)
        unrolled = next(n for n in (4, 2, 1) if n * sums <= 32 or n == 1)
        if count <= _UNROLLED_FEATURES:
            unrolled = count

        def some(first: Value, within: Totals, number: int) -> Totals:
            one = lhs.moved(self._times(first, lhs_step))
            other = rhs.moved(self._times(first, rhs_step))
            for feature in range(number):
                if self._summing.ahead:
                    ahead = other.moved((feature + self._summing.ahead) * rhs_step)
                    ahead.prefetch(sum(self._tile.block.widths))
                within = self._step(
                    one.moved(feature * lhs_step), other.moved(feature * rhs_step), within
                )
            return within

        whole = count // unrolled * unrolled
        if whole > unrolled:
            begin, end = constant("i64", 0), constant("i64", whole)
            totals = self._looped(
                begin, end, totals, lambda at, within: some(at, within, unrolled), unrolled
            )
        elif whole:
            totals = some(constant("i64", 0), totals, unrolled)
        if count > whole:
            totals = some(constant("i64", whole), totals, count - whole)
        return totals

    def _step(self, lhs: Pointer, rhs: Pointer, totals: Totals) -> Totals:
        """Writes the products of one tap and feature, for all elements of the tile."""
        sums, widths = self._sums, self._tile.block.widths
        channels = self._problem.channels
        found: Totals = {}
        for pixel, held in totals.items():
            offsets = self._tile.pixels[pixel].items()
            axes = self._problem.axes
            at = lhs.moved(sum(axes[n].lhs * offset for n, offset in offsets))
            beside = rhs.moved(sum(axes[n].rhs * offset for n, offset in offsets))
            new = []
            for total, start, width in zip(held, self._starts, widths, strict=True):
                base = self._taken(at, start, width, channels.lhs)
                new.append(
                    sums.added(
                        self._function, total, base, self._taken(beside, start, width, channels.rhs)
                    )
                )
            found[pixel] = new
        return found

    def _taken(self, pointer: Pointer, start: int, width: int, stride: int) -> Parts:
        """Writes the elements of a vector of an operand; one for all lanes where it has no stride.

        What several elements of the tile need is written once.
        """
        lanes = width if stride else 1
        return self._sums.taken(self._function, pointer.moved(start * stride).element(lanes))

    def _times(self, value: Value, factor: int) -> Value:
        return scaled(self._function, value, factor)

    def _unflat(self, values: Sequence[Value], totals: Totals) -> Totals:
        rest, count = list(values), self._sums.part_count
        found: Totals = {}
        for pixel, held in totals.items():
            found[pixel] = []
            for _ in held:
                found[pixel].append(tuple(rest[:count]))
                rest = rest[count:]
        return found


def _flat(totals: Totals, keys: list[int]) -> list[Value]:
    return [part for key in keys for total in totals[key] for part in total]
