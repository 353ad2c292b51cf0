"""Floats narrower than 32 bits: from their bits to an f32 of the same value, and back, rounded."""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import ElementType


def from_bits(function: FunctionWriter, element_type: ElementType, bits: Value) -> Value:
    """Writes the f32 of the value that bits of a narrow float stand for."""
    if element_type.name == "f16":
        return function.cast("fpext", function.cast("bitcast", bits, "half"), "float")
    if element_type.name == "bf16":
        wide = function.cast("zext", bits, "i32")
        return function.cast("bitcast", function.binary("shl", wide, constant("i32", 16)), "float")
    raise NotCompiled(f"elements of type {element_type.name}")


def to_bits(function: FunctionWriter, element_type: ElementType, value: Value) -> Value:
    """Writes the bits of a narrow float; an f32 that has another value is rounded to nearest."""
    if element_type.name == "f16":
        return function.cast("bitcast", function.cast("fptrunc", value, "half"), "i16")
    if element_type.name == "bf16":
        shifted = function.binary("lshr", _bfloat_in_place(function, value), constant("i32", 16))
        return function.cast("trunc", shifted, "i16")
    raise NotCompiled(f"elements of type {element_type.name}")


def rounded(function: FunctionWriter, element_type: ElementType, value: Value) -> Value:
    """Writes a result of an operation, rounded to its type; of 32 bits and more it is that."""
    if not element_type.is_float or element_type.bits >= 32:
        return value
    if element_type.name == "bf16":
        high = function.binary("and", _bfloat_in_place(function, value), constant("i32", -65536))
        return function.cast("bitcast", high, "float")
    return from_bits(function, element_type, to_bits(function, element_type, value))


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
