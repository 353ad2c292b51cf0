"""The error function, its complement and its inverse."""

from __future__ import annotations

import math

from hlotool.codegen.math.coefficients import (
    ERF_EXPONENT_DOUBLE,
    ERF_EXPONENT_SINGLE,
    ERROR_FUNCTION,
    INVERSE_ERF,
    INVERSE_ERF_FAR,
    INVERSE_ERF_TAIL,
    SCALED_ERFC,
)
from hlotool.codegen.math.exponentials import (
    minus_one,
    power_minus_one,
    power_of_two,
    scaled,
    split,
)
from hlotool.codegen.math.logarithms import combined, split_normal
from hlotool.codegen.math.number import Number, polynomial

_SATURATED = {"float": 3.93, "double": 5.93}
"""From here on the error function is 1."""
_EXPONENT = ERF_EXPONENT_SINGLE | ERF_EXPONENT_DOUBLE
_SLOPE = {"float": 1.128379225730896, "double": 1.1283791670955126}
"""The nearest numbers to 2/sqrt(pi)."""
_VANISHED = 27.3
"""From here on its complement is 0."""


def erf(number: Number) -> Number:
    """Returns the error function, as 1 - e^q for the logarithm q of its complement."""
    lane = number.format.lane
    size = number.size().at_most(_SATURATED[lane])
    series = polynomial(size, _EXPONENT[lane])
    parts = split(size.fma(-_SLOPE[lane], size * series))
    power = power_of_two(parts.bits, size)
    if number.is_single:
        found = (-power).fma(minus_one(parts.rest), 1.0 - power)
    else:
        found = -power_minus_one(parts, power, power - 1.0)
    return found.with_sign(number)


def _place(size: Number) -> Number:
    """Returns (x - 2) / (x + 2), with what the roundings of both sides lose put back."""
    below, above = size - 2.0, size + 2.0
    inverse = 1.0 / above
    found = below * inverse
    lost = (-found).fma(above, below)
    below_low = size - (below + 2.0)
    above_low = size - (above - 2.0)
    return inverse.fma((-found).fma(above_low, lost + below_low), found)


def erfc(number: Number) -> Number:
    """Returns 1 minus the error function, with all digits where it is small.

    A `float` is computed in double width: too many roundings make its last digits.
    """
    if number.is_single:
        return erfc(number.widened()).narrowed()
    size = number.size().at_most(_VANISHED)
    series = polynomial(_place(size), SCALED_ERFC["double"]) / (size + size)
    square = size * size
    lost = size.fma(size, -square)
    parts = split(-square, low=-lost)
    found = scaled(series.fma(minus_one(parts.rest), series), parts.bits)
    found = (number < 0.0).choose(2.0 - found, found)
    series = polynomial(number * number, ERROR_FUNCTION["double"])
    near = 1.0 - number.fma(series, number)
    return (size < 0.5).choose(near, found)


def inverse_erf(number: Number) -> Number:
    """Returns the number whose error function is x; NaN beyond -1 and 1."""
    lane = number.format.lane
    rest = (1.0 - number) * (number + 1.0)
    depth = -combined(*split_normal(rest))
    near = polynomial(depth - 2.5, INVERSE_ERF[lane])
    place = depth.root() - 3.0
    far = polynomial(place, INVERSE_ERF_TAIL[lane])
    if not number.is_single:
        far = (depth > 16.0).choose(polynomial(place, INVERSE_ERF_FAR[lane]), far)
    found = number * (depth < 5.0).choose(near, far)
    size = number.size()
    found = (size < 1.0).choose(found, math.nan)
    return size.equals(1.0).choose(number.alike(math.inf).with_sign(number), found)
