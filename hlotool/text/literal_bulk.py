"""Reading of large arrays of numbers from text, all at once with numpy.

It reads what printers write: nested braces round numbers, words and marks in comments. Of
anything else it says that it does not know; the exact reader then reads it or reports it.
Every value is the one the exact reader finds, to the bit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import inf, nan, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlotool.ir.element_type import F8E8M0FNU, F16, F32, F64, ElementType, FloatFormat, Kind
from hlotool.ir.float_format import encode
from hlotool.ir.shape import ArrayShape
from hlotool.text.literal_element import integer_range

_Positions = NDArray[np.int64]
_Doubles = NDArray[np.float64]

_COMMENT = re.compile(rb"/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/|//[^\r\n]*+")

# Words become single bytes that no text holds, so that a token is a run of a few classes.
_INF, _NAN, _TRUE, _FALSE = b"\1", b"\2", b"\3", b"\4"

# Classes of characters. What is in no class cannot be read here.
_OTHER, _BLANK, _BRACKET, _DIGIT, _MINUS, _PLUS, _DOT, _EXPONENT, _WORD = range(9)
_SEPARATORS = (_BLANK, _BRACKET)
_NEXT = {
    _BLANK: (_DIGIT, _MINUS, _WORD),
    _BRACKET: (_DIGIT, _MINUS, _WORD),
    _DIGIT: (_DIGIT, _DOT, _EXPONENT),
    _MINUS: (_DIGIT, _WORD),
    _PLUS: (_DIGIT,),
    _DOT: (_DIGIT, _EXPONENT),
    _EXPONENT: (_DIGIT, _MINUS, _PLUS),
    _WORD: (),
}
"""The classes that may follow a class, besides separators."""
_LAST = (_DIGIT, _DOT, _WORD)

# Roles of a character, seen with the one before it.
_KNOWN, _STARTS, _ENDS, _BRACKETS = 1, 2, 4, 8

_SAFE_DIGITS = 18  # 64-bit integers hold every number of so many digits
_EXACT_POWER = 22  # the last power of ten that a double holds exactly
_LARGEST_POWER = 250  # so far products of powers and mantissas neither overflow nor underflow
_LONGEST_EXPONENT = 6


class _UnusualError(Exception):
    """The text holds something that only the exact reader understands."""


def read_bulk(text: str, start: int, end: int, shape: ArrayShape) -> bytes | None:
    """Returns the bytes of the array between `start` and `end`, `None` for an unusual text."""
    element_type = shape.element_type
    try:
        tokens = _split(_plain(text[start:end], element_type), shape)
        component = element_type.component
        if component.float_format is not None:
            return _float_bytes(tokens, component, component.float_format)
        return _integer_bytes(tokens, element_type)
    except _UnusualError:
        return None


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The numbers of a text: `starts[i]` to `ends[i]` is number i in `raw`."""

    raw: bytes
    classes: NDArray[np.uint8]
    starts: _Positions
    ends: _Positions
    negative: NDArray[np.bool_]

    def texts(self, indices: _Positions) -> list[bytes]:
        """Returns the text of some numbers."""
        starts, ends = self.starts[indices].tolist(), self.ends[indices].tolist()
        return [self.raw[s:e] for s, e in zip(starts, ends, strict=True)]

    def owners(self, positions: _Positions) -> _Positions:
        """Returns which number each position is in; no two may be in the same."""
        if len(positions) == len(self.starts) and (positions > self.starts).all():
            owners = np.arange(len(positions))
        else:
            owners = np.searchsorted(self.starts, positions, "right") - 1
        if (positions >= self.ends[owners]).any() or (np.diff(owners) == 0).any():
            raise _UnusualError
        return owners


def _plain(text: str, element_type: ElementType) -> bytes:
    """Returns the text as bytes without comments and words, with a blank at each end."""
    if not text.isascii():
        raise _UnusualError
    raw = text.encode("ascii")
    if any(mark in raw for mark in (_INF, _NAN, _TRUE, _FALSE)):
        raise _UnusualError
    if b"/" in raw:
        raw = _COMMENT.sub(b" ", raw)
    if element_type.kind is Kind.PRED:
        raw = raw.replace(b"true", _TRUE).replace(b"false", _FALSE)
    elif b"n" in raw:
        raw = raw.replace(b"inf", _INF).replace(b"nan", _NAN)
    return b" " + raw + b" "


