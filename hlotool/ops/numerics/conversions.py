"""How numbers change their bits or lose some: by reading them anew, by rounding, by chance."""

from __future__ import annotations

from math import inf

from hlotool.ir.element_type import ElementType, Kind, NanEncoding
from hlotool.ir.float_format import encode, largest_bits, sign_bit
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np
from hlotool.ops.numerics.floats import bit_pattern
from hlotool.ops.numerics.integers import pattern
from hlotool.ops.numerics.widths import narrowed, saturated, widened


def bits_of(array: Array, element_type: ElementType) -> Array:
    """Returns the bits of each element, at most 64, as uint64."""
    return pattern(bit_pattern(array), element_type)


def of_bits(bits: Array, element_type: ElementType) -> Array:
    """Returns the elements that have these bits, given as uint64; of pred all but 0 are true.

    Bits above those of the type are left out.
    """
    if element_type.is_integer:
        return narrowed(bits, element_type)
    if element_type.kind is Kind.PRED:
        return np.asarray(bits != 0)
    numpy_type = element_type.numpy
    kept = pattern(bits, element_type)
    return kept.astype(np.dtype(f"u{numpy_type.itemsize}")).view(numpy_type)


def reread(array: Array, from_type: ElementType, to_type: ElementType) -> Array:
    """Returns the bits of an array as elements of another type.

    A narrower type adds a dimension of the pieces, the lowest bits first; a wider one takes
    the last dimension as pieces.
    """
    if from_type is to_type:
        return array
    bits = bits_of(array, from_type)
    if from_type.bits > to_type.bits:
        steps = np.arange(0, from_type.bits, to_type.bits, dtype=np.uint64)
        bits = pattern(np.right_shift(bits[..., np.newaxis], steps), to_type)
    elif from_type.bits < to_type.bits:
        steps = np.arange(0, to_type.bits, from_type.bits, dtype=np.uint64)
        bits = np.bitwise_or.reduce(np.left_shift(bits, steps), axis=-1)
    return of_bits(bits, to_type)


def reduced(
    array: Array, element_type: ElementType, exponent_bits: int, mantissa_bits: int
) -> Array:
    """Returns floats rounded to fewer bits of exponent and mantissa, in their own type.

    What is too large overflows as in the type, what is too small for a normal number is 0.
    """
    form = element_type.float_format
    assert form is not None
    bits = bits_of(array, element_type)
    sign = np.asarray(bits & sign_bit(form))
    size = np.asarray(bits & ~np.uint64(sign_bit(form))).astype(np.int64)
    found = np.asarray(size)
    dropped = form.mantissa_bits - mantissa_bits
    if dropped > 0:
        last = np.asarray(size >> dropped) & 1
        found = np.asarray(size + ((1 << (dropped - 1)) - 1) + last) >> dropped << dropped
    too_large = found > largest_bits(form)
    if exponent_bits < form.exponent_bits:
        bias = (1 << (exponent_bits - 1)) - 1
        exponent = np.asarray(found >> form.mantissa_bits)
        too_large = too_large | (exponent > form.bias + bias)
        found = np.where(exponent <= form.bias - bias, encode(0.0, form), found)
    found = np.where(too_large, encode(inf, form), found)
    if form.nan is NanEncoding.NEGATIVE_ZERO:
        sign = np.where(found == 0, 0, sign)
    signed = found.astype(np.uint64) | sign
    is_nan = np.isnan(widened(array, element_type))
    return of_bits(np.where(is_nan, bits, signed), element_type)


def stochastic(array: Array, random: Array, from_type: ElementType, to_type: ElementType) -> Array:
    """Returns floats as integers: a fraction above what `random` says moves away from zero."""
    wide = array.astype(np.float64)
    size = np.abs(wide)
    whole = np.trunc(size)
    fraction = np.where(np.isfinite(size), size - whole, 0)
    threshold = np.floor(fraction * 2.0**from_type.bits).astype(np.uint64)
    moved = whole + (random.astype(np.uint64) < threshold)
    return saturated(np.copysign(moved, wide), to_type)
