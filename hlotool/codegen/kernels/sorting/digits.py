"""Counters of digits of keys: how many records have each."""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter

_CLEARED = 8
"""How many counters are cleared at once; there are never fewer."""


class DigitCounters:
    """Counters on the stack: one for each value of a digit, for each of some digits of a key."""

    def __init__(self, function: FunctionWriter, bits: int, digits: int = 1) -> None:
        self._function = function
        self._bits = bits
        self._count = digits << bits
        self._address = function.scratch("i32", self._count)

    def clear(self) -> None:
        """Writes that all counters are 0."""
        zero, end = constant("i32", 0, _CLEARED), constant("i64", self._count)
        with self._function.loop(constant("i64", 0), end, _CLEARED) as loop:
            address = self._function.offset(self._address, loop.index, "i32")
            self._function.store(zero, address, align=4 * _CLEARED)

    def load(self, number: Value, digit: Value) -> Value:
        """Writes what the counter of a value has, of the digit with a number."""
        return self._function.load_again(self._counter(number, digit), "i32", align=4)

    def store(self, number: Value, digit: Value, count: Value) -> None:
        """Writes what a counter has from here on."""
        self._function.store(count, self._counter(number, digit), align=4)

    def next(self, number: Value, digit: Value) -> Value:
        """Writes that a counter has one more, and returns what it had."""
        found = self.load(number, digit)
        self.store(number, digit, self._function.binary("add", found, constant("i32", 1)))
        return found

    def _counter(self, number: Value, digit: Value) -> Value:
        function = self._function
        begin = function.binary("shl", number, constant("i64", self._bits))
        first = function.offset(self._address, begin, "i32")
        return function.offset(first, digit, "i32")
