"""The kernel of sorts: each line of the operands is an item of work.

Comparators that are proved to order by keys get a radix sort, or on short lines a sort of the
keys with the numbers of their places; all others a merge sort with the comparator in it. All of
them keep equals in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.source import Source
from hlotool.codegen.kernels.kernel import Kernel, Launch, kernel
from hlotool.codegen.kernels.sorting.keys import MOST_KEY_BITS, Order, comes_before, order_of
from hlotool.codegen.kernels.sorting.lines import Line, Numbering, raw_bits
from hlotool.codegen.kernels.sorting.merge_sorting import merge_sorted, padded_count, sort_unequal
from hlotool.codegen.kernels.sorting.radix_sorting import RadixSort
from hlotool.codegen.kernels.sorting.records import (
    MOST_PACKED_BITS,
    KeyedRecords,
    NumberedRecords,
    PackedRecords,
    RecordArray,
    Records,
)
from hlotool.codegen.kernels.sorting.room import Room
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import INTEGER_BITS, Value, constant
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.computation import Computation
from hlotool.ops.ordering import Sort

SHORT_LINE = 256
"""Lines of so few elements are merged: a radix sort has to look at all of its counters."""
LONGEST_LINE = (1 << 31) - 1


@kernel(Sort)
def emit_sort(kernel: Kernel) -> Launch:
    """Writes the kernel of a sort."""
    instruction = kernel.body.instruction
    if not isinstance(instruction.op, Sort):
        raise NotCompiled("a sort inside a fusion")
    return _SortKernel(kernel, instruction.op, instruction.calls[0]).write()


class LineSort:
    """Writes the sort of the line at hand: where records come from, and in which way."""

    def __init__(
        self, emitter: ElementEmitter, lines: Sequence[Line], results: Sequence[Line]
    ) -> None:
        self.emitter = emitter
        self.lines = lines
        self.results = results
        self.length = lines[0].length

    def by_order(self, order: Order, room: Room) -> tuple[Records, Value]:
        """Sorts by keys; returns the records and the array that has them in order."""
        if order.bits > MOST_KEY_BITS:
            return self._by_parts(order, room)
        is_packed = sum(raw_bits(line.type) for line in self.lines) <= MOST_PACKED_BITS
        if self.length <= SHORT_LINE or not is_packed:
            return self.by_keys(self.keyed(order, room), room)
        records = PackedRecords(self.lines, self.results, order.integer, order.bits)
        return records, self._by_digits(records, room)

    def keyed(self, order: Order, room: Room) -> KeyedRecords:
        """Returns records that have a key and the number of their place."""
        lines = room.copied(self.emitter, self.lines)
        return KeyedRecords(lines, self.results, order.integer, order.bits)

    def by_keys(self, records: KeyedRecords, room: Room) -> tuple[KeyedRecords, Value]:
        """Sorts unequal records; returns them and the array that has them in order."""
        if self.length > SHORT_LINE:
            return records, self._by_digits(records, room)
        return records, self._by_blocks(records, room)

    def by_comparator(self, comparator: Computation, room: Room) -> tuple[Records, Value]:
        """Sorts by any comparator; returns the records and the array that has them in order."""
        emitter = self.emitter
        records: Records
        if sum(raw_bits(line.type) for line in self.lines) <= MOST_PACKED_BITS:
            records = PackedRecords(self.lines, self.results)
        else:
            records = NumberedRecords(room.copied(emitter, self.lines), self.results)
        arrays = room.arrays(records.type, self.length)
        with emitter.with_lanes(1):
            self.fill(records, arrays[0])

            def is_before(one: Value, other: Value) -> Value:
                pair = (records.elements(emitter, record) for record in (one, other))
                return comes_before(emitter, comparator, *pair)

            return records, merge_sorted(emitter, records.type, self.length, arrays, is_before)

    def fill(self, records: Records, array: Value) -> None:
        """Writes the records of all places of the line."""
        held = RecordArray(self.emitter.function, records.type)
        is_numbered = isinstance(records, NumberedRecords)
        are_contiguous = all(line.is_contiguous for line in records.lines)
        lanes = record_lanes(self.emitter.target, records.type)
        each_strip(
            self.emitter,
            self.length,
            lanes if are_contiguous and not is_numbered else 1,
            lambda at: held.store(array, at, records.made(self.emitter, at)),
        )

    def _by_parts(self, order: Order, room: Room) -> tuple[Records, Value]:
        """Sorts by the keys that count least first; equals stay in order when others follow."""
        lines = room.copied(self.emitter, self.lines)
        *others, last = order.parts()
        records = KeyedRecords(lines, self.results, last.integer, last.bits)
        ordered = self._by_digits(records, room)
        for part in reversed(others):
            before = records
            records = KeyedRecords(lines, self.results, part.integer, part.bits)
            ordered = self._by_digits(records, room, (before, ordered))
        return records, ordered

    def _by_digits(
        self,
        records: PackedRecords | KeyedRecords,
        room: Room,
        before: tuple[KeyedRecords, Value] | None = None,
    ) -> Value:
        """Sorts by the key of records; `before` are those that have been sorted already."""
        arrays = room.arrays(records.type, self.length)
        if before is None:
            self.fill(records, arrays[0])
        else:
            self._fill_in_order(records, arrays[0], *before)
        lanes = record_lanes(self.emitter.target, records.type)
        return RadixSort(self.emitter, records, self.length, lanes).write(*arrays)

    def _fill_in_order(
        self, records: Records, array: Value, before: KeyedRecords, ordered: Value
    ) -> None:
        emitter = self.emitter
        old, new = (RecordArray(emitter.function, one.type) for one in (before, records))

        def write(at: Value) -> None:
            number = before.number(emitter, old.load(ordered, at))
            new.store(array, at, records.made(emitter, number))

        each_strip(emitter, self.length, 1, write)

    def _by_blocks(self, records: KeyedRecords, room: Room) -> Value:
        count = padded_count(self.length)
        arrays = room.arrays(records.type, count)
        self.fill(records, arrays[0])
        held = RecordArray(self.emitter.function, records.type)
        for position in range(self.length, count):
            at = constant("i64", position)
            held.store(arrays[0], at, records.behind_all(self.emitter, at))
        return sort_unequal(self.emitter, records.type, count, arrays)


class _SortKernel:
    def __init__(self, kernel: Kernel, op: Sort, comparator: Computation) -> None:
        self._kernel = kernel
        self._comparator = comparator
        self._order = order_of(comparator)
        self._emitter = ElementEmitter(kernel.function, kernel.target, {})
        operands = kernel.body.instruction.operands
        loaded = kernel.sources()
        sources = [loaded[operand] for operand in operands]
        stored = [kernel.destination(number) for number in range(len(operands))]
        check_sharing(kernel, sources, stored)
        shape = sources[0].shape
        self._length = shape.dimensions[op.dimensions]
        if self._length > LONGEST_LINE:
            raise NotCompiled(f"a sort of {self._length} elements in a line")
        self._numbering = Numbering(shape, sources[0].order, op.dimensions)
        self._sort = LineSort(
            self._emitter,
            [Line(source, self._numbering) for source in sources],
            [Line(source, self._numbering) for source in stored],
        )

    def write(self) -> Launch:
        """Writes a loop over lines."""
        room = Room(self._kernel, self._numbering, self._length)
        with room.each_line():
            self._sort_line(room)
        return room.launch(self._length * self._element_nanoseconds())

    def _sort_line(self, room: Room) -> None:
        sort = self._sort
        if self._order is not None and self._is_by_keys:
            records, ordered = sort.by_order(self._order, room)
        else:
            records, ordered = sort.by_comparator(self._comparator, room)
        write_records(self._emitter, records, ordered, self._length)

    @property
    def _is_by_keys(self) -> bool:
        order = self._order
        return order is not None and (order.bits <= MOST_KEY_BITS or self._length > SHORT_LINE)

    def _element_nanoseconds(self) -> float:
        if self._order is not None and self._length > SHORT_LINE:
            return 4 + self._order.bits / 3
        return 4 + 3 * log2(max(1, self._length))


def write_records(emitter: ElementEmitter, records: Records, ordered: Value, count: int) -> None:
    """Writes what is at the places of the first records to the results."""
    held = RecordArray(emitter.function, records.type)
    is_packed = isinstance(records, PackedRecords)
    are_contiguous = all(line.is_contiguous for line in records.results)

    def write(at: Value) -> None:
        records.write(emitter, held.load(ordered, at, emitter.lanes), at)

    lanes = record_lanes(emitter.target, records.type) if is_packed and are_contiguous else 1
    each_strip(emitter, count, lanes, write)


def record_lanes(target: Target, lane: str) -> int:
    """Returns how many records are handled at once."""
    bits = INTEGER_BITS[lane]
    return 1 if bits > 64 else min(8, target.lanes(bits))


def check_sharing(kernel: Kernel, sources: Sequence[Source], stored: Sequence[Source]) -> None:
    """Raises `NotCompiled` where a line of a result lies over others of an operand."""
    orders = {one.order for one in (*sources, *stored)}
    if kernel.shared and len(orders) > 1:
        raise NotCompiled("a sort in place, to another layout")
