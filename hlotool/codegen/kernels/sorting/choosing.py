"""Choosing the smallest records of a line, without a sort of all of them."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.kernels.sorting.digits import DigitCounters
from hlotool.codegen.kernels.sorting.merge_sorting import merge_sorted
from hlotool.codegen.kernels.sorting.records import KeyedRecords, RecordArray
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import INTEGER_BITS, Value, constant
from hlotool.codegen.numbers.lanes import any_lane

_DIGIT_BITS = 11
_PART_SORTED = 8
"""More candidates than this part of a line are as many as all."""


class _Candidates:
    """Places of a line, looked at several at a time, and one by one where any is wanted."""

    def __init__(self, emitter: ElementEmitter, records: KeyedRecords, lanes: int) -> None:
        self._emitter = emitter
        self._records = records
        self._keys = emitter.function.scratch(records.key_type, lanes)

    def look(
        self,
        position: Value,
        are_wanted: Callable[[Value], Value],
        take: Callable[[Value, Value], None],
    ) -> None:
        """Writes what `take` does with key and record of each place, where any is wanted."""
        function, lanes = self._emitter.function, self._emitter.lanes
        keys = self._records.key_at(self._emitter, position)
        some = any_lane(function, are_wanted(keys))

        def each() -> None:
            function.store(keys, self._keys, align=1)
            each_strip(self._emitter, lanes, 1, lambda lane: take(*self._one(position, lane)))

        self._emitter.branch(some, each)

    def _one(self, position: Value, lane: Value) -> tuple[Value, Value]:
        function, kind = self._emitter.function, self._records.key_type
        key = function.load_again(function.offset(self._keys, lane, kind), kind)
        place = function.binary("add", position, lane)
        return key, self._records.with_number(self._emitter, key, place)


class Walk:
    """Keeps the best records, in order, and a zero before them, while it goes along a row."""

    def __init__(
        self, emitter: ElementEmitter, records: KeyedRecords, length: int, count: int
    ) -> None:
        function, target = emitter.function, emitter.target
        bits = INTEGER_BITS[records.type]
        self._emitter = emitter
        self._function = function
        self._records = records
        self._length = length
        self._count = count
        self._array = RecordArray(function, records.type)
        self._lanes = 1 if bits > 64 else target.lanes(bits)
        self._kept = -(-count // self._lanes) * self._lanes
        self._key_lanes = min(16, 2 * target.lanes(records.key_bits))
        self._candidates = _Candidates(emitter, records, self._key_lanes)
        zero_first = function.scratch(records.type, self._lanes + self._kept)
        self._best = function.offset(zero_first, constant("i64", self._lanes), records.type)
        self._last = constant("i64", count - 1)

    def write(self) -> Value:
        """Writes the walk, and returns the address of the best records."""
        before = constant("i64", -1)
        self._array.store(self._best, before, constant(self._records.type, 0))
        none = constant(self._records.type, -1, self._lanes)
        each_strip(
            self._emitter,
            self._kept,
            self._lanes,
            lambda at: self._array.store(self._best, at, none),
        )
        # Only these may have the highest of all keys and be among the best.
        each_strip(self._emitter, self._count, 1, self._take)
        each_strip(self._emitter, self._length - self._count, self._key_lanes, self._look)
        return self._best

    def _take(self, position: Value) -> None:
        self._insert(self._records.made(self._emitter, position))

    def _look(self, position: Value) -> None:
        place = self._function.binary("add", position, constant("i64", self._count))
        self._candidates.look(place, self._are_better, self._offer)

    def _are_better(self, keys: Value) -> Value:
        last = self._records.key(self._emitter, self._array.load(self._best, self._last))
        # Of equals the one that came first is better.
        return self._function.compare("ult", keys, last)

    def _offer(self, _: Value, record: Value) -> None:
        last = self._array.load(self._best, self._last)
        is_better = self._function.compare("ult", record, last)
        self._emitter.branch(is_better, lambda: self._insert(record))

    def _insert(self, record: Value) -> None:
        """Moves what is behind a record by one, from the last on."""
        function, lanes, kept = self._function, self._lanes, self._kept
        with function.loop(constant("i64", 0), constant("i64", kept), lanes) as loop:
            begin = function.binary("sub", constant("i64", kept - lanes), loop.index)
            before = function.binary("sub", begin, constant("i64", 1))
            held = self._array.load(self._best, begin, lanes)
            moved = self._array.load(self._best, before, lanes)
            behind = function.intrinsic("umax", moved, record)
            self._array.store(self._best, begin, function.intrinsic("umin", held, behind))


class Selection:
    """Counts the highest digits of all keys, and sorts the records whose digit is low enough."""

    def __init__(
        self,
        emitter: ElementEmitter,
        records: KeyedRecords,
        length: int,
        count: int,
        arrays: tuple[Value, Value],
    ) -> None:
        function = emitter.function
        self._emitter = emitter
        self._function = function
        self._records = records
        self._length = length
        self._count = count
        self._arrays = arrays
        self._digit_bits = min(_DIGIT_BITS, records.key_bits)
        self._shift = records.key_bits - self._digit_bits
        self._lanes = min(8, emitter.target.lanes(records.key_bits))
        self._counters = DigitCounters(function, self._digit_bits)
        self._candidates = _Candidates(emitter, records, self._lanes)
        self._found = function.scratch("i64", 1)

    def write(self, sort_all: Callable[[], Value]) -> Value:
        """Writes the selection, and returns the address of the smallest records, in order.

        `sort_all` writes a sort of all records, for when there are too many candidates.
        """
        function = self._function
        self._counters.clear()
        each_strip(self._emitter, self._length, self._lanes, self._note)
        highest = self._highest_key(self._cutoff())
        function.store(constant("i64", 0), self._found, align=8)
        each_strip(
            self._emitter,
            self._length,
            self._lanes,
            lambda at: self._candidates.look(
                at,
                lambda keys: function.compare("ule", keys, highest),
                lambda key, record: self._append(key, record, highest),
            ),
        )
        found = function.load_again(self._found, "i64", align=8)
        few = function.compare("sle", found, constant("i64", self._length // _PART_SORTED))

        def sort_few() -> tuple[Value, ...]:
            is_before = function.compare
            return (
                merge_sorted(
                    self._emitter,
                    self._records.type,
                    found,
                    self._arrays,
                    lambda one, other: is_before("ult", one, other),
                ),
            )

        (address,) = function.branch(few, sort_few, lambda: (sort_all(),))
        return address

    def _note(self, position: Value) -> None:
        function = self._function
        key = self._records.key_at(self._emitter, position)
        digits = function.binary("lshr", key, constant(key.type, self._shift))
        for lane in range(self._emitter.lanes):
            digit = function.cast("zext", function.extract(digits, lane), "i64")
            self._counters.next(constant("i64", 0), digit)

    def _cutoff(self) -> Value:
        """Writes the digit of the last record that is wanted."""
        function = self._function
        end = constant("i64", 1 << self._digit_bits)
        begin = (constant("i32", 0), constant("i64", 0))
        with function.loop(constant("i64", 0), end, carried=begin) as loop:
            before, cutoff = loop.carried
            count = self._counters.load(constant("i64", 0), loop.index)
            total = function.binary("add", before, count)
            is_short = function.compare("slt", total, constant("i32", self._count))
            more = function.binary("add", cutoff, function.cast("zext", is_short, "i64"))
            loop.next = (total, more)
        return loop.results[1]

    def _highest_key(self, digit: Value) -> Value:
        function, kind = self._function, self._records.key_type
        wide = function.cast("zext", digit, "i64")
        key = function.cast("trunc", wide, kind) if kind != "i64" else wide
        shifted = function.binary("shl", key, constant(kind, self._shift))
        return function.binary("or", shifted, constant(kind, (1 << self._shift) - 1))

    def _append(self, key: Value, record: Value, highest: Value) -> None:
        function = self._function
        # What is not wanted is written over by the next one.
        found = function.load_again(self._found, "i64", align=8)
        RecordArray(function, self._records.type).store(self._arrays[0], found, record)
        is_wanted = function.cast("zext", function.compare("ule", key, highest), "i64")
        function.store(function.binary("add", found, is_wanted), self._found, align=8)