@lru_cache
def _class_table(kind: Kind) -> bytes:
    table = bytearray(256)
    groups = [(b" \t\r\n,", _BLANK), (b"{}", _BRACKET), (b"0123456789", _DIGIT), (b"-", _MINUS)]
    if kind is Kind.PRED:
        groups.append((_TRUE + _FALSE, _WORD))
    if kind is Kind.FLOAT or kind is Kind.COMPLEX:
        groups += [(b"+", _PLUS), (b".", _DOT), (b"eE", _EXPONENT), (_INF + _NAN, _WORD)]
    if kind is Kind.COMPLEX:
        groups.append((b"()", _BRACKET))
    for characters, number in groups:
        for character in characters:
            table[character] = number
    return bytes(table)


@lru_cache
def _role_table() -> bytes:
    table = bytearray(256)
    for before, after in product(_NEXT, _NEXT):
        if after in _SEPARATORS:
            known = before in _SEPARATORS or before in _LAST
            role = (_KNOWN | (0 if before in _SEPARATORS else _ENDS)) if known else 0
            role |= _BRACKETS if known and after == _BRACKET else 0
        elif after in _NEXT[before]:
            role = _KNOWN | (_STARTS if before in _SEPARATORS else 0)
        else:
            role = 0
        table[before << 4 | after] = role
    return bytes(table)


def _split(raw: bytes, shape: ArrayShape) -> _Tokens:
    """Returns the numbers of a text whose brackets are those of the shape."""
    kind = shape.element_type.kind
    codes = np.frombuffer(raw, np.uint8)
    classes = np.frombuffer(raw.translate(_class_table(kind)), np.uint8)
    pairs = (classes[:-1] << 4) | classes[1:]
    roles = np.frombuffer(pairs.tobytes().translate(_role_table()), np.uint8)
    if not roles.all():
        raise _UnusualError
    _check_words(classes, kind)
    events = np.flatnonzero(roles & (_STARTS | _BRACKETS) != 0)
    is_start = (roles[events] & _STARTS).astype(bool)
    events += 1
    found = np.where(is_start, np.uint8(ord("v")), codes[events])
    if found.tobytes() != _wanted_events(shape, len(events)):
        raise _UnusualError
    if kind is Kind.COMPLEX:
        _check_pairs(codes, events, found)
    starts = events[is_start]
    ends = np.flatnonzero(roles & _ENDS != 0) + 1
    return _Tokens(raw, classes, starts, ends, classes[starts] == _MINUS)


def _check_words(classes: NDArray[np.uint8], kind: Kind) -> None:
    """Requires that a minus before a word is a sign: none for pred, none in an exponent."""
    words = np.flatnonzero(classes == _WORD)
    signed = words[classes[words - 1] == _MINUS]
    if len(signed) and (kind is Kind.PRED or (classes[signed - 2] == _EXPONENT).any()):
        raise _UnusualError


def _wanted_events(shape: ArrayShape, count: int) -> bytes:
    wanted = b"(vv)" if shape.element_type.is_complex else b"v"
    dimensions = shape.dimensions
    braces = 2 * sum(prod(dimensions[:depth]) for depth in range(len(dimensions)))
    # The shape may be far larger than the text, so nothing is made in its size before this.
    if braces + shape.element_count * len(wanted) != count:
        raise _UnusualError
    for size in reversed(dimensions):
        wanted = b"{" + wanted * size + b"}"
    return wanted


def _check_pairs(codes: NDArray[np.uint8], events: _Positions, found: NDArray[np.uint8]) -> None:
    """Requires one comma between the parts of a complex number and none round them."""
    commas = np.cumsum(codes == ord(","), dtype=np.int32)[events]
    between = np.diff(commas[(found != ord("{")) & (found != ord("}"))].reshape(-1, 4))
    if (between != (0, 1, 0)).any():
        raise _UnusualError


def _numbers(raw: bytes, count: int) -> NDArray[np.int64]:
    """Returns the `count` integers of a text of digits, signs and blanks."""
    numbers = np.fromstring(raw, dtype=np.int64, sep=" ")
    if len(numbers) != count:
        raise _UnusualError
    return numbers


