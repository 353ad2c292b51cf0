"""Records: one integer for each place of the lines that are sorted, which is moved in its stead.

A record is all that operands have at a place where that is few bits (`PackedRecords`), else the
key and the number of the place (`KeyedRecords`), or without a key the number alone
(`NumberedRecords`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.kernels.sorting.keys import integer_type
from hlotool.codegen.kernels.sorting.lines import Line, element_of_bits, place_of, raw_bits
from hlotool.codegen.llvm.value import INTEGER_BITS, Value, constant, constant_lanes
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element

MOST_PACKED_BITS = 64

KeyOf = Callable[[ElementEmitter, Sequence[Element]], Value]
"""Writes the key of what operands have at a place."""


class Records(Protocol):
    """How places become records, and records places again."""

    type: str
    """The integer type of a record."""
    lines: Sequence[Line]
    """The operands."""
    results: Sequence[Line]

    def made(self, emitter: ElementEmitter, position: Value) -> Value:
        """Writes the records of places from `position` on, as many as there are lanes."""

    def elements(self, emitter: ElementEmitter, record: Value) -> list[Element]:
        """Writes what all operands have at the place of a record."""

    def write(self, emitter: ElementEmitter, record: Value, position: Value) -> None:
        """Writes the store of what is at the place of a record to a position of the results."""


class KeyRecords(Records, Protocol):
    """Records that are ordered by a key of so many bits."""

    key_bits: int

    def key(self, emitter: ElementEmitter, record: Value) -> Value:
        """Writes the key of records, an integer without a sign."""


class PackedRecords:
    """Records that have the bits of all operands, side by side."""

    def __init__(
        self,
        lines: Sequence[Line],
        results: Sequence[Line],
        key_of: KeyOf | None = None,
        key_bits: int = 0,
    ) -> None:
        self.lines = lines
        self.results = results
        self.key_bits = key_bits
        self.type = integer_type(sum(raw_bits(line.type) for line in lines))
        self._key_of = key_of
        self._length = lines[0].length

    def made(self, emitter: ElementEmitter, position: Value) -> Value:
        """Writes the records of places from `position` on, as many as there are lanes."""
        function, place = emitter.function, place_of(position, self._length)
        total = None
        shift = 0
        for line in self.lines:
            raw = line.load(function, place, emitter.lanes)
            part = function.cast("zext", raw, self.type)
            part = function.binary("shl", part, constant(self.type, shift)) if shift else part
            total = part if total is None else function.binary("or", total, part)
            shift += raw_bits(line.type)
        assert total is not None
        return total

    def elements(self, emitter: ElementEmitter, record: Value) -> list[Element]:
        """Writes what all operands have at the place of a record."""
        pairs = zip(self.lines, self._parts(emitter.function, record), strict=True)
        return [element_of_bits(emitter.function, line.type, raw) for line, raw in pairs]

    def key(self, emitter: ElementEmitter, record: Value) -> Value:
        """Writes the key of records."""
        assert self._key_of is not None
        return self._key_of(emitter, self.elements(emitter, record))

    def write(self, emitter: ElementEmitter, record: Value, position: Value) -> None:
        """Writes the store of the operands' bits to a position of the results."""
        parts = self._parts(emitter.function, record)
        for line, raw in zip(self.results, parts, strict=True):
            line.store(emitter.function, raw, place_of(position, self._length))

    def _parts(self, function: FunctionWriter, record: Value) -> list[Value]:
        found, shift = [], 0
        for line in self.lines:
            bits = raw_bits(line.type)
            moved = function.binary("lshr", record, constant(record.type, shift))
            found.append(function.cast("trunc", moved if shift else record, f"i{bits}"))
            shift += bits
        return found


