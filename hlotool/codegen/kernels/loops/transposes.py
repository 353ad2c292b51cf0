"""Tiles: an operand that lies the other way round is turned, tile by tile, on the stack.

Its elements are loaded as they lie side by side, transposed in registers, and kept in a tile as
the loops run through them; all else of a plain loop stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import (
    Bounded,
    Counter,
    Index,
    Quotient,
    Remainder,
    Term,
)
from hlotool.codegen.indexing.index_values import first_value
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.kernels.loops.nests import ElementNest, TransposeNeeded
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape

TILE_NANOSECONDS = 1_000
"""About how long a tile takes at least."""
_COLUMNS = 256
"""How many elements of a row of the result a tile has at most."""
_ROW_BYTES = 128
"""How many bytes are taken at once of what lies side by side in an operand."""
_LANE_BYTES = 16
"""Parts of a register within which shuffles are cheap."""
_MOST_TILES = 4


@dataclass(frozen=True)
class TiledSource(Source):
    """An array that may be read by way of tiles."""

    tiles: Tiles

    def load(self, function: FunctionWriter, index: Sequence[Index], lanes: int) -> Element:
        """Writes the load of an element, or of one for each lane."""
        place = self.place(index)
        place.ask_for_splits()
        found = self.tiles.load(self, place, lanes) if lanes > 1 else None
        return found or super().load(function, index, lanes)


@dataclass(frozen=True)
class _Strided:
    """A place that is far from lane to lane, but near from round to round of another loop."""

    across: Counter
    along: Counter
    step: int
    rest: Index


class Tiles:
    """The tiles of a nest: how large they are, and what is in them."""

    def __init__(
        self,
        kernel: Kernel,
        function: FunctionWriter,
        nest: ElementNest,
        lanes: int,
        positions: Mapping[Counter, int],
    ) -> None:
        self._kernel = kernel
        self._function = function
        self._nest = nest
        self._lanes = lanes
        self._positions = positions
        self._buffers: dict[tuple[Memory, Index, int], Value] = {}
        widths = [1]
        for one, _, _ in kernel.body.inputs:
            if isinstance(one.shape, ArrayShape) and not one.shape.is_scalar:
                widths.append(one.shape.element_type.storage_bytes)
        self._widest = max(widths)
        self._block = max(self._lanes, *(self._block_of(width) for width in widths))
        self.sizes = (0, 0)
        """Rows and columns."""
        self.counts = (0, 0)
        """How many tiles there are, down and along."""
        self._level = 0
        self._first: tuple[Value, Value] | None = None
        self._within: tuple[Value, Value] | None = None
        if nest.across is not None:
            self._measure(nest.across)

    def sources(self, sources: Mapping[Instruction, Source]) -> dict[Instruction, Source]:
        """Returns sources that read by way of tiles where that is better."""
        return {
            one: source
            if source.memory.is_written
            else TiledSource(source.memory, source.shape, self)
            for one, source in sources.items()
        }

    def begin(self, row: Value, column: Value) -> tuple[Value, Value]:
        """Writes where a tile begins, by its numbers; the last ones lie over those before."""
        function = self._function
        found = []
        across = self._nest.across
        assert across is not None
        extents = (self._nest.extents[across], self._nest.extents[-1])
        for number, size, extent in zip((row, column), self.sizes, extents, strict=True):
            first = function.binary("mul nsw", number, constant("i64", size))
            if extent % size:
                first = function.intrinsic("smin", first, constant("i64", extent - size))
            found.append(first)
        self._first = found[0], found[1]
        self._level = function.level
        self._buffers.clear()
        return self._first

    def at(self, row: Value, column: Value) -> None:
        """Says which row and column of a tile elements are now computed for."""
        self._within = row, column

    def load(self, source: Source, place: Index, lanes: int) -> Element | None:
        """Writes the load of elements that lie far from each other; `None` for all others."""
        strided = self._strided(source, place)
        counters = [term for term, _ in place.terms if isinstance(term, Counter)]
        if strided is None or not all(counter in self._positions for counter in counters):
            # Loops within an element, as those of a fold, are none of the nest.
            return None
        position = self._positions[strided.across]
        if self._nest.across is None:
            if self._nest.may_tile and self._fits(position):
                raise TransposeNeeded(strided.across)
            return None
        if position != self._nest.across:
            return None
        buffer = self._buffer(source, strided)
        if buffer is None or self._within is None:
            return None
        row, column = self._within
        function = self._function
        start = function.binary("mul nsw", row, constant("i64", self.sizes[1]))
        tile = Memory(buffer, source.memory.type, is_written=True)
        here = Memory(tile.at(function, start), source.memory.type, is_written=True)
        return tile.load(function, here.at(function, column), lanes)

    def _strided(self, source: Source, place: Index) -> _Strided | None:
        if place.low < 0 or place.high >= source.shape.element_count:
            return None
        along = [
            (term, f) for term, f in place.terms if isinstance(term, Counter) and term.lanes > 1
        ]
        across = [
            term
            for term, factor in place.terms
            if factor == 1 and isinstance(term, Counter) and term.lanes == 1
        ]
        if len(along) != 1 or len(across) != 1 or along[0][1] < 2:
            return None
        counter, step = along[0]
        assert isinstance(counter, Counter)
        (other,) = across
        rest = Index(tuple(t for t in place.terms if t[0] not in (counter, other)), place.offset)
        if any(_depends(term, (counter, other)) for term, _ in rest.terms):
            return None
        return _Strided(other, counter, step, rest)

    def _fits(self, across: int) -> bool:
        return self._size(across) > 0 and self._size(len(self._nest.extents) - 1) > 0

    def _measure(self, across: int) -> None:
        last = len(self._nest.extents) - 1
        self.sizes = self._size(across), self._size(last)
        extents = self._nest.extents[across], self._nest.extents[last]
        pairs = list(zip(extents, self.sizes, strict=True))
        self.counts = -(-pairs[0][0] // pairs[0][1]), -(-pairs[1][0] // pairs[1][1])

    def _size(self, position: int) -> int:
        """Returns how many rounds of a loop a tile takes; 0 where no tile is possible."""
        extent, block = self._nest.extents[position], self._block
        is_column = position == len(self._nest.extents) - 1
        most = _COLUMNS if is_column else max(block, _ROW_BYTES // self._widest)
        if self._kernel.shared:
            # Nothing may be computed twice in place.
            sizes = range(block, min(most, extent) + 1, block)
            return max((size for size in sizes if extent % size == 0), default=0)
        count = -(-extent // most)
        even = -(-extent // (count * block)) * block
        return even if even <= extent else extent // block * block

    def _block_of(self, width: int) -> int:
        lanes = max(1, self._kernel.target.vector_bytes // width)
        if width == 2 and self._kernel.target.registers <= 16:
            return min(lanes, 8)
        return min(lanes, 16)

    def _buffer(self, source: Source, strided: _Strided) -> Value | None:
        key = source.memory, strided.rest, strided.step
        found = self._buffers.get(key)
        if found is None:
            level = max(
                (first_value(self._function, Index((term,))).level for term in strided.rest.terms),
                default=0,
            )
            if level > self._level or len(self._buffers) >= _MOST_TILES:
                return None
            width = source.memory.type.storage_bytes
            rows, columns = self.sizes
            found = self._function.scratch("i8", rows * columns * width)
            self._buffers[key] = found
            with self._function.before(self._level):
                self._fill(source, strided, found, width)
        return found

    def _fill(self, source: Source, strided: _Strided, buffer: Value, width: int) -> None:
        """Writes the loops that turn a part of an array into a tile."""
        assert self._first is not None
        function, integer = self._function, self._function.integer
        (first_row, first_column), (rows, columns) = self._first, self.sizes
        base = source.memory.at(function, first_value(function, strided.rest))
        moved = Memory(base, source.memory.type)
        skipped = function.binary("mul nsw", first_column, integer(strided.step))
        base = moved.at(function, function.binary("add nsw", skipped, first_row))
        block, lane = self._block_of(width), f"i{8 * width}"
        part_bytes = source.memory.part_bytes
        with function.loop(integer(0), integer(columns), block) as along:
            first = function.binary("mul nsw", along.index, integer(strided.step))
            from_here = function.offset(base, first, lane)
            to_here = function.offset(buffer, along.index, lane)
            with function.loop(integer(0), integer(rows), block) as down:
                lines = []
                for number in range(block):
                    line = function.offset(from_here, integer(number * strided.step), lane)
                    address = function.offset(line, down.index, lane)
                    lines.append(function.load(address, lane, block, align=part_bytes))
                turned = transposed(function, lines, min(block, _LANE_BYTES // min(width, 16)))
                for number, line in enumerate(turned):
                    row = function.binary("add nsw", down.index, integer(number))
                    start = function.binary("mul nsw", row, integer(columns))
                    address = function.offset(to_here, start, lane)
                    function.store(line, address, align=width)


def transposed(function: FunctionWriter, rows: list[Value], near: int) -> list[Value]:
    """Writes the transpose of a square of elements, as many rows as there are lanes.

    `near` lanes lie so that they are shuffled cheaply; the rest is exchanged in wholes of them.
    """
    count = len(rows)
    for _ in range(near.bit_length() - 1):
        mixed = []
        for first in range(0, count, near):
            for number in range(first, first + near // 2):
                one, other = rows[number], rows[number + near // 2]
                for half in (0, near // 2):
                    lanes = [
                        start + half + n + which * count
                        for start in range(0, count, near)
                        for n in range(near // 2)
                        for which in (0, 1)
                    ]
                    mixed.append(function.shuffle(one, other, lanes))
        rows = mixed
    size = near
    while size < count:
        exchanged = list(rows)
        for number in range(count):
            if not number & size:
                one, other = rows[number], rows[number + size]
                low = [n if not n & size else n - size + count for n in range(count)]
                exchanged[number] = function.shuffle(one, other, low)
                exchanged[number + size] = function.shuffle(one, other, [n + size for n in low])
        rows = exchanged
        size *= 2
    return rows


def _depends(term: Term, counters: tuple[Counter, ...]) -> bool:
    if isinstance(term, Quotient | Remainder | Bounded):
        return any(_depends(one, counters) for one, _ in term.index.terms)
    return term in counters
