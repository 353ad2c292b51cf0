"""Sine, cosine, tangent, and their inverses."""

from __future__ import annotations

import math

from hlotool.codegen.math.angles import reduced
from hlotool.codegen.math.coefficients import ARC_SINE, ARC_TANGENT, COSINE, SINE, TANGENT
from hlotool.codegen.math.number import Integer, Number, polynomial

_HALF_PI_LOW = {"float": -4.371138828673793e-08, "double": 6.123233995736766e-17}
"""What the nearest number to pi/2 lacks."""


def sine(number: Number) -> Number:
    """Returns the sine of an angle in radians."""
    angle = reduced(number)
    found = _wave(angle.rest, angle.multiple)
    return number.equals(0.0).choose(number, found)


def cosine(number: Number) -> Number:
    """Returns the cosine of an angle in radians."""
    angle = reduced(number)
    return _wave(angle.rest, angle.multiple + 1)


def _wave(rest: Number, quarters: Integer) -> Number:
    """Returns the sine of an angle and of a number of quarters of a turn."""
    form = rest.format
    across, along = sine_and_cosine(rest)
    is_odd = (quarters << (form.bits - 1)).compare("slt", 0)
    found = is_odd.choose(along, across)
    return (found.bits() ^ ((quarters << (form.bits - 2)) & form.sign)).as_float()


def sine_and_cosine(angle: Number) -> tuple[Number, Number]:
    """Returns both for an angle from -pi/4 to pi/4."""
    lane = angle.format.lane
    square = angle * angle
    across = (square * angle).fma(polynomial(square, SINE[lane]), angle)
    series = polynomial(square, COSINE[lane])
    return across, (square * square).fma(series, square.fma(-0.5, 1.0))


def tangent(number: Number) -> Number:
    """Returns the tangent of an angle in radians."""
    angle = reduced(number, exact=True)
    form = number.format
    rest = angle.rest
    square = rest * rest
    series = polynomial(square, TANGENT[form.lane])
    low = square.fma(angle.low, angle.low)
    found = rest + (square * rest).fma(series, low)
    is_odd = (angle.multiple << (form.bits - 1)).compare("slt", 0)
    found = is_odd.choose(-1.0 / found, found)
    return number.equals(0.0).choose(number, found)


def asin(number: Number) -> Number:
    """Returns the arc sine in radians."""
    size, base, rest = _arc_sine_parts(number)
    lane = number.format.lane
    far = (math.pi / 2 - (base + base)) + (_HALF_PI_LOW[lane] - (rest + rest))
    return (size > 0.5).choose(far, base + rest).with_sign(number)


def acos(number: Number) -> Number:
    """Returns the arc cosine in radians."""
    size, base, rest = _arc_sine_parts(number)
    low = _HALF_PI_LOW[number.format.lane]
    is_negative = number < 0.0
    signed_base = is_negative.choose(-base, base)
    signed_rest = is_negative.choose(-rest, rest)
    near = (math.pi / 2 - signed_base) + (low - signed_rest)
    twice, twice_rest = base + base, rest + rest
    above = twice + twice_rest
    below = (math.pi - twice) + (2 * low - twice_rest)
    far = is_negative.choose(below, above)
    return (size > 0.5).choose(far, near)


def _arc_sine_parts(number: Number) -> tuple[Number, Number, Number]:
    """Returns |x|, and the arc sine in two parts: of |x| up to 1/2, else of sqrt((1-|x|)/2)."""
    size = number.size()
    is_large = size > 0.5
    square = is_large.choose((1.0 - size) * 0.5, size * size)
    base = is_large.choose(square.root(), size)
    return size, base, base * square * polynomial(square, ARC_SINE[number.format.lane])


def atan2(ordinate: Number, abscissa: Number) -> Number:
    """Returns the angle of the point (abscissa, ordinate) in radians."""
    width, height = abscissa.size(), ordinate.size()
    is_steep = height > width
    larger = is_steep.choose(height, width)
    smaller = is_steep.choose(width, height)
    # Equal sizes have the ratio 1, infinite ones too; those of 0 have 0.
    even = larger.equals(0.0).choose(0.0, larger.alike(1.0))
    ratio = larger.equals(smaller).choose(even, smaller / larger)
    square = ratio * ratio
    series = polynomial(square, ARC_TANGENT[ratio.format.lane])
    found = (square * ratio).fma(series, ratio)
    low = _HALF_PI_LOW[ratio.format.lane]
    found = is_steep.choose(math.pi / 2 - (found - low), found)
    found = abscissa.is_negative().choose(math.pi - (found - 2 * low), found)
    return found.with_sign(ordinate)
