"""The bits of numbers as integers, and numbers by their bits."""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.conversion import resized
from hlotool.codegen.numbers.element import Element, register_type
from hlotool.codegen.numbers.rounding import from_bits, to_bits
from hlotool.ir.element_type import PRED, ElementType


def bits_of(function: FunctionWriter, element: Element) -> Value:
    """Writes the bits of an element, unsigned, in an integer of at least as many bits.

    Of a complex number the real part has the lower half; pred has 8 bits, 0 or 1.
    """
    element_type = element.type
    if element_type.is_complex:
        return _joined(function, element)
    if element_type is PRED:
        return function.cast("zext", element.value, "i8")
    if not element_type.is_float:
        return element.value
    if element_type.bits < 32:
        return to_bits(function, element_type, element.value)
    return function.cast("bitcast", element.value, f"i{element_type.bits}")


def of_bits(function: FunctionWriter, element_type: ElementType, bits: Value) -> Element:
    """Writes the element that has these bits; those above its width are left out.

    `bits` has at least as many as the type; of pred all but 0 are true.
    """
    if element_type.is_complex:
        return _parted(function, element_type, bits)
    if element_type is PRED:
        return Element(PRED, (function.compare("ne", bits, constant(bits.type, 0)),))
    if not element_type.is_float:
        lane = register_type(element_type)
        return Element(element_type, (resized(function, bits, lane, signed=False),))
    held = resized(function, bits, f"i{8 * element_type.storage_bytes}", signed=False)
    if element_type.bits < 8:
        held = function.binary("and", held, constant("i8", (1 << element_type.bits) - 1))
    if element_type.bits < 32:
        return Element(element_type, (from_bits(function, element_type, held),))
    return Element(element_type, (function.cast("bitcast", held, register_type(element_type)),))


def _joined(function: FunctionWriter, element: Element) -> Value:
    width = element.type.component.bits
    low, high = (
        function.cast("zext", function.cast("bitcast", part, f"i{width}"), f"i{2 * width}")
        for part in element.parts
    )
    moved = function.binary("shl", high, constant(high.type, width))
    return function.binary("or", low, moved)


def _parted(function: FunctionWriter, element_type: ElementType, bits: Value) -> Element:
    component = element_type.component
    moved = function.binary("lshr", bits, constant(bits.type, component.bits))
    low, high = (function.cast("trunc", half, f"i{component.bits}") for half in (bits, moved))
    lane = register_type(component)
    return Element(element_type, tuple(function.cast("bitcast", p, lane) for p in (low, high)))


def selected(function: FunctionWriter, condition: Value, yes: Element, no: Element) -> Element:
    """Writes a choice between elements of one type, lane by lane where the condition has lanes."""
    parts = zip(yes.parts, no.parts, strict=True)
    found = tuple(function.select(condition, one, other) for one, other in parts)
    name = yes.type.name
    one, other = (function.form(name, side.parts[0]) for side in (yes, no))
    if one is not None and other is not None and one.type == other.type:
        # The bits are chosen as well, so that nothing is rounded when they are stored.
        function.forms[name, found[0].name] = function.select(condition, one, other)
    return Element(yes.type, found)
