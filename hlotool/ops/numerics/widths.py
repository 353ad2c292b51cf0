"""The widths that numbers are computed in, and the way there and back for every element type.

Integers are computed in 64 bits and cut to their width, floats narrower than `f32` are
computed in `f32` and rounded once; `f32`, `f64` and complex numbers are computed as they are.
"""

from __future__ import annotations

from hlotool.ir.element_type import F8E8M0FNU, ElementType, Kind, NanEncoding
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np


def widened(array: Array, element_type: ElementType) -> Array:
    """Returns exactly the same numbers in the type that `element_type` is computed in.

    It is bool, int64, uint64, float32 for floats of at most 32 bits, else `element_type`'s own.
    """
    match element_type.kind:
        case Kind.SIGNED:
            return np.asarray(array).astype(np.int64, copy=False)
        case Kind.UNSIGNED:
            return np.asarray(array).astype(np.uint64, copy=False)
        case Kind.FLOAT if element_type.bits < 32:
            return np.asarray(array).astype(np.float32)
    return np.asarray(array)


def doubled(array: Array) -> Array:
    """Returns complex numbers in c128, all others in f64."""
    array = np.asarray(array)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def narrowed(array: Array, element_type: ElementType) -> Array:
    """Returns computed numbers as `element_type`: integers cut to its bits, floats rounded once.

    `array` has integers of 64 bits for an integer type, floats of any width for a float type.
    """
    match element_type.kind:
        case Kind.SIGNED | Kind.UNSIGNED:
            return _cut(np.asarray(array), element_type)
        case Kind.FLOAT:
            return rounded(array, element_type)
    return np.asarray(array).astype(element_type.numpy, copy=False)


def _cut(array: Array, element_type: ElementType) -> Array:
    """Returns the low bits of integers, as many as the type has."""
    unused = 64 - element_type.bits
    if element_type.is_signed:
        # Moving down a signed number copies its sign into all bits above it.
        signed = np.left_shift(array.astype(np.int64), unused)
        return np.right_shift(signed, unused).astype(element_type.numpy)
    unsigned = np.left_shift(array.astype(np.uint64), unused)
    return np.right_shift(unsigned, unused).astype(element_type.numpy)


def rounded(array: Array, element_type: ElementType) -> Array:
    """Returns floats of any width rounded once to a float type, to nearest, ties to even."""
    array = np.asarray(array)
    if array.dtype == element_type.numpy:
        return array
    if element_type.bits >= 32:
        return array.astype(element_type.numpy)
    single = _single_to_odd(array) if array.dtype == np.float64 else array.astype(np.float32)
    if element_type is F8E8M0FNU:
        # ml_dtypes takes some numbers that are no normal singles to the power above the nearest.
        single = np.where((single > 0) & (single < 1.5 * 2.0**-127), 2.0**-127, single)
    if element_type.float_format is not None and element_type.float_format.nan is NanEncoding.NONE:
        # Of such a type NaN is -0, whatever its own sign, which arithmetic leaves to the machine.
        single = np.where(np.isnan(single), np.float32(np.nan), single)
    return single.astype(element_type.numpy)


def _single_to_odd(array: Array) -> Array:
    """Returns doubles as singles that a second rounding finds on the same side of every tie.

    A number between two singles becomes the one whose last bit is set: it is no tie of a
    narrower type, and lies between the same numbers of that type.
    """
    nearest = array.astype(np.float32)
    back = nearest.astype(np.float64)
    too_far = np.abs(back) > np.abs(array)
    cut = np.where(too_far, np.nextafter(nearest, np.float32(0)), nearest)
    inexact = (back != array) & ~np.isnan(array)
    return np.asarray(cut.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)


def converted(array: Array, from_type: ElementType, to_type: ElementType) -> Array:
    """Returns the values of `to_type` nearest to values of `from_type`, as `convert` does."""
    array = np.asarray(array)
    if from_type is to_type:
        return array
    if to_type.kind is Kind.PRED:
        return np.asarray(widened(array, from_type) != 0)
    if to_type.is_complex:
        return _to_complex(array, from_type, to_type)
    if from_type.is_complex:
        return converted(array.real, from_type.component, to_type)
    if from_type.is_float:
        return rounded(array, to_type) if to_type.is_float else saturated(array, to_type)
    # Numbers of pred are 0 and 1.
    wide = array.astype(np.int64 if from_type.is_signed else np.uint64)
    return _float_of_integers(wide, to_type) if to_type.is_float else _cut(wide, to_type)


def _to_complex(array: Array, from_type: ElementType, to_type: ElementType) -> Array:
    if from_type.is_complex:
        return array.astype(to_type.numpy)
    return converted(array, from_type, to_type.component).astype(to_type.numpy)


def _float_of_integers(wide: Array, element_type: ElementType) -> Array:
    """Returns integers of 64 bits rounded once to a float type."""
    if element_type.bits >= 32:
        return wide.astype(element_type.numpy)
    magnitude = np.where(wide < 0, -wide, wide).astype(np.uint64)
    # The lowest bit kept stands for all below it, so that a double can hold the number.
    lost = np.asarray((magnitude & 0x7FF) != 0).astype(np.uint64)
    sticky = magnitude & 0xFFFF_FFFF_FFFF_F800 | lost << 11
    exact = np.where(magnitude >> 53 == 0, magnitude, sticky).astype(np.float64)
    return rounded(np.where(wide < 0, -exact, exact), element_type)


def saturated(array: Array, element_type: ElementType) -> Array:
    """Returns floats cut towards zero and kept in the range of an integer type; NaN becomes 0."""
    low, high = integer_limits(element_type)
    wide_type = np.int64 if element_type.is_signed else np.uint64
    whole = np.trunc(np.asarray(array).astype(np.float64))
    # high + 1 is a power of two, which every width of float has exactly.
    fits = (whole >= low) & (whole < high + 1)
    inside = np.where(fits, whole, 0).astype(wide_type)
    beyond = np.where(whole > 0, wide_type(high), wide_type(low))
    settled = np.where(fits | np.isnan(whole), inside, beyond)
    return settled.astype(element_type.numpy)


def integer_limits(element_type: ElementType) -> tuple[int, int]:
    """Returns the least and the greatest value of an integer type."""
    if element_type.is_signed:
        half = 1 << (element_type.bits - 1)
        return -half, half - 1
    return 0, (1 << element_type.bits) - 1
