"""Angles in radians as whole multiples of pi/2, and a small rest.

Small angles are reduced by fused multiply-adds with three parts of pi/2. Where a lane has a large
one, a branch multiplies the bits of angles by as many bits of 1/(2 pi) as are needed, in
integers: whole turns drop out, and the rest is right up to the largest float.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlotool.codegen.llvm.value import Value
from hlotool.codegen.math.number import (
    Integer,
    Number,
    branch,
    fast_two_sum,
    two_product,
)

_HALF_PI = {
    "float": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    "double": (math.pi / 2, 6.123233995736766e-17, -1.4973849048591698e-33),
}
"""pi/2 in three parts, each the nearest number to what is left."""
_LARGE = {"float": 2.0**16, "double": 2.0**30}
"""Up to here the nearest multiple is found, and the parts of pi/2 are exact enough."""
_INVERSE_TURN = int(
    "28BE60DB9391054A7F09D5F47D4D377036D8A5664F10E4107F9458EAF7AEF158"
    "6DC91B8E909374B801924BBA827464873F877AC72C4A69CFBA208D7D4BAED121"
    "3A671C09AD17DF904E64758E60D4CE7D272117E2EF7E4A0EC7FE25FFF7816603"
    "FBCBC462D6829B47DB4D9FB3C9F2C26DD3D18FD9A797FA8B5D49EEB1FAF97C5E"
    "CF41CE7DE294A4BA9AFED7EC47E357421580CC11BF1EDAEA",
    16,
)
"""The first 1216 bits of 1/(2 pi) behind the binary point."""
_WORDS = 20
"""So many words of 64 bits there are; the first one is 0."""


@dataclass(frozen=True, slots=True)
class Angle:
    """An angle without its whole multiples of pi/2."""

    rest: Number
    """What is left, from -pi/4 to pi/4, or a little more."""
    low: Number
    """What rounding took from `rest`, where that was asked for."""
    multiple: Integer
    """Its two lowest bits are those of the multiple."""


def reduced(number: Number, *, exact: bool = False) -> Angle:
    """Returns an angle without multiples of pi/2; `exact` asks for the low part of the rest."""
    lane = number.format.lane
    magic = number.fma(2 / math.pi, number.format.magic)
    whole = magic - number.format.magic
    high, middle, least = _HALF_PI[lane]
    first = whole.fma(-high, number)
    if exact:
        product, product_low = two_product(whole, whole.alike(middle))
        rest = first - product
        low = whole.fma(-least, ((first - rest) - product) - product_low)
    else:
        rest = whole.fma(-least, whole.fma(-middle, first))
        low = rest.alike(0.0)

    def exactly(inputs: tuple[Number, ...]) -> tuple[Number, ...]:
        angle, *others = inputs
        found = _single_turns(angle) if angle.is_single else _each_lane(angle)
        # Of infinity the multiply-adds have made NaN.
        is_far = (angle.size() > _LARGE[lane]) & (angle.size() < math.inf)
        return tuple(is_far.choose(one, other) for one, other in zip(found, others, strict=True))

    fast = (rest, low, magic)
    is_large = number.size() > _LARGE[lane]
    rest, low, magic = branch("angles", is_large, exactly, (number, *fast), fast)
    return Angle(rest, low, magic.bits())


def _single_turns(angle: Number) -> tuple[Number, ...]:
    """Returns rest, its low part and a float whose lowest bits are those of the multiple."""
    bits = angle.bits()
    mantissa = ((bits & 0x7FFFFF) | 0x800000).cast("zext", "i64")
    # The least exponent here is -7 for a whole mantissa; the words begin with 64 zeros.
    place = (((bits >> 23) & 255) - (150 - 64)).cast("zext", "i64")
    is_first = place.compare("ult", 64)
    is_third = place.compare("uge", 128)
    words = [mantissa.alike(_word(number)) for number in range(5)]
    chosen = [
        is_first.choose_integer(words[n], is_third.choose_integer(words[n + 2], words[n + 1]))
        for n in range(3)
    ]
    shift = place & 63
    high = _funnel(chosen[0], chosen[1], shift)
    low = _funnel(chosen[1], chosen[2], shift) >> 40
    turns = mantissa * high + ((mantissa * low) >> 24)
    turns = angle.is_negative().choose_integer(-turns, turns)
    multiple = ((turns + (1 << 61)) >> 62).cast("trunc", "i32")
    exact = (turns << 2).to_float("double") * (math.pi / 2 * 2.0**-64)
    rest = exact.narrowed()
    low_part = (exact - rest.widened()).narrowed()
    return rest, low_part, multiple.as_float()


def _each_lane(angle: Number) -> tuple[Number, ...]:
    """Returns what `_double_turns` does, lane by lane: there are no vectors of i128."""
    writer, lanes = angle.writer, angle.value.lanes
    if lanes == 1:
        return _double_turns(angle)
    given, *made = (writer.scratch("double", lanes) for _ in range(4))
    writer.store(angle.value, given, align=8)
    with writer.loop(writer.integer(0), writer.integer(lanes)) as loop:
        place = writer.offset(given, loop.index, "double")
        one = Number(writer, writer.load_again(place, "double", align=8))
        for array, part in zip(made, _double_turns(one), strict=True):
            writer.store(part.value, writer.offset(array, loop.index, "double"), align=8)
    return tuple(
        Number(writer, writer.load_again(array, "double", lanes, align=8)) for array in made
    )


def _double_turns(angle: Number) -> tuple[Number, ...]:
    """Returns rest, its low part and a float whose lowest bits are those of the multiple.

    The angle has one lane.
    """
    bits = angle.bits()
    mantissa = ((bits & ((1 << 52) - 1)) | (1 << 52)).cast("zext", "i128")
    place = ((bits >> 52) & 2047) - (1075 - 64)
    # Small angles are not looked at, but must not read in front of the table.
    place = place.compare("slt", 0).choose_integer(place.alike(0), place)
    words = _words_at(place >> 6)
    shift = place & 63
    first, second, third = (
        _funnel(words[n], words[n + 1], shift).cast("zext", "i128") for n in range(3)
    )
    turns = mantissa * ((first << 64) | second) + ((mantissa * third) >> 64)
    turns = angle.is_negative().choose_integer(-turns, turns)
    multiple = ((turns + (1 << 125)) >> 126).cast("trunc", "i64")
    signed = turns << 2
    is_left = signed.compare("slt", 0)
    left = is_left.choose_integer(-signed, signed)
    high = (left >> 64).cast("trunc", "i64")
    low = left.cast("trunc", "i64")
    # In two floats: what the first can hold, and the 64 bits that follow. Both are positive, for
    # where they cancel nothing would be left of the second.
    upper = (high & -2048).to_float("double")
    lower = (((high & 2047) << 53) | (low >> 11)).to_float("double", signed=False)
    total, lost = fast_two_sum(upper, lower * 2.0**-53)
    high_unit, low_unit = (part * 2.0**-64 for part in _HALF_PI["double"][:2])
    rest, error = two_product(total, total.alike(high_unit))
    rest, low_part = fast_two_sum(rest, error + total.fma(low_unit, lost * high_unit))
    rest, low_part = (is_left.choose(-part, part) for part in (rest, low_part))
    return rest, low_part, multiple.as_float()


def _word(number: int) -> int:
    """Returns 64 bits of 1/(2 pi), those behind the binary point in word 1, as a signed number."""
    word = (_INVERSE_TURN >> (64 * (_WORDS - 1 - number))) & ((1 << 64) - 1)
    return word - (1 << 64) if word >> 63 else word


def _words_at(position: Integer) -> list[Integer]:
    """Loads four words that follow each other."""
    writer = position.writer
    listed = ", ".join(f"i64 {_word(number)}" for number in range(_WORDS))
    writer.globals.add(
        f"@math_inverse_turn = private unnamed_addr constant [{_WORDS} x i64] [{listed}]"
    )
    first = writer.offset(Value("@math_inverse_turn", "ptr"), position.value, "i64")
    places = [writer.offset(first, writer.integer(number), "i64") for number in range(4)]
    return [Integer(writer, writer.load(place, "i64", align=8)) for place in places]


def _funnel(one: Integer, other: Integer, shift: Integer) -> Integer:
    """Returns the upper half of 128 bits that are moved up."""
    values = (one.value, other.value, shift.value)
    return Integer(one.writer, one.writer.intrinsic("fshl", *values))
