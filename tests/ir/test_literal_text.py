"""The text of constants, byte for byte."""

from __future__ import annotations

import itertools
import math
import struct

import numpy as np
import pytest

from hlotool.ir.element_type import (
    BF16,
    C64,
    C128,
    ELEMENT_TYPES,
    F4E2M1FN,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    PRED,
    S4,
    S32,
    U64,
    ElementType,
)
from hlotool.ir.literal import Literal
from hlotool.ir.literal_text import literal_text, typed_literal_text
from hlotool.ir.shape import ArrayShape


def full(literal: Literal) -> str:
    return literal_text(literal, print_large=True)


def counted(*dimensions: int) -> Literal:
    count = math.prod(dimensions)
    return Literal.from_array(np.arange(count).reshape(dimensions), S32)


def from_bits(bits: int, element_type: ElementType) -> Literal:
    return Literal(ArrayShape(element_type), bits.to_bytes(element_type.storage_bytes, "little"))


@pytest.mark.parametrize(
    ("dimensions", "text"),
    [
        ((), "0"),
        ((3,), "{0, 1, 2}"),
        ((1,), "{0}"),
        ((0,), "{}"),
        ((2, 2), "{ { 0, 1 }, { 2, 3 } }"),
        ((2, 1), "{ {0}, {1} }"),
        ((1, 2), "{ { 0, 1 } }"),
        ((2, 0), "{ {}, {} }"),
        ((0, 2), "{  }"),
        ((2, 1, 2), "{ { { 0, 1 } }, { { 2, 3 } } }"),
        ((2, 0, 1), "{ {  }, {  } }"),
        ((1, 1, 1, 1), "{ { /*i0=0*/ { /*i1=0*/ {0} } } }"),
        (
            (2, 1, 2, 2),
            (
                "{ { /*i0=0*/ { /*i1=0*/ { 0, 1 }, { 2, 3 } } }, "
                "{ /*i0=1*/ { /*i1=0*/ { 4, 5 }, { 6, 7 } } } }"
            ),
        ),
        (
            (1, 2, 1, 1, 2),
            (
                "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ { 0, 1 } } }, "
                "{ /*i1=1*/ { /*i2=0*/ { 2, 3 } } } } }"
            ),
        ),
        ((1, 0, 2, 1), "{ { /*i0=0*/ } }"),
        ((0, 0, 0, 0), "{  }"),
        ((1, 2, 2, 0), "{ { /*i0=0*/ { /*i1=0*/ {}, {} }, { /*i1=1*/ {}, {} } } }"),
    ],
)
def test_braces_and_marks(dimensions: tuple[int, ...], text: str) -> None:
    assert full(counted(*dimensions)) == text


def test_an_empty_array_of_very_many_rows_is_elided() -> None:
    assert full(Literal(ArrayShape(S32, [1 << 40, 0]), b"")) == "{...}"


def test_more_than_ten_elements_are_elided() -> None:
    assert literal_text(counted(2, 5), print_large=False).startswith("{ { 0, 1,")
    assert literal_text(counted(11), print_large=False) == "{...}"
    assert full(Literal.elision(ArrayShape(S32, [2]))) == "{...}"


def test_tuples() -> None:
    pack = Literal.of_elements(
        [counted(), counted(2), Literal.of_elements([]), Literal.elision(ArrayShape(S32, [3]))]
    )
    assert literal_text(pack, print_large=False) == "{...}"
    assert full(pack) == "( 0, {0, 1}, (  ), {...} )"
    assert typed_literal_text(pack) == "( s32[] 0, s32[2]{0} {0, 1}, (  ), s32[3]{0} {...} )"
    assert typed_literal_text(Literal.from_array(True, PRED)) == "pred[] true"  # noqa: FBT003


def test_pred_is_a_word_alone_and_a_digit_in_arrays() -> None:
    assert [full(Literal.from_array(bool(value), PRED)) for value in (0, 1)] == ["false", "true"]
    assert full(Literal.from_array([True, False], PRED)) == "{1, 0}"


def test_integers() -> None:
    assert full(Literal.from_array([-8, 7, -1], S4)) == "{-8, 7, -1}"
    assert full(Literal.from_array((1 << 64) - 1, U64)) == "18446744073709551615"


