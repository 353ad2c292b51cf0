"""The range that integers are known to lie in, from how they are made."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.ir.element_type import Kind
from hlotool.ir.instruction import Instruction
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import (
    And,
    Clamp,
    Maximum,
    Minimum,
    Remainder,
    Select,
    ShiftRightLogical,
)
from hlotool.ops.numerics.widths import integer_limits
from hlotool.ops.source import Iota
from hlotool.ops.unary import CountLeadingZeros, Popcnt
from hlotool.passes.algsimp.constants import integer_of, source_of
from hlotool.passes.algsimp.regular import type_of
from hlotool.rewriting.builder import array_shape

_MOST_DEEP = 4
"""How far operands of operands are looked at: each is looked at once a user."""


@dataclass(frozen=True)
class Range:
    """Integers from `low` to `high`, both included."""

    low: int
    high: int

    def within(self, other: Range) -> Range:
        """Returns this range where it is all in the other, else the other."""
        return self if other.low <= self.low and self.high <= other.high else other


def range_of(instruction: Instruction, depth: int = _MOST_DEEP) -> Range:
    """Returns a range that all elements of an array of integers or pred lie in."""
    element_type = type_of(instruction)
    if element_type.kind is Kind.PRED:
        return Range(0, 1)
    widest = Range(*integer_limits(element_type))
    number = integer_of(instruction)
    if number is not None:
        return Range(number, number)
    if depth == 0:
        return widest
    return _found(source_of(instruction), widest, depth - 1).within(widest)


def _found(instruction: Instruction, widest: Range, depth: int) -> Range:
    """Returns the range by the op; it may be wider than the element type."""
    operands = instruction.operands
    bits = type_of(instruction).bits
    match instruction.op:
        case Iota(iota_dimension=dimension):
            return Range(0, max(0, array_shape(instruction).dimensions[dimension] - 1))
        case Popcnt() | CountLeadingZeros():
            return Range(0, bits)
        case Convert() if not (type_of(operands[0]).is_float or type_of(operands[0]).is_complex):
            return range_of(operands[0], depth)
        case And() | Remainder() | ShiftRightLogical():
            return _lessened(instruction, widest, depth)
        case Maximum() | Minimum() | Select() | Clamp():
            return _chosen(instruction, depth)
    return widest


def _lessened(instruction: Instruction, widest: Range, depth: int) -> Range:
    """Returns the range of what only makes a number that is not negative smaller."""
    x, other = (range_of(operand, depth) for operand in instruction.operands)
    match instruction.op:
        case And():
            limits = [one.high for one in (x, other) if one.low >= 0]
            return Range(0, min(limits)) if limits else widest
        case Remainder() if other.low > 0:
            return Range(max(x.low, 1 - other.high, -(1 << 64)) if x.low < 0 else 0,
                         max(0, min(x.high, other.high - 1)))  # fmt: skip
        case ShiftRightLogical():
            least = max(other.low, 0)
            pattern = x.high if x.low >= 0 else (1 << type_of(instruction).bits) - 1
            return Range(0, pattern >> least)
    return widest


def _chosen(instruction: Instruction, depth: int) -> Range:
    """Returns the range of what takes one of its operands' values."""
    match instruction.op:
        case Select():
            one, other = (range_of(operand, depth) for operand in instruction.operands[1:])
            return Range(min(one.low, other.low), max(one.high, other.high))
        case Clamp():
            low, x, high = (range_of(operand, depth) for operand in instruction.operands)
            return _lesser(_greater(low, x), high)
        case Maximum():
            return _greater(*(range_of(operand, depth) for operand in instruction.operands))
    return _lesser(*(range_of(operand, depth) for operand in instruction.operands))


def _greater(one: Range, other: Range) -> Range:
    return Range(max(one.low, other.low), max(one.high, other.high))


def _lesser(one: Range, other: Range) -> Range:
    return Range(min(one.low, other.low), min(one.high, other.high))
