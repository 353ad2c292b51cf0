"""Roots and powers."""

from __future__ import annotations

import math

from hlotool.codegen.math.coefficients import (
    AREA_TANGENT_TAIL,
    INVERSE_CUBE_ROOT,
    INVERSE_ROOT,
    LOG_BASE_TWO,
    POWER_OF_TWO,
)
from hlotool.codegen.math.exponentials import bounded, near_one, power_of_two, scaled, split
from hlotool.codegen.math.logarithms import LN2_SHORT, exponent_and_fraction, split_normal
from hlotool.codegen.math.number import (
    DOUBLE,
    Number,
    branch,
    fast_two_sum,
    polynomial,
    two_product,
)

_INVERSE_ROOT_GUESS = {"float": 0x5F3759DF, "double": 0x5FE6EB50C7B537A9}
"""What half of a number's bits is taken from for a guess of its inverse root."""
_TWO_THIRDS = 2 / 3
_TWO_THIRDS_LOW = 3.700743415417188e-17
"""What the nearest number to 2/3 lacks."""


def sqrt(number: Number) -> Number:
    """Returns the square root, correctly rounded."""
    return number.root()


def rsqrt(number: Number) -> Number:
    """Returns 1 divided by the square root.

    Dividing takes longer than all the steps from a guess; it is left to special numbers.
    """
    form = number.format
    bits = number.bits()
    guess = (bits.alike(_INVERSE_ROOT_GUESS[form.lane]) - (bits >> 1)).as_float()
    if not number.is_single:
        error = (guess * number).fma(-guess, 1.0)
        guess = (guess * error).fma(polynomial(error, INVERSE_ROOT["double"]), guess)
    # The square of what has few bits is exact.
    short = (guess.bits() & (-1 << (form.mantissa // 2 + 1))).as_float()
    error = (short * short).fma(-number, 1.0)
    series = INVERSE_ROOT["float"] if number.is_single else (0.5, 0.375)
    found = (short * error).fma(polynomial(error, series), short)
    # Bits of plain numbers, moved to the lower end of all signed integers.
    place = bits + (form.sign - (1 << form.mantissa))
    end = form.sign + (2 * form.bias - 4 << form.mantissa)
    (found,) = branch(
        "rsqrt",
        place.compare("sge", end),
        lambda inputs: [_rsqrt_of_any(*inputs)],
        (number, found),
        (found,),
    )
    return found


def _rsqrt_of_any(number: Number, found: Number) -> Number:
    """Returns what was found where squares on the way are normal numbers, else divides."""
    form = number.format
    is_plain = (number >= form.least) & (number < 2.0 ** (form.bias - 3))
    return is_plain.choose(found, 1.0 / number.root())


def cbrt(number: Number) -> Number:
    """Returns the cube root; negative for a negative number."""
    form = number.format
    size = number.size()
    is_denormal = size < form.least
    lift = 3 * ((form.mantissa + 4) // 3)
    lifted = is_denormal.choose(size * 2.0**lift, size)
    bits = lifted.bits()
    mantissa = ((bits & ((1 << form.mantissa) - 1)) | form.one).as_float()
    # The exponent plus a multiple of 3, divided by 3 through a multiplication.
    ample = (bits >> form.mantissa) + 2 * form.bias
    third = (ample * 21846) >> 16
    left = ample - third * 3
    is_one, is_two = left.compare("eq", 1), left.compare("eq", 2)
    one = number.alike(1.0)
    radicand = mantissa * is_two.choose(4.0, is_one.choose(2.0, one))
    factor = is_two.choose(2.0 ** (-2 / 3), is_one.choose(2.0 ** (-1 / 3), one))
    inverse = polynomial(mantissa, INVERSE_CUBE_ROOT[form.lane]) * factor
    for _ in range(1 if number.is_single else 2):
        error = (inverse * inverse).fma(-(inverse * radicand), 1.0)
        inverse = (inverse * (1 / 3)).fma(error, inverse)
    square = inverse * inverse
    root = square * radicand
    high, low = two_product(root, root)
    residue = low.fma(root, high.fma(root, -radicand))
    root = (residue * (1 / 3)).fma(-square, root)
    lowered = is_denormal.choose(2.0 ** (-lift // 3), one)
    found = root * (third << form.mantissa).as_float() * lowered
    is_kept = number.equals(0.0) | ~(size < math.inf)
    return is_kept.choose(number, found.with_sign(number))


def power(base: Number, exponent: Number) -> Number:
    """Returns the base to the power of the exponent, as C's pow says for special values."""
    size = base.size()
    found = _single_power(size, exponent) if base.is_single else _double_power(size, exponent)
    is_whole = exponent.cut().equals(exponent)
    half = exponent * 0.5
    is_odd = is_whole & ~half.cut().equals(half)
    has_no_value = (base < 0.0) & (size < math.inf) & ~is_whole
    found = (base.is_negative() & is_odd).choose(-found, found)
    found = has_no_value.choose(math.nan, found)
    is_one = exponent.equals(0.0) | base.equals(1.0)
    is_one = is_one | (size.equals(1.0) & exponent.size().equals(math.inf))
    return is_one.choose(1.0, found)


def _single_power(size: Number, exponent: Number) -> Number:
    """Returns a power in double width: no other way has digits enough in fewer operations."""
    wide = size.widened()
    whole, fraction = split_normal(wide)
    logarithm = fraction.fma(polynomial(fraction, LOG_BASE_TWO["double"]), whole)
    logarithm = wide.equals(0.0).choose(-math.inf, logarithm)
    # An infinite or NaN size has itself for its logarithm.
    logarithm = (wide < math.inf).choose(logarithm, wide)
    product = (exponent.widened() * logarithm).at_least(-200.0).at_most(200.0)
    magic = product + DOUBLE.magic
    rest = product - (magic - DOUBLE.magic)
    near = rest.fma(polynomial(rest, POWER_OF_TWO["double"]), 1.0)
    return (near * power_of_two(magic.bits(), near)).narrowed()


def _double_power(size: Number, exponent: Number) -> Number:
    high, low = _exact_log(size)
    product = exponent * high
    lost = exponent.fma(low, exponent.fma(high, -product))
    limited = bounded(product)
    parts = split(limited, low=product.equals(limited).choose(lost, 0.0))
    return scaled(near_one(parts.rest), parts.bits)


def _exact_log(size: Number) -> tuple[Number, Number]:
    """Returns the natural logarithm in two parts, with some 65 bits."""
    whole, fraction = exponent_and_fraction(size)
    # 2 atanh(s) for s = f / (2 + f), with what each rounding loses.
    sum_ = fraction + 2.0
    ratio = fraction / sum_
    lost = (-ratio).fma(sum_, fraction) - ratio * (fraction - (sum_ - 2.0))
    ratio_low = lost / sum_
    square, square_low = two_product(ratio, ratio)
    square_low = (ratio + ratio).fma(ratio_low, square_low)
    tail = square * polynomial(square, AREA_TANGENT_TAIL["double"])
    series, series_low = fast_two_sum(tail.alike(_TWO_THIRDS), tail)
    series_low = series_low + _TWO_THIRDS_LOW
    cube, cube_low = two_product(ratio, square)
    cube_low = cube_low + ratio.fma(square_low, ratio_low * square)
    term, term_low = two_product(cube, series)
    term_low = term_low + cube.fma(series_low, cube_low * series)
    near, near_low = fast_two_sum(ratio + ratio, term)
    near_low = near_low + (term_low + (ratio_low + ratio_low))
    high_part, low_part = LN2_SHORT["double"]
    high, low = fast_two_sum(whole * high_part, near)
    low = low + whole.fma(low_part, near_low)
    high = size.equals(0.0).choose(-math.inf, high)
    high = (size < math.inf).choose(high, size)
    return high, low