class KeyedRecords:
    """Records that have a key above the number of the place, so that no two are equal."""

    def __init__(
        self, lines: Sequence[Line], results: Sequence[Line], key_of: KeyOf, key_bits: int
    ) -> None:
        self.lines = lines
        self.results = results
        self.key_bits = key_bits
        self._key_of = key_of
        self._length = lines[0].length
        self._number_bits = 32
        self.type = integer_type(key_bits + self._number_bits)

    @property
    def key_type(self) -> str:
        """The integer type of a key."""
        return integer_type(self.key_bits)

    def made(self, emitter: ElementEmitter, position: Value) -> Value:
        """Writes the records of places from `position` on, as many as there are lanes."""
        return self.with_number(emitter, self.key_at(emitter, position), position)

    def key_at(self, emitter: ElementEmitter, position: Value) -> Value:
        """Writes the keys of places from `position` on, as many as there are lanes."""
        function, place = emitter.function, place_of(position, self._length)
        elements = [line.elements(function, place, emitter.lanes) for line in self.lines]
        return self._key_of(emitter, elements)

    def with_number(self, emitter: ElementEmitter, key: Value, position: Value) -> Value:
        """Writes the records of places from `position` on that have these keys."""
        function = emitter.function
        number = function.cast("trunc", position, "i32")
        if emitter.lanes > 1:
            lanes = constant_lanes("i32", list(range(emitter.lanes)))
            number = function.binary("add", number, lanes)
        wide = function.cast("zext", key, self.type)
        shifted = function.binary("shl", wide, constant(self.type, self._number_bits))
        return function.binary("or", shifted, function.cast("zext", number, self.type))

    def behind_all(self, emitter: ElementEmitter, position: Value) -> Value:
        """Writes records of positions behind the line, which come behind all others."""
        highest = constant(self.key_type, (1 << self.key_bits) - 1)
        return self.with_number(emitter, highest, position)

    def elements(self, emitter: ElementEmitter, record: Value) -> list[Element]:
        """Writes what all operands have at the place of a record."""
        function, place = emitter.function, place_of(self.number(emitter, record), self._length)
        return [line.elements(function, place, 1) for line in self.lines]

    def key(self, emitter: ElementEmitter, record: Value) -> Value:
        """Writes the key of records."""
        function = emitter.function
        moved = function.binary("lshr", record, constant(self.type, self._number_bits))
        return function.cast("trunc", moved, self.key_type)

    def number(self, emitter: ElementEmitter, record: Value) -> Value:
        """Writes the number of the place that a record stands for, an `i64`."""
        function = emitter.function
        low = function.cast("trunc", record, f"i{self._number_bits}")
        return function.cast("zext", low, "i64")

    def write(self, emitter: ElementEmitter, record: Value, position: Value) -> None:
        """Writes the store of what is at the place of a record to a position of the results."""
        _move(emitter, self.lines, self.results, self.number(emitter, record), position)


class NumberedRecords:
    """Records that are the numbers of places: elements are looked up to be compared."""

    type = "i32"

    def __init__(self, lines: Sequence[Line], results: Sequence[Line]) -> None:
        self.lines = lines
        self.results = results
        self._length = lines[0].length

    def made(self, emitter: ElementEmitter, position: Value) -> Value:
        """Writes the record of one place."""
        assert emitter.lanes == 1
        return emitter.function.cast("trunc", position, "i32")

    def elements(self, emitter: ElementEmitter, record: Value) -> list[Element]:
        """Writes what all operands have at the place of a record."""
        function = emitter.function
        place = place_of(function.cast("zext", record, "i64"), self._length)
        return [line.elements(function, place, 1) for line in self.lines]

    def write(self, emitter: ElementEmitter, record: Value, position: Value) -> None:
        """Writes the store of what is at the place of a record to a position of the results."""
        number = emitter.function.cast("zext", record, "i64")
        _move(emitter, self.lines, self.results, number, position)


class RecordArray:
    """Records in memory."""

    def __init__(self, function: FunctionWriter, lane: str) -> None:
        self._function = function
        self._lane = lane
        self.bytes = INTEGER_BITS[lane] // 8

    def load(self, array: Value, position: Value, lanes: int = 1) -> Value:
        """Writes the load of records from a position on."""
        address = self._function.offset(array, position, self._lane)
        return self._function.load_again(address, self._lane, lanes, align=min(self.bytes, 8))

    def store(self, array: Value, position: Value, record: Value) -> None:
        """Writes the store of records to a position on."""
        address = self._function.offset(array, position, self._lane)
        self._function.store(record, address, align=min(self.bytes, 8))


def _move(
    emitter: ElementEmitter,
    lines: Sequence[Line],
    results: Sequence[Line],
    number: Value,
    position: Value,
) -> None:
    function, length = emitter.function, lines[0].length
    moved = [line.load(function, place_of(number, length), 1) for line in lines]
    for raw, result in zip(moved, results, strict=True):
        result.store(function, raw, place_of(position, length))
