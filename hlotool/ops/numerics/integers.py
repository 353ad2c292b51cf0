"""Arithmetic of integers in 64 bits, for values of narrower types that are cut afterwards.

Arrays are int64 for signed and uint64 for unsigned element types; sums and products wrap.
"""

from __future__ import annotations

from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np

_LOW_HALF = 0xFFFF_FFFF


def pattern(array: Array, element_type: ElementType) -> Array:
    """Returns the bits of integers as they are in their own type, as uint64."""
    return np.asarray(np.asarray(array).astype(np.uint64) & ((1 << element_type.bits) - 1))


def magnitude(array: Array) -> Array:
    """Returns absolute values as uint64, where that of the least int64 has room too."""
    return np.where(array < 0, np.negative(array), array).astype(np.uint64)


def _with_sign(wanted: Array, negative: Array, like: Array) -> Array:
    """Returns magnitudes in the type of `like`, turned round where they shall be negative."""
    whole = wanted.astype(like.dtype)
    return np.where(negative, np.negative(whole), whole)


def quotient(one: Array, other: Array) -> Array:
    """Returns the quotient cut towards zero, with every bit set where `other` is 0."""
    divisor = np.where(other == 0, 1, other)
    whole = magnitude(one) // magnitude(divisor)
    signed = _with_sign(np.asarray(whole), (one < 0) != (other < 0), one)
    return np.where(other == 0, np.invert(np.zeros_like(one)), signed)


def remainder(one: Array, other: Array) -> Array:
    """Returns what division leaves, with the sign of `one`; `one` itself where `other` is 0."""
    divisor = np.where(other == 0, 1, other)
    rest = magnitude(one) % magnitude(divisor)
    return np.where(other == 0, one, _with_sign(np.asarray(rest), one < 0, one))


def power(base: Array, exponent: Array) -> Array:
    """Returns the low bits of powers; 1 / base cut towards zero decides negative exponents."""
    odd = np.asarray(exponent & 1) == 1
    negative = exponent < 0
    rest = np.where(negative, 0, exponent).astype(np.uint64)
    square = np.asarray(base).astype(np.uint64)
    result = np.ones_like(rest)
    while rest.any():
        result = np.where(rest & 1 == 1, result * square, result)
        square = square * square
        rest = np.asarray(rest >> 1)
    inverse = np.where(base == 1, 1, np.where(base == -1, np.where(odd, -1, 1), 0))
    return np.where(negative, inverse.astype(base.dtype), result.astype(base.dtype))


def high_half(one: Array, other: Array, element_type: ElementType) -> Array:
    """Returns the upper half of the product in twice the width of the type."""
    if element_type.bits < 64:
        return np.right_shift(np.multiply(one, other), element_type.bits)
    high = _high_half_unsigned(one.astype(np.uint64), other.astype(np.uint64))
    if not element_type.is_signed:
        return high
    # A negative number counts 2^64 too much as an unsigned factor of the other.
    excess = np.where(one < 0, other, 0) + np.where(other < 0, one, 0)
    return np.asarray(high.astype(np.int64) - excess)


def _high_half_unsigned(one: Array, other: Array) -> Array:
    one_low, one_high = one & _LOW_HALF, one >> 32
    other_low, other_high = other & _LOW_HALF, other >> 32
    first = one_high * other_low + (one_low * other_low >> 32)
    second = one_low * other_high + (first & _LOW_HALF)
    return np.asarray(one_high * other_high + (first >> 32) + (second >> 32))


def shifted_left(array: Array, amount: Array, element_type: ElementType) -> Array:
    """Returns bits moved up; `amount` counts as unsigned, from the width on nothing is left."""
    moved = np.left_shift(array, _bounded(amount, 63).astype(array.dtype))
    return np.where(pattern(amount, element_type) < element_type.bits, moved, 0)


def shifted_right(array: Array, amount: Array, element_type: ElementType) -> Array:
    """Returns bits moved down and filled with zeros; `amount` counts as unsigned."""
    moved = np.right_shift(pattern(array, element_type), _bounded(amount, 63))
    return np.where(pattern(amount, element_type) < element_type.bits, moved, 0)


def shifted_right_signed(array: Array, amount: Array, element_type: ElementType) -> Array:
    """Returns bits moved down and filled with the highest one; `amount` counts as unsigned."""
    unused = 64 - element_type.bits
    signed = np.right_shift(np.left_shift(array.astype(np.int64), unused), unused)
    return np.right_shift(signed, _bounded(amount, 63).astype(np.int64))


def _bounded(amount: Array, most: int) -> Array:
    """Returns amounts as uint64, negative ones as what they are unsigned, and at most `most`."""
    return np.minimum(np.asarray(amount).astype(np.uint64), np.uint64(most))


def leading_zeros(array: Array, element_type: ElementType) -> Array:
    """Returns how many bits of the type are above the highest one that is set."""
    bits = pattern(array, element_type)
    for distance in (1, 2, 4, 8, 16, 32):
        bits = np.asarray(bits | bits >> distance)
    # Every bit from the highest one down is set now.
    return element_type.bits - np.bitwise_count(bits).astype(np.int64)


def set_bits(array: Array, element_type: ElementType) -> Array:
    """Returns how many bits are set."""
    return np.bitwise_count(pattern(array, element_type)).astype(np.int64)
