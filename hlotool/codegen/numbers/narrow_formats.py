"""Floats of any format below 32 bits: their bits from an `f32`, and back, by integer arithmetic.

Nothing but instructions of lanes of 32 bits is needed, and denormals of the formats are right
also where those of `f32` are taken for zero.
"""

from __future__ import annotations

from hlotool.codegen.llvm.value import constant
from hlotool.codegen.math.number import SINGLE, Condition, Integer, Number
from hlotool.ir.element_type import FloatFormat, NanEncoding
from hlotool.ir.float_format import infinity_bits, largest_bits, nan_bits, sign_bit

_MANTISSA = SINGLE.mantissa
_INFINITY = 0x7F800000
_SIZE = 0x7FFFFFFF
_QUIET_NAN = 0x7FC00000


def encoded(value: Number, form: FloatFormat) -> Integer:
    """Writes the bits of the format's number nearest to an `f32`, ties to even, as `i32`."""
    if not form.has_sign:
        return _encoded_power(value, form)
    bits = value.bits()
    size = bits & _SIZE
    found = _magnitude(size, form)
    # What is too large has in each format the bits that are next to those of the largest.
    beyond = largest_bits(form) + (form.nan is not NanEncoding.NONE)
    found = found.compare("ult", beyond).choose_integer(found, beyond)
    width = 1 + form.exponent_bits + form.mantissa_bits
    sign = (bits >> (32 - width)) & sign_bit(form)
    is_nan = size.compare("ugt", _INFINITY)
    if form.nan is NanEncoding.IEEE:
        return is_nan.choose_integer(found.alike(nan_bits(form)), found) | sign
    if form.nan is NanEncoding.NONE:
        return is_nan.choose_integer(found.alike(nan_bits(form)), found | sign)
    if form.nan is NanEncoding.NEGATIVE_ZERO:
        return found.compare("eq", 0).choose_integer(found, found | sign)
    return found | sign


def _magnitude(size: Integer, form: FloatFormat) -> Integer:
    """Writes the bits without sign; those of what is too large are as if exponents went on."""
    dropped = _MANTISSA - form.mantissa_bits
    rebased = (SINGLE.bias - form.bias) << _MANTISSA
    odd = (size >> dropped) & 1
    normal = (size + odd + ((1 << (dropped - 1)) - 1 - rebased)) >> dropped
    # Of this number the last bit counts what the least denormal is: a sum is rounded to it.
    ruler = size.alike((SINGLE.bias + 1 - form.bias + dropped) << _MANTISSA)
    tiny = (size.as_float() + ruler.as_float()).bits() - ruler
    least_normal = (SINGLE.bias + 1 - form.bias) << _MANTISSA
    return size.compare("ult", least_normal).choose_integer(tiny, normal)


def _encoded_power(value: Number, form: FloatFormat) -> Integer:
    """Writes the bits of the nearest power of two, ties up; what is not positive is NaN."""
    bits = value.bits()
    half = 1 << (_MANTISSA - 1)
    found = (bits + half) >> _MANTISSA
    # The least power is a denormal of `f32`; below it, zero apart, everything becomes it.
    found = bits.compare("ult", 3 * half // 2).choose_integer(found.alike(0), found)
    no_number = bits.compare("slt", 1) | bits.compare("ugt", _INFINITY)
    return no_number.choose_integer(found.alike(nan_bits(form)), found)


def decoded(bits: Integer, form: FloatFormat) -> Number:
    """Writes the `f32` of the number that bits in an `i32` mean; bits above are left out."""
    if not form.has_sign:
        return _decoded_power(bits & 0xFF)
    sign = sign_bit(form)
    size = bits & (sign - 1)
    shifted = size << (_MANTISSA - form.mantissa_bits)
    found = shifted + ((SINGLE.bias - form.bias) << _MANTISSA)
    least_normal = shifted.alike((SINGLE.bias + 1 - form.bias) << _MANTISSA)
    tiny = (shifted + least_normal).as_float() - least_normal.as_float()
    is_tiny = size.compare("ult", 1 << form.mantissa_bits)
    found = is_tiny.choose_integer(tiny.bits(), found)
    if form.nan is NanEncoding.IEEE:
        is_endless = size.compare("uge", infinity_bits(form))
        found = is_endless.choose_integer(shifted | _INFINITY, found)
    elif form.nan is not NanEncoding.NONE:
        found = _is_nan(bits, size, form).choose_integer(found.alike(_QUIET_NAN), found)
    width = 1 + form.exponent_bits + form.mantissa_bits
    return (found | ((bits & sign) << (32 - width))).as_float()


def _is_nan(bits: Integer, size: Integer, form: FloatFormat) -> Condition:
    if form.nan is NanEncoding.ALL_ONES:
        return size.compare("eq", nan_bits(form))
    return (bits & 0xFF).compare("eq", nan_bits(form))


def _decoded_power(bits: Integer) -> Number:
    found = bits << _MANTISSA
    found = bits.compare("eq", 0).choose_integer(found.alike(1 << (_MANTISSA - 1)), found)
    is_nan = bits.compare("eq", 0xFF)
    return is_nan.choose_integer(found.alike(_QUIET_NAN), found).as_float()


def single_to_odd(value: Number) -> Number:
    """Writes a `double` as an `f32` that a second rounding finds on the same side of every tie.

    A number between two singles becomes the one whose last bit is set.
    """
    writer = value.writer
    nearest = value.narrowed()
    back = nearest.widened()
    is_inexact = Condition(writer, writer.compare("one", back.value, value.value))
    is_beyond = back.size() > value.size()
    one = Integer(writer, constant("i32", 1, value.value.lanes))
    bits = nearest.bits() - is_beyond.choose_integer(one, 0)
    return (bits | is_inexact.choose_integer(one, 0)).as_float()
