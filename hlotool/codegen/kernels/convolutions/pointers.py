"""Addresses of elements of a convolution's operands, in whichever function they are needed."""

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
    """The address of an element, in a function."""

    function: FunctionWriter
    address: Value
    type: ElementType

    def moved(self, places: Value | int) -> Pointer:
        """Writes the address so many elements further on."""
        if isinstance(places, int):
            places = constant("i64", places)
        address = Memory(self.address, self.type).at(self.function, places)
        return replace(self, address=address)

    def element(self, lanes: int) -> Element:
        """Writes the load of elements side by side."""
        return Memory(self.address, self.type).load(self.function, self.address, lanes)

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
        memory = Memory(self.address, self.type, is_written=True)
        memory.store(self.function, element, self.address)


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
