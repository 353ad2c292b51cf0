"""Floats narrower than 32 bits: from their bits to an f32 of the same value, and back, rounded.

The bits of a value are kept in mind where they are known, so that what is loaded and stored
again, or rounded and stored, is converted once and keeps the bits of NaN.
"""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.math.number import Integer, Number
from hlotool.codegen.numbers.narrow_formats import decoded, encoded, single_to_odd
from hlotool.ir.element_type import BF16, F8E5M2, F16, F64, ElementType


def from_bits(function: FunctionWriter, element_type: ElementType, bits: Value) -> Value:
    """Writes the f32 of the value that bits of a narrow float stand for."""
    if element_type is F16 and "half" in function.native:
        found = function.cast("fpext", function.cast("bitcast", bits, "half"), "float")
    elif element_type is F8E5M2 and "half" in function.native:
        # These are the upper bits of an f16.
        wide = function.binary("shl", function.cast("zext", bits, "i16"), constant("i16", 8))
        found = function.cast("fpext", function.cast("bitcast", wide, "half"), "float")
    elif element_type is BF16:
        wide = function.cast("zext", bits, "i32")
        shifted = function.binary("shl", wide, constant("i32", 16))
        found = function.cast("bitcast", shifted, "float")
    else:
        assert element_type.float_format is not None
        wide = function.cast("zext", bits, "i32")
        found = decoded(Integer(function, wide), element_type.float_format).value
    function.forms[element_type.name, found.name] = bits
    return found


def to_bits(function: FunctionWriter, element_type: ElementType, value: Value) -> Value:
    """Writes the bits of a narrow float; an f32 or f64 of another value is rounded to nearest."""
    known = function.form(element_type.name, value)
    if known is None:
        known = _nearest(function, element_type, value)
    if known.type == "i32":
        # Of a bf16 the bits may be known as the upper half of those of the f32.
        known = function.binary("lshr", known, constant("i32", 16))
        known = function.cast("trunc", known, "i16")
    return known


def rounded(function: FunctionWriter, element_type: ElementType, value: Value) -> Value:
    """Writes a result of an operation, an f32 or f64, rounded once to its type."""
    if not element_type.is_float:
        return value
    if element_type.bits >= 32:
        lane = "double" if element_type is F64 else "float"
        return function.cast("fpext" if element_type is F64 else "fptrunc", value, lane)
    if (element_type.name, value.name) in function.forms:
        return value
    bits = _nearest(function, element_type, value)
    if element_type is not BF16:
        return from_bits(function, element_type, bits)
    high = function.binary("and", bits, constant("i32", -65536))
    found = function.cast("bitcast", high, "float")
    function.forms[element_type.name, found.name] = bits
    return found


def is_exactly(function: FunctionWriter, element_type: ElementType, value: Value) -> Value:
    """Returns a value of which it is known that it needs no rounding to its type."""
    if element_type is BF16 and (element_type.name, value.name) not in function.forms:
        form = function.cast("bitcast", value, "i32")
        function.forms[element_type.name, value.name] = form
    return value


def _nearest(function: FunctionWriter, element_type: ElementType, value: Value) -> Value:
    """Writes the bits of the nearest number; of a bf16 as the upper half of an `i32`."""
    if value.type == "double":
        value = single_to_odd(Number(function, value)).value
    if element_type is BF16:
        return _bfloat_in_place(function, value)
    if element_type is F16 and "half" in function.native:
        return function.cast("bitcast", function.cast("fptrunc", value, "half"), "i16")
    form = element_type.float_format
    assert form is not None
    found = encoded(Number(function, value), form).value
    return function.cast("trunc", found, f"i{8 * element_type.storage_bytes}")


def _bfloat_in_place(function: FunctionWriter, value: Value) -> Value:
    """Writes the bits of an f32 whose upper half is the rounded bf16."""
    bits = function.cast("bitcast", value, "i32")
    odd = function.binary(
        "and", function.binary("lshr", bits, constant("i32", 16)), constant("i32", 1)
    )
    half = function.binary("add", odd, constant("i32", 0x7FFF))
    nearest = function.binary("add", bits, half)
    quiet = function.binary("or", bits, constant("i32", 0x400000))
    return function.select(function.compare("uno", value, value), quiet, nearest)