@pytest.mark.parametrize(
    ("element_type", "value", "text"),
    [
        (F32, 0.1, "0.1"),
        (F32, 1 / 3, "0.333333343"),
        (F32, 16777216, "16777216"),
        (F32, 100000, "100000"),
        (F32, 1e10, "1e+10"),
        (F32, 1e-7, "1e-07"),
        (F32, 2.0**-149, "1.4013e-45"),
        (F32, 3.4028234663852886e38, "3.40282347e+38"),
        (F32, -0.0, "-0"),
        (F32, -math.inf, "-inf"),
        (F64, 0.1, "0.1"),
        (F64, 1 / 3, "0.33333333333333331"),
        (F64, 5e-324, "4.94065645841247e-324"),
        (F64, 1.7976931348623157e308, "1.7976931348623157e+308"),
        (F16, 0.1, "0.099976"),
        (BF16, 0.1, "0.1001"),
        (F8E5M2, 57344, "5.7e+04"),
        (F8E4M3FN, 448, "448"),
        (F8E4M3FN, 1.125, "1.12"),
        (F8E8M0FNU, 2.0**127, "1.7e+38"),
        (F4E2M1FN, -1.5, "-1.5"),
        (C64, 1.5 - 2j, "(1.5, -2)"),
        (C128, complex(1 / 3, math.inf), "(0.33333333333333331, inf)"),
    ],
)
def test_numbers(element_type: ElementType, value: complex, text: str) -> None:
    assert full(Literal.from_array(value, element_type)) == text


@pytest.mark.parametrize(
    ("element_type", "bits", "text"),
    [
        (F32, 0x7FC00000, "nan"),
        (F32, 0xFFC00000, "-nan"),
        (F32, 0x7F800001, "nan(0x1)"),
        (F32, 0xFFFFFFFF, "-nan(0x7fffff)"),
        (F64, 0x7FF8000000000000, "nan"),
        (F64, 0x7FF0000000000ABC, "nan(0xabc)"),
        (F16, 0x7E00, "nan"),
        (F16, 0xFC01, "-nan(0x1)"),
        (BF16, 0x7FC1, "nan(0x41)"),
        (F8E5M2, 0x7E, "nan"),
        (F8E5M2, 0xFF, "-nan(0x3)"),
        (F8E4M3FN, 0x7F, "nan"),
        (F8E4M3FN, 0xFF, "-nan"),
        (F8E4M3FNUZ, 0x80, "-nan"),
        (F8E8M0FNU, 0xFF, "nan"),
    ],
)
def test_nans_show_a_payload_that_is_not_the_default(
    element_type: ElementType, bits: int, text: str
) -> None:
    assert full(from_bits(bits, element_type)) == text


def test_nans_keep_their_places_among_numbers() -> None:
    data = struct.pack("<4I", 0x7F800001, 0x3EAAAAAB, 0xFFC00000, 0x3F800000)
    assert full(Literal(ArrayShape(F32, [4]), data)) == "{nan(0x1), 0.333333343, -nan, 1}"


def test_every_element_of_a_large_array_prints_as_it_does_alone() -> None:
    generator = np.random.default_rng(7)
    for element_type in ELEMENT_TYPES.values():
        size = element_type.storage_bytes
        literal = Literal(ArrayShape(element_type, [50]), generator.bytes(50 * size))
        alone = [
            full(Literal(ArrayShape(element_type, [1]), literal.data[at : at + size]))
            for at in range(0, len(literal.data), size)
        ]
        assert full(literal) == "{" + ", ".join(text[1:-1] for text in alone) + "}"


def test_singles_and_doubles_print_enough_digits_to_come_back() -> None:
    generator = np.random.default_rng(8)
    for element_type, code in ((F32, "f"), (F64, "d")):
        data = generator.bytes(2000 * element_type.storage_bytes)
        values = struct.unpack(f"<2000{code}", data)
        texts = full(Literal(ArrayShape(element_type, [2000]), data))[1:-1].split(", ")
        again = [float(text.partition("(")[0]) for text in texts]
        finite = [pair for pair in zip(values, again, strict=True) if pair[0] == pair[0]]
        found = struct.pack(f"<{len(finite)}{code}", *(new for _, new in finite))
        assert found == struct.pack(f"<{len(finite)}{code}", *(old for old, _ in finite))


def test_shorter_digits_are_taken_where_they_do() -> None:
    for exponent, digits in itertools.product(range(-30, 31, 5), ("1", "12345", "123456")):
        text = f"{float(f'{digits}e{exponent}'):.6g}"
        assert full(Literal.from_array(float(text), F32)) == text
