"""Elements between registers and memory: the bytes that arrays hold."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, part_count, register_type
from hlotool.codegen.numbers.rounding import from_bits, to_bits
from hlotool.ir.element_type import BF16, PRED, S1, ElementType
from hlotool.ir.float_format import decode
from hlotool.ir.literal import Literal


@cache
def memory_type(element_type: ElementType) -> str:
    """Returns the type that holds an element in memory, or a part of a complex one."""
    component = element_type.component
    if component.is_float and component.bits >= 32:
        return register_type(component)
    return f"i{8 * component.storage_bytes}"


@dataclass(frozen=True)
class Memory:
    """The elements of an array in memory, one after the other."""

    address: Value
    type: ElementType
    is_written: bool = False
    """Whether the kernel writes to it, so that what is read depends on when."""

    @property
    def part_bytes(self) -> int:
        """The bytes of an element, or of a part of a complex one."""
        return self.type.component.storage_bytes

    def at(self, function: FunctionWriter, place: Value) -> Value:
        """Writes the address of an element by its place among all (`i64`)."""
        kind = memory_type(self.type)
        element = f"[2 x {kind}]" if self.type.is_complex else kind
        return function.offset(self.address, place, element)

    def load(self, function: FunctionWriter, address: Value, lanes: int) -> Element:
        """Writes the load of as many elements as there are lanes, which lie side by side."""
        return self.element(function, self.load_held(function, address, lanes))

    def load_each(self, function: FunctionWriter, addresses: Sequence[Value]) -> Element:
        """Writes the load of an element for each lane, from an address of its own."""
        loads = [self.load_held(function, address, 1) for address in addresses]
        held = tuple(function.gathered(parts) for parts in zip(*loads, strict=True))
        return self.element(function, held)

    def load_held(self, function: FunctionWriter, address: Value, lanes: int) -> tuple[Value, ...]:
        """Writes the load of elements that lie side by side, and yields them as memory has them.

        They are one value, of complex numbers two.
        """
        kind = memory_type(self.type)
        read = function.load_again if self.is_written else function.load
        if not self.type.is_complex:
            return (read(address, kind, lanes, align=self.part_bytes),)
        both = read(address, kind, 2 * lanes, align=self.part_bytes)
        return tuple(function.shuffle(both, both, range(part, 2 * lanes, 2)) for part in (0, 1))

    def element(self, function: FunctionWriter, held: Sequence[Value]) -> Element:
        """Writes elements of what memory has of them."""
        parts = tuple(in_register(function, self.type, part) for part in held)
        return Element(self.type, parts)

    def store(self, function: FunctionWriter, element: Element, address: Value) -> None:
        """Writes elements side by side, as many as the element has lanes."""
        held = [in_memory(function, self.type, part) for part in element.parts]
        if len(held) == 1:
            function.store(held[0], address, align=self.part_bytes)
            return
        lanes = element.lanes
        real, imaginary = function.together(*held)
        if lanes == 1:
            both = function.gathered([real, imaginary])
        else:
            order = [lane + part for lane in range(lanes) for part in (0, lanes)]
            both = function.shuffle(real, imaginary, order)
        function.store(both, address, align=self.part_bytes)


def in_register(function: FunctionWriter, element_type: ElementType, held: Value) -> Value:
    """Writes what memory holds as a register has it."""
    if element_type is PRED:
        return function.compare("ne", held, constant(held.type, 0))
    component = element_type.component
    if component.is_float:
        return held if component.bits >= 32 else from_bits(function, component, held)
    return function.cast("trunc", held, register_type(component))


def in_memory(function: FunctionWriter, element_type: ElementType, value: Value) -> Value:
    """Writes what a register has as memory holds it."""
    component = element_type.component
    if component.is_float:
        return value if component.bits >= 32 else to_bits(function, component, value)
    # Numbers of 2 and 4 bits lie in the low bits of a byte; one of s1 is that number as s8.
    opcode = "sext" if component is S1 else "zext"
    return function.cast(opcode, value, memory_type(element_type))


def literal_element(literal: Literal, element_type: ElementType, position: int = 0) -> Element:
    """Returns an element of a literal as a constant."""
    size = element_type.storage_bytes
    data = literal.data[position * size : (position + 1) * size]
    parts = part_count(element_type)
    width = size // parts
    return Element(
        element_type,
        tuple(_constant(element_type.component, data[n * width :][:width]) for n in range(parts)),
    )


def _constant(component: ElementType, data: bytes) -> Value:
    lane = register_type(component)
    number = int.from_bytes(data, "little") & ((1 << component.bits) - 1)
    if not component.is_float:
        if component.is_signed and number >> (component.bits - 1):
            number -= 1 << component.bits
        return constant(lane, number)
    if component.bits == 64:
        return Value(f"0x{number:016X}", lane)
    if component.bits == 32:
        return _single(number)
    if component is BF16:
        return _single(number << 16)
    assert component.float_format is not None
    return constant(lane, decode(number, component.float_format))


def _single(bits: int) -> Value:
    """Returns a constant `float` by its bits, which it keeps where it is NaN."""
    (number,) = struct.unpack("<f", bits.to_bytes(4, "little"))
    if number == number:  # noqa: PLR0124 - NaN has bits of its own
        return constant("float", number)
    sign, payload = bits >> 31, bits & 0x7FFFFF
    return Value(f"0x{sign << 63 | 0x7FF << 52 | payload << 29:016X}", "float")
