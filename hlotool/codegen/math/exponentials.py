"""Exponential functions: e^x, 2^x, e^x - 1, logistic, and the hyperbolic functions.

All split x = n ln(2) + r with a whole n, take a polynomial of the small r, and put 2^n together
from its bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.codegen.math.coefficients import (
    EXPONENTIAL,
    EXPONENTIAL_MINUS_ONE,
    HYPERBOLIC_SINE,
)
from hlotool.codegen.math.number import Integer, Number, polynomial

LOG2_E = 1.4426950408889634
LN2 = {
    "float": (0.6931471824645996, -1.904654323148236e-09),
    "double": (0.6931471805599453, 2.3190468138462996e-17),
}
"""The nearest number to ln(2), and the one to what it lacks."""
_LEAST = {"float": -105.0, "double": -746.0}
"""e to this power is 0."""
_VANISHING = {"float": -104.0, "double": -745.2}
"""e to less than this power is nearer to 0 than to any other number."""
_GREATEST = {"float": 90.0, "double": 712.0}
"""Half of e to this power is infinite."""
_INFINITE = {"float": 89.0, "double": 710.0}
"""e to this power is infinite, and 2^n of it no more than twice the greatest power of 2."""
_SATURATED = {"float": 20.0, "double": 45.0}
"""From here on e^x - 1 and e^x + 1 differ by less than is seen."""


@dataclass(frozen=True, slots=True)
class Split:
    """x as n ln(2) + r."""

    bits: Integer
    """The bits of a number whose lowest bits are n."""
    main: Number
    """r without what the nearest number to ln(2) lacks; exact."""
    rest: Number
    """r, at most ln(2)/2 in size."""


def split(number: Number, scale: float = 1.0, low: Number | None = None) -> Split:
    """Splits a number times `scale`, a power of 2; `low` is added to it, and is tiny."""
    form = number.format
    magic = number.fma(LOG2_E * scale, form.magic)
    whole = magic - form.magic
    high_part, low_part = LN2[form.lane]
    scaled = number if scale == 1.0 else number * scale
    rest = whole.fma(-high_part, scaled)
    if low is not None:
        rest = rest + low
    return Split(magic.bits(), rest, whole.fma(-low_part, rest))


def minus_one(rest: Number) -> Number:
    """Returns e^r - 1 for a small r."""
    return (rest * rest).fma(polynomial(rest, EXPONENTIAL_MINUS_ONE[rest.format.lane]), rest)


def power_minus_one(parts: Split, power: Number, less: Number) -> Number:
    """Returns power * e^r - less, for a power of 2 and the same without 1 or 1/2."""
    rest = parts.rest
    square = rest * rest
    series = polynomial(rest, EXPONENTIAL_MINUS_ONE[rest.format.lane])
    # The exact part of r is added first: so a sum of less than r loses no digits of it.
    low = square.fma(series, rest - parts.main)
    return power.fma(low, power.fma(parts.main, less))


def near_one(rest: Number) -> Number:
    """Returns e^r for a small r."""
    return polynomial(rest, (1.0, 1.0, *EXPONENTIAL[rest.format.lane]))


def power_of_two(bits: Integer, number: Number, offset: int = 0) -> Number:
    """Returns 2^(n + offset), n in the lowest bits, for a power that is a normal number."""
    form = number.format
    return ((bits << form.mantissa) + (form.one + (offset << form.mantissa))).as_float()


def scaled(number: Number, bits: Integer, offset: int = 0) -> Number:
    """Returns number * 2^(n + offset), rounded once, also where that is a denormal.

    The power is taken in two halves, for it may be no number of the type itself.
    """
    form = number.format
    half = (bits << (form.mantissa - 1)) & (-1 << form.mantissa)
    other = (bits << form.mantissa) - half
    one = (other + (form.one + (offset << form.mantissa))).as_float()
    return number * one * (half + form.one).as_float()


def bounded(number: Number) -> Number:
    """Returns the number within the range where e^x is neither 0 nor infinite; NaN stays."""
    lane = number.format.lane
    return number.at_least(_LEAST[lane]).at_most(_GREATEST[lane])


def exponential(number: Number) -> Number:
    """Returns e^x."""
    lane = number.format.lane
    # Processors take long for products that underflow, and masks put far below are common.
    is_zero = number < _VANISHING[lane]
    parts = split(is_zero.choose(0.0, number.at_most(_GREATEST[lane])))
    return is_zero.choose(0.0, scaled(near_one(parts.rest), parts.bits))


def exponential_base_two(number: Number) -> Number:
    """Returns 2^x."""
    form = number.format
    least = -float(form.bias + form.mantissa + 2)
    bounded_number = number.at_least(least).at_most(form.bias + 3.0)
    magic = bounded_number + form.magic
    rest = bounded_number - (magic - form.magic)
    high_part, low_part = LN2[form.lane]
    scaled_rest = rest.fma(high_part, rest * low_part)
    return scaled(near_one(scaled_rest), magic.bits())


def exponential_minus_one(number: Number) -> Number:
    """Returns e^x - 1."""
    lane = number.format.lane
    parts = split(number.at_least(-_SATURATED[lane]).at_most(_INFINITE[lane]))
    # Half the power, because 2^n itself may be infinite where the result is not.
    half = power_of_two(parts.bits, number, -1)
    found = power_minus_one(parts, half, half - 0.5) * 2.0
    tiny = 2.0 ** -(number.format.mantissa + 2)
    return (number.size() < tiny).choose(number, found)


def logistic(number: Number) -> Number:
    """Returns 1 / (1 + e^-x)."""
    # Of the two forms the one whose exponential is at most 1.
    size = (-number.size()).at_least(_LEAST[number.format.lane])
    parts = split(size)
    power = scaled(near_one(parts.rest), parts.bits)
    return (number < 0.0).choose(power, 1.0) / (power + 1.0)


def tanh(number: Number) -> Number:
    """Returns the hyperbolic tangent, as (e^2x - 1) / (e^2x + 1)."""
    size = number.size().at_most(_SATURATED[number.format.lane])
    parts = split(size, 2.0)
    power = power_of_two(parts.bits, number)
    if number.is_single:
        found = power.fma(minus_one(parts.rest), power - 1.0)
    else:
        found = power_minus_one(parts, power, power - 1.0)
    return (found / (found + 2.0)).with_sign(number)


def half_exponential(size: Number) -> Number:
    """Returns e^x / 2 for x >= 0, which is finite where the hyperbolic functions are."""
    parts = split(size.at_most(_GREATEST[size.format.lane]))
    return scaled(near_one(parts.rest), parts.bits, -1)


def sinh(number: Number) -> Number:
    """Returns the hyperbolic sine."""
    size = number.size()
    half = half_exponential(size)
    square = size * size
    series = polynomial(square, HYPERBOLIC_SINE[number.format.lane])
    near = (square * size).fma(series, size)
    far = half - 0.25 / half
    return (size < 1.0).choose(near, far).with_sign(number)


def cosh(number: Number) -> Number:
    """Returns the hyperbolic cosine."""
    half = half_exponential(number.size())
    return half + 0.25 / half
