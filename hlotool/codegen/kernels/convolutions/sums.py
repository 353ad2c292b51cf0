"""The arithmetic of sums of products: the type they are made in, and what is stored of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, Parts, register_type
from hlotool.codegen.numbers.rounding import rounded
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import C64, C128, F32, F64, PRED, S32, S64, ElementType


@dataclass(frozen=True)
class Sums:
    """Sums of products of elements of two types, stored as a third."""

    result_type: ElementType
    lane: str
    """The type of a part of a sum."""
    is_signed: bool
    """Whether integers that are summed may be less than 0."""
    is_complex: bool

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
    def inner(self) -> Sums:
        """The same sums where nothing is known of what is stored of them."""
        return replace(self, result_type=self.held_type, is_signed=False)

    @property
    def part_count(self) -> int:
        """How many values a sum is."""
        return 2 if self.is_complex else 1

    def zero(self, lanes: int) -> Parts:
        """Returns an empty sum in so many lanes."""
        return (constant(self.lane, 0, lanes),) * self.part_count

    def taken(self, function: FunctionWriter, element: Element) -> Parts:
        """Writes an element of an operand in the type that sums are made in."""
        found = tuple(self._widened(function, element.type, part) for part in element.parts)
        if len(found) < self.part_count:
            found += (constant(self.lane, 0, element.lanes),)
        return found

    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts) -> Parts:
        """Writes a sum with the product of two elements added."""
        if not self.is_complex:
            return (self._with_product(function, total[0], one[0], other[0]),)
        (real, imaginary), (a, b), (c, d) = total, one, other
        real = self._with_product(function, real, a, c)
        real = self._with_product(function, real, function.negative(b), d)
        imaginary = self._with_product(function, imaginary, a, d)
        return real, self._with_product(function, imaginary, b, c)

    def kept(self, function: FunctionWriter, condition: Value, yes: Parts, no: Parts) -> Parts:
        """Writes a choice between two sums."""
        return tuple(function.select(condition, a, b) for a, b in zip(yes, no, strict=True))

    def stored(self, function: FunctionWriter, total: Parts) -> Element:
        """Writes a sum as an element of the result: rounded, or stopped at the type's ends."""
        result = self.result_type
        if self._is_integer:
            return Element(result, (self._integer_result(function, total[0]),))
        lane = register_type(result)
        found = [function.cast("fptrunc", part, lane) for part in total]
        if not result.is_complex:
            found = [rounded(function, result, found[0])]
        return Element(result, tuple(found))

    @property
    def _is_integer(self) -> bool:
        return self.lane[0] == "i"

    def _widened(self, function: FunctionWriter, given: ElementType, part: Value) -> Value:
        if self._is_integer:
            opcode = "sext" if given.is_signed and given is not PRED else "zext"
            return function.cast(opcode, part, self.lane)
        return function.cast("fpext", part, self.lane)

    def _with_product(
        self, function: FunctionWriter, total: Value, one: Value, other: Value
    ) -> Value:
        if self.lane == "i1":
            return function.binary("or", total, function.binary("and", one, other))
        if self._is_integer:
            return function.binary("add", total, function.binary("mul", one, other))
        # Rounded together where the target can.
        return function.intrinsic("fmuladd", one, other, total)

    def _integer_result(self, function: FunctionWriter, total: Value) -> Value:
        result = self.result_type
        lane = register_type(result)
        if self.lane == "i1":
            return total
        held = int(self.lane[1:])
        # Sums of 32 bits are small enough to be seen as signed.
        is_signed = self.is_signed or held == 32
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


def sums_for(operands: tuple[ElementType, ElementType], result: ElementType, terms: int) -> Sums:
    """Returns how products of elements are summed; raises `NotCompiled` where they are not.

    Floats are summed in f32 at least, integers in 64 bits or in 32 where no sum can leave
    them, pred in itself. `terms` is the largest number of products in a sum.
    """
    types = (*operands, result)
    is_signed = any(one.is_signed for one in operands if one is not PRED)
    if all(one.is_integer or one is PRED for one in operands):
        if result is PRED and not all(one is PRED for one in operands):
            raise NotCompiled("sums of integers that are stored as pred")
        if not (result.is_integer or result is PRED):
            raise NotCompiled(f"sums of integers that are stored as {result.name}")
        lane = "i1" if all(one is PRED for one in types) else _integer_lane(operands, terms)
        return Sums(result, lane, is_signed, is_complex=False)
    if not all(one.is_float or one.is_complex for one in types):
        raise NotCompiled("sums of products of integers and floats")
    lane = "double" if any(one.component.bits == 64 for one in types) else "float"
    return Sums(result, lane, is_signed, any(one.is_complex for one in types))


def _integer_lane(operands: tuple[ElementType, ElementType], terms: int) -> str:
    largest = max(1, terms)
    for one in operands:
        bits = 1 if one is PRED else one.bits
        largest *= 1 << (bits - 1 if one.is_signed else bits)
    return "i32" if largest < 1 << 31 else "i64"


def _limits(bits: int, *, is_signed: bool) -> tuple[int, int]:
    if is_signed:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1
