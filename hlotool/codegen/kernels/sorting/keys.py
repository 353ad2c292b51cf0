"""Keys of a sort: what a comparator orders elements by, as integers without a sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.codegen.elements.callee import applied, computed
from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.llvm.value import INTEGER_BITS, Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import in_memory
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.callees.sorting import lexicographic_comparisons
from hlotool.ops.elementwise import Compare

MOST_KEY_BITS = 64
"""Of all keys that make one integer."""


@dataclass(frozen=True)
class Key:
    """One of the things that elements are ordered by.

    Floats in total order go by their bits. Otherwise both zeros are equal, and NaN are behind
    all numbers of an ascending order.
    """

    type: ElementType
    is_descending: bool
    is_total: bool

    @property
    def bits(self) -> int:
        """How wide the integer is that stands for it."""
        if self.type.is_float and self.type.bits < 16:
            return 32
        return max(8, self.type.bits)

    def integer(self, function: FunctionWriter, element: Element) -> Value:
        """Writes the integer of an element, smaller ones come first."""
        made = _of_float if self.type.is_float else _of_integer
        value = made(function, self, element.value)
        ones = constant(value.type, -1)
        return function.binary("xor", value, ones) if self.is_descending else value


@dataclass(frozen=True)
class Order:
    """An order by keys, the first counts most; where they are few bits they make one integer.

    `instructions` are the keys of the first of two elements in the comparator.
    """

    comparator: Computation
    instructions: tuple[Instruction, ...]
    keys: tuple[Key, ...]

    @property
    def bits(self) -> int:
        """How many bits all keys have."""
        return sum(key.bits for key in self.keys)

    def parts(self) -> list[Order]:
        """Returns orders whose keys make one integer each; those after count among equals."""
        found: list[tuple[int, int]] = []
        begin, bits = 0, 0
        for place, key in enumerate(self.keys):
            if bits + key.bits > MOST_KEY_BITS:
                found.append((begin, place))
                begin, bits = place, 0
            bits += key.bits
        found.append((begin, len(self.keys)))
        return [
            Order(self.comparator, self.instructions[begin:end], self.keys[begin:end])
            for begin, end in found
        ]

    def integer(self, emitter: ElementEmitter, elements: Sequence[Element]) -> Value:
        """Writes the integer of what all operands have at a place: smaller ones come first."""
        both = [element for element in elements for _ in range(2)]
        found = computed(emitter, self.comparator, both, self.instructions)
        return joined(emitter.function, self.keys, found)


def joined(function: FunctionWriter, keys: Sequence[Key], elements: Sequence[Element]) -> Value:
    """Writes the integer of several keys, the first in the highest bits."""
    lane = integer_type(sum(key.bits for key in keys))
    total = constant(lane, 0)
    for key, element in zip(keys, elements, strict=True):
        part = function.cast("zext", key.integer(function, element), lane)
        if len(keys) == 1:
            return part
        if key is not keys[0]:
            total = function.binary("shl", total, constant(lane, key.bits))
        total = function.binary("or", total, part)
    return total


def integer_type(bits: int) -> str:
    """Returns the narrowest integer type of whole bytes, a power of two, that has so many bits."""
    return next(f"i{width}" for width in (8, 16, 32, 64, 128) if width >= bits)


def order_of(comparator: Computation) -> Order | None:
    """Returns the order that a comparator is proved to say; `None` for any other comparator."""
    comparisons = lexicographic_comparisons(comparator)
    if comparisons is None:
        return None
    instructions, keys = [], []
    for comparison in comparisons:
        op, instruction = comparison.op, comparison.operands[0]
        assert isinstance(op, Compare)
        element_type = element_type_of(instruction)
        if element_type.is_complex:
            return None
        keys.append(Key(element_type, op.direction == "GT", op.type == "TOTALORDER"))
        instructions.append(instruction)
    return Order(comparator, tuple(instructions), tuple(keys))


def comes_before(
    emitter: ElementEmitter,
    comparator: Computation,
    ones: Sequence[Element],
    others: Sequence[Element],
) -> Value:
    """Writes whether a comparator puts one place of all operands before another."""
    pairs = [element for pair in zip(ones, others, strict=True) for element in pair]
    (is_before,) = applied(emitter, comparator, pairs)
    return is_before.value


def _of_integer(function: FunctionWriter, key: Key, value: Value) -> Value:
    if key.type is PRED:
        return function.cast("zext", value, "i8")
    if not key.type.is_signed:
        return function.cast("zext", value, f"i{key.bits}")
    return _without_sign(function, function.cast("sext", value, f"i{key.bits}"))


def _of_float(function: FunctionWriter, key: Key, value: Value) -> Value:
    if not key.is_total:
        zero = constant(value.type, 0.0)
        value = function.select(function.compare("oeq", value, zero), zero, value)
    lane = f"i{key.bits}"
    bits = in_memory(function, key.type, value) if key.bits == key.type.bits else value
    bits = function.cast("bitcast", bits, lane)
    if not key.is_total:
        highest = constant(lane, (1 << (key.bits - 1)) - 1)
        bits = function.select(function.compare("uno", value, value), highest, bits)
    # Of negative numbers the larger bits are the smaller number.
    sign = function.binary("ashr", bits, constant(lane, key.bits - 1))
    magnitude = function.binary("lshr", sign, constant(lane, 1))
    return _without_sign(function, function.binary("xor", bits, magnitude))


def _without_sign(function: FunctionWriter, value: Value) -> Value:
    """Writes an integer in the same order as one with a sign, counted from the least."""
    return function.binary("xor", value, constant(value.type, -1 << (INTEGER_BITS[value.type] - 1)))
