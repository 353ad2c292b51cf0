"""Elements made of the bytes of elements of another type."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.indexing.index import Index, index_of
from hlotool.codegen.indexing.index_values import lane_values
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.conversion import resized
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import in_memory, in_register, memory_type
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import ElementType


def reinterpreted(
    function: FunctionWriter,
    old: ElementType,
    new: ElementType,
    place: Index,
    operand: Callable[[Index], Element],
    lanes: int,
) -> Element:
    """Writes the element of type `new` at a place in memory that holds elements of type `old`.

    `operand` yields the element of that type at a place among its own.
    """
    if old.is_complex or new.is_complex:
        raise NotCompiled(f"bytes of {old.name} as {new.name} inside a kernel")
    ours, theirs = new.storage_bytes, old.storage_bytes
    lane = f"i{8 * ours}"
    if ours == theirs:
        return _of_bits(function, new, _bits(function, operand(place), f"i{8 * theirs}"))
    if ours < theirs:
        # The low bytes come first.
        count = theirs // ours
        wide = _bits(function, operand(place // count), f"i{8 * theirs}")
        shift = lane_values(function, (place % count) * (8 * ours), lanes)
        shift = resized(function, shift, wide.type, signed=False)
        moved = function.binary("lshr", wide, shift)
        return _of_bits(function, new, function.cast("trunc", moved, lane))
    count = ours // theirs
    total = constant(lane, 0)
    for number in range(count):
        part = _bits(function, operand(place * count + index_of(number)), f"i{8 * theirs}")
        part = function.cast("zext", part, lane)
        moved = function.binary("shl", part, constant(lane, 8 * theirs * number))
        total = function.binary("or", total, moved)
    return _of_bits(function, new, total)


def _bits(function: FunctionWriter, element: Element, lane: str) -> Value:
    return function.cast("bitcast", in_memory(function, element.type, element.value), lane)


def _of_bits(function: FunctionWriter, element_type: ElementType, bits: Value) -> Element:
    held = function.cast("bitcast", bits, memory_type(element_type))
    return Element(element_type, (in_register(function, element_type, held),))
