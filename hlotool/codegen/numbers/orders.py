"""The order of numbers: the greater and the lesser of two floats, and the order of all bits."""

from __future__ import annotations

import math
import struct

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.patterns import bits_of
from hlotool.ir.element_type import FloatFormat, NanEncoding
from hlotool.ir.float_format import nan_bits, sign_bit

_INTEGERS = {"float": "i32", "double": "i64"}


def greater_float(function: FunctionWriter, one: Value, other: Value) -> Value:
    """Writes the greater of two floats; NaN where one is NaN, and 0 is greater than -0."""
    if "maximum" in function.native:
        return function.intrinsic("maximum", one, other)
    bound, value = _constant_and_value(one, other)
    if bound is not None:
        # Of a constant the comparison alone may settle zeros and NaN.
        predicate = "olt" if bound or math.copysign(1, bound) < 0 else "ole"
        is_less = function.compare(predicate, value, constant(value.type, bound))
        return function.select(is_less, constant(value.type, bound), value)
    # Both orders differ only for zeros of two signs, and for NaN.
    first, second = _either(function, "ogt", one, other)
    found = _bitwise(function, "and", first, second)
    is_nan = function.compare("uno", one, other)
    return function.select(is_nan, constant(one.type, math.nan), found)


def lesser_float(function: FunctionWriter, one: Value, other: Value) -> Value:
    """Writes the lesser of two floats; NaN where one is NaN, and -0 is less than 0."""
    if "maximum" in function.native:
        return function.intrinsic("minimum", one, other)
    bound, value = _constant_and_value(one, other)
    if bound is not None:
        predicate = "ogt" if bound or math.copysign(1, bound) > 0 else "oge"
        is_greater = function.compare(predicate, value, constant(value.type, bound))
        return function.select(is_greater, constant(value.type, bound), value)
    # Of NaN and another number the bits together are those of a NaN.
    first, second = _either(function, "olt", one, other)
    return _bitwise(function, "or", first, second)


def _either(
    function: FunctionWriter, predicate: str, one: Value, other: Value
) -> tuple[Value, Value]:
    """Writes the choice between two floats in both orders, each an instruction of x86."""
    first = function.select(function.compare(predicate, one, other), one, other)
    second = function.select(function.compare(predicate, other, one), other, one)
    return first, second


def _bitwise(function: FunctionWriter, opcode: str, one: Value, other: Value) -> Value:
    lane = _INTEGERS[one.type]
    ours, theirs = (function.cast("bitcast", value, lane) for value in (one, other))
    return function.cast("bitcast", function.binary(opcode, ours, theirs), one.type)


def _constant_and_value(one: Value, other: Value) -> tuple[float | None, Value]:
    """Returns the number of an operand that is a constant, but not NaN, and the other operand."""
    for bound, value in ((other, one), (one, other)):
        number = _number(bound)
        if number is not None:
            return number, value
    return None, one


def _number(value: Value) -> float | None:
    # A constant of either type is written as the bits of a double.
    text = value.name.removeprefix(f"splat ({value.type} ").removesuffix(")")
    if not value.is_constant or not text.startswith("0x"):
        return None
    (number,) = struct.unpack("<d", int(text, 16).to_bytes(8, "little"))
    return None if math.isnan(number) else float(number)


def total_order(function: FunctionWriter, element: Element) -> Value:
    """Writes signed integers in the order of all bits of floats: -NaN, -inf, -0, 0, inf, NaN.

    Only equal bits have equal integers. A NaN in the place of -0 is a negative one: the first.
    """
    form = element.type.float_format
    assert form is not None
    bits = bits_of(function, element)
    if element.type.bits >= 32:
        return _signed_order(function, bits, -1 << (element.type.bits - 1))
    wide = function.cast("zext", bits, "i32")
    if form.nan is NanEncoding.NEGATIVE_ZERO:
        return _order_without_negative_zero(function, wide, form)
    sign = sign_bit(form)
    if not sign:
        return wide
    # The sign is brought to the place that it has in the wider integer.
    unused = constant("i32", 32 - sign.bit_length())
    return _signed_order(function, function.binary("shl", wide, unused), -1 << 31)


def _signed_order(function: FunctionWriter, bits: Value, sign: int) -> Value:
    turned = function.binary("xor", bits, constant(bits.type, ~sign))
    is_negative = function.compare("slt", bits, constant(bits.type, 0))
    return function.select(is_negative, turned, bits)


def _order_without_negative_zero(function: FunctionWriter, bits: Value, form: FloatFormat) -> Value:
    unused = constant("i32", 32 - sign_bit(form).bit_length())
    order = _signed_order(function, function.binary("shl", bits, unused), -1 << 31)
    is_nan = function.compare("eq", bits, constant("i32", nan_bits(form)))
    return function.select(is_nan, constant("i32", -1 << 31), order)
