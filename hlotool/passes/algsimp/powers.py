"""Identities of powers."""

from __future__ import annotations

from hlotool.ir.element_type import BF16
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Divide, Multiply, Power
from hlotool.ops.numerics.widths import integer_limits
from hlotool.ops.unary import Exponential, Rsqrt, Sqrt
from hlotool.passes.algsimp.constants import full_like, integer_of, is_any_zero, is_one, value_of
from hlotool.passes.algsimp.regular import (
    FAST_MATH,
    RegularPatternSet,
    is_float,
    is_inexact,
    is_integral,
    type_of,
)
from hlotool.rewriting.builder import Builder

patterns = RegularPatternSet("powers")


@patterns.rewrites(Power)
def power_of_zero(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ 0 -> 1"""
    x, exponent = instruction.operands
    return full_like(1, x, build) if is_any_zero(exponent) else None


@patterns.rewrites(Power)
def power_of_one(instruction: Instruction, _: Builder) -> Instruction | None:
    """x ^ 1 -> x, of real numbers"""
    x, exponent = instruction.operands
    return x if is_one(exponent) and not type_of(x).is_complex else None


@patterns.rewrites(Power)
def one_to_any_power(instruction: Instruction, _: Builder) -> Instruction | None:
    """1 ^ x -> 1, of real numbers"""
    base, _exponent = instruction.operands
    return base if is_one(base) and not type_of(base).is_complex else None


@patterns.rewrites(Power)
def square(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ 2 -> x * x, of integers and of floats that squares are rounded just once in"""
    x, exponent = instruction.operands
    if value_of(exponent) != 2 or not (is_integral(x) or _is_narrow(x)):
        return None
    return build.add(Multiply(), x, x)


@patterns.rewrites(Power)
def reciprocal(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ -1 -> 1 / x, of floats narrow enough to be rounded just once"""
    x, exponent = instruction.operands
    if value_of(exponent) != -1 or not _is_narrow(x):
        return None
    return build.add(Divide(), full_like(1, x, build), x)


def _is_narrow(x: Instruction) -> bool:
    """Whether products of floats are exact in the width that they are computed in."""
    # Squares of bf16 can be less than what single precision holds exactly.
    return is_float(x) and type_of(x).bits <= 32 and type_of(x) is not BF16


@patterns.rewrites(Power)
def small_integer_power(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ 3 -> x * x * x, x ^ 4 -> (x * x) * (x * x), of integers"""
    x, exponent = instruction.operands
    return _multiplied(x, value_of(exponent), build) if is_integral(x) else None


@patterns.rewrites(Power, assumes=FAST_MATH)
def small_power(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ 2 -> x * x, of floats of every width, as up to x ^ 4"""
    x, exponent = instruction.operands
    value = value_of(exponent)
    if value == 2:
        return build.add(Multiply(), x, x)
    if value == 1:
        return x
    if value == -1:
        return build.add(Divide(), full_like(1, x, build), x)
    return _multiplied(x, value, build)


def _multiplied(x: Instruction, exponent: object, build: Builder) -> Instruction | None:
    if exponent not in (3, 4):
        return None
    squared = build.add(Multiply(), x, x)
    return build.add(Multiply(), squared, x if exponent == 3 else squared)


@patterns.rewrites(Power, assumes=FAST_MATH)
def root(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ 0.5 -> sqrt(x), x ^ -0.5 -> rsqrt(x)"""
    x, exponent = instruction.operands
    value = value_of(exponent)
    if value == 0.5:
        return build.add(Sqrt(), x)
    return build.add(Rsqrt(), x) if value == -0.5 else None


@patterns.rewrites(Power)
def power_of_power(instruction: Instruction, build: Builder) -> Instruction | None:
    """(x ^ c) ^ d -> x ^ (c * d), of integers with c and d not negative"""
    match instruction.operands:
        case [Instruction(op=Power(), operands=[x, first]), second]:
            one, other = integer_of(first), integer_of(second)
            if one is None or other is None or one < 0 or other < 0:
                return None
            if one * other > integer_limits(type_of(x))[1]:
                return None
            return build.add(Power(), x, full_like(one * other, x, build))
    return None


@patterns.rewrites(Power, assumes=FAST_MATH)
def power_of_exponential(instruction: Instruction, build: Builder) -> Instruction | None:
    """exp(x) ^ y -> exp(x * y), of floats"""
    match instruction.operands:
        case [Instruction(op=Exponential(), operands=[x]), y] if is_inexact(x):
            return build.add(Exponential(), build.add(Multiply(), x, y))
    return None
