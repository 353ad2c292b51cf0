"""Loops over the tiles of a convolution."""

from __future__ import annotations

from itertools import product
from math import prod

from hlotool.codegen.indexing.places import divided, increased, quotient, scaled
from hlotool.codegen.kernels.convolutions.axes import Problem
from hlotool.codegen.kernels.convolutions.summing import Block, Summing, Tile
from hlotool.codegen.kernels.convolutions.sums import Sums
from hlotool.codegen.kernels.convolutions.tile_calls import can_call
from hlotool.codegen.kernels.convolutions.tile_code import TileCode
from hlotool.codegen.kernels.convolutions.tiles import Segment, Tiling
from hlotool.codegen.kernels.pointers import Pointer
from hlotool.codegen.kernels.results import ResultEmitter
from hlotool.codegen.kernels.strips import widths_of
from hlotool.codegen.llvm.value import Value, constant

_FAR_BYTES = 1 << 19
"""A larger kernel comes from far away."""
_ROWS_AHEAD = 16
_ENOUGH_ITEMS = 16
_CHUNK_TILES = 4
"""A part of a row has at least so many tiles."""


class TileLoops:
    """Writes all loops of one phase of a convolution."""

    def __init__(
        self,
        emitter: ResultEmitter,
        problem: Problem,
        tiling: Tiling,
        sums: Sums,
        operands: tuple[Pointer, Pointer],
        lanes: int,
    ) -> None:
        self._emitter = emitter
        self._function = emitter.function
        self._problem = problem
        self._tiling = tiling
        lhs, rhs = operands
        begins = lhs.moved(problem.lhs_offset), rhs.moved(problem.rhs_offset)
        is_far = not tiling.is_packed and tiling.kernel_bytes > _FAR_BYTES
        is_far = is_far and not problem.has_lone_weights
        stack = self._function.scratch(sums.lane, tiling.most_sums * lanes * sums.part_count)
        kept = Pointer(self._function, stack, sums.held_type)
        ahead = _ROWS_AHEAD if is_far else 0
        self._summing = Summing(emitter, problem, sums, begins, ahead, kept, can_call(problem))
        self._lanes = lanes
        self._outer = [n for n in range(len(problem.axes)) if n not in tiling.axes]
        width = tiling.block * lanes
        self._full, rest = divmod(problem.channels.count, width)
        self._rest = widths_of(rest, lanes)
        self._blocks = self._full + bool(rest)
        self._rows = prod(problem.axes[n].count for n in self._outer)
        self._chunks = self._chunk_count()
        self._chunk = constant("i64", 0)

    @property
    def count(self) -> int:
        """How many items of work there are: a block of channels for a row of tiles or a part."""
        return self._blocks * self._rows * self._chunks

    def _chunk_count(self) -> int:
        """Returns into how many parts a row is cut: more than one where there are few rows."""
        if not self._tiling.axes or self._blocks * self._rows >= _ENOUGH_ITEMS:
            return 1
        longest = max(segment.count for segment in self._tiling.segments[0])
        return max(1, min(_ENOUGH_ITEMS, longest // _CHUNK_TILES))

    def write(self, begin: Value, end: Value, *, channels_first: bool) -> None:
        """Writes a loop over a range of items that is not empty."""
        with self._function.loop(begin, end) as loop, self._emitter.region():
            item, self._chunk = divided(self._function, loop.index, self._chunks)
            if channels_first:
                block, row = divided(self._function, item, self._rows)
            else:
                row, block = divided(self._function, item, self._blocks)
            origins: dict[int, Value] = {}
            for number in reversed(self._outer):
                row, origins[number] = divided(
                    self._function, row, self._problem.axes[number].count
                )
            self._channels(block, origins)

    def _channels(self, block: Value, origins: dict[int, Value]) -> None:
        function = self._function
        width = self._tiling.block * self._lanes
        first = function.binary("mul nsw", block, constant("i64", width))

        def full() -> None:
            self._tiles(Block(block, first, (self._lanes,) * self._tiling.block), origins)

        def rest() -> None:
            begin = constant("i64", self._full * width)
            self._tiles(Block(constant("i64", self._full), begin, self._rest), origins)

        if not self._full:
            rest()
        elif not self._rest:
            full()
        else:
            is_full = function.compare("slt", block, constant("i64", self._full))
            self._emitter.branch(is_full, full, rest)

    def _tiles(self, block: Block, origins: dict[int, Value]) -> None:
        for chosen in product(*self._tiling.segments):
            segments = dict(zip(self._tiling.axes, chosen, strict=True))
            self._tile_loops(Tile(block, segments, dict(origins)), list(segments))

    def _tile_loops(self, tile: Tile, axes: list[int]) -> None:
        if not axes:
            ranges = [range(segment.width) for segment in tile.segments.values()]
            tile.pixels = [
                dict(zip(tile.segments, offsets, strict=True)) for offsets in product(*ranges)
            ]
            TileCode(self._summing, tile).write()
            return
        number = axes[0]
        segment = tile.segments[number]
        chunks = self._chunks if number == self._tiling.axes[0] else 1
        if chunks > segment.count:
            is_first = self._function.compare("eq", self._chunk, constant("i64", 0))
            self._emitter.branch(is_first, lambda: self._looped(tile, axes, 0, segment.count))
        elif chunks > 1:
            first = self._tile_number(segment, self._chunk)
            behind = self._tile_number(segment, increased(self._function, self._chunk, 1))
            self._looped(tile, axes, first, behind)
        else:
            self._looped(tile, axes, 0, segment.count)

    def _tile_number(self, segment: Segment, chunk: Value) -> Value:
        """Writes the first tile of a chunk."""
        tiles = scaled(self._function, chunk, segment.count)
        return quotient(self._function, tiles, self._chunks)

    def _looped(self, tile: Tile, axes: list[int], first: Value | int, behind: Value | int) -> None:
        """Writes the loop over some tiles of an axis, from the first to the one before the last."""
        number, *others = axes
        segment = tile.segments[number]
        begin, end = (
            increased(self._function, self._scaled(one, segment.width), segment.start)
            for one in (first, behind)
        )
        if segment.count == 1:
            tile.origins[number] = begin
            self._tile_loops(tile, others)
            return
        with self._function.loop(begin, end, segment.width) as loop, self._emitter.region():
            tile.origins[number] = loop.index
            self._tile_loops(tile, others)

    def _scaled(self, number: Value | int, factor: int) -> Value:
        value = number if isinstance(number, Value) else constant("i64", number)
        return scaled(self._function, value, factor)
