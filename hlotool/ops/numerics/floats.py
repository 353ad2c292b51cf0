"""Arithmetic of floats that numpy has no function for, or has one that HLO means otherwise."""

from __future__ import annotations

from hlotool.ir.element_type import ElementType, NanEncoding
from hlotool.ir.float_format import nan_bits, sign_bit
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np


def bit_pattern(array: Array) -> Array:
    """Returns the bytes of each number as an unsigned integer."""
    array = np.asarray(array)
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def maximum(one: Array, other: Array) -> Array:
    """Returns the greater numbers as IEEE 754-2019 says: -0 < 0; NaN, the left one first."""
    if one.dtype.kind != "f":
        return np.asarray(np.maximum(one, other))
    takes_one = np.where(one == other, np.signbit(other), one > other)
    return _or_nan(one, other, takes_one)


def minimum(one: Array, other: Array) -> Array:
    """Returns the lesser numbers as IEEE 754-2019 says: -0 < 0; NaN, the left one first."""
    if one.dtype.kind != "f":
        return np.asarray(np.minimum(one, other))
    takes_one = np.where(one == other, np.signbit(one), one < other)
    return _or_nan(one, other, takes_one)


def _or_nan(one: Array, other: Array, takes_one: Array) -> Array:
    takes_one = np.isnan(one) | (takes_one & ~np.isnan(other))
    return np.where(takes_one, one, other)


def total_order(array: Array, element_type: ElementType) -> Array:
    """Returns integers in the order of all bit patterns: -NaN, -inf, -0, 0, inf, NaN.

    Only equal bits have equal integers. A NaN in the place of -0 is a negative one: the first.
    Arrays of other types are their own order.
    """
    form = element_type.float_format
    if form is None:
        return array
    bits = bit_pattern(array).astype(np.uint64)
    sign = sign_bit(form)
    size = (bits & ((1 << element_type.bits) - 1 - sign)).astype(np.int64)
    order = np.where(bits & sign != 0, -1 - size, size)
    if form.nan is NanEncoding.NEGATIVE_ZERO:
        order = np.where(bits == nan_bits(form), -1 - sign, order)
    return order


def sign(array: Array) -> Array:
    """Returns 1 or -1; zeros and NaN as they are."""
    if array.dtype.kind == "f":
        return np.where(np.isnan(array) | (array == 0), array, np.copysign(1, array))
    return np.asarray(np.sign(array))


def rounded_away(array: Array) -> Array:
    """Returns the nearest whole numbers; halves go away from zero."""
    whole = np.trunc(array)
    is_far = np.abs(array - whole) >= 0.5
    return np.where(is_far, whole + np.copysign(1, array), whole).astype(array.dtype)


def complex_of(real: Array, imaginary: Array) -> Array:
    """Returns complex numbers with these parts, whatever they are."""
    whole = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    whole.real = real
    whole.imag = imaginary
    return whole
