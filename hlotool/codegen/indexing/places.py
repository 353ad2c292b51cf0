"""Numbers of places, put together and taken apart. Quotients are of what is not negative.

Divisors are constants that are not 0, so that nothing can fault and code may be moved out of
branches.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter


def quotient(function: FunctionWriter, value: Value, divisor: int) -> Value:
    """Writes a number divided by a constant, rounded down."""
    return value if divisor == 1 else _by_constant(function, "udiv", value, divisor)


def remainder(function: FunctionWriter, value: Value, divisor: int) -> Value:
    """Writes what is left of a number that is divided by a constant."""
    return (
        constant(value.type, 0) if divisor == 1 else _by_constant(function, "urem", value, divisor)
    )


def divided(function: FunctionWriter, value: Value, divisor: int) -> tuple[Value, Value]:
    """Writes quotient and remainder of a number by a constant."""
    return quotient(function, value, divisor), remainder(function, value, divisor)


def decoded(function: FunctionWriter, place: Value, extents: Sequence[int]) -> list[Value]:
    """Writes the index of a place among all in an array of some sizes, the last one fastest.

    Without sizes there is one place, and its index is empty.
    """
    found = []
    for extent in reversed(extents[1:]):
        place, rest = divided(function, place, extent)
        found.append(rest)
    return [place, *reversed(found)] if extents else []


def scaled(function: FunctionWriter, value: Value, factor: int) -> Value:
    """Writes a product with a number; what is known is not computed."""
    if factor == 0 or value.integer is not None:
        return constant("i64", (value.integer or 0) * factor)
    if factor == 1:
        return value
    return function.binary("mul nsw", value, constant("i64", factor))


def increased(function: FunctionWriter, value: Value, number: int) -> Value:
    """Writes a sum with a number; what is known is not computed."""
    if value.integer is not None:
        return constant("i64", value.integer + number)
    if number == 0:
        return value
    return function.binary("add nsw", value, constant("i64", number))


def _by_constant(function: FunctionWriter, opcode: str, value: Value, divisor: int) -> Value:
    number = function.splat(constant(value.type, divisor), value.lanes)
    return function.pure(f"{opcode} {value.text}, {number.name}", (value,), value.type, value.lanes)
