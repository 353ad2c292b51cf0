"""Reading of constants: what each text means, and where a wrong one is wrong."""

from __future__ import annotations

import math
import re
import struct
import time

import numpy as np
import pytest

from hlotool.ir.element_type import (
    BF16,
    C64,
    ELEMENT_TYPES,
    F4E2M1FN,
    F8E4M3B11FNUZ,
    F8E4M3FN,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    PRED,
    S1,
    S4,
    S32,
    S64,
    U8,
    U32,
    U64,
    ElementType,
)
from hlotool.ir.literal import Literal
from hlotool.ir.literal_text import literal_text, typed_literal_text
from hlotool.ir.shape import OPAQUE, TOKEN, UNBOUNDED, ArrayShape, Layout, Shape, TupleShape
from hlotool.text.literal_reader import LiteralError, read_literal, read_typed_literal

BEFORE, AFTER = "constant(", "), metadata={}"


def read(text: str, shape: Shape) -> Literal:
    """Reads in the middle of other text, as the parser does."""
    return read_literal(BEFORE + text + AFTER, len(BEFORE), len(BEFORE) + len(text), shape)


def values(text: str, element_type: ElementType, *dimensions: int) -> list[complex]:
    return list(read(text, ArrayShape(element_type, dimensions)))


def fault(text: str, shape: Shape) -> tuple[int, str]:
    with pytest.raises(LiteralError) as caught:
        read(text, shape)
    return caught.value.offset - len(BEFORE), caught.value.message


def bits(text: str, element_type: ElementType) -> int:
    return int.from_bytes(read(text, ArrayShape(element_type)).data, "little")


@pytest.mark.parametrize(
    "text",
    ["{1,2,3}", "{ 1, 2, 3 }", "{1 2 3}", "{,1,,2,3,}", " {1/*a,b*/2// }\n3}\t", "{1,\r\n2,3}"],
)
def test_commas_blanks_and_comments_only_separate(text: str) -> None:
    assert values(text, S32, 3) == [1, 2, 3]


def test_braces_nest_as_deep_as_the_rank() -> None:
    assert values("5", S32) == [5]
    assert values("{{1,2},{3,4}}", S32, 2, 2) == [1, 2, 3, 4]
    marked = "{ { /*i0=0*/ { /*i1=0*/ { 1, 2 } } } }"
    assert values(marked, S32, 1, 1, 1, 2) == [1, 2]
    deep = 300
    assert values("{" * deep + "7" + "}" * deep, S32, *[1] * deep) == [7]


@pytest.mark.parametrize(
    ("text", "dimensions"), [("{}", (0,)), ("{{},{}}", (2, 0)), ("{  }", (0, 2)), ("{...}", (3, 0))]
)
def test_arrays_without_elements(text: str, dimensions: tuple[int, ...]) -> None:
    assert read(text, ArrayShape(F32, dimensions)) == Literal(ArrayShape(F32, dimensions), b"")


@pytest.mark.parametrize(
    ("text", "dimensions", "offset", "message"),
    [
        ("{1,2,3}", (2,), 5, "2 elements expected in dimension 0, more found"),
        ("{1}", (2,), 2, "2 elements expected in dimension 0, 1 found"),
        ("{{1,2},{3}}", (2, 2), 9, "2 elements expected in dimension 1, 1 found"),
        ("{{1,2}}", (2, 2), 6, "2 elements expected in dimension 0, 1 found"),
        ("{{1,2},{3,4},{5,6}}", (2, 2), 13, "2 elements expected in dimension 0, more found"),
        ("{1,2}", (2, 2), 1, "'{' expected inside 1 of 2 braces, a value found"),
        ("1", (2,), 0, "'{' expected inside 0 of 1 braces, a value found"),
        ("{{1,2}}", (2,), 1, "a value expected inside 1 of 1 braces, '{' found"),
        ("{1}", (), 0, "a value expected, '{' found"),
        ("}", (), 0, "a literal expected, '}' found"),
        ("", (), 0, "a value expected, the end found"),
        ("{1, ", (2,), 4, "a value expected, the end found"),
        (",{1,2}", (2,), 0, "a literal expected, ',' found"),
        ("{1,2},", (2,), 5, "the end of the literal expected, ',' found"),
        ("1 2", (), 2, "the end of the literal expected, '2' found"),
        ("{1} {2}", (1,), 4, "the end of the literal expected, '{' found"),
        ("{1,(2)}", (2,), 3, "a value of s32 expected, '(' found"),
        ("{1,2/*}", (2,), 4, "a value expected, '/' found"),
    ],
)
def test_counts_and_depth_are_checked_where_they_fail(
    text: str, dimensions: tuple[int, ...], offset: int, message: str
) -> None:
    assert fault(text, ArrayShape(S32, dimensions)) == (offset, message)


