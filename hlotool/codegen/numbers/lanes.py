"""Lanes of vectors: one value in all of them, and what all of them have together."""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter, type_code
from hlotool.codegen.numbers.element import Element


def in_lanes(function: FunctionWriter, element: Element, lanes: int) -> Element:
    """Returns an element with a value in every lane; one that has the lanes as it is."""
    return Element(element.type, tuple(function.splat(part, lanes) for part in element.parts))


def any_lane(function: FunctionWriter, flags: Value) -> Value:
    """Writes whether a flag is set in any lane."""
    if flags.lanes == 1:
        return flags
    bits = _bits(function, flags)
    return function.compare("ne", bits, constant(bits.type, 0))


def every_lane(function: FunctionWriter, flags: Value) -> Value:
    """Writes whether a flag is set in all lanes."""
    if flags.lanes == 1:
        return flags
    bits = _bits(function, flags)
    return function.compare("eq", bits, constant(bits.type, -1))


def greatest_lane(function: FunctionWriter, value: Value, *, signed: bool = True) -> Value:
    """Writes the greatest of the integers in all lanes, as a value of one lane."""
    if value.lanes == 1:
        return value
    name = "smax" if signed else "umax"
    spelled = f"@llvm.vector.reduce.{name}.{type_code(value.type, value.lanes)}"
    function.declarations.add(f"declare {value.type} {spelled}({value.full_type})")
    return function.pure(f"call {value.type} {spelled}({value.text})", (value,), value.type, 1)


def _bits(function: FunctionWriter, flags: Value) -> Value:
    lane = f"i{flags.lanes}"
    return function.pure(f"bitcast {flags.text} to {lane}", (flags,), lane, 1)
