"""Functions of floats and complex numbers that numpy lacks, or loses digits or cases of.

Arguments are float64 or complex128; so are results, to be rounded once afterwards.
"""

from __future__ import annotations

from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np
from hlotool.ir.lazy import scipy_special
from hlotool.ops.numerics.floats import complex_of


def exponential_minus_one(array: Array) -> Array:
    """Returns exp(x) - 1; complex numbers without an imaginary part stay so."""
    if array.dtype.kind != "c":
        return np.asarray(np.expm1(array))
    found = np.asarray(scipy_special.expm1(array))
    return complex_of(found.real, np.where(array.imag == 0, array.imag, found.imag))


def log_plus_one(array: Array) -> Array:
    """Returns log(1 + x)."""
    return np.asarray(scipy_special.log1p(array) if array.dtype.kind == "c" else np.log1p(array))


def logistic(array: Array) -> Array:
    """Returns 1 / (1 + exp(-x))."""
    if array.dtype.kind != "c":
        return np.asarray(scipy_special.expit(array))
    # The exponential of a number with a negative real part does not overflow.
    is_left = array.real < 0
    small = np.exp(np.where(is_left, array, -array))
    return np.asarray(np.where(is_left, small, 1) / (1 + small))


def reciprocal_root(array: Array) -> Array:
    """Returns 1 / sqrt(x)."""
    root = np.sqrt(array)
    if array.dtype.kind != "c":
        return np.asarray(1 / root)
    size = np.abs(root)
    # Divided twice: the square of the size may be too small or too large for a double.
    found = np.conj(root) / size / size
    endless = np.where(np.isinf(size), 0, complex(np.inf, np.nan))
    return np.where(np.isinf(size) | (size == 0), endless, found)


def direction(array: Array) -> Array:
    """Returns complex numbers divided by their magnitude; 0 for 0."""
    size = np.abs(array)
    parts = (np.where(size == 0, 0, part / size) for part in (array.real, array.imag))
    return complex_of(*parts)


def quotient(one: Array, other: Array) -> Array:
    """Returns the quotient of complex numbers, which infinities make infinite or 0, not NaN."""
    found = np.asarray(np.divide(one, other))
    if not np.isnan(found).any():
        return found
    # Of an infinite side only the direction counts, and the size of the result is known.
    is_endless = np.isinf(one) & np.isfinite(other)
    endless = _sized(np.inf, _times_conjugate(_of_infinities(one), other))
    is_nothing = np.isfinite(one) & np.isinf(other)
    nothing = _sized(0.0, _times_conjugate(one, _of_infinities(other)))
    is_by_zero = (other == 0) & ~(np.isnan(one.real) & np.isnan(one.imag))
    by_zero = _sized(np.copysign(np.inf, other.real), one)
    return np.select([is_by_zero, is_endless, is_nothing], [by_zero, endless, nothing], found)


def _times_conjugate(one: Array, other: Array) -> Array:
    """Returns one times the conjugate of the other, which has the direction of the quotient."""
    return complex_of(
        one.real * other.real + one.imag * other.imag,
        one.imag * other.real - one.real * other.imag,
    )


def _sized(size: Array | float, array: Array) -> Array:
    # A product of complex numbers would mix the parts, and make NaN of infinities.
    return complex_of(np.asarray(size * array.real), np.asarray(size * array.imag))


def _of_infinities(array: Array) -> Array:
    """Returns 1 or -1 for each infinite part of complex numbers, and 0 for each other one."""
    parts = (np.copysign(np.isinf(part), part) for part in (array.real, array.imag))
    return complex_of(*parts)


def power(base: Array, exponent: Array) -> Array:
    """Returns base to the power of exponent; 1^y and x^0 are 1 also for NaN."""
    if base.dtype.kind != "c":
        return np.asarray(np.power(base, exponent))
    found = np.exp(exponent * np.log(base))
    grows, shrinks = exponent.real > 0, exponent.real < 0
    is_endless = (base.real == np.inf) & (base.imag == 0)
    found = np.where((base == 0) & grows | is_endless & shrinks, 0, found)
    found = np.where(is_endless & grows & (exponent.imag == 0), np.inf, found)
    return np.where((exponent == 0) | (base == 1), 1, found)


def angle(ordinate: Array, abscissa: Array) -> Array:
    """Returns the angle of (abscissa, ordinate); of complex numbers -i log((x + iy) / |.|)."""
    if ordinate.dtype.kind != "c":
        return np.asarray(np.arctan2(ordinate, abscissa))
    size = np.sqrt(abscissa * abscissa + ordinate * ordinate)
    # Parts are put together one by one: a product with 1j has NaN where a part is infinite.
    turned = complex_of(abscissa.real - ordinate.imag, abscissa.imag + ordinate.real)
    logarithm = np.log(quotient(turned, size))
    return complex_of(logarithm.imag, np.negative(logarithm.real))
