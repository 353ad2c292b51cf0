"""Inverse circular and hyperbolic functions of complex numbers.

The arc sine and cosine follow Hull, Fairgrieve and Tang: with R and S the distances of z from
-1 and 1 and A = (R + S)/2, one part comes from A and the other from B = x/A; where A - 1 or
A - x would lose digits they are put together from small quantities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlotool.codegen.math.complex_number import (
    Complex,
    choose,
    is_finite,
    is_infinite,
    magnitude,
)
from hlotool.codegen.math.complex_powers import log
from hlotool.codegen.math.logarithms import log as real_log
from hlotool.codegen.math.logarithms import log_plus_one
from hlotool.codegen.math.number import Condition, Number
from hlotool.codegen.math.trigonometry import acos as real_acos
from hlotool.codegen.math.trigonometry import asin as real_asin
from hlotool.codegen.math.trigonometry import atan2

_FAR = 2.0**60
"""From here on sqrt(z^2 - 1) and z are the same."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the arc functions of a point with positive parts are made of."""

    height: Number
    """Imaginary part of the arc sine and of the arc cosine, without a sign."""
    ratio: Number
    """B, the sine of the real part of the arc sine."""
    across: Number
    """sqrt(A^2 - x^2), which goes with x to an angle where B is near 1."""


def _half_gap(leg: Number, other: Number, long_side: Number) -> Number:
    """Returns (sqrt(leg^2 + other^2) - other) / 2 for a leg that is not negative."""
    whole = leg * (leg / (long_side + other)) * 0.5
    found = (other < 0.0).choose((long_side - other) * 0.5, whole)
    return other.equals(0.0).choose(leg * 0.5, found)


def _parts(width: Number, height: Number) -> _Parts:
    right, left = width + 1.0, width - 1.0
    to_left, to_right = magnitude(Complex(right, height)), magnitude(Complex(left, height))
    middle = ((to_left + to_right) * 0.5).at_least(1.0)
    ratio = width / middle
    # A - 1 and A - x, each as a sum of two quantities without cancellation.
    beyond_one = _half_gap(height, right, to_left) + _half_gap(height, -left, to_right)
    beyond = _half_gap(height, right, to_left) + _half_gap(height, left, to_right)
    near = log_plus_one(beyond_one + (beyond_one * (middle + 1.0)).root())
    far = real_log(middle + (middle * middle - 1.0).root())
    found = (middle < 10.0).choose(near, far)
    across = (beyond * (middle + width)).root()
    return _on_the_axis(width, height, _Parts(found, ratio, across))


def _on_the_axis(width: Number, height: Number, found: _Parts) -> _Parts:
    """Returns the parts for a point so near to the axis that its height has no square."""
    distance = ((1.0 - width).size() * (width + 1.0)).root()
    is_flat = height < 2.0**-500
    is_inside, is_outside = is_flat & (width <= 1.0), is_flat & (width >= 1.0)
    part = width.equals(1.0).choose(height.root(), height / distance)
    return _Parts(
        is_inside.choose(part, found.height),
        found.ratio,
        is_outside.choose(part * width, found.across),
    )


def asin(one: Complex) -> Complex:
    """Returns the arc sine."""
    width, height = one.real.size(), one.imaginary.size()
    is_far = (width > _FAR) | (height > _FAR)
    parts = _parts(width, height)
    real = (parts.ratio > 0.64).choose(atan2(width, parts.across), real_asin(parts.ratio))
    real = is_far.choose(atan2(width, height), real)
    imaginary = _kept_nan(one, is_far.choose(_distant(width, height), parts.height))
    is_across = one.real.equals(0.0) | (is_infinite(one.imaginary) & is_finite(one.real))
    real = is_across.choose(0.0, _lost(one).choose(math.nan, real))
    return Complex(real.with_sign(one.real), imaginary.with_sign(one.imaginary))


def _lost(one: Complex) -> Condition:
    """Returns whether a part is NaN."""
    return one.real.is_nan() | one.imaginary.is_nan()


def _distant(width: Number, height: Number) -> Number:
    """Returns log(2 |z|) for a point far away."""
    return log(Complex(width, height)).real + math.log(2)


def _kept_nan(one: Complex, found: Number) -> Number:
    """Returns the imaginary part, infinite for an infinite number and else NaN for NaN."""
    found = _lost(one).choose(math.nan, found)
    return one.is_infinite().choose(math.inf, found)


def acos(one: Complex) -> Complex:
    """Returns the arc cosine."""
    width, height = one.real.size(), one.imaginary.size()
    is_far = (width > _FAR) | (height > _FAR)
    parts = _parts(width, height)
    is_left = one.real.is_negative()
    cosine = real_acos(is_left.choose(-parts.ratio, parts.ratio))
    signed_width = is_left.choose(-width, width)
    real = (parts.ratio > 0.64).choose(atan2(parts.across, signed_width), cosine)
    real = is_far.choose(atan2(height, signed_width), real)
    imaginary = _kept_nan(one, is_far.choose(_distant(width, height), parts.height))
    is_across = one.real.equals(0.0) | (is_infinite(one.imaginary) & is_finite(one.real))
    real = is_across.choose(math.pi / 2, _lost(one).choose(math.nan, real))
    return Complex(real, imaginary.with_sign(-one.imaginary))


def asinh(one: Complex) -> Complex:
    """Returns the inverse hyperbolic sine: asin(iz) / i."""
    return asin(one.times_i()).by_i()


def acosh(one: Complex) -> Complex:
    """Returns the inverse hyperbolic cosine, which has a real part that is not negative."""
    found = acos(one)
    return Complex(found.imaginary.size(), found.real.with_sign(one.imaginary))


def atanh(one: Complex) -> Complex:
    """Returns the inverse hyperbolic tangent."""
    width, height = one.real.size(), one.imaginary.size()
    is_far = (width > _FAR) | (height > _FAR)
    left = 1.0 - width
    square = left.fma(left, height * height)
    real = log_plus_one(width * 4.0 / square) * 0.25
    at_pole = width.equals(1.0) & (height < 2.0**-500) & (height > 0.0)
    real = at_pole.choose((math.log(2) - real_log(height)) * 0.5, real)
    imaginary = atan2(height + height, left * (width + 1.0) - height * height) * 0.5
    size = magnitude(one)
    real = is_far.choose(width / size / size, real)
    imaginary = is_far.choose(math.pi / 2, imaginary)
    tiny = (width < 2.0**-60) & (height < 2.0**-60)
    real, imaginary = tiny.choose(width, real), tiny.choose(height, imaginary)
    found = _inverse_tangent_of_infinite(one, Complex(real, imaginary))
    return Complex(found.real.with_sign(one.real), found.imaginary.with_sign(one.imaginary))


def _inverse_tangent_of_infinite(one: Complex, found: Complex) -> Complex:
    """Returns the result where a part is infinite or NaN, else what was found."""
    zero, quarter = one.real.alike(0.0), one.real.alike(math.pi / 2)
    nan = one.real.alike(math.nan)
    kept = one.real.equals(0.0) | is_infinite(one.real)
    found = choose(_lost(one), Complex(kept.choose(zero, nan), nan), found)
    is_endless = is_infinite(one.real) & is_finite(one.imaginary)
    return choose(is_endless | is_infinite(one.imaginary), Complex(zero, quarter), found)
