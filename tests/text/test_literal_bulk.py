"""Reading of large arrays at once gives the bits that reading one by one gives."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.ir.element_type import (
    BF16,
    C64,
    ELEMENT_TYPES,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    PRED,
    S32,
    U64,
    ElementType,
    Kind,
)
from hlotool.ir.literal import Literal
from hlotool.ir.literal_text import literal_text
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.text.literal_bulk import read_bulk
from hlotool.text.literal_element import integer_range
from hlotool.text.literal_reader import LiteralError, read_literal

GARBAGE = [*" ,{}()-+.eE0123456789naiftru/*\n_x\1\2\3\4", "inf", "nan", "true", "//", "/*", "*/"]
GARBAGE += ["...", "nan(0x1)", "\N{LATIN SMALL LETTER E WITH ACUTE}", ""]


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - texts for tests, no secrets


def decimal(source: random.Random) -> str:
    """A number in one of the forms that the text may have."""
    sign = source.choice(["", "", "-"])
    digits = "".join(source.choices("0123456789", k=source.choice([1, 1, 2, 3, 7, 9, 17, 19, 25])))
    if source.random() < 0.3:
        return sign + source.choice([digits[:20], "inf", "nan", "0", "0.0"])
    cut = source.randint(1, len(digits))
    text = f"{digits[:cut]}.{digits[cut:]}" if source.random() < 0.8 else digits
    if source.random() < 0.5:
        power = source.choice([source.randint(0, 9), source.randint(0, 45), source.randint(0, 330)])
        text += f"{source.choice('eE')}{source.choice(['', '+', '-'])}{power:02}"
    return sign + text


def element(source: random.Random, element_type: ElementType) -> str:
    match element_type.kind:
        case Kind.PRED:
            return source.choice(["true", "false", "0", "1", "2", "-1", "00"])
        case Kind.COMPLEX:
            comma = source.choice([",", ", ", " , "])
            return f"({decimal(source)}{comma}{decimal(source)})"
        case Kind.FLOAT:
            return decimal(source)
        case Kind.SIGNED | Kind.UNSIGNED:
            low, high = integer_range(element_type)
            return str(source.choice([source.randint(low, high), low, high, 0, 1]))


def nested(source: random.Random, element_type: ElementType, dimensions: list[int]) -> str:
    if not dimensions:
        return element(source, element_type)
    separator = source.choice([", ", ",", " , ", "\n", " "])
    parts = (nested(source, element_type, dimensions[1:]) for _ in range(dimensions[0]))
    mark = source.choice(["", "", " /*i0=0*/ ", "// {\n"])
    return f"{{{mark}{separator.join(parts)} }}"


@given(st.integers(0, 2**64), st.sampled_from(list(ELEMENT_TYPES.values())), st.integers(0, 2))
def test_bulk_and_exact_reading_agree(seed: int, element_type: ElementType, edits: int) -> None:
    source = seeded(seed)
    dimensions = [source.randint(0, 4) for _ in range(source.randint(1, 3))]
    text = nested(source, element_type, dimensions)
    for _ in range(edits):
        place = source.randint(1, len(text) - 1)
        text = text[:place] + source.choice(GARBAGE) + text[place + source.randint(0, 2) :]
    if text[-1] != "}":
        text += "}"
    shape = ArrayShape(element_type, dimensions)
    data = read_bulk(text, 0, len(text), shape)
    if data is not None:
        assert Literal(shape, data) == read_literal(text, 0, len(text), shape)


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=repr)
def test_printed_arrays_are_read_at_once(element_type: ElementType) -> None:
    data = np.random.default_rng(5).bytes(96 * element_type.storage_bytes)
    shape = ArrayShape(element_type, [2, 2, 3, 8])
    text = literal_text(Literal(shape, data), print_large=True)
    found = read_bulk(text, 0, len(text), shape)
    exact = read_literal(text, 0, len(text), shape)
    # Payloads are left to the exact reader.
    if found is None:
        assert "nan(0x" in text
    else:
        assert Literal(shape, found) == exact


def test_doubles_are_rounded_once_whatever_their_form() -> None:
    source = seeded(11)
    texts = []
    for _ in range(4000):
        value = struct.unpack("<d", source.randbytes(8))[0]
        if math.isfinite(value):
            texts += [f"{value:.17e}", f"{value:.9e}", repr(value)]
        texts.append(f"{source.getrandbits(source.randint(1, 59))}e{source.randint(-300, 270)}")
        # The middle of two doubles, cut to eighteen digits: as close to a tie as can be.
        low = math.ldexp(source.getrandbits(52) | 1 << 52, source.randint(-100, 60))
        middle = Fraction(low) + Fraction(math.ulp(low)) / 2
        power = math.floor(math.log10(low)) - 17
        texts.append(f"{round(middle / Fraction(10) ** power)}e{power}")
    text = "{" + ", ".join(texts) + "}"
    data = read_bulk(text, 0, len(text), ArrayShape(F64, [len(texts)]))
    assert data == struct.pack(f"<{len(texts)}d", *map(float, texts))


@pytest.mark.parametrize("element_type", [F16, BF16, F8E8M0FNU, F32], ids=repr)
def test_narrow_types_are_rounded_once(element_type: ElementType) -> None:
    source = seeded(12)
    texts: list[str] = []
    for _ in range(300):
        value = source.choice([1, 1.5, 1 + 2.0**-11, 1 + 2.0**-8, 1 + 2.0**-24, 1.75])
        value *= 2.0 ** source.randint(-20, 10)
        texts += map(repr, (value, math.nextafter(value, 0), math.nextafter(value, math.inf)))
    text = "{" + " ".join(texts) + "}"
    shape = ArrayShape(element_type, [len(texts)])
    data = read_bulk(text, 0, len(text), shape)
    assert data is not None
    assert Literal(shape, data) == read_literal(text, 0, len(text), shape)


@pytest.mark.parametrize(
    ("element_type", "text"),
    [
        (S32, "{1, 2.0}"),
        (S32, "{1, 2147483648}"),
        (S32, "{1}"),
        (S32, "{1, 2, 3}"),
        (S32, "{{1, 2}}"),
        (S32, "{1, 2-3}"),
        (S32, "{1, true}"),
        (U64, "{1, 18446744073709551616}"),
        (PRED, "{1, -true}"),
        (PRED, "{1, true1}"),
        (F32, "{1, 3.5e38}"),
        (F32, "{1, 1e400}"),
        (F32, "{1, nan(0x1)}"),
        (F32, "{1, infinity}"),
        (F32, "{1, 2e-inf}"),
        (F32, "{1, .5}"),
        (F32, "{1, 1.5.5}"),
        (F32, "{1, 1e5e5}"),
        (F32, "{1, 1e5.5}"),
        (F32, "{1, +1}"),
        (F32, "{1, (2)}"),
        (F32, "{1, 99999999999999999999}"),
        (F32, "{1, 2 /* }"),
        (F32, "{1, \u0662}"),
        (F32, "{1, \1}"),
        (F8E8M0FNU, "{1, 0.0}"),
        (C64, "{(1, 2), (3 4)}"),
        (C64, "{(1, 2), (3,, 4)}"),
        (C64, "{(1, 2), 3, 4}"),
        (C64, "{(1, 2, 3, 4)}"),
    ],
)
def test_unusual_texts_are_left_to_the_exact_reader(element_type: ElementType, text: str) -> None:
    assert read_bulk(text, 0, len(text), ArrayShape(element_type, [2])) is None


def test_a_shape_far_larger_than_its_text_takes_no_memory() -> None:
    assert read_bulk("{1}", 0, 3, ArrayShape(F32, [1 << 40, 1 << 20])) is None
    with pytest.raises(LiteralError):
        read_literal("{1}", 0, 3, ArrayShape(F32, [1 << 40, 1 << 20]))


LARGE = 1 << 14


def test_large_arrays_are_read_alike_wherever_they_stand() -> None:
    array = np.random.default_rng(6).normal(size=(LARGE // 8, 8)).astype(np.float32)
    literal = Literal.from_array(array)
    text = literal_text(literal, print_large=True)
    assert read_literal(f"({text} )", 1, len(text) + 2, literal.shape) == literal
    pack = TupleShape([literal.shape, literal.shape, ArrayShape(S32)])
    packed = f"( {text}, {text}, 3 )"
    three = Literal.from_array(3, S32)
    assert read_literal(packed, 0, len(packed), pack).elements == (literal, literal, three)


@pytest.mark.parametrize(
    ("edit", "offset", "message"),
    [
        (("7}", "x}"), -2, "a value expected, 'x' found"),
        (("7}", "7}}"), 0, "the end of the literal expected, '}' found"),
        (("7}", "7},"), 0, "the end of the literal expected, ',' found"),
        (("7}", "7,8}"), -2, "16384 elements expected in dimension 0, more found"),
        (("{", "{,"), None, ""),
        (("7}", "7 /* } */ }"), None, ""),
        (("7}", "nan(0x1)}"), None, ""),
    ],
)
def test_faults_in_large_arrays_have_their_place(
    edit: tuple[str, str], offset: int | None, message: str
) -> None:
    text = "{" + ", ".join(["1.5"] * (LARGE - 1)) + ", 7}"
    text = text.replace(*edit)
    shape = ArrayShape(F32, [LARGE])
    if offset is None:
        assert next(iter(read_literal(text, 0, len(text), shape))) == 1.5
        return
    with pytest.raises(LiteralError) as caught:
        read_literal(text, 0, len(text), shape)
    last = text.rindex(edit[1]) + len(edit[1]) if offset else text.index("7}") + 2
    assert (caught.value.offset, caught.value.message) == (last + offset, message)
