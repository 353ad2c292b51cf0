"""Plain loops: every element of the outputs is computed at its index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.raw_moves import MovingEmitter
from hlotool.codegen.indexing.cuts import CutNeeded
from hlotool.codegen.indexing.index import Counter, Index, SplitNeeded, index_of, linear
from hlotool.codegen.indexing.places import decoded
from hlotool.codegen.kernels.kernel import PIECE_NANOSECONDS, Kernel, Launch, Phase
from hlotool.codegen.kernels.loops.nests import ElementNest, Piece, TransposeNeeded
from hlotool.codegen.kernels.loops.transposes import TILE_NANOSECONDS, Tiles
from hlotool.codegen.kernels.loops.work import Work, Write, element_works
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element

_MOST_UNROLLED = 4
_MOST_TWICE = 60
"""A longer body is written for one vector at a time."""
_MOST_WRITTEN = 400
"""How many instructions may be written because a loop is cut in pieces."""
_LIGHT_MEMBERS = 8
"""A body of so few cheap instructions is written for several vectors at once."""


def emit_loops(make: Callable[[], Kernel]) -> tuple[Kernel, Launch]:
    """Writes a kernel of plain loops; `make` begins one."""
    kernel = make()
    return kernel, loops_into(kernel)


def loops_into(
    kernel: Kernel, works_of: Callable[[Kernel], Sequence[Work]] = element_works
) -> Launch:
    """Writes plain loops as the function of a kernel; all works but the last one are phases."""
    *first, last = works_of(kernel)
    for work in first:
        function, launch = _written(kernel, work, kernel.phase)
        kernel.phases.append(Phase(function, launch))
    kernel.function, launch = _written(kernel, last, lambda: _begun_anew(kernel.function))
    return launch


def _written(
    kernel: Kernel, work: Work, begin: Callable[[], FunctionWriter]
) -> tuple[FunctionWriter, Launch]:
    """Writes the loops of some work; they are begun anew when they must be others."""
    # What takes long is not done for less elements at once than there are lanes.
    smallest = work.lanes if work.is_costly else 2
    members = max(1, len(kernel.body.members))
    nest = ElementNest(work.count, smallest, max(4, min(32, _MOST_WRITTEN // members)))
    while True:
        function = begin()
        loops = Loops(kernel, function, nest, work)
        try:
            return function, loops.write()
        except (SplitNeeded, CutNeeded, TransposeNeeded) as need:
            nest.learn(need, loops.positions[need.counter])


def _begun_anew(function: FunctionWriter) -> FunctionWriter:
    name, arguments = function.name, function.arguments
    return FunctionWriter(name, arguments, flags=function.flags, native=function.native)


class Loops:
    """Loops around the elements of some work, while they are written."""

    def __init__(
        self, kernel: Kernel, function: FunctionWriter, nest: ElementNest, work: Work
    ) -> None:
        self._kernel = kernel
        self._function = function
        self._nest = nest
        self._work = work
        self._lanes = work.lanes
        self._last = len(nest.extents) - 1
        self._in_place = bool(kernel.shared)
        self._indices: list[Index] = [Index()] * len(nest.extents)
        self.positions: dict[Counter, int] = {}
        """The position in the nest of each counter that there has been."""
        self._tiles = Tiles(kernel, function, nest, work.lanes, self.positions)
        self._emitter: ElementEmitter = MovingEmitter(
            self._function, kernel.target, self._tiles.sources(work.sources()), work.raw
        )

    def write(self) -> Launch:
        """Writes loops around the elements, and says how they are run."""
        if self._nest.across is not None:
            return self._in_tiles(self._nest.across)
        if self._last:
            return self._rows()
        return self._flat()

    def _flat(self) -> Launch:
        count = self._work.count
        each = self._work.nanoseconds / count
        if count < self._lanes:
            piece = Piece(0, count)
            self._scalar(piece, self._kernel.begin, self._kernel.end)
            return Launch(count, count, each)
        unroll = self._unrolled(count)
        step = unroll * self._lanes
        for piece in self._nest.pieces(0):
            self._ranged(piece, unroll)
        # The last range must not be shorter than a step.
        grain = max(1, round(PIECE_NANOSECONDS / each) // step, 64 // step) * step
        while 0 < count % grain < step:
            grain += step
        return Launch(count, grain, each)

    def _ranged(self, piece: Piece, unroll: int) -> None:
        """Writes the part of a flat loop that is in the range of the kernel and in a piece."""
        function, integer = self._function, self._function.integer
        step = unroll * self._lanes
        if piece.length == self._work.count:
            is_exact = self._work.count % step == 0
            self._vectors(piece, self._kernel.begin, self._kernel.end, unroll, is_exact=is_exact)
            return
        begin = function.intrinsic("smax", self._kernel.begin, integer(piece.begin))
        end = function.intrinsic("smin", self._kernel.end, integer(piece.begin + piece.length))
        begin, end = (function.binary("sub", one, integer(piece.begin)) for one in (begin, end))
        length = function.binary("sub", end, begin)

        def vectors() -> None:
            self._vectors(piece, begin, end, unroll, is_exact=False)

        def few() -> None:
            is_any = function.compare("sgt", length, integer(0))
            self._emitter.branch(is_any, lambda: self._scalar(piece, begin, end))

        if piece.length < step:
            few()
        else:
            self._emitter.branch(function.compare("sge", length, integer(step)), vectors, few)

    def _rows(self) -> Launch:
        outer = self._nest.extents[:-1]
        shared = _shared_count(outer)
        rows = prod(outer[:shared])
        with self._function.loop(self._kernel.begin, self._kernel.end) as loop:
            given = decoded(self._function, loop.index, outer[:shared])
            with self._emitter.region():
                self._visit(0, given, self._row)
        each = self._work.nanoseconds / rows
        return Launch.in_pieces(rows, each)

    def _visit(self, position: int, given: Sequence[Value], inside: Callable[[], None]) -> None:
        """Writes the loops from a position on, but those in tiles and the innermost one.

        `given` are the values of the first counters, which the item of work stands for.
        """
        if position == self._last:
            inside()
        elif position == self._nest.across:
            self._visit(position + 1, given, inside)
        elif position < len(given):
            self._given(position, given, self._nest.pieces(position), inside)
        else:
            for piece in self._nest.pieces(position):
                with self._loop(position, piece):
                    self._visit(position + 1, given, inside)

    def _given(
        self,
        position: int,
        given: Sequence[Value],
        pieces: Sequence[Piece],
        inside: Callable[[], None],
    ) -> None:
        integer, function = self._function.integer, self._function
        piece, *others = pieces

        def here() -> None:
            value = function.binary("sub", given[position], integer(piece.begin))
            self._open(position, piece, value if piece.begin else given[position])
            self._visit(position + 1, given, inside)

        if not others:
            here()
            return
        is_here = function.compare("slt", given[position], integer(piece.begin + piece.length))
        self._emitter.branch(is_here, here, lambda: self._given(position, given, others, inside))

    @contextmanager
    def _loop(self, position: int, piece: Piece) -> Iterator[None]:
        if piece.length == 1:
            # There may be several such pieces: what is known in one is not known in another.
            with self._emitter.region():
                self._open(position, piece, self._function.integer(0))
                yield
            return
        zero, end = self._function.integer(0), self._function.integer(piece.length)
        with self._function.loop(zero, end) as loop, self._emitter.region():
            self._open(position, piece, loop.index)
            yield

    def _open(self, position: int, piece: Piece, value: Value, lanes: int = 1) -> None:
        counter = self._nest.counter(position, piece.length)
        counter.value, counter.lanes = value, lanes
        self.positions[counter] = position
        self._indices[position] = index_of(counter) + piece.begin

    def _row(self) -> None:
        for piece in self._nest.pieces(self._last):
            with self._emitter.region():
                self._row_piece(piece)

    def _row_piece(self, piece: Piece) -> None:
        """Writes the innermost loop over a piece of a row."""
        length = piece.length
        lanes = min(self._lanes, 1 << (length.bit_length() - 1))
        rounds = -(-length // lanes)
        zero, end = self._function.integer(0), self._function.integer(length)
        is_short = rounds <= self._most_unrolled() and not self._work.is_costly
        if is_short or rounds == 1:
            starts = [min(number * lanes, length - lanes) for number in range(rounds)]
            self._store_all(piece, [self._function.integer(start) for start in starts], lanes)
            return
        before, self._lanes = self._lanes, lanes
        unroll = self._unrolled(length)
        is_exact = length % (unroll * lanes) == 0
        self._vectors(piece, zero, end, unroll, is_exact=is_exact)
        self._lanes = before

    def _most_unrolled(self) -> int:
        members = len(self._kernel.body.members)
        if members <= _LIGHT_MEMBERS and not self._work.is_costly:
            return _MOST_UNROLLED
        # Two independent chains of arithmetic, where there are registers for both.
        has_room = self._kernel.target.registers >= 32 and members <= _MOST_TWICE
        return 2 if has_room else 1

    def _unrolled(self, length: int) -> int:
        """Returns for how many vectors at once a loop of so many rounds is written."""
        most = self._most_unrolled()
        for unroll in range(most, 1, -1):
            step = unroll * self._lanes
            whole = -(-length // step) * step
            if step > length:
                continue
            if length % step == 0 or (not self._in_place and 8 * whole <= 9 * length):
                return unroll
        return 1

    def _vectors(
        self, piece: Piece, begin: Value, end: Value, unroll: int, *, is_exact: bool
    ) -> None:
        """Writes a loop of vectors over a range of at least one step.

        Where the range is no multiple of steps the last one lies over the one before.
        """
        function, integer = self._function, self._function.integer
        step = unroll * self._lanes
        if is_exact:
            self._steps(piece, begin, end, unroll)
        elif not self._in_place:
            last = function.binary("sub", end, integer(step))
            self._steps(piece, begin, end, unroll, last)
        else:
            # The last step is computed first: its elements are not overwritten then.
            last = function.binary("sub", end, integer(step))
            with self._emitter.region():
                rest = self._computed(piece, self._firsts(last, unroll), self._lanes)
            length = function.binary("sub", end, begin)
            whole = function.binary("and", length, integer(-step))
            self._steps(piece, begin, function.binary("add", begin, whole), unroll)
            self._store(rest, self._lanes)

    def _steps(
        self, piece: Piece, begin: Value, end: Value, unroll: int, last: Value | None = None
    ) -> None:
        function = self._function
        with function.loop(begin, end, unroll * self._lanes) as loop, self._emitter.region():
            first = loop.index
            if last is not None:
                first = function.intrinsic("smin", first, last)
            self._store_all(piece, self._firsts(first, unroll), self._lanes)

    def _firsts(self, first: Value, unroll: int) -> list[Value]:
        add, integer = self._function.binary, self._function.integer
        more = [add("add nsw", first, integer(n * self._lanes)) for n in range(1, unroll)]
        return [first, *more]

    def _scalar(self, piece: Piece, begin: Value, end: Value) -> None:
        with self._function.loop(begin, end) as loop, self._emitter.region():
            self._store_all(piece, [loop.index], 1)

    def _store_all(self, piece: Piece, firsts: Sequence[Value], lanes: int) -> None:
        self._store(self._computed(piece, firsts, lanes), lanes)

    def _computed(
        self, piece: Piece, firsts: Sequence[Value], lanes: int
    ) -> list[tuple[Write, Element]]:
        """Writes elements, of several vectors, and says where they will be stored.

        All are there before the first is stored: an output may lie over an input.
        """
        found = []
        with self._emitter.with_lanes(lanes):
            for first in firsts:
                self._open(self._last, piece, first, lanes)
                place = linear(self._indices, self._nest.extents)
                for write in self._work.writes(self._emitter, place):
                    element = self._emitter.element(write.instruction, write.index)
                    write.place.ask_for_splits()
                    found.append((write, element))
        return found

    def _store(self, found: Sequence[tuple[Write, Element]], lanes: int) -> None:
        for write, element in found:
            write.destination.store_at(self._function, write.place, element, lanes)

    # Tiles

    def _in_tiles(self, across: int) -> Launch:
        """Writes loops over tiles: rows of a tile are those of the loop `across`."""
        tiles, function = self._tiles, self._function
        outer = [n for p, n in enumerate(self._nest.extents[:-1]) if p != across]
        counts = [*outer, *tiles.counts]
        with function.loop(self._kernel.begin, self._kernel.end) as loop:
            *given, row, column = decoded(function, loop.index, counts)
            given.insert(across, row)
            with self._emitter.region():
                self._visit(0, given, lambda: self._tile(across, row, column))
        total = prod(counts)
        each = max(self._work.nanoseconds / total, TILE_NANOSECONDS)
        return Launch.in_pieces(total, each)

    def _tile(self, across: int, row: Value, column: Value) -> None:
        tiles, function, integer = self._tiles, self._function, self._function.integer
        first_row, first_column = tiles.begin(row, column)
        rows, columns = (integer(size) for size in tiles.sizes)
        with function.loop(integer(0), rows) as outer, self._emitter.region():
            value = function.binary("add nsw", first_row, outer.index)
            self._open(across, Piece(0, self._nest.extents[across]), value)
            with function.loop(integer(0), columns, self._lanes) as inner, self._emitter.region():
                first = function.binary("add nsw", first_column, inner.index)
                tiles.at(outer.index, inner.index)
                piece = Piece(0, self._nest.extents[self._last])
                self._store_all(piece, [first], self._lanes)


def _shared_count(extents: list[int]) -> int:
    """Returns how many outer loops become items of work: enough for several threads."""
    total = 1
    for count, extent in enumerate(extents, 1):
        total *= extent
        if total >= 64:
            return count
    return len(extents)
