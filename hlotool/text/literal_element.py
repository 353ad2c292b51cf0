"""Reading of one element of a constant: the text of a number or word to its bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import isfinite

from hlotool.ir.element_type import ElementType, FloatFormat, Kind
from hlotool.ir.float_format import decode, encode, nan_bits

Convert = Callable[[str], bytes]
"""Gives the bytes of an element; raises `ValueError` for what is no value of its type."""

_SHOWN_CHARACTERS = 40
_INTEGER_DIGITS = 20
_PAYLOAD_DIGITS = 13


def converter(element_type: ElementType) -> Convert:
    """Returns what makes a type's bytes of a lexeme; it raises `ValueError` for another lexeme."""
    if element_type.float_format is not None:
        return _float_converter(element_type, element_type.float_format)
    if element_type.kind is Kind.PRED:
        return _read_pred
    low, high = integer_range(element_type)
    size = element_type.storage_bytes

    def read_integer(lexeme: str) -> bytes:
        value = _integer(lexeme)
        if not low <= value <= high:
            raise ValueError(f"{lexeme} is outside the range of {element_type}, {low} to {high}")
        return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")

    return read_integer


def integer_range(element_type: ElementType) -> tuple[int, int]:
    """Returns the least and the greatest integer that the text may have for a type."""
    if element_type.kind is Kind.PRED:
        return -(1 << 63), (1 << 64) - 1
    if element_type.is_signed:
        half = 1 << (element_type.bits - 1)
        return -half, half - 1
    # Older printers write the upper half of u64 as negative numbers.
    lowest = -(1 << 63) if element_type.bits == 64 else 0
    return lowest, (1 << element_type.bits) - 1


def _read_pred(lexeme: str) -> bytes:
    if lexeme == "true":
        return b"\1"
    if lexeme == "false":
        return b"\0"
    return b"\1" if _integer(lexeme) else b"\0"


def _integer(lexeme: str) -> int:
    digits = lexeme.removeprefix("-")
    if not digits.isdigit():
        raise ValueError(f"an integer expected, {shortened(lexeme)} found")
    if len(digits.lstrip("0")) <= _INTEGER_DIGITS:
        value = int(digits.lstrip("0") or "0") * (-1 if lexeme[0] == "-" else 1)
        if -(1 << 63) <= value < 1 << 64:
            return value
    raise ValueError(f"the integer {shortened(lexeme)} does not fit in 64 bits")


def _float_converter(element_type: ElementType, float_format: FloatFormat) -> Convert:
    size = element_type.storage_bytes
    code = {"f16": "<e", "f32": "<f", "f64": "<d"}.get(element_type.name)
    pack = struct.Struct(code).pack if code is not None else None

    def read_float(lexeme: str) -> bytes:
        if lexeme[-1] in "fn)e":
            return _word_bits(lexeme, float_format).to_bytes(size, "little")
        value = float(lexeme if not lexeme.lstrip("-").isdigit() else _integer(lexeme))
        if not isfinite(value):
            raise ValueError(f"{shortened(lexeme)} is out of the range of f64")
        try:
            if pack is not None:
                return pack(value)
        except OverflowError:
            raise ValueError(f"{shortened(lexeme)} is out of the range of {element_type}") from None
        bits = encode(value, float_format)
        if not isfinite(decode(bits, float_format)):
            raise ValueError(f"{shortened(lexeme)} is out of the range of {element_type}")
        return bits.to_bytes(size, "little")

    return read_float


def _word_bits(lexeme: str, float_format: FloatFormat) -> int:
    word = lexeme.removeprefix("-")
    negative = word != lexeme
    if word == "inf":
        return encode(float(lexeme), float_format)
    if word == "nan":
        return nan_bits(float_format, negative=negative)
    if word.startswith("nan"):
        digits = word[6:-1].lstrip("0")
        if len(digits) > _PAYLOAD_DIGITS:
            raise ValueError(f"the NaN payload 0x{shortened(digits)} does not fit in 52 bits")
        return nan_bits(float_format, negative=negative, payload=int(digits or "0", 16))
    raise ValueError(f"a number expected, {lexeme} found")


def shortened(text: str) -> str:
    """Returns `text`, cut where it is too long for a message."""
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}.."