_DIGITS_ONLY = bytes.maketrans(
    b"{}(),eE" + _INF + _NAN + _TRUE + _FALSE, b"       " + b"11" + b"10"
)


def _integer_bytes(tokens: _Tokens, element_type: ElementType) -> bytes:
    values = _numbers(tokens.raw.translate(_DIGITS_ONLY), len(tokens.starts))
    low, high = integer_range(element_type)
    wide = np.flatnonzero(tokens.ends - tokens.starts - tokens.negative > _SAFE_DIGITS)
    if len(wide):
        values[wide] = [_pattern(text, low, high) for text in tokens.texts(wide)]
        checked = np.delete(values, wide)
    else:
        checked = values
    if len(checked) and (checked.min() < low or checked.max() > high):
        raise _UnusualError
    if element_type.kind is Kind.PRED:
        return bytes(values != 0)
    return bytes(values.astype(f"<i{element_type.storage_bytes}"))


def _pattern(text: bytes, low: int, high: int) -> int:
    """Returns the signed integer with the 64 bits of a long number."""
    if len(text) > 2 * _SAFE_DIGITS or not low <= int(text) <= high:
        raise _UnusualError
    return (int(text) + (1 << 63)) % (1 << 64) - (1 << 63)


def _float_bytes(tokens: _Tokens, element_type: ElementType, float_format: FloatFormat) -> bytes:
    bits = _encoded(_doubles(tokens), element_type)
    lasts = np.frombuffer(tokens.raw, np.uint8)[tokens.ends - 1]
    for mark, number in ((_INF, inf), (_NAN, nan)):
        chosen = np.flatnonzero(lasts == ord(mark))
        signed = encode(-number, float_format), encode(number, float_format)
        bits[chosen] = np.where(tokens.negative[chosen], *signed)
    return bits.tobytes()


def _doubles(tokens: _Tokens) -> _Doubles:
    """Returns the double nearest to each number; words count as 1."""
    starts, ends, negative = tokens.starts, tokens.ends, tokens.negative
    dots = np.flatnonzero(tokens.classes == _DOT)
    exponents = np.flatnonzero(tokens.classes == _EXPONENT)
    with_dot, with_exponent = tokens.owners(dots), tokens.owners(exponents)
    mantissa_ends = ends.copy()
    mantissa_ends[with_exponent] = exponents
    fractions = np.zeros(len(starts), np.int64)
    fractions[with_dot] = mantissa_ends[with_dot] - dots - 1
    if (fractions < 0).any():
        raise _UnusualError
    is_decimal = np.zeros(len(starts), np.bool_)
    is_decimal[with_dot] = True
    digits = mantissa_ends - starts - negative - is_decimal
    is_decimal[with_exponent] = True
    unsure = digits > _SAFE_DIGITS
    unsure[with_exponent] |= ends[with_exponent] - exponents > _LONGEST_EXPONENT
    if (unsure & ~is_decimal).any():
        raise _UnusualError
    mantissas, powers = _scales(tokens, with_exponent, fractions)
    values = _scaled(mantissas, powers, unsure)
    again = np.flatnonzero(unsure)
    values[again] = list(map(float, tokens.texts(again)))
    if not np.isfinite(values).all():
        raise _UnusualError
    zeros = np.flatnonzero(values == 0)
    values[zeros] = np.where(negative[zeros] & is_decimal[zeros], -0.0, 0.0)
    return values


def _scales(
    tokens: _Tokens, with_exponent: _Positions, fractions: _Positions
) -> tuple[_Positions, _Positions]:
    """Returns each number as an integer and the power of ten to multiply it with."""
    count = len(tokens.starts)
    # Without dots, and with exponents set apart, all that is left is integers.
    numbers = _numbers(tokens.raw.translate(_DIGITS_ONLY, b"."), count + len(with_exponent))
    if not len(with_exponent):
        return numbers, -fractions
    shifts = np.zeros(count + 1, np.int64)
    shifts[with_exponent + 1] = 1
    places = np.arange(count) + np.cumsum(shifts)[:-1]
    powers = -fractions
    powers[with_exponent] += numbers[places[with_exponent] + 1]
    return numbers[places], powers


