"""Exponential and circular functions of complex numbers.

Each part is a product of a function of one part that may overflow and one of the other that may
be small, so the power of 2 is multiplied last.
"""

from __future__ import annotations

import math

from hlotool.codegen.math.complex_number import (
    Complex,
    choose,
    divide,
    is_finite,
    is_infinite,
)
from hlotool.codegen.math.exponentials import (
    cosh,
    exponential_minus_one,
    near_one,
    scaled,
    sinh,
    split,
)
from hlotool.codegen.math.exponentials import exponential as real_exponential
from hlotool.codegen.math.number import Number
from hlotool.codegen.math.trigonometry import cosine as real_cosine
from hlotool.codegen.math.trigonometry import sine as real_sine
from hlotool.codegen.math.trigonometry import tangent as real_tangent

_ENDLESS = 1410.0
"""e to this power is infinite, but may be a number again times a small sine."""
_FAR = 30.0
"""From here on sinh and cosh are the same, half of the exponential."""


def exponential(one: Complex) -> Complex:
    """Returns e^z."""
    parts = split(one.real.at_least(-_ENDLESS).at_most(_ENDLESS))
    size = near_one(parts.rest) * _lift(one.real)
    real = scaled(size * real_cosine(one.imaginary), parts.bits)
    imaginary = scaled(size * real_sine(one.imaginary), parts.bits)
    found = Complex(real, one.imaginary.equals(0.0).choose(one.imaginary, imaginary))
    # Without a direction: nothing is still nothing, and what is infinite stays so.
    is_lost = is_infinite(one.real) & ~is_finite(one.imaginary)
    is_nothing = one.real < 0.0
    zero = one.imaginary.alike(0.0).with_sign(one.imaginary)
    lost = Complex(is_nothing.choose(0.0, one.real), is_nothing.choose(zero, found.imaginary))
    return choose(is_lost, lost, found)


def _lift(exponent: Number) -> Number:
    """Returns what makes e^x infinite times all but 0, for the largest x; else 1."""
    return (exponent > _ENDLESS).choose(2.0**1000, exponent.alike(1.0))


def minus_one(one: Complex) -> Complex:
    """Returns e^z - 1; numbers without an imaginary part stay so."""
    whole = exponential(one)
    half_sine = real_sine(one.imaginary * 0.5)
    cosine_minus_one = (half_sine * half_sine) * -2.0
    near = exponential_minus_one(one.real).fma(real_cosine(one.imaginary), cosine_minus_one)
    is_near = (one.real.size() < 1.0) & is_finite(one.imaginary)
    real = is_near.choose(near, whole.real - 1.0)
    is_real = one.imaginary.equals(0.0)
    real = is_real.choose(exponential_minus_one(one.real), real)
    # The real part is no negative zero.
    return Complex(real + 0.0, whole.imaginary)


def logistic(one: Complex) -> Complex:
    """Returns 1 / (1 + e^-z)."""
    is_left = one.real < 0.0
    small = exponential(choose(is_left, one, -one))
    unit = Complex(one.real.alike(1.0), one.real.alike(0.0))
    return divide(choose(is_left, small, unit), small + unit)


def _waves(one: Complex) -> tuple[Number, Number, Number, Number]:
    """Returns sinh(x) cos(y), cosh(x) sin(y), cosh(x) cos(y) and sinh(x) sin(y)."""
    size = one.real.size()
    is_far = size > _FAR
    parts = split(size.at_most(_ENDLESS))
    power = near_one(parts.rest) * 0.5 * _lift(size)
    bits = is_far.choose_integer(parts.bits, 0)
    far = power.with_sign(one.real)
    near_sine = is_far.choose(far, sinh(one.real))
    near_cosine = is_far.choose(power, cosh(one.real))
    across, along = real_sine(one.imaginary), real_cosine(one.imaginary)
    return (
        scaled(near_sine * along, bits),
        scaled(near_cosine * across, bits),
        scaled(near_cosine * along, bits),
        scaled(near_sine * across, bits),
    )


def hyperbolic_sine(one: Complex) -> Complex:
    """Returns sinh(z)."""
    real, imaginary, _, _ = _waves(one)
    is_lost = ~is_finite(one.imaginary)
    real = (is_lost & one.real.equals(0.0)).choose(one.real, real)
    return Complex(
        (is_lost & is_infinite(one.real)).choose(math.inf, real),
        one.imaginary.equals(0.0).choose(one.imaginary, imaginary),
    )


def hyperbolic_cosine(one: Complex) -> Complex:
    """Returns cosh(z)."""
    _, _, real, imaginary = _waves(one)
    is_lost = ~is_finite(one.imaginary)
    real = (is_lost & is_infinite(one.real)).choose(math.inf, real)
    imaginary = (is_lost & one.real.equals(0.0)).choose(0.0, imaginary)
    is_flat = one.real.is_nan() & one.imaginary.equals(0.0)
    return Complex(real, is_flat.choose(one.imaginary, imaginary))


def tanh(one: Complex) -> Complex:
    """Returns the hyperbolic tangent."""
    size = one.real.size()
    is_far = size > 22.0
    slope = real_tangent(one.imaginary)
    beta = slope.fma(slope, 1.0)
    height = sinh(size.at_most(22.0).with_sign(one.real))
    root = height.fma(height, 1.0).root()
    below = (beta * height).fma(height, 1.0)
    near = Complex(beta * root * height / below, slope / below)
    across, along = real_sine(one.imaginary), real_cosine(one.imaginary)
    fading = real_exponential(-size)
    far_imaginary = (across * along * 4.0) * fading * fading
    far = Complex(size.alike(1.0).with_sign(one.real), far_imaginary)
    is_lost = ~is_finite(one.imaginary)
    found = choose(is_far & ~is_lost, far, near)
    lost = Complex(far.real, one.imaginary.alike(0.0).with_sign(one.imaginary))
    found = choose(is_lost & is_infinite(one.real), lost, found)
    real = (is_lost & one.real.equals(0.0)).choose(one.real, found.real)
    return Complex(real, one.imaginary.equals(0.0).choose(one.imaginary, found.imaginary))


def sine(one: Complex) -> Complex:
    """Returns the sine: sinh(iz) / i."""
    found = hyperbolic_sine(one.times_i()).by_i()
    is_lost = is_infinite(one.imaginary) & ~is_finite(one.real)
    return Complex(found.real, is_lost.choose(math.inf, found.imaginary))


def cosine(one: Complex) -> Complex:
    """Returns the cosine: cosh(iz)."""
    return hyperbolic_cosine(one.times_i())


def tangent(one: Complex) -> Complex:
    """Returns the tangent: tanh(iz) / i."""
    return tanh(one.times_i()).by_i()