NO_VALUES = """
    1a 1_0 1x0 .5 +1 1e 1.5.5 1e5e5 infinity Inf - --1 NaN 0x1p3 %inf inf-1 nan.2 -infx True 1..2
"""


@pytest.mark.parametrize("word", [*NO_VALUES.split(), "\u0661"])
def test_words_that_are_no_values(word: str) -> None:
    offset, message = fault("{2, " + word + "}", ArrayShape(F32, [2]))
    assert offset == 4
    assert message.startswith("a value expected, '")


def test_messages_stay_short() -> None:
    assert len(fault("x" * 10000, ArrayShape(F32))[1]) < 80
    assert len(fault("9" * 10000, ArrayShape(F32))[1]) < 120
    assert len(fault(f"nan(0x{'f' * 10000})", ArrayShape(F32))[1]) < 120
    assert len(fault(f"1.{'9' * 10000}e999", ArrayShape(F32))[1]) < 120


@pytest.mark.parametrize(
    ("element_type", "text", "wanted"),
    [
        (PRED, "true", True),
        (PRED, "false", False),
        (PRED, "2", True),
        (PRED, "-1", True),
        (PRED, "00", False),
        (S32, "-0", 0),
        (S32, "007", 7),
        (S1, "-1", -1),
        (S4, "-8", -8),
        (S64, "-9223372036854775808", -(1 << 63)),
        (U64, "18446744073709551615", (1 << 64) - 1),
        (U64, "-1", (1 << 64) - 1),
        (F32, "5.", 5),
        (F32, "-.5", -0.5),
        (F32, "1e5", 100000),
        (F32, "1.E+3", 1000),
        (F32, "18446744073709551615", 2.0**64),
        (F32, "1e-400", 0),
        (F32, "inf", math.inf),
        (F32, "-inf", -math.inf),
        (F16, "65519", 65504),
        (F8E4M3FN, "460", 448),
        (F4E2M1FN, "100.0", 6),
        (F4E2M1FN, "-inf", -6),
        (F8E8M0FNU, "3", 4),
        (C64, "(1, -2.5)", 1 - 2.5j),
        (C64, "( 1e3 /*re*/ , -inf )", complex(1000, -math.inf)),
    ],
)
def test_values(element_type: ElementType, text: str, wanted: complex) -> None:
    assert values(text, element_type) == [wanted]


