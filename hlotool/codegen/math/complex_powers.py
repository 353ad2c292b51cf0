"""Logarithms, roots and powers of complex numbers."""

from __future__ import annotations

import math

from hlotool.codegen.math.complex_exponentials import exponential
from hlotool.codegen.math.complex_number import (
    Complex,
    choose,
    divide,
    is_finite,
    is_infinite,
    magnitude,
    multiply,
    scaled_magnitude,
)
from hlotool.codegen.math.logarithms import combined, exponent_and_fraction, log_plus_one
from hlotool.codegen.math.number import Number, two_product, two_sum
from hlotool.codegen.math.trigonometry import atan2


def log(one: Complex) -> Complex:
    """Returns the natural logarithm, with the imaginary part from -pi to pi."""
    size, scale = scaled_magnitude(one)
    exponent, fraction = exponent_and_fraction(size)
    # The scale is a power of 2: its bits are its exponent.
    form = size.format
    shift = ((scale.bits() >> form.mantissa) - form.bias).to_float(form.lane)
    far = combined(exponent + shift, fraction)
    width, height = one.real.size(), one.imaginary.size()
    larger = (height > width).choose(height, width)
    smaller = (height > width).choose(width, height)
    near = _log_near_one(larger, smaller)
    is_near = (larger > 0.5) & (larger < 1.5) & (size < 1.5)
    real = is_near.choose(near, far)
    real = one.is_zero().choose(-math.inf, real)
    real = (size < math.inf).choose(real, size)
    return Complex(real, atan2(one.imaginary, one.real))


def _log_near_one(larger: Number, smaller: Number) -> Number:
    """Returns log(sqrt(a^2 + b^2)) from a^2 - 1 + b^2, whose digits may cancel."""
    above = larger - 1.0
    sum_, sum_low = two_sum(larger, larger.alike(1.0))
    product, product_low = two_product(above, sum_)
    square, square_low = two_product(smaller, smaller)
    total, total_low = two_sum(product, square)
    low = total_low + (product_low + square_low + above * sum_low)
    return log_plus_one(total + low) * 0.5


def log_plus_one_of(one: Complex) -> Complex:
    """Returns log(1 + z)."""
    moved = Complex(one.real + 1.0, one.imaginary)
    far = log(moved)
    # |1 + z|^2 - 1 = 2x + x^2 + y^2
    square, square_low = two_product(one.real, one.real)
    other, other_low = two_product(one.imaginary, one.imaginary)
    total, total_low = two_sum(one.real + one.real, square)
    total, more_low = two_sum(total, other)
    near = log_plus_one(total + (total_low + more_low + square_low + other_low)) * 0.5
    is_near = (total > -0.5) & (total < 1.0)
    is_real = one.imaginary.equals(0.0) & (one.real >= -1.0) & (one.real < math.inf)
    real = is_real.choose(log_plus_one(one.real), is_near.choose(near, far.real))
    return Complex(real, is_real.choose(0.0, far.imaginary))


def sqrt(one: Complex) -> Complex:
    """Returns the square root with a real part that is not negative."""
    form = one.real.format
    larger = (one.real.size() > one.imaginary.size()).choose(one.real, one.imaginary).size()
    is_large, is_small = larger > 2.0 ** (form.bias - 2), larger < 2.0 ** (4 - form.bias)
    lift = form.mantissa + 2 - form.mantissa % 2
    unit = larger.alike(1.0)
    factor = is_large.choose(2.0**-4, is_small.choose(2.0 ** (2 * lift), unit))
    inverse = is_large.choose(2.0**2, is_small.choose(2.0**-lift, unit))
    real, imaginary = one.real * factor, one.imaginary * factor
    size = magnitude(Complex(real, imaginary))
    main = ((real.size() + size) * 0.5).root()
    other = imaginary.size() / (main + main)
    is_right = one.real >= 0.0
    main, other = main * inverse, other * inverse
    found = Complex(is_right.choose(main, other), is_right.choose(other, main))
    zero, infinity = one.real.alike(0.0), one.real.alike(math.inf)
    found = choose(one.is_zero(), Complex(zero, zero), found)
    found = _root_of_infinite(one, found)
    found = choose(is_infinite(one.imaginary), Complex(infinity, infinity), found)
    return Complex(found.real, found.imaginary.with_sign(one.imaginary))


def _root_of_infinite(one: Complex, found: Complex) -> Complex:
    """Returns the root where the real part is infinite, else what was found."""
    nothing = is_finite(one.imaginary).choose(0.0, one.imaginary.alike(math.nan))
    right = Complex(one.real.alike(math.inf), nothing)
    left = Complex(nothing, one.real.alike(math.inf))
    endless = choose(one.real > 0.0, right, left)
    return choose(is_infinite(one.real), endless, found)


def rsqrt(one: Complex) -> Complex:
    """Returns 1 divided by the square root; infinity + NaN i for 0."""
    root = sqrt(one)
    size = magnitude(root)
    found = Complex(root.real / size / size, -root.imaginary / size / size)
    zero = one.real.alike(0.0)
    pole = Complex(one.real.alike(math.inf), one.real.alike(math.nan))
    found = choose(size.equals(0.0), pole, found)
    return choose(is_infinite(size), Complex(zero, zero), found)


def power(base: Complex, exponent: Complex) -> Complex:
    """Returns the base to the power of the exponent; x^0 and 1^y are 1."""
    found = exponential(multiply(exponent, log(base)))
    zero = base.real.alike(0.0)
    one, infinity = base.real.alike(1.0), base.real.alike(math.inf)
    grows, shrinks = exponent.real > 0.0, exponent.real < 0.0
    is_endless = base.real.equals(math.inf) & base.imaginary.equals(0.0)
    is_nothing = (base.is_zero() & grows) | (is_endless & shrinks)
    found = choose(is_nothing, Complex(zero, zero), found)
    stays = is_endless & grows & exponent.imaginary.equals(0.0)
    found = choose(stays, Complex(infinity, zero), found)
    is_one = base.real.equals(1.0) & base.imaginary.equals(0.0)
    return choose(exponent.is_zero() | is_one, Complex(one, zero), found)


def angle(ordinate: Complex, abscissa: Complex) -> Complex:
    """Returns -i log((x + iy) / sqrt(x^2 + y^2)), the arc tangent of complex numbers."""
    squares = multiply(abscissa, abscissa) + multiply(ordinate, ordinate)
    turned = Complex(abscissa.real - ordinate.imaginary, abscissa.imaginary + ordinate.real)
    return log(divide(turned, sqrt(squares))).by_i()
