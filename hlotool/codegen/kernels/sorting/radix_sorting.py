"""Radix sort: records are put into the order of one digit of their keys after the other.

The digits that count least come first, and records of equal digits stay in order. A digit that
is the same in all keys is skipped.
"""

from __future__ import annotations

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.kernels.sorting.digits import DigitCounters
from hlotool.codegen.kernels.sorting.records import KeyRecords, RecordArray
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import Value, constant

_LONG_LINE = 1 << 15
"""From so many records on fewer and larger digits are faster."""
_DIGIT_BITS = 8
_LONG_DIGIT_BITS = 11


class RadixSort:
    """Writes the sort of one line of records."""

    def __init__(
        self, emitter: ElementEmitter, records: KeyRecords, count: int, lanes: int
    ) -> None:
        wanted = _LONG_DIGIT_BITS if count >= _LONG_LINE else _DIGIT_BITS
        self._passes = -(-records.key_bits // wanted)
        self._digit_bits = -(-records.key_bits // self._passes)
        self._emitter = emitter
        self._function = emitter.function
        self._records = records
        self._array = RecordArray(emitter.function, records.type)
        self._count = count
        self._lanes = lanes
        self._counters = DigitCounters(emitter.function, self._digit_bits, self._passes)
        self._skipped = emitter.function.scratch("i8", self._passes)

    def write(self, first: Value, second: Value) -> Value:
        """Sorts the records at `first` with room at `second`, and returns where they are then."""
        function = self._function
        self._counters.clear()
        each_strip(self._emitter, self._count, self._lanes, lambda at: self._note(first, at))
        self._sum_up()
        bounds = (constant("i64", 0), constant("i64", self._passes))
        with function.loop(*bounds, carried=(first, second)) as loop:
            loop.next = self._passed(loop.index, *loop.carried)
        return loop.results[0]

    def _passed(self, number: Value, source: Value, target: Value) -> tuple[Value, Value]:
        function = self._function

        def moved() -> tuple[Value, ...]:
            each_strip(
                self._emitter,
                self._count,
                self._lanes,
                lambda at: self._move(number, source, target, at),
            )
            return target, source

        flag = function.load_again(function.offset(self._skipped, number), "i8")
        is_skipped = function.compare("ne", flag, constant("i8", 0))
        ours, theirs = function.branch(is_skipped, lambda: (source, target), moved)
        return ours, theirs

    def _note(self, source: Value, position: Value) -> None:
        """Counts the digits of records from a position on."""
        record = self._array.load(source, position, self._emitter.lanes)
        key = self._records.key(self._emitter, record)
        for number in range(self._passes):
            for digit in self._digits(key, constant("i64", number)):
                self._counters.next(constant("i64", number), digit)

    def _sum_up(self) -> None:
        """Turns counts into where the first record of each digit goes.

        Notes for each digit whether all records have the same.
        """
        function, passes = self._function, self._passes
        end = constant("i64", 1 << self._digit_bits)
        begin = [constant("i32", 0)] * passes + [constant("i1", 0)] * passes
        with function.loop(constant("i64", 0), end, carried=begin) as loop:
            sums, same = [], []
            for number in range(passes):
                counter = constant("i64", number), loop.index
                count = self._counters.load(*counter)
                self._counters.store(*counter, loop.carried[number])
                sums.append(function.binary("add", loop.carried[number], count))
                is_all = function.compare("eq", count, constant("i32", self._count))
                same.append(function.binary("or", loop.carried[passes + number], is_all))
            loop.next = (*sums, *same)
        for number, flag in enumerate(loop.results[passes:]):
            place = function.offset(self._skipped, constant("i64", number))
            function.store(function.cast("zext", flag, "i8"), place)

    def _move(self, number: Value, source: Value, target: Value, position: Value) -> None:
        """Moves records from a position on to where their digit's next one goes."""
        function = self._function
        record = self._array.load(source, position, self._emitter.lanes)
        digits = self._digits(self._records.key(self._emitter, record), number)
        for lane, digit in enumerate(digits):
            place = self._counters.next(number, digit)
            moved = function.extract(record, lane)
            self._array.store(target, function.cast("zext", place, "i64"), moved)

    def _digits(self, key: Value, number: Value) -> list[Value]:
        function = self._function
        begin = function.binary("mul", number, constant("i64", self._digit_bits))
        if key.type != "i64":
            begin = function.cast("trunc", begin, key.type)
        moved = function.binary("lshr", key, begin)
        digit = function.binary("and", moved, constant(key.type, (1 << self._digit_bits) - 1))
        lanes = [function.extract(digit, lane) for lane in range(key.lanes)]
        return [function.cast("zext", lane, "i64") for lane in lanes]
