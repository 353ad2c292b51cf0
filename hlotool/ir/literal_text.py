"""The text of constant values, byte for byte as dumps have it."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, cast

from hlotool.ir.element_type import ElementType, FloatFormat, Kind
from hlotool.ir.float_format import decode, is_nan, nan_payload, sign_bit

if TYPE_CHECKING:
    from hlotool.ir.literal import Literal
    from hlotool.ir.shape import ArrayShape

ELISION = "{...}"
"""What stands for a value that the text leaves out."""

_FEW_ELEMENTS = 10
_MOST_EMPTY_BRACES = 1 << 20
_UNSIGNED_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def literal_text(literal: Literal, *, print_large: bool, exact: bool = False) -> str:
    """Returns the text between the parentheses of `constant`.

    Without `print_large`, tuples and arrays of more than ten elements are elided. In dumps
    negative zero is `-0`, which reads as an integer and so without its sign; `exact` writes
    `-0.0`.
    """
    if literal.elided:
        return ELISION
    if not literal.shape.is_tuple:
        return _array_text(literal, print_large=print_large, exact=exact)
    if not print_large:
        return ELISION
    elements = literal.elements
    shown = (literal_text(element, print_large=True, exact=exact) for element in elements)
    return f"( {', '.join(shown)} )"


def typed_literal_text(literal: Literal) -> str:
    """Returns shapes and values as the attribute `literal=` has them, always in full."""
    if literal.shape.is_tuple and not literal.elided:
        return f"( {', '.join(map(typed_literal_text, literal.elements))} )"
    return f"{literal.shape.text} {literal_text(literal, print_large=True)}"


def _array_text(literal: Literal, *, print_large: bool, exact: bool) -> str:
    shape = cast("ArrayShape", literal.shape)
    if shape.element_count > _FEW_ELEMENTS and not print_large:
        return ELISION
    element_type = shape.element_type
    if shape.is_scalar and element_type.kind is Kind.PRED:
        return "true" if literal.data[0] else "false"
    texts = element_texts(element_type, literal.data, exact=exact)
    return _nested(texts, shape.dimensions) if shape.dimensions else texts[0]


def element_texts(element_type: ElementType, data: bytes, *, exact: bool = False) -> list[str]:
    """Returns the text of each element of an array's bytes; `exact` as in `literal_text`."""
    if element_type.is_complex:
        parts = element_texts(element_type.component, data, exact=exact)
        return [f"({r}, {i})" for r, i in zip(parts[::2], parts[1::2], strict=True)]
    if element_type.float_format is not None:
        texts = _float_texts(element_type, element_type.float_format, data)
        return ["-0.0" if text == "-0" else text for text in texts] if exact else texts
    return list(map(str, integers(element_type, data)))


def integers(element_type: ElementType, data: bytes) -> Sequence[int]:
    """Returns the elements of an array of integers or of pred, pred as 0 and 1."""
    size = element_type.storage_bytes
    code = _UNSIGNED_CODES[size]
    bits = element_type.bits
    if element_type.is_signed and bits % 8 == 0:
        code = code.lower()
    found = struct.unpack(f"<{len(data) // size}{code}", data)
    if not element_type.is_signed or bits % 8 == 0:
        return found
    half = 1 << (bits - 1)
    return [(value ^ half) - half for value in found]


def _float_texts(element_type: ElementType, float_format: FloatFormat, data: bytes) -> list[str]:
    size = element_type.storage_bytes
    count = len(data) // size
    if size < 4:
        patterns = struct.unpack(f"<{count}{_UNSIGNED_CODES[size]}", data)
        known = {bits: _narrow_text(bits, float_format) for bits in set(patterns)}
        return [known[bits] for bits in patterns]
    code = f"<{count}{'f' if size == 4 else 'd'}"
    values = struct.unpack(code, data)
    texts = _formatted(values, float_format.digits)
    again = struct.unpack(code, struct.pack(code, *map(float, texts)))
    # NaN differs from itself and so is among the inexact.
    inexact = [i for i, (old, new) in enumerate(zip(values, again, strict=True)) if old != new]
    longer = _formatted([values[i] for i in inexact], 9 if size == 4 else 17)
    for index, text in zip(inexact, longer, strict=True):
        if text == "nan":
            place = index * size
            bits = int.from_bytes(data[place : place + size], "little")
            texts[index] = _nan_text(bits, float_format)
        else:
            texts[index] = text
    return texts


def _formatted(values: Sequence[float], digits: int) -> list[str]:
    # One formatting call for all is a third faster than one for each.
    pattern = "\n".join([f"%.{digits}g"] * len(values))
    return (pattern % tuple(values)).split("\n") if values else []


def _narrow_text(bits: int, float_format: FloatFormat) -> str:
    if is_nan(bits, float_format):
        return _nan_text(bits, float_format)
    return f"{decode(bits, float_format):.{float_format.digits}g}"


def _nan_text(bits: int, float_format: FloatFormat) -> str:
    sign = "-" if bits & sign_bit(float_format) else ""
    payload = nan_payload(bits, float_format)
    return f"{sign}nan" if payload is None else f"{sign}nan({payload:#x})"


def _nested(texts: Sequence[str], dimensions: Sequence[int]) -> str:
    rank = len(dimensions)
    *outer, width = dimensions
    if not texts and prod(outer) > _MOST_EMPTY_BRACES:
        # An array without elements may have any number of rows; elided it reads back the same.
        return ELISION
    tight = rank == 1 or width <= 1
    before, after = ("{", "}") if tight else ("{ ", " }")
    rows = [f"{before}{', '.join(row)}{after}" for row in _cut(texts, prod(outer), width)]
    for depth in range(rank - 2, -1, -1):
        groups = _cut(rows, prod(dimensions[:depth]), dimensions[depth])
        if depth and rank > 3:
            size = dimensions[depth - 1]
            rows = [
                _marked(group, f"/*i{depth - 1}={number % size}*/")
                for number, group in enumerate(groups)
            ]
        else:
            rows = [f"{{ {', '.join(group)} }}" for group in groups]
    return rows[0]


def _marked(group: Sequence[str], mark: str) -> str:
    return f"{{ {mark} {', '.join(group)} }}" if group else f"{{ {mark} }}"


def _cut(parts: Sequence[str], count: int, size: int) -> Iterator[Sequence[str]]:
    return (parts[i * size : (i + 1) * size] for i in range(count))
