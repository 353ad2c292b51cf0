"""Memory for the line at hand, and the loop over lines: arrays of records, copies of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.kernels.kernel import LONG_PIECE_NANOSECONDS, Kernel, Launch
from hlotool.codegen.kernels.sorting.lines import Line, Numbering, place_of, raw_bits
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import INTEGER_BITS, Value

_ALIGNMENT = 64
_STACK_LENGTH = 1 << 10
"""Lines of so few elements have their memory on the stack, where it stays in cache."""
_MOST_ITEMS = 32
"""Items of work that have memory of their own, where that is much."""


class Room:
    """Deals lines out to items of work, and sets memory aside for the line at hand."""

    def __init__(self, kernel: Kernel, numbering: Numbering, length: int) -> None:
        self._kernel = kernel
        self._numbering = numbering
        self._length = length
        self._is_on_stack = length <= _STACK_LENGTH
        self._lines_each = 1 if self._is_on_stack else -(-numbering.count // _MOST_ITEMS)
        self._items = -(-numbering.count // self._lines_each)
        self._item: Value | None = None

    @contextmanager
    def each_line(self) -> Iterator[None]:
        """Holds while the work for one line is written."""
        kernel, function = self._kernel, self._kernel.function
        with function.loop(kernel.begin, kernel.end) as items:
            self._item = items.index
            if self._lines_each == 1:
                self._numbering.counter.value = items.index
                yield
                return
            each, count = (function.integer(n) for n in (self._lines_each, self._numbering.count))
            begin = function.binary("mul", items.index, each)
            end = function.intrinsic("smin", function.binary("add", begin, each), count)
            with function.loop(begin, end) as lines:
                self._numbering.counter.value = lines.index
                yield

    def launch(self, nanoseconds: float) -> Launch:
        """Returns how the kernel is run when a line takes so long."""
        each = nanoseconds * self._lines_each
        return Launch.in_pieces(self._items, each, LONG_PIECE_NANOSECONDS)

    def arrays(self, lane: str, count: int) -> tuple[Value, Value]:
        """Returns the addresses of two arrays of so many records."""
        size = count * INTEGER_BITS[lane] // 8
        return self._memory(size), self._memory(size)

    def copied(self, emitter: ElementEmitter, lines: Sequence[Line]) -> list[Line]:
        """Writes copies of lines that are written over, or whose elements are far apart."""
        found = []
        for line in lines:
            if line.source.memory.is_written or not line.is_contiguous:
                address = self._memory(self._length * raw_bits(line.type) // 8)
                found.append(self._copied(emitter, line, line.copied_to(address)))
            else:
                found.append(line)
        return found

    def _copied(self, emitter: ElementEmitter, line: Line, copy: Line) -> Line:
        function = emitter.function

        def write(at: Value) -> None:
            place = place_of(at, self._length)
            copy.store(function, line.load(function, place, emitter.lanes), place)

        lanes = emitter.target.lanes(raw_bits(line.type)) if line.is_contiguous else 1
        each_strip(emitter, self._length, lanes, write)
        return copy

    def _memory(self, size: int) -> Value:
        kernel, function = self._kernel, self._kernel.function
        size = -(-size // _ALIGNMENT) * _ALIGNMENT
        if self._is_on_stack:
            return function.scratch("i8", size)
        begin = function.offset(kernel.workspace, function.integer(kernel.room(size * self._items)))
        assert self._item is not None, "memory is set aside for a line"
        return function.offset(begin, function.binary("mul", self._item, function.integer(size)))
