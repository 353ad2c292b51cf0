"""The arithmetic of sums of products: the type they are made in, and what is stored of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, register_type
from hlotool.codegen.numbers.rounding import rounded
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import C64, C128, F32, F64, PRED, S32, S64, ElementType

Parts: TypeAlias = tuple[Value, ...]
"""A number in registers: one value, or the two of a complex number."""

_NOWHERE = FunctionWriter("", ())
"""For what writes nothing."""


class Sums:
    """Sums of products of elements of two types, stored as a third.

    Floats are summed in f32 at least, integers in 64 bits or in 32 where no sum can leave
    them, pred in itself. `terms` is the largest number of products in a sum.
    """

    def __init__(
        self,
        function: FunctionWriter,
        operands: tuple[ElementType, ElementType],
        result: ElementType,
        terms: int,
    ) -> None:
        self._function = function
        self.operands = operands
        self.result_type = result
        types = (*operands, result)
        self._is_integer = all(one.is_integer or one is PRED for one in operands)
        self._is_signed = any(one.is_signed for one in operands if one is not PRED)
        self.is_complex = any(one.is_complex for one in types)
        if self._is_integer:
            self._check_integers()
            self.lane = "i1" if all(one is PRED for one in types) else self._integer_lane(terms)
        else:
            if not all(one.is_float or one.is_complex for one in types):
                raise NotCompiled("sums of products of integers and floats")
            is_double = any(one.component.bits == 64 for one in types)
            self.lane = "double" if is_double else "float"
        self.most_terms = terms if self._is_integer else 0
        """The number of products in a sum, where it matters."""

    @property
    def bits(self) -> int:
        """The width of a part of a sum."""
        return {"float": 32, "double": 64}.get(self.lane) or max(8, int(self.lane[1:]))

    @property
    def held_type(self) -> ElementType:
        """The type of elements that need no more work to be summed."""
        if self.is_complex:
            return C64 if self.lane == "float" else C128
        return {"i1": PRED, "i32": S32, "i64": S64, "float": F32, "double": F64}[self.lane]

    @property
    def part_count(self) -> int:
        """How many values a sum is."""
        return 2 if self.is_complex else 1

    def zero(self, lanes: int) -> Parts:
        """Returns an empty sum in so many lanes."""
        return (constant(self.lane, 0, lanes),) * self.part_count

    def taken(self, element: Element) -> Parts:
        """Writes an element of an operand in the type that sums are made in."""
        found = tuple(self._widened(element.type, part) for part in element.parts)
        if len(found) < self.part_count:
            found += (constant(self.lane, 0, element.lanes),)
        return found

    def added(self, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes a sum with the product of two elements added."""
        if not self.is_complex:
            return (self._with_product(total[0], one[0], other[0]),)
        (real, imaginary), (a, b), (c, d) = total, one, other
        real = self._with_product(self._with_product(real, a, c), self._function.negative(b), d)
        imaginary = self._with_product(self._with_product(imaginary, a, d), b, c)
        return real, imaginary

    def kept(self, condition: Value, yes: Parts, no: Parts) -> Parts:
        """Writes a choice between two sums."""
        return tuple(self._function.select(condition, a, b) for a, b in zip(yes, no, strict=True))

    def stored(self, total: Parts) -> Element:
        """Writes a sum as an element of the result: rounded, or stopped at the type's ends."""
        result = self.result_type
        if self._is_integer:
            return Element(result, (self._integer_result(total[0]),))
        lane = register_type(result)
        found = [self._function.cast("fptrunc", part, lane) for part in total]
        if not result.is_complex:
            found = [rounded(self._function, result, found[0])]
        return Element(result, tuple(found))

    def _check_integers(self) -> None:
        result = self.result_type
        is_pred = all(one is PRED for one in self.operands)
        if result is PRED and not is_pred:
            raise NotCompiled("sums of integers that are stored as pred")
        if not (result.is_integer or result is PRED):
            raise NotCompiled(f"sums of integers that are stored as {result.name}")

    def _integer_lane(self, terms: int) -> str:
        largest = max(1, terms)
        for one in self.operands:
            bits = 1 if one is PRED else one.bits
            largest *= 1 << (bits - 1 if one.is_signed else bits)
        return "i32" if largest < 1 << 31 else "i64"

    def _widened(self, given: ElementType, part: Value) -> Value:
        if self._is_integer:
            opcode = "sext" if given.is_signed and given is not PRED else "zext"
            return self._function.cast(opcode, part, self.lane)
        return self._function.cast("fpext", part, self.lane)

    def _with_product(self, total: Value, one: Value, other: Value) -> Value:
        function = self._function
        if self.lane == "i1":
            return function.binary("or", total, function.binary("and", one, other))
        if self._is_integer:
            return function.binary("add", total, function.binary("mul", one, other))
        # Rounded together where the target can.
        return function.intrinsic("fmuladd", one, other, total)

    def _integer_result(self, total: Value) -> Value:
        result, function = self.result_type, self._function
        lane = register_type(result)
        if self.lane == "i1":
            return total
        held = int(self.lane[1:])
        # Sums of 32 bits are small enough to be seen as signed.
        is_signed = self._is_signed or held == 32
        least, most = _limits(result.bits, is_signed=result.is_signed)
        lowest, highest = _limits(held, is_signed=is_signed)
        prefix = "s" if is_signed else "u"
        if least > lowest:
            total = function.intrinsic(f"{prefix}max", total, constant(self.lane, least))
        if most < highest:
            total = function.intrinsic(f"{prefix}min", total, constant(self.lane, most))
        if result.bits > held:
            return function.cast("sext", total, lane)
        return function.cast("trunc", total, lane)


@dataclass(frozen=True)
class TileSums:
    """The same for functions that kernels share, which are made for what is equal."""

    operands: tuple[ElementType, ElementType]
    result: ElementType
    terms: int

    @property
    def kept_type(self) -> ElementType:
        """The type of sums."""
        return self._of(_NOWHERE).held_type

    def zero(self, lanes: int) -> Parts:
        """Returns an empty sum in so many lanes."""
        return self._of(_NOWHERE).zero(lanes)

    def taken(self, function: FunctionWriter, element: Element) -> Parts:
        """Writes an element of an operand in the type that sums are made in."""
        return self._of(function).taken(element)

    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes a sum with the product of two elements added."""
        return self._of(function).added(total, one, other)

    def _of(self, function: FunctionWriter) -> Sums:
        return Sums(function, self.operands, self.result, self.terms)


def _limits(bits: int, *, is_signed: bool) -> tuple[int, int]:
    if is_signed:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1
