"""Identities of quotients and remainders of integers."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import And, Divide, Mulhi, Remainder, ShiftRightLogical
from hlotool.ops.numerics.widths import integer_limits
from hlotool.passes.algsimp.constants import (
    full_like,
    integer_of,
    is_any_zero,
    is_minus_one,
    is_one,
    number_of,
    power_of_two,
)
from hlotool.passes.algsimp.ranges import range_of
from hlotool.passes.algsimp.regular import RegularPatternSet, is_integral, type_of
from hlotool.rewriting.builder import Builder

patterns = RegularPatternSet("divisions")


@patterns.rewrites(Divide)
def divide_by_shifting(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / 8 -> x >> 3, of integers that are never negative, as for every power of two"""
    x, constant = instruction.operands
    exponent = _exponent_under(x, constant)
    if exponent is None:
        return None
    return build.add(ShiftRightLogical(), x, full_like(exponent, x, build))


@patterns.rewrites(Remainder)
def remainder_by_unit(instruction: Instruction, build: Builder) -> Instruction | None:
    """x % 1 -> 0, as x % -1, of integers"""
    x, constant = instruction.operands
    is_unit = is_one(constant) or (type_of(x).is_signed and is_minus_one(constant))
    return full_like(0, x, build) if is_integral(x) and is_unit else None


@patterns.rewrites(Remainder)
def remainder_by_masking(instruction: Instruction, build: Builder) -> Instruction | None:
    """x % 8 -> x & 7, of integers that are never negative, as for every power of two"""
    x, constant = instruction.operands
    exponent = _exponent_under(x, constant)
    if exponent is None:
        return None
    return build.add(And(), x, full_like((1 << exponent) - 1, x, build))


def _exponent_under(x: Instruction, constant: Instruction) -> int | None:
    """Returns the exponent of a divisor that is a power of two, where it can be shifted by."""
    divisor = integer_of(constant)
    exponent = None if divisor is None else power_of_two(divisor)
    return exponent if exponent is not None and range_of(x).low >= 0 else None


@patterns.rewrites(Divide)
def divide_less_by_more(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / c -> 0, of integers whose size is always less than c"""
    x, constant = instruction.operands
    return full_like(0, x, build) if _is_always_less(x, constant) else None


@patterns.rewrites(Remainder)
def remainder_of_less(instruction: Instruction, _: Builder) -> Instruction | None:
    """x % c -> x, of integers whose size is always less than c"""
    x, constant = instruction.operands
    return x if _is_always_less(x, constant) else None


def _is_always_less(x: Instruction, constant: Instruction) -> bool:
    divisor = integer_of(constant)
    if divisor is None or divisor <= 0:
        return False
    found = range_of(x)
    return -divisor < found.low and found.high < divisor


@patterns.rewrites(Divide)
def divide_twice(instruction: Instruction, build: Builder) -> Instruction | None:
    """(x / c) / d -> x / (c * d), of integers"""
    match instruction.operands:
        case [Instruction(op=Divide(), operands=[x, first]), second]:
            one, other = integer_of(first), integer_of(second)
            if one is None or other is None or one <= 0 or other <= 0:
                return None
            if one * other > integer_limits(type_of(x))[1]:
                return None
            return build.add(Divide(), x, full_like(one * other, x, build))
    return None


@patterns.rewrites(Remainder)
def remainder_by_itself(instruction: Instruction, build: Builder) -> Instruction | None:
    """x % x -> 0, of integers"""
    x, y = instruction.operands
    return full_like(0, x, build) if x is y and is_integral(x) else None


@patterns.rewrites(Remainder)
def remainder_of_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """0 % x -> 0, of integers"""
    constant, _x = instruction.operands
    return constant if is_integral(constant) and is_any_zero(constant) else None


@patterns.rewrites(Remainder)
def remainder_twice(instruction: Instruction, _: Builder) -> Instruction | None:
    """(x % y) % y -> x % y"""
    match instruction.operands:
        case [Instruction(op=Remainder(), operands=[_x, first]) as inner, second]:
            if first is second:
                return inner
            number = number_of(first)
            return inner if number is not None and number == number_of(second) else None
    return None


@patterns.rewrites(Mulhi)
def high_half_of_nothing(instruction: Instruction, build: Builder) -> Instruction | None:
    """mulhi(x, 0) -> 0, as mulhi(x, 1) of unsigned integers"""
    x, constant = instruction.operands
    is_small = is_any_zero(constant) or (not type_of(x).is_signed and is_one(constant))
    return full_like(0, x, build) if is_small else None
