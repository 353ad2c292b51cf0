"""Floats that keep their type, rounded to fewer bits of exponent and mantissa."""

from __future__ import annotations

from math import inf

from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.math.number import Condition, Integer
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.patterns import bits_of, of_bits
from hlotool.ir.element_type import FloatFormat, NanEncoding
from hlotool.ir.float_format import encode, largest_bits, sign_bit


def reduced(
    function: FunctionWriter, element: Element, exponent_bits: int, mantissa_bits: int
) -> Element:
    """Writes floats rounded to so many bits, as the op `reduce-precision` has it.

    What is too large overflows as in the type, what is too small for a normal number is 0.
    """
    element_type = element.type
    form = element_type.float_format
    assert form is not None
    held = bits_of(function, element)
    bits = Integer(function, function.cast("zext", held, f"i{max(32, element_type.bits)}"))
    sign = bits & sign_bit(form)
    found = _rounded(bits & (sign_bit(form) - 1 if form.has_sign else -1), form, mantissa_bits)
    is_large = found.compare("ugt", largest_bits(form))
    if exponent_bits < form.exponent_bits:
        bias = (1 << (exponent_bits - 1)) - 1
        exponent = found >> form.mantissa_bits
        is_large = is_large | exponent.compare("sgt", form.bias + bias)
        is_small = exponent.compare("sle", form.bias - bias)
        found = is_small.choose_integer(found.alike(encode(0.0, form)), found)
    found = is_large.choose_integer(found.alike(encode(inf, form)), found)
    if form.nan is NanEncoding.NEGATIVE_ZERO:
        sign = found.compare("eq", 0).choose_integer(sign.alike(0), sign)
    found = _is_nan(function, element).choose_integer(bits, found | sign)
    return of_bits(function, element_type, found.value)


def _rounded(size: Integer, form: FloatFormat, mantissa_bits: int) -> Integer:
    dropped = form.mantissa_bits - mantissa_bits
    if dropped <= 0:
        return size
    last = (size >> dropped) & 1
    return (size + ((1 << (dropped - 1)) - 1) + last) >> dropped << dropped


def _is_nan(function: FunctionWriter, element: Element) -> Condition:
    value = element.value
    return Condition(function, function.compare("uno", value, value))
