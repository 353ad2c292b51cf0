"""Numbers of one element type as the nearest ones of another."""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, is_narrow_float, register_type
from hlotool.codegen.numbers.rounding import rounded
from hlotool.ir.element_type import PRED, ElementType, Kind

_SINGLE_DIGITS = 24
"""Integers of so many bits are numbers of `float`."""
_DOUBLE_DIGITS = 53


def converted(function: FunctionWriter, element: Element, to_type: ElementType) -> Element:
    """Writes the value of `to_type` nearest to an element, as the op `convert` has it.

    Floats become integers towards zero and stay in range, NaN becomes 0; wide integers lose
    their high bits; whatever is not 0 becomes true; of a complex number the real part is taken.
    """
    from_type = element.type
    if from_type is to_type:
        return element
    if to_type is PRED:
        return Element(PRED, (_is_not_zero(function, element),))
    first = Element(from_type.component, element.parts[:1])
    if not to_type.is_complex:
        return Element(to_type, (_real(function, first, to_type),))
    parts = [Element(from_type.component, (part,)) for part in element.parts]
    found = [_real(function, part, to_type.component) for part in parts]
    if len(found) == 1:
        found.append(constant(found[0].type, 0))
    return Element(to_type, tuple(found))


def _is_not_zero(function: FunctionWriter, element: Element) -> Value:
    is_float = element.type.is_float or element.type.is_complex
    whole = constant("i1", 0)
    for part in element.parts:
        flag = function.compare("une" if is_float else "ne", part, constant(part.type, 0))
        whole = flag if part is element.parts[0] else function.binary("or", whole, flag)
    return whole


def _real(function: FunctionWriter, element: Element, to_type: ElementType) -> Value:
    from_type, value = element.type, element.value
    if from_type is to_type:
        return value
    if from_type.is_float:
        if to_type.is_float:
            return rounded(function, to_type, value)
        return saturated(function, value, to_type)
    if to_type.is_float:
        return of_integer(function, from_type, value, to_type)
    return resized(function, value, register_type(to_type), signed=from_type.is_signed)


def resized(function: FunctionWriter, value: Value, lane: str, *, signed: bool) -> Value:
    """Writes an integer in another width: high bits are lost, or are copies of the sign or 0."""
    ours, theirs = _bits(value.type), _bits(lane)
    if ours >= theirs:
        return function.cast("trunc", value, lane)
    return function.cast("sext" if signed else "zext", value, lane)


def _bits(lane: str) -> int:
    return int(lane[1:])


def saturated(function: FunctionWriter, value: Value, to_type: ElementType) -> Value:
    """Writes a float cut towards zero and kept in the range of an integer type; NaN becomes 0."""
    lane, signed = register_type(to_type), to_type.is_signed
    if to_type.bits > (32 if value.type == "double" else 16):
        return _saturated_wide(function, value, to_type)
    # Of a narrow type both limits are floats, and i32 has room for everything between them.
    half = 1 << (to_type.bits - 1)
    low, high = (-half, half - 1) if signed else (0, 2 * half - 1)
    number = function.compare("ord", value, value)
    for predicate, limit in (("olt", low), ("ogt", high)):
        bound = constant(value.type, limit)
        is_beyond = function.compare(predicate, value, bound)
        value = function.select(is_beyond, bound, value)
    value = function.select(number, value, constant(value.type, 0))
    opcode = "fptoui" if to_type.bits == 32 and not signed else "fptosi"
    return function.cast("trunc", function.cast(opcode, value, "i32"), lane)


def _saturated_wide(function: FunctionWriter, value: Value, to_type: ElementType) -> Value:
    """Writes the same for a type whose greatest number may be no float: the next one is."""
    lane, signed = register_type(to_type), to_type.is_signed
    bits = to_type.bits - signed
    low = constant(value.type, -(2.0**bits) if signed else 0.0)
    beyond = constant(value.type, 2.0**bits)
    raised = function.select(function.compare("olt", value, low), low, value)
    # Neither NaN nor what is too large may be converted, whatever becomes of it.
    fits = function.compare("olt", raised, beyond)
    held = function.select(fits, raised, constant(value.type, 0))
    found = function.cast("fptosi" if signed else "fptoui", held, lane)
    is_beyond = function.compare("oge", value, beyond)
    return function.select(is_beyond, constant(lane, (1 << bits) - 1), found)


def of_integer(
    function: FunctionWriter, from_type: ElementType, value: Value, to_type: ElementType
) -> Value:
    """Writes an integer, or pred as 0 and 1, rounded once to a float type."""
    bits, signed = _bits(value.type), from_type.is_signed
    if bits == 1:
        # LLVM takes comparisons of the bits of `sitofp i1` for others than they are.
        lane = register_type(to_type)
        one, zero = constant(lane, -1 if signed else 1), constant(lane, 0)
        return rounded(function, to_type, function.select(value, one, zero))
    if bits < 32:
        # There are instructions for i32, of which all narrower ones are numbers.
        value, signed = resized(function, value, "i32", signed=signed), True
    opcode = "sitofp" if signed else "uitofp"
    if not is_narrow_float(to_type):
        return function.cast(opcode, value, register_type(to_type))
    if bits < _SINGLE_DIGITS:
        return rounded(function, to_type, function.cast(opcode, value, "float"))
    lane, digits = ("float", _SINGLE_DIGITS) if bits == 32 else ("double", _DOUBLE_DIGITS)
    exact = function.cast(opcode, _sticky(function, from_type, value, bits - digits), lane)
    return rounded(function, to_type, exact)


def _sticky(
    function: FunctionWriter, element_type: ElementType, value: Value, dropped: int
) -> Value:
    """Writes an integer with the lowest bits gone where it is large, so that a float holds it.

    The lowest bit kept stands for all that are gone: the narrow type lacks it, too.
    """
    lane = value.type
    mask, last = (1 << dropped) - 1, 1 << dropped
    low = function.binary("and", value, constant(lane, mask))
    carry = function.binary("add", low, constant(lane, mask))
    carry = function.binary("and", carry, constant(lane, last))
    kept = function.binary("and", value, constant(lane, ~mask))
    held = function.binary("or", kept, carry)
    # In two's complement the bits kept are those of the number rounded down, of either sign.
    limit = 1 << (_bits(lane) - dropped)
    if element_type.kind is not Kind.SIGNED:
        is_small = function.compare("ult", value, constant(lane, limit))
    else:
        moved = function.binary("add", value, constant(lane, limit // 2))
        is_small = function.compare("ult", moved, constant(lane, limit))
    return function.select(is_small, value, held)
