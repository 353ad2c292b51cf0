"""How products are summed: in which type, and what one more term adds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, Parts, part_count, register_type
from hlotool.codegen.numbers.rounding import rounded
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import C64, C128, F32, F64, PRED, S32, S64, ElementType


@dataclass(frozen=True)
class Sums(ABC):
    """Sums of products of elements of two types, kept as a type until they are rounded once."""

    held_type: ElementType
    registers: ClassVar[int] = 0
    """How many registers one more term takes, beside sums and factors."""

    @property
    def lane(self) -> str:
        """The type of a lane of a sum, or of each part of a complex one."""
        return register_type(self.held_type)

    @property
    def parts(self) -> int:
        """How many values a sum is."""
        return part_count(self.held_type)

    def zero(self, lanes: int) -> Parts:
        """Returns the sum of no terms."""
        return (constant(self.lane, 0, lanes),) * self.parts

    @abstractmethod
    def taken(self, function: FunctionWriter, element: Element) -> Parts:
        """Writes an element of an operand in the type of the sums."""

    @abstractmethod
    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes a sum with a product added."""

    @abstractmethod
    def result(self, function: FunctionWriter, total: Parts, wanted: ElementType) -> Element:
        """Writes a sum as an element of the result."""

    def joined(self, function: FunctionWriter, total: Parts, more: Parts) -> Parts:
        """Writes the sum of two sums."""
        opcode = "fadd" if self.lane in ("float", "double") else "add"
        pairs = zip(total, more, strict=True)
        return tuple(function.binary(opcode, one, other) for one, other in pairs)


class FloatSums(Sums):
    """Sums of real numbers."""

    def taken(self, function: FunctionWriter, element: Element) -> Parts:
        """Writes an f32 or f64 of the same value."""
        if not element.type.is_float:
            raise NotCompiled(f"products of floats and {element.type.name}")
        return (_widened(function, element.value, self.lane),)

    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes a multiplication and an addition, rounded together where the target can."""
        return (function.intrinsic("fmuladd", one[0], other[0], total[0]),)

    def result(self, function: FunctionWriter, total: Parts, wanted: ElementType) -> Element:
        """Writes a sum, rounded to the type of the result."""
        if not wanted.is_float:
            raise NotCompiled(f"sums of floats as {wanted.name}")
        (value,) = total
        if self.lane == "double" and wanted.bits < 64:
            if wanted.bits < 32:
                raise NotCompiled(f"sums of f64 as {wanted.name}")
            value = function.cast("fptrunc", value, "float")
        return Element(wanted, (rounded(function, wanted, value),))


class ComplexSums(Sums):
    """Sums of complex numbers."""

    registers = 4

    def taken(self, function: FunctionWriter, element: Element) -> Parts:
        """Writes both parts; those of real numbers have zeros."""
        if not element.type.component.is_float:
            raise NotCompiled(f"products of complex numbers and {element.type.name}")
        parts = tuple(_widened(function, part, self.lane) for part in element.parts)
        return parts if len(parts) == 2 else (parts[0], constant(self.lane, 0))

    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes four multiplications and additions."""
        real = function.intrinsic("fmuladd", one[0], other[0], total[0])
        imaginary = function.intrinsic("fmuladd", one[0], other[1], total[1])
        turned = function.negative(one[1])
        return (
            function.intrinsic("fmuladd", turned, other[1], real),
            function.intrinsic("fmuladd", one[1], other[0], imaginary),
        )

    def result(self, function: FunctionWriter, total: Parts, wanted: ElementType) -> Element:
        """Writes a sum in the type of the result."""
        if not wanted.is_complex:
            raise NotCompiled(f"complex sums as {wanted.name}")
        lane = register_type(wanted)
        if self.lane == "double" and lane == "float":
            total = tuple(function.cast("fptrunc", part, lane) for part in total)
        return Element(wanted, total)


class IntegerSums(Sums):
    """Sums of integers modulo a power of two that is at least that of the result."""

    registers = 2

    def taken(self, function: FunctionWriter, element: Element) -> Parts:
        """Writes an integer with the width of the sums; high bits go where it was wider."""
        value = element.value
        if int(value.type[1:]) > int(self.lane[1:]):
            return (function.cast("trunc", value, self.lane),)
        return (function.cast("sext" if element.type.is_signed else "zext", value, self.lane),)

    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes a multiplication and an addition, modulo the width."""
        return (function.binary("add", total[0], function.binary("mul", one[0], other[0])),)

    def result(self, function: FunctionWriter, total: Parts, wanted: ElementType) -> Element:
        """Writes the low bits of a sum."""
        if not wanted.is_integer:
            raise NotCompiled(f"sums of integers as {wanted.name}")
        return Element(wanted, (function.cast("trunc", total[0], register_type(wanted)),))


class TruthSums(IntegerSums):
    """Whether both factors of any term are true."""

    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes a conjunction and a disjunction."""
        return (function.binary("or", total[0], function.binary("and", one[0], other[0])),)

    def joined(self, function: FunctionWriter, total: Parts, more: Parts) -> Parts:
        """Writes a disjunction."""
        return (function.binary("or", total[0], more[0]),)

    def result(self, function: FunctionWriter, total: Parts, wanted: ElementType) -> Element:
        """Writes whether any term was true."""
        return Element(wanted, (function.compare("ne", total[0], constant(self.lane, 0)),))


def added_up(function: FunctionWriter, sums: Sums, total: Parts) -> Parts:
    """Writes the sum of the sums in all lanes: one half of them to the other, again and again."""
    lanes = total[0].lanes
    while lanes > 1:
        half = lanes // 2
        low, high = (
            tuple(function.shuffle(part, part, range(begin, begin + half)) for part in total)
            for begin in (0, half)
        )
        both = sums.joined(function, low, high)
        if lanes % 2:
            last = tuple(function.extract(part, lanes - 1) for part in total)
            first = tuple(function.extract(part, 0) for part in both)
            first = sums.joined(function, first, last)
            pairs = zip(both, first, strict=True)
            both = tuple(
                lane if half == 1 else function.insert(one, lane, 0) for one, lane in pairs
            )
        total, lanes = both, half
    return total


def sums_for(operands: Sequence[ElementType], result: ElementType) -> Sums:
    """Returns how products of two types are summed for a result; `NotCompiled` where it is not."""
    types = (*operands, result)
    if all(one is PRED for one in types):
        return TruthSums(S32)
    if all(one.is_integer or one is PRED for one in operands):
        return IntegerSums(S64 if result.bits > 32 else S32)
    is_double = any(not one.is_integer and one.component.bits == 64 for one in types)
    if any(one.is_complex for one in types):
        return ComplexSums(C128 if is_double else C64)
    return FloatSums(F64 if is_double else F32)


def _widened(function: FunctionWriter, value: Value, lane: str) -> Value:
    return function.cast("fpext", value, lane)