def _scaled(mantissas: _Positions, powers: _Positions, unsure: NDArray[np.bool_]) -> _Doubles:
    """Returns mantissa times ten to the power, rounded once; marks in `unsure` where it is not."""
    values = mantissas.astype(np.float64)
    table = _power_table()[0][_LARGEST_POWER:]
    # One operation on two exact numbers rounds as it must.
    exact = (np.abs(mantissas) <= 1 << 53) & (np.abs(powers) <= _EXACT_POWER) & ~unsure
    if exact.all() and (powers <= 0).all():
        return values / table[-powers]
    small = np.where(exact, np.abs(powers), 0)
    values = np.where(powers < 0, values / table[small], values * table[small])
    rest = np.flatnonzero(~exact & ~unsure)
    far = np.abs(powers[rest]) > _LARGEST_POWER
    unsure[rest[far]] = True
    rest = rest[~far]
    values[rest], doubtful = _products(mantissas[rest], powers[rest])
    unsure[rest[doubtful]] = True
    return values


def _products(mantissas: _Positions, powers: _Positions) -> tuple[_Doubles, NDArray[np.bool_]]:
    """Returns mantissa times ten to the power and where the rounding of it is in doubt.

    Both factors and the product are sums of two doubles, exact to about 2**-104 of the value.
    """
    high, low = (table[powers + _LARGEST_POWER] for table in _power_table())
    first = mantissas.astype(np.float64)
    second = (mantissas - first.astype(np.int64)).astype(np.float64)
    rounded = first * high
    rest = _roundederror(first, high, rounded) + (first * low + second * high)
    slack = np.abs(rounded) * 2.0**-98
    least, most = rounded + (rest - slack), rounded + (rest + slack)
    return least, least != most


def _roundederror(left: _Doubles, right: _Doubles, rounded: _Doubles) -> _Doubles:
    """Returns what rounding took from the product of two doubles, exactly (Dekker)."""
    left_high, left_low = _halves(left)
    right_high, right_low = _halves(right)
    error = left_high * right_high - rounded
    return ((error + left_high * right_low) + left_low * right_high) + left_low * right_low


def _halves(values: _Doubles) -> tuple[_Doubles, _Doubles]:
    scaled = values * 134217729.0  # 2**27 + 1 (Veltkamp)
    high = scaled - (scaled - values)
    return high, values - high


@lru_cache(maxsize=1)
def _power_table() -> tuple[_Doubles, _Doubles]:
    """Returns the powers of ten from -250 to 250 as sums of two doubles."""
    exact = [Fraction(10) ** power for power in range(-_LARGEST_POWER, _LARGEST_POWER + 1)]
    high = [float(power) for power in exact]
    low = [float(power - Fraction(part)) for power, part in zip(exact, high, strict=True)]
    return np.array(high), np.array(low)


def _encoded(values: _Doubles, element_type: ElementType) -> NDArray[Any]:
    """Returns finite doubles rounded once to a float type, as unsigned integers."""
    rounded: NDArray[Any]
    with np.errstate(all="ignore"):
        if element_type is F64:
            rounded = values
        elif element_type is F8E8M0FNU:
            return _encoded_powers(values)
        elif element_type is F32 or element_type is F16:
            rounded = values.astype(element_type.numpy)
        else:
            rounded = _odd_singles(values).astype(element_type.numpy)
        finite = np.isfinite(rounded.astype(np.float32) if rounded.itemsize < 4 else rounded)
    if not finite.all():
        raise _UnusualError
    return rounded.view(f"<u{element_type.storage_bytes}")


def _odd_singles(values: _Doubles) -> NDArray[np.float32]:
    """Returns doubles as singles, to odd where inexact: rounding them again rounds once."""
    singles = values.astype(np.float32)
    widened = singles.astype(np.float64)
    bits = singles.view(np.uint32)
    bits -= np.abs(widened) > np.abs(values)
    bits |= widened != values
    return singles


def _encoded_powers(values: _Doubles) -> NDArray[Any]:
    """Returns doubles as the exponents of f8e8m0fnu, half way up."""
    fractions, exponents = np.frexp(values)
    bits = exponents + (fractions >= 0.75) + (126)
    if (values <= 0).any() or (bits > 254).any():
        raise _UnusualError
    found: NDArray[np.uint8] = np.maximum(bits, 0).astype(np.uint8)
    return found
