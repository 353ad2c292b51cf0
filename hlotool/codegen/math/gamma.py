"""The logarithm of the gamma function, and its derivative.

A `float` is computed in double width: near the zeros of these functions only absolute errors are
small. So in double width itself the zeros below 0 have no more than that.
"""

from __future__ import annotations

import math

from hlotool.codegen.math.coefficients import LOG_GAMMA
from hlotool.codegen.math.logarithms import log
from hlotool.codegen.math.number import Number, polynomial
from hlotool.codegen.math.trigonometry import sine_and_cosine

_STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)
"""Coefficients of the odd powers of 1/x in the logarithm of the gamma function."""
_BERNOULLI = tuple(coefficient * (2 * number + 1) for number, coefficient in enumerate(_STIRLING))
"""Those of even powers in its derivative, without their sign."""
_LARGE = 8.5
_STEPS = 10
_LOG_ROOT_OF_TURN = 0.9189385332046728
_LOG_PI = 1.1447298858494002


def lgamma(number: Number) -> Number:
    """Returns the logarithm of the size of the gamma function."""
    if number.is_single:
        return lgamma(number.widened()).narrowed()
    is_reflected = number < 0.5
    right = _of_right_half(is_reflected.choose(1.0 - number, number))
    across, _ = _half_waves(number)
    left = (_LOG_PI - log(across.size())) - right
    found = is_reflected.choose(left, right)
    return number.size().equals(math.inf).choose(math.inf, found)


def _of_right_half(number: Number) -> Number:
    """Returns it from 1/2 on."""
    place, product = number - 2.0, number.alike(1.0)
    for step in range(1, 7):
        # x is brought below 2.5 by factors of the gamma function: x - 1, x - 2 and so on.
        is_above = number >= step + 1.5
        place = is_above.choose(number - (step + 2.0), place)
        product = is_above.choose(product * (number - float(step)), product)
    is_low, is_large = number < 1.5, number > _LARGE
    place = is_low.choose(number - 1.0, place)
    argument = (is_low | is_large).choose(number, product)
    logarithm = log(argument)
    middle = place * (place + 1.0) * polynomial(place, LOG_GAMMA["double"])
    middle = middle + is_low.choose(-logarithm, logarithm)
    inverse = 1.0 / number
    series = inverse * polynomial(inverse * inverse, _STIRLING)
    far = (number - 0.5).fma(logarithm - 1.0, series + (_LOG_ROOT_OF_TURN - 0.5))
    return is_large.choose(far, middle)


def digamma(number: Number) -> Number:
    """Returns the derivative of the logarithm of the gamma function; NaN at its poles."""
    if number.is_single:
        return digamma(number.widened()).narrowed()
    is_reflected = number < 0.5
    right = is_reflected.choose(1.0 - number, number)
    is_small = right < float(_STEPS)
    above, below = right.alike(0.0), right.alike(1.0)
    for step in range(_STEPS):
        # The sum of 1 / (x + step) as one fraction.
        moved = right + float(step)
        above, below = above.fma(moved, below), below * moved
    moved = is_small.choose(right + float(_STEPS), right)
    inverse = 1.0 / moved
    square = inverse * inverse
    series = square.fma(polynomial(square, _BERNOULLI), inverse * 0.5)
    found = (log(moved) - series) - is_small.choose(above / below, 0.0)
    across, along = _half_waves(number)
    reflected = found - math.pi * along / across
    is_pole = number.whole().equals(number) & (number <= 0.0)
    found = is_pole.choose(math.nan, is_reflected.choose(reflected, found))
    return number.equals(math.inf).choose(number, found)


def _half_waves(number: Number) -> tuple[Number, Number]:
    """Returns sin(pi r) and cos(pi r) of what x is above or below a whole number."""
    rest = number - number.whole()
    size = rest.size()
    is_steep = size > 0.25
    across, along = sine_and_cosine(is_steep.choose(0.5 - size, size) * math.pi)
    sine = is_steep.choose(along, across).with_sign(rest)
    return sine, is_steep.choose(across, along)
