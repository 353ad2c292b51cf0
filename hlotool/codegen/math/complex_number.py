"""Complex numbers as pairs, their arithmetic and their magnitude.

Products and quotients are those of the evaluator, operation by operation. What is infinite, NaN
or a signed zero comes out as Annex G of C99 says, but for quotients, which give more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlotool.codegen.math.number import Condition, Number


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number in each lane."""

    real: Number
    imaginary: Number

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.real + other.real, self.imaginary + other.imaginary)

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imaginary)

    def conjugate(self) -> Complex:
        """Returns the number with the other sign of its imaginary part."""
        return Complex(self.real, -self.imaginary)

    def times_i(self) -> Complex:
        """Returns i times the number."""
        return Complex(-self.imaginary, self.real)

    def by_i(self) -> Complex:
        """Returns the number divided by i."""
        return Complex(self.imaginary, -self.real)

    def widened(self) -> Complex:
        """Returns it with parts of `double`."""
        return Complex(self.real.widened(), self.imaginary.widened())

    def narrowed(self) -> Complex:
        """Returns it with parts of `float`, rounded."""
        return Complex(self.real.narrowed(), self.imaginary.narrowed())

    def is_infinite(self) -> Condition:
        """Returns whether a part is infinite."""
        return is_infinite(self.real) | is_infinite(self.imaginary)

    def is_finite(self) -> Condition:
        """Returns whether both parts are numbers that are not infinite."""
        return is_finite(self.real) & is_finite(self.imaginary)

    def is_zero(self) -> Condition:
        """Returns whether both parts are 0."""
        return self.real.equals(0.0) & self.imaginary.equals(0.0)


def is_infinite(number: Number) -> Condition:
    """Returns whether a number is infinite."""
    return number.size().equals(math.inf)


def is_finite(number: Number) -> Condition:
    """Returns whether a number is neither infinite nor NaN."""
    return number.size() < math.inf


def choose(condition: Condition, yes: Complex, no: Complex) -> Complex:
    """Returns `yes` in the lanes where the condition holds, else `no`."""
    return Complex(
        condition.choose(yes.real, no.real), condition.choose(yes.imaginary, no.imaginary)
    )


def multiply(one: Complex, other: Complex) -> Complex:
    """Returns the product, each part from two rounded products."""
    return Complex(
        one.real * other.real - one.imaginary * other.imaginary,
        one.real * other.imaginary + one.imaginary * other.real,
    )


def divide(one: Complex, other: Complex) -> Complex:
    """Returns the quotient, which infinities make infinite or 0, not NaN."""
    found = _smith_quotient(one, other)
    both_nan = one.real.is_nan() & one.imaginary.is_nan()
    endless = _sized(one.real.alike(math.inf), _times_conjugate(_of_infinities(one), other))
    nothing = _sized(one.real.alike(0.0), _times_conjugate(one, _of_infinities(other)))
    by_zero = _sized(one.real.alike(math.inf).with_sign(other.real), one)
    found = choose(one.is_finite() & other.is_infinite(), nothing, found)
    found = choose(one.is_infinite() & other.is_finite(), endless, found)
    return choose(other.is_zero() & ~both_nan, by_zero, found)


def _smith_quotient(one: Complex, other: Complex) -> Complex:
    """Returns the quotient by way of the ratio of the divisor's parts, against overflow."""
    is_wide = other.real.size() >= other.imaginary.size()
    larger = is_wide.choose(other.real, other.imaginary)
    smaller = is_wide.choose(other.imaginary, other.real)
    ratio = smaller / larger
    scale = 1.0 / (larger + smaller * ratio)
    real_part, imaginary_part = one.real * ratio, one.imaginary * ratio
    real = is_wide.choose(one.real + imaginary_part, real_part + one.imaginary)
    imaginary = is_wide.choose(one.imaginary - real_part, imaginary_part - one.real)
    return Complex(real * scale, imaginary * scale)


def _times_conjugate(one: Complex, other: Complex) -> Complex:
    return Complex(
        one.real * other.real + one.imaginary * other.imaginary,
        one.imaginary * other.real - one.real * other.imaginary,
    )


def _sized(size: Number, one: Complex) -> Complex:
    return Complex(size * one.real, size * one.imaginary)


def _of_infinities(one: Complex) -> Complex:
    """Returns 1 or -1 for each infinite part, and 0 for each other one."""
    real, imaginary = (
        is_infinite(part).choose(part.alike(1.0), 0.0).with_sign(part)
        for part in (one.real, one.imaginary)
    )
    return Complex(real, imaginary)


def scaled_magnitude(one: Complex) -> tuple[Number, Number]:
    """Returns the magnitude without its scale, and a scale 2^k that it is to be multiplied by.

    The scale keeps squares within the range of numbers. Of an infinite part the magnitude is
    infinite, whatever the other part is.
    """
    form = one.real.format
    width, height = one.real.size(), one.imaginary.size()
    larger = (height > width).choose(height, width)
    smaller = (height > width).choose(width, height)
    # Exponents of squares reach from bound to bound; the step leads beyond both.
    bound, step = form.bias // 2 - 11, form.bias // 2 + form.mantissa + 11
    is_large, is_small = larger > 2.0**bound, larger < 2.0**-bound
    factor = is_large.choose(2.0**-step, is_small.choose(2.0**step, larger.alike(1.0)))
    inverse = is_large.choose(2.0**step, is_small.choose(2.0**-step, larger.alike(1.0)))
    larger, smaller = larger * factor, smaller * factor
    found = larger.fma(larger, smaller * smaller).root()
    return one.is_infinite().choose(math.inf, found), inverse


def magnitude(one: Complex) -> Number:
    """Returns the absolute value, which overflows only where it is no number of the type."""
    if one.real.is_single:
        # Squares of floats are doubles.
        wide = one.widened()
        square = wide.real.fma(wide.real, wide.imaginary * wide.imaginary)
        return one.is_infinite().choose(math.inf, square.root().narrowed())
    found, scale = scaled_magnitude(one)
    return found * scale


def direction(one: Complex) -> Complex:
    """Returns the number divided by its magnitude; 0 for 0."""
    size = magnitude(one)
    is_zero = size.equals(0.0)
    return Complex(is_zero.choose(0.0, one.real / size), is_zero.choose(0.0, one.imaginary / size))
