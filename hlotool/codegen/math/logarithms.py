"""Logarithms, and the inverse hyperbolic functions, which are made of them.

All split x = 2^e m with m near 1.
"""

from __future__ import annotations

import math

from hlotool.codegen.math.coefficients import AREA_SINE, AREA_TANGENT, LOGARITHM
from hlotool.codegen.math.number import Integer, Number, polynomial, two_sum

LN2_SHORT = {
    "float": (0.693359375, -0.00021219444170128554),
    "double": (0.6931471803691238, 1.9082149292705877e-10),
}
"""ln(2) in two parts; the first is so short that its product with an exponent is exact."""
_LOG2_E = {
    "float": (1.4427490234375, -5.3982368e-05),
    "double": (1.4426950407214463, 1.6751713164886512e-10),
}
"""1 / ln(2) in two parts; products with the first are nearly exact."""
_LARGE = 2.0**60
"""A number that is equal to its square root of x^2 + 1 in both types."""


def exponent_and_fraction(number: Number) -> tuple[Number, Number]:
    """Returns e and m - 1 with x = 2^e m, m from sqrt(1/2) to sqrt(2), for x > 0."""
    form = number.format
    is_denormal = number < form.least
    lift = form.mantissa + 2
    lifted = is_denormal.choose(number * 2.0**lift, number)
    exponent, fraction = split_normal(lifted)
    correction = is_denormal.choose(number.alike(-float(lift)), 0.0)
    return exponent + correction, fraction


def split_normal(number: Number) -> tuple[Number, Number]:
    """Returns e and m - 1 as `exponent_and_fraction` does, for normal numbers."""
    power, fraction = split_bits(number)
    return float_of_exponent(power, number), fraction


def split_bits(number: Number) -> tuple[Integer, Number]:
    """Returns e above the place of the mantissa, and m - 1."""
    form = number.format
    low = number.alike(math.sqrt(0.5)).bits()
    bits = number.bits()
    power = (bits - low) & (-1 << form.mantissa)
    return power, (bits - power).as_float() - 1.0


def float_of_exponent(power: Integer, number: Number) -> Number:
    """Returns e of `split_bits` as a float."""
    form = number.format
    if number.is_single:
        return power.shifted_signed(form.mantissa).to_float("float")
    # There is no vector instruction from i64; the bits of a large number hold it instead.
    offset = 1 << 11
    held = (power >> form.mantissa) + offset & (2 * offset - 1)
    magic = held | number.alike(form.magic).bits()
    return magic.as_float() - (form.magic + offset)


def log_of_fraction(fraction: Number) -> Number:
    """Returns log(1 + f) - f, for f of `exponent_and_fraction`."""
    square = fraction * fraction
    if fraction.is_single:
        cube = polynomial(fraction, LOGARITHM["float"])
        return square.fma(fraction * cube, square * -0.5)
    ratio = fraction / (fraction + 2.0)
    z = ratio * ratio
    rest = z * polynomial(z, AREA_TANGENT["double"])
    half = square * 0.5
    return ratio * (half + rest) - half


def special(number: Number, found: Number) -> Number:
    """Returns the logarithm with its values of 0, infinity and what has none."""
    lowest = number.equals(0.0).choose(number.alike(-math.inf), math.nan)
    found = (number > 0.0).choose(found, lowest)
    return number.equals(math.inf).choose(number, found)


def log(number: Number) -> Number:
    """Returns the natural logarithm."""
    exponent, fraction = exponent_and_fraction(number)
    return special(number, combined(exponent, fraction))


def combined(exponent: Number, fraction: Number) -> Number:
    """Returns e ln(2) + log(1 + f)."""
    high_part, low_part = LN2_SHORT[fraction.format.lane]
    rest = exponent.fma(low_part, log_of_fraction(fraction))
    return exponent.fma(high_part, fraction + rest)


def log_base_two(number: Number) -> Number:
    """Returns the logarithm to the base 2; whole for powers of 2."""
    exponent, fraction = exponent_and_fraction(number)
    high_part, low_part = _LOG2_E[number.format.lane]
    rest = log_of_fraction(fraction)
    low = fraction.fma(low_part, rest * (high_part + low_part))
    return special(number, exponent + fraction.fma(high_part, low))


def log_plus_one(number: Number) -> Number:
    """Returns log(1 + x)."""
    total = number + 1.0
    found = log_of_sum(total, number - (total - 1.0))
    found = special(total, found)
    return number.equals(0.0).choose(number, found)


def log_of_sum(total: Number, low: Number) -> Number:
    """Returns the logarithm of a normal number and a much smaller one."""
    power, fraction = split_bits(total)
    inverse = (total.alike(1.0).bits() - power).as_float()
    # Of the largest numbers the inverse power has no bits; there the low part is nothing.
    inverse = (total < _LARGE).choose(inverse, 0.0)
    return combined(float_of_exponent(power, total), low.fma(inverse, fraction))


def asinh(number: Number) -> Number:
    """Returns the inverse hyperbolic sine."""
    size = number.size()
    square = size * size
    near = (square * size).fma(polynomial(square, AREA_SINE[number.format.lane]), size)
    far = log_of_large(size, size + size.fma(size, 1.0).root())
    return (size < 1.0).choose(near, far).with_sign(number)


def log_of_large(number: Number, doubled: Number) -> Number:
    """Returns log(doubled), which is log(2x) from some large x on; 2x may be infinite."""
    is_large = number > _LARGE
    exponent, fraction = split_normal(is_large.choose(number, doubled))
    exponent = is_large.choose(exponent + 1.0, exponent)
    found = combined(exponent, fraction)
    return (number < math.inf).choose(found, number)


def acosh(number: Number) -> Number:
    """Returns the inverse hyperbolic cosine."""
    above = number - 1.0
    root = above.fma(above, above + above).root()
    part, low = two_sum(above, root)
    total, lower = two_sum(part.alike(1.0), part)
    near = log_of_sum(total, lower + low)
    far = log_of_large(number, number + number)
    found = (number > _LARGE).choose(far, near)
    found = (number >= 1.0).choose(found, math.nan)
    return number.equals(1.0).choose(0.0, found)


def atanh(number: Number) -> Number:
    """Returns the inverse hyperbolic tangent."""
    size = number.size()
    ratio = (size + size) / (1.0 - size)
    found = log_plus_one(ratio) * 0.5
    # Half of a denormal loses a bit.
    found = (size < 2.0**-30).choose(size, found)
    return found.with_sign(number)