@pytest.mark.parametrize(
    ("element_type", "text", "message"),
    [
        (S32, "1.0", "an integer expected, 1.0 found"),
        (S32, "true", "an integer expected, true found"),
        (PRED, "1.5", "an integer expected, 1.5 found"),
        (PRED, "nan", "an integer expected, nan found"),
        (F32, "true", "a number expected, true found"),
        (S32, "2147483648", "2147483648 is outside the range of s32, -2147483648 to 2147483647"),
        (U8, "256", "256 is outside the range of u8, 0 to 255"),
        (U32, "-1", "-1 is outside the range of u32, 0 to 4294967295"),
        (S1, "1", "1 is outside the range of s1, -1 to 0"),
        (U64, "18446744073709551616", "integer 18446744073709551616 does not fit in 64 bits"),
        (F32, "18446744073709551616", "integer 18446744073709551616 does not fit in 64 bits"),
        (F64, "1e400", "1e400 is out of the range of f64"),
        (F32, "3.5e38", "3.5e38 is out of the range of f32"),
        (F16, "65520", "65520 is out of the range of f16"),
        (BF16, "3.4e38", "3.4e38 is out of the range of bf16"),
        (F8E4M3FN, "500", "500 is out of the range of f8e4m3fn"),
        (F8E8M0FNU, "0.0", "0.0 is out of the range of f8e8m0fnu"),
        (F32, "nan(0x800000)", "NaN payload 0x800000 is not within 0x1 and 0x7fffff"),
        (F32, "nan(0x0)", "NaN payload 0x0 is not within 0x1 and 0x7fffff"),
        (F64, "nan(0x10000000000000)", "the NaN payload 0x10000000000000 does not fit in 52 bits"),
        (F8E4M3FN, "nan(0x1)", "the type has no NaN with a payload"),
        (C64, "1", "(real part, imaginary part) expected, 1 found"),
    ],
)
def test_values_that_the_type_has_not(element_type: ElementType, text: str, message: str) -> None:
    offset, found = fault(" " + text, ArrayShape(element_type))
    assert offset == 1
    assert found.endswith(message)


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("(1 2)", 3, "',' expected, '2' found"),
        ("(1,,2)", 3, "a number expected, ',' found"),
        ("(,1,2)", 1, "a number expected, ',' found"),
        ("(1,2,)", 4, "')' expected, ',' found"),
        ("(1)", 2, "',' expected, ')' found"),
        ("((1,2))", 1, "a number expected, '(' found"),
        ("(1,true)", 3, "a number expected, true found"),
        ("(1,3.5e38)", 3, "3.5e38 is out of the range of f32"),
        ("(1,2", 4, "')' expected, the end found"),
    ],
)
def test_complex_pairs_are_strict(text: str, offset: int, message: str) -> None:
    assert fault(text, ArrayShape(C64)) == (offset, message)


def test_an_integer_zero_has_no_sign() -> None:
    assert bits("-0", F32) == 0
    assert bits("-0.0", F32) == 0x80000000
    assert bits("-0e0", F32) == 0x80000000
    assert bits("-1e-400", F64) == 1 << 63
    assert bits("-0.0", F8E4M3B11FNUZ) == 0


def test_a_number_is_rounded_to_a_double_and_then_to_the_type() -> None:
    assert bits("1.0000000596046449", F32) == 0x3F800001
    # Rounded to the type at once, this would go up.
    assert bits("1.00000005960464477540000000001", F32) == 0x3F800000
    assert bits("1.0004882812509095", F16) == 0x3C01


@pytest.mark.parametrize(
    ("element_type", "text", "wanted"),
    [
        (F32, "nan", 0x7FC00000),
        (F32, "-nan", 0xFFC00000),
        (F32, "nan(0x1)", 0x7F800001),
        (F32, "-nan(0x7fFFff)", 0xFFFFFFFF),
        (F32, "nan(0x00000000000000000001)", 0x7F800001),
        (F64, "nan(0xfffffffffffff)", 0x7FFFFFFFFFFFFFFF),
        (F16, "nan(0x1)", 0x7C01),
        (F8E4M3FN, "-nan", 0xFF),
        (F8E4M3FN, "inf", 0x7F),
        (F8E4M3B11FNUZ, "nan", 0x80),
        (F8E8M0FNU, "-nan", 0xFF),
        (F4E2M1FN, "nan", 0x8),
    ],
)
def test_words(element_type: ElementType, text: str, wanted: int) -> None:
    assert bits(text, element_type) == wanted


