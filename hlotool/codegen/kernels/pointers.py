"""Addresses of elements, in whichever function they are needed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import ElementType

_LINE_BYTES = 64


@dataclass(frozen=True)
class Pointer:
    """The address of an element, in a function: `offset` elements behind what is computed."""

    function: FunctionWriter
    base: Value
    type: ElementType
    offset: int = 0

    @property
    def address(self) -> Value:
        """Writes the address."""
        return self._at(self.base, constant("i64", self.offset))

    def moved(self, places: Value | int) -> Pointer:
        """Writes the address so many elements further on; numbers that are known add up."""
        if isinstance(places, int):
            return replace(self, offset=self.offset + places)
        if places.integer is not None:
            return replace(self, offset=self.offset + places.integer)
        return replace(self, base=self._at(self.base, places))

    def _at(self, base: Value, places: Value) -> Value:
        return Memory(base, self.type).at(self.function, places)

    def element(self, lanes: int) -> Element:
        """Writes the load of elements side by side."""
        address = self.address
        return Memory(address, self.type).load(self.function, address, lanes)

    def strided(self, lanes: int, stride: int) -> Element:
        """Writes the load of elements that are `stride` apart."""
        if stride == 1 or lanes == 1:
            return self.element(lanes)
        found = [self.moved(lane * stride).element(1) for lane in range(lanes)]
        parts = zip(*(one.parts for one in found), strict=True)
        return Element(self.type, tuple(self.function.gathered(part) for part in parts))

    def prefetch(self, count: int) -> None:
        """Writes that so many elements will be read soon; the address need not be a valid one."""
        self.function.declarations.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        line = _LINE_BYTES // self.type.storage_bytes
        for start in range(0, count, line):
            address = self.moved(start).address
            self.function.effect(
                f"call void @llvm.prefetch.p0({address.text}, i32 0, i32 3, i32 1)"
            )

    def store(self, element: Element) -> None:
        """Writes the store of elements side by side."""
        address = self.address
        memory = Memory(address, self.type, is_written=True)
        memory.store(self.function, element, address)


@dataclass(frozen=True)
class Located:
    """Elements at an argument of all functions of a kernel, so many bytes further on."""

    argument: Value
    begin: int
    type: ElementType

    def pointer(self, function: FunctionWriter) -> Pointer:
        """Writes their address in a function."""
        address = function.offset(self.argument, constant("i64", self.begin))
        return Pointer(function, address, self.type)
