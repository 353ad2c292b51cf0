"""Elements between registers and memory: the bytes that arrays hold."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, register_type
from hlotool.codegen.numbers.rounding import from_bits, to_bits
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.literal import Literal


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
        parts = 2 if self.type.is_complex else 1
        kind = memory_type(self.type)
        return function.offset(self.address, place, kind if parts == 1 else f"[2 x {kind}]")

    def load(self, function: FunctionWriter, address: Value, lanes: int) -> Element:
        """Writes the load of as many elements as there are lanes, which lie side by side."""
        kind = memory_type(self.type)
        read = function.load_again if self.is_written else function.load
        if not self.type.is_complex:
            held = read(address, kind, lanes, align=self.part_bytes)
            return Element(self.type, (in_register(function, self.type, held),))
        both = read(address, kind, 2 * lanes, align=self.part_bytes)
        parts = tuple(function.shuffle(both, both, range(part, 2 * lanes, 2)) for part in (0, 1))
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
    opcode = "sext" if component.is_signed else "zext"
    return function.cast(opcode, value, memory_type(element_type))


def literal_element(literal: Literal, element_type: ElementType, position: int = 0) -> Element:
    """Returns an element of a literal as a constant."""
    size = element_type.storage_bytes
    data = literal.data[position * size : (position + 1) * size]
    parts = 2 if element_type.is_complex else 1
    width = size // parts
    return Element(
        element_type,
        tuple(_constant(element_type.component, data[n * width :][:width]) for n in range(parts)),
    )


def _constant(component: ElementType, data: bytes) -> Value:
    import numpy as np

    lane = register_type(component)
    if component.is_float:
        try:
            number = float(np.frombuffer(data, component.numpy)[0])
        except TypeError as error:
            raise NotCompiled(f"constants of type {component.name}") from error
        return _float_constant(lane, number, data)
    number = int.from_bytes(data, "little", signed=component.is_signed)
    return constant(lane, number & 1 if lane == "i1" else number)


def _float_constant(lane: str, number: float, data: bytes) -> Value:
    if number == number:  # noqa: PLR0124 - NaN has bits of its own
        return constant(lane, number)
    if len(data) == 8:
        return Value(f"0x{int.from_bytes(data, 'little'):016X}", lane)
    if len(data) == 4:
        bits = int.from_bytes(data, "little")
        sign, payload = bits >> 31, bits & 0x7FFFFF
        return Value(f"0x{sign << 63 | 0x7FF << 52 | payload << 29:016X}", lane)
    return constant(lane, number)