def test_both_parts_of_a_complex_number_keep_their_own_nan() -> None:
    found = struct.unpack("<2I", read("(nan(0x1), 2)", ArrayShape(C64)).data)
    assert found == (0x7F800001, 0x40000000)


@pytest.mark.parametrize("text", ["{...}", "{ ... }", "{,...,}", "{/*a*/.../*b*/}"])
def test_elision(text: str) -> None:
    shape = ArrayShape(F32, [3, 1000000000])
    assert read(text, shape) == Literal.elision(shape)


@pytest.mark.parametrize(
    ("text", "dimensions", "offset", "message"),
    [
        ("{{...}}", (2, 2), 2, "'...' must stand alone inside the outermost braces"),
        ("...", (2,), 0, "'...' must stand alone inside the outermost braces"),
        ("{1,...}", (2,), 3, "'...' must stand alone inside the outermost braces"),
        ("{...,1}", (2,), 5, "'}' expected, '1' found"),
        ("{......}", (2,), 4, "'}' expected, '...' found"),
        ("{...}", (), 0, "a value expected, '{' found"),
    ],
)
def test_elision_stands_alone(
    text: str, dimensions: tuple[int, ...], offset: int, message: str
) -> None:
    assert fault(text, ArrayShape(F32, dimensions)) == (offset, message)


def test_bounded_dimensions_become_static() -> None:
    dynamic = ArrayShape(S32, [2, 1], Layout([0, 1]), dynamic=[True, False])
    found = read("{{1},{2}}", dynamic)
    assert found.shape == ArrayShape(S32, [2, 1], Layout([0, 1]))
    assert read("({...})", TupleShape([dynamic])).shape == TupleShape([found.shape])


@pytest.mark.parametrize("shape", [TOKEN, OPAQUE, TupleShape([TOKEN])], ids=repr)
def test_shapes_without_literals(shape: Shape) -> None:
    assert "has no literals" in fault("{}", shape)[1]


def test_unbounded_dimensions_have_no_literals() -> None:
    shape = ArrayShape(S32, [UNBOUNDED], dynamic=[True])
    assert fault("{1}", shape) == (0, "a literal needs known dimensions, s32[?]{0} has others")


PACK = TupleShape([ArrayShape(S32), TupleShape([ArrayShape(F32, [2]), TupleShape([])])])


@pytest.mark.parametrize("text", ["(1,({2,3},()))", "( 1, ( {2, 3}, (  ) ) )", "(1({2 3}()),)"])
def test_tuples(text: str) -> None:
    assert literal_text(read(text, PACK), print_large=True) == "( 1, ( {2, 3}, (  ) ) )"


def test_tuples_may_be_elided_whole_or_in_part() -> None:
    assert read(" { ... } ", PACK) == Literal.elision(PACK)
    partly = read("(1, ({...}, ()))", PACK)
    assert partly.elements[1].elements[0] == Literal.elision(ArrayShape(F32, [2]))


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("1", 0, "'(' expected, '1' found"),
        ("(1)", 2, "'(' expected, ')' found"),
        ("(1, ({2}, ()))", 7, "2 elements expected in dimension 0, 1 found"),
        ("(1, ({2, 3}, ()), 4)", 18, "')' expected, '4' found"),
        ("(, 1, ({2, 3}, ()))", 1, "a literal expected, ',' found"),
        ("(1, ({2, 3}, ())", 16, "')' expected, the end found"),
    ],
)
def test_faults_in_tuples(text: str, offset: int, message: str) -> None:
    assert fault(text, PACK) == (offset, message)


def test_tuples_do_not_nest_without_end() -> None:
    shape: Shape = ArrayShape(S32)
    for _ in range(101):
        shape = TupleShape([shape])
    text = "(" * 101 + "1" + ")" * 101
    assert fault(text, shape) == (100, "tuples nested deeper than 100")


