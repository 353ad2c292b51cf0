"""Rounding of numbers to the bits of any float format, and back, without numpy.

Bits are non-negative integers: sign, exponent, mantissa from high to low.
"""

from __future__ import annotations

from fractions import Fraction
from math import copysign, inf, isinf, isnan, ldexp, nan

from hlotool.ir.element_type import FloatFormat, NanEncoding


def encode(value: float | Fraction, float_format: FloatFormat) -> int:
    """Returns the bits of the format's number nearest to `value`, ties to even.

    What is too large becomes infinity, in formats without infinity NaN, in formats without
    either the largest number; so does infinity. NaN becomes the default NaN, which in a
    format without NaN is -0. Zero and negative numbers become NaN in a format without sign.
    """
    if isinstance(value, float) and isnan(value):
        return nan_bits(float_format, negative=copysign(1, value) < 0)
    negative = value < 0 or (value == 0 and isinstance(value, float) and copysign(1, value) < 0)
    if not float_format.has_sign and value <= 0:
        return nan_bits(float_format)
    largest = largest_bits(float_format)
    if isinstance(value, float) and isinf(value):
        bits = largest + 1
    else:
        bits = _round(abs(Fraction(value)), float_format)
    if bits > largest:
        return _overflow_bits(float_format, negative=negative)
    if negative and (bits or float_format.nan is not NanEncoding.NEGATIVE_ZERO):
        bits |= sign_bit(float_format)
    return bits


def decode(bits: int, float_format: FloatFormat) -> float:
    """Returns the number that `bits` mean, exactly; a NaN loses its payload."""
    negative = bool(bits & sign_bit(float_format))
    if is_nan(bits, float_format):
        return -nan if negative else nan
    magnitude = bits & _magnitude_mask(float_format)
    if magnitude > largest_bits(float_format):
        return -inf if negative else inf
    mantissa_bits, bias = float_format.mantissa_bits, float_format.bias
    exponent = magnitude >> mantissa_bits
    mantissa = magnitude & ((1 << mantissa_bits) - 1)
    if exponent or not mantissa_bits:
        mantissa += 1 << mantissa_bits
        exponent -= 1
    value = ldexp(mantissa, exponent + 1 - bias - mantissa_bits)
    return -value if negative else value


def nan_bits(
    float_format: FloatFormat, *, negative: bool = False, payload: int | None = None
) -> int:
    """Returns the bits of a NaN; raises `ValueError` for a payload the format cannot hold."""
    sign = sign_bit(float_format) if negative else 0
    encoding = float_format.nan
    if encoding is NanEncoding.IEEE:
        if payload is None:
            payload = default_payload(float_format)
        most = (1 << float_format.mantissa_bits) - 1
        if not 0 < payload <= most:
            raise ValueError(f"NaN payload {payload:#x} is not within 0x1 and {most:#x}")
        return sign | infinity_bits(float_format) | payload
    if payload is not None:
        raise ValueError("the type has no NaN with a payload")
    if encoding is NanEncoding.ALL_ONES:
        return sign | _magnitude_mask(float_format)
    if encoding is NanEncoding.NEGATIVE_ZERO:
        return sign_bit(float_format)
    return sign_bit(float_format) ^ sign


def is_nan(bits: int, float_format: FloatFormat) -> bool:
    """Whether `bits` mean NaN."""
    magnitude = bits & _magnitude_mask(float_format)
    match float_format.nan:
        case NanEncoding.IEEE:
            return magnitude > infinity_bits(float_format)
        case NanEncoding.ALL_ONES:
            return magnitude == _magnitude_mask(float_format)
        case NanEncoding.NEGATIVE_ZERO:
            return bits == sign_bit(float_format)
        case NanEncoding.NONE:
            return False


def nan_payload(bits: int, float_format: FloatFormat) -> int | None:
    """Returns the payload of a NaN where it is not the default one."""
    if float_format.nan is not NanEncoding.IEEE:
        return None
    payload = bits & ((1 << float_format.mantissa_bits) - 1)
    return None if payload == default_payload(float_format) else payload


def default_payload(float_format: FloatFormat) -> int:
    """Returns the payload of the NaN that arithmetic yields in an IEEE format."""
    return 1 << (float_format.mantissa_bits - 1)


def sign_bit(float_format: FloatFormat) -> int:
    """Returns the bit of the sign; 0 for a format without sign."""
    return _magnitude_mask(float_format) + 1 if float_format.has_sign else 0


def infinity_bits(float_format: FloatFormat) -> int:
    """Returns the bits with all ones in the exponent, infinity in an IEEE format."""
    return ((1 << float_format.exponent_bits) - 1) << float_format.mantissa_bits


def largest_bits(float_format: FloatFormat) -> int:
    """Returns the bits of the largest finite number."""
    match float_format.nan:
        case NanEncoding.IEEE:
            return infinity_bits(float_format) - 1
        case NanEncoding.ALL_ONES:
            return _magnitude_mask(float_format) - 1
        case NanEncoding.NEGATIVE_ZERO | NanEncoding.NONE:
            return _magnitude_mask(float_format)


def _overflow_bits(float_format: FloatFormat, *, negative: bool) -> int:
    sign = sign_bit(float_format) if negative else 0
    if float_format.has_infinity:
        return sign | infinity_bits(float_format)
    if float_format.nan is NanEncoding.NONE:
        return sign | largest_bits(float_format)
    return nan_bits(float_format, negative=negative)


def _round(value: Fraction, float_format: FloatFormat) -> int:
    """Returns the bits nearest to a number that is not negative, whatever the exponent."""
    numerator, denominator = value.as_integer_ratio()
    mantissa_bits, bias = float_format.mantissa_bits, float_format.bias
    # Without mantissa there are no subnormal numbers: exponent 0 is as good as any.
    lowest = 1 - bias if mantissa_bits else -bias
    exponent = max(_binary_exponent(numerator, denominator), lowest)
    shift = mantissa_bits - exponent
    if shift >= 0:
        numerator <<= shift
    else:
        denominator <<= -shift
    quotient, rest = divmod(numerator, denominator)
    if not mantissa_bits:
        # One significant bit is never even: ties go up, and nothing is below the lowest.
        return exponent - lowest + (quotient == 1 and 2 * rest >= denominator)
    if 2 * rest > denominator or (2 * rest == denominator and quotient & 1):
        quotient += 1
    # The leading one of the quotient adds 1 to the exponent field, a carry 1 more.
    return ((exponent - lowest) << mantissa_bits) + quotient


def _binary_exponent(numerator: int, denominator: int) -> int:
    if not numerator:
        return -(1 << 30)
    exponent = numerator.bit_length() - denominator.bit_length()
    scaled = (numerator, denominator << exponent) if exponent >= 0 else (
        numerator << -exponent, denominator)  # fmt: skip
    return exponent if scaled[0] >= scaled[1] else exponent - 1


def _magnitude_mask(float_format: FloatFormat) -> int:
    return (1 << (float_format.exponent_bits + float_format.mantissa_bits)) - 1
