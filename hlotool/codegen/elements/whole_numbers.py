"""Floats rounded to whole numbers, what division leaves of them, and whether they are finite."""

from __future__ import annotations

import math

from hlotool.codegen.elements.elementwise import Operands, formula
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.math.number import Integer, Number
from hlotool.codegen.numbers.conversion import resized
from hlotool.codegen.numbers.lanes import greatest_lane
from hlotool.ir.element_type import Kind
from hlotool.ir.op import Op
from hlotool.ops.elementwise import Remainder
from hlotool.ops.unary import Ceil, Floor, IsFinite, RoundNearestAfz, RoundNearestEven

_ROUNDINGS: dict[type[Op], str] = {Ceil: "ceil", Floor: "floor", RoundNearestEven: "roundeven"}
_STEPS = {"float": 21, "double": 51}
"""How many bits of a quotient a step of the remainder finds; a multiple of 3."""


@formula(Ceil, Floor, RoundNearestEven, kinds=[Kind.FLOAT], exact=True)
def _whole(given: Operands) -> Value:
    return given.function.intrinsic(_ROUNDINGS[type(given.op)], *given.values)


@formula(RoundNearestAfz, kinds=[Kind.FLOAT], exact=True)
def _rounded_away(given: Operands) -> Value:
    number = Number(given.function, given.values[0])
    whole = number.cut()
    is_far = (number - whole).size() >= 0.5
    return is_far.choose(whole + number.alike(1.0).with_sign(number), whole).value


@formula(IsFinite, kinds=[Kind.FLOAT])
def _is_finite(given: Operands) -> Value:
    (value,) = given.values
    size = given.function.intrinsic("fabs", value)
    return given.function.compare("olt", size, constant(value.type, math.inf))


@formula(Remainder, kinds=[Kind.FLOAT], exact=True)
def _remainder(given: Operands) -> Value:
    function = given.function
    one, other = (Number(function, value) for value in function.together(*given.values))
    return remainder(one, other).value


def remainder(one: Number, other: Number) -> Number:
    """Writes what division leaves, exactly, with the sign of the first.

    It is a long division: each step takes off a multiple of the divisor times a power of two.
    """
    writer, form = one.writer, one.format
    divisor = other.size()
    count = _steps(one, divisor)
    last = writer.binary("sub", count, constant("i64", 1))
    first = one.size()
    with writer.loop(constant("i64", 0), count, carried=[first.value]) as loop:
        left = resized(writer, writer.binary("sub", last, loop.index), form.integer, signed=True)
        exponent = Integer(writer, left) * (_STEPS[form.lane] // 3) + form.bias
        power = (exponent << form.mantissa).as_float()
        # The power itself may be too large for the type.
        multiple = divisor * power * power * power
        loop.next = (_step(Number(writer, loop.carried[0]), multiple).value,)
    found = Number(writer, loop.results[0]).with_sign(one)
    is_number = (first < math.inf) & (divisor > 0.0)
    return is_number.choose(found, math.nan)


def _steps(one: Number, divisor: Number) -> Value:
    """Writes how many steps it takes in the lane that takes most, at least 1, as `i64`."""
    form, writer = one.format, one.writer
    gap = (one.size().bits() >> form.mantissa) - (divisor.bits() >> form.mantissa)
    # A denormal may be less than its exponent says.
    more = (divisor < form.least).choose_integer(gap.alike(form.mantissa + 1), 0)
    most = Integer(writer, greatest_lane(writer, (gap + more).value))
    most = most.compare("sgt", 0).choose_integer(most, 0)
    # Exponents differ by less than 2^12: this product has at least the quotient's whole part.
    count = ((most * (65536 // _STEPS[form.lane] + 1)) >> 16) + 1
    return resized(writer, count.value, "i64", signed=True)


def _step(rest: Number, multiple: Number) -> Number:
    """Writes the rest without the largest whole number of multiples in it."""
    quotient = (rest / multiple).cut()
    found = quotient.fma(-multiple, rest)
    # A quotient next to a whole number may have been rounded up to it.
    found = (found < 0.0).choose(found + multiple, found)
    return (rest >= multiple).choose(found, rest)
