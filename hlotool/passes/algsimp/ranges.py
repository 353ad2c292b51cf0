"""The range that integers are known to lie in, from how they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import (
    Add,
    And,
    Clamp,
    Divide,
    Maximum,
    Minimum,
    Multiply,
    Remainder,
    Select,
    ShiftRightLogical,
    Subtract,
)
from hlotool.ops.numerics.widths import integer_limits
from hlotool.ops.source import Constant, Iota
from hlotool.ops.unary import Abs, CountLeadingZeros, Negate, Popcnt, Sign
from hlotool.passes.algsimp.constants import integer_of, source_of
from hlotool.passes.algsimp.regular import is_bits, type_of
from hlotool.rewriting.builder import array_shape

_MOST_DEEP = 3
"""How far operands of operands are looked at: each is looked at once a user."""


@dataclass(frozen=True)
class Range:
    """Integers from `low` to `high`, both included."""

    low: int
    high: int

    def within(self, other: Range) -> Range:
        """Returns this range where it is all in the other, else the other."""
        return self if other.low <= self.low and self.high <= other.high else other


Rule = Callable[[list[Range], int], Range | None]
"""Returns the range of results for those of the operands and a width in bits, if it is known.

Numbers are as if nothing wrapped.
"""


def range_of(instruction: Instruction, depth: int = _MOST_DEEP) -> Range:
    """Returns a range that all elements of an array of integers or pred lie in."""
    element_type = type_of(instruction)
    widest = _widest(element_type)
    if element_type is PRED:
        return widest
    source = source_of(instruction)
    if isinstance(source.op, Constant):
        number = integer_of(source)
        return widest if number is None else Range(number, number)
    if isinstance(source.op, Iota):
        size = array_shape(source).dimensions[source.op.iota_dimension]
        return Range(0, max(0, size - 1)).within(widest)
    rule = _RULES.get(type(source.op))
    if rule is None or depth == 0 or not all(map(is_bits, source.operands)):
        return widest
    operands = [range_of(operand, depth - 1) for operand in source.operands]
    found = rule(operands, element_type.bits)
    # What leaves the type would wrap.
    return widest if found is None else found.within(widest)


@cache
def _widest(element_type: ElementType) -> Range:
    return Range(0, 1) if element_type is PRED else Range(*integer_limits(element_type))


def _around(numbers: list[int]) -> Range:
    return Range(min(numbers), max(numbers))


def _size(operands: list[Range], _: int) -> Range:
    (x,) = operands
    least = max(0, x.low, -x.high)
    return Range(least, max(-x.low, x.high))


def _sign(operands: list[Range], _: int) -> Range:
    (x,) = operands
    return Range(*((limit > 0) - (limit < 0) for limit in (x.low, x.high)))


def _product(operands: list[Range], _: int) -> Range:
    one, other = operands
    return _around([a * b for a, b in product((one.low, one.high), (other.low, other.high))])


def _quotient(operands: list[Range], _: int) -> Range | None:
    one, other = operands
    if other.low <= 0:
        return None
    corners = product((one.low, one.high), (other.low, other.high))
    return _around([abs(a) // b * (1 if a > 0 else -1) for a, b in corners])


def _remainder(operands: list[Range], _: int) -> Range | None:
    x, other = operands
    if other.low <= 0:
        return None
    return Range(min(0, max(x.low, 1 - other.high)), max(0, min(x.high, other.high - 1)))


def _masked(operands: list[Range], _: int) -> Range | None:
    limits = [one.high for one in operands if one.low >= 0]
    return Range(0, min(limits)) if limits else None


def _shifted(operands: list[Range], bits: int) -> Range:
    x, amount = operands
    pattern = x.high if x.low >= 0 else (1 << bits) - 1
    # An amount that is negative counts as a large one.
    return Range(0, pattern >> max(0, amount.low))


def _greater(operands: list[Range], _: int) -> Range:
    one, other = operands
    return Range(max(one.low, other.low), max(one.high, other.high))


def _lesser(operands: list[Range], _: int) -> Range:
    one, other = operands
    return Range(min(one.low, other.low), min(one.high, other.high))


def _clamped(operands: list[Range], bits: int) -> Range:
    low, x, high = operands
    return _lesser([_greater([low, x], bits), high], bits)


_RULES: dict[type[Op], Rule] = {
    Abs: _size,
    Add: lambda of, _: Range(of[0].low + of[1].low, of[0].high + of[1].high),
    And: _masked,
    Clamp: _clamped,
    Convert: lambda of, _: of[0],
    CountLeadingZeros: lambda _, bits: Range(0, bits),
    Divide: _quotient,
    Maximum: _greater,
    Minimum: _lesser,
    Multiply: _product,
    Negate: lambda of, _: Range(-of[0].high, -of[0].low),
    Popcnt: lambda _, bits: Range(0, bits),
    Remainder: _remainder,
    Select: lambda of, _: Range(min(of[1].low, of[2].low), max(of[1].high, of[2].high)),
    ShiftRightLogical: _shifted,
    Sign: _sign,
    Subtract: lambda of, _: Range(of[0].low - of[1].high, of[0].high - of[1].low),
}