def read_shape(text: str) -> Shape:
    """Reads what these tests need of a shape."""
    name, _, rest = text.partition("[")
    if name.strip() not in ELEMENT_TYPES:
        raise ValueError(f"{name} is no element type")
    sizes, _, layout = rest.partition("]")
    order = layout.strip().strip("{}").partition(":")[0]
    return ArrayShape(
        ELEMENT_TYPES[name.strip()],
        [int(size) for size in sizes.split(",") if size.strip()],
        Layout([int(part) for part in order.split(",")]) if order else None,
    )


def read_typed(text: str) -> Literal:
    return read_typed_literal(f"x={text}, y", 2, 2 + len(text), read_shape)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("s32[2]{0} {1, 2}", None),
        ("s32[2,2]{0,1} { { 1, 2 }, { 3, 4 } }", None),
        ("( s32[] 5, f32[] 2 )", None),
        ("( s32[] 5, ( f32[2]{0} {1, 2}, (  ) ) )", None),
        ("f32[20]{0} {...}", None),
        ("pred[] true", None),
        ("c64[1]{0} {(1, 2)}", None),
        ("(  )", None),
        ("s32[2] {1, 2}", "s32[2]{0} {1, 2}"),
        ("f32[20] {...}", "f32[20]{0} {...}"),
        ("s32 [2] {0} /*a*/ {1,2}", "s32[2]{0} {1, 2}"),
        ("(s32[]5 s32[]{:T(8)}6,)", "( s32[] 5, s32[] 6 )"),
        ("s32[ ] 5", "s32[] 5"),
    ],
)
def test_typed_literals(text: str, printed: str | None) -> None:
    assert typed_literal_text(read_typed(text)) == (printed or text)


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("5", 0, "a shape or '(' expected, '5' found"),
        ("q32[] 5", 0, "q32 is no element type"),
        ("(s32[] 5, q32[] 6)", 10, "q32 is no element type"),
        ("(s32[] 5", 8, "a shape or '(' expected, the end found"),
        ("s32[] 5 6", 8, "the end of the literal expected, '6' found"),
        ("s32[2]{0} {1}", 12, "2 elements expected in dimension 0, 1 found"),
        ("(s32[], s32[]) (5, 6)", 6, "a literal expected, ',' found"),
        ("(" * 200, 100, "tuples nested deeper than 100"),
    ],
)
def test_faults_of_typed_literals(text: str, offset: int, message: str) -> None:
    with pytest.raises(LiteralError) as caught:
        read_typed(text)
    assert (caught.value.offset - 2, caught.value.message) == (offset, message)


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=repr)
def test_printed_values_come_back(element_type: ElementType) -> None:
    data = np.random.default_rng(3).bytes(120 * element_type.storage_bytes)
    literal = Literal(ArrayShape(element_type, [2, 3, 1, 20]), data)
    text = literal_text(literal, print_large=True)
    again = read(text, literal.shape)
    # Only the sign of zero is lost: `-0` is an integer in the text.
    assert literal_text(again, print_large=True) == re.sub(r"-0(?=[,)} ])", "0", text)


MANY = 300000
GARBAGE = [
    *("{" * MANY, "(" * MANY, "," * MANY, "/*" * MANY, "9" * MANY, "{1" + "}" * MANY),
    *("{" + "1," * MANY, "{" + "/*x*/" * MANY, "{" + "-" * MANY, "{" + "." * MANY),
    *("{nan(0x" + "f" * MANY, "0." + "0" * MANY + "1", "{" + " /" * MANY, "{//" + "x" * MANY),
]


@pytest.mark.parametrize("text", GARBAGE, ids=lambda text: text[:9])
def test_garbage_is_refused_in_linear_time(text: str) -> None:
    start = time.process_time()
    for shape in (ArrayShape(F32, [100000]), ArrayShape(S32), TupleShape([ArrayShape(F32, [9])])):
        with pytest.raises(LiteralError):
            read(text + "?", shape)
    # Quadratic work would take hours.
    assert time.process_time() - start < 20
