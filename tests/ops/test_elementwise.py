"""Elementwise ops of two and three operands: shapes, layouts, element types."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import UNBOUNDED, ArrayShape, Layout, Shape
from hlotool.ops.elementwise import (
    Add,
    And,
    Atan2,
    Clamp,
    Compare,
    Complex,
    Maximum,
    Power,
    Select,
    ShiftLeft,
    Subtract,
    comparison_type,
)
from tests.ops.shapes import F32, F32_2, F32_4, PRED, S32, array, pack

PRED_2 = array("pred", 2)
C64_2 = array("c64", 2)
COLUMNS = ArrayShape(ELEMENT_TYPES["f32"], [4, 3], Layout([0, 1]))
ROWS = array("f32", 4, 3)
BOUNDED = ArrayShape(ELEMENT_TYPES["f32"], [4, 3], None, [True, False])
UNKNOWN = ArrayShape(ELEMENT_TYPES["f32"], [UNBOUNDED, 3], None, [True, False])


def test_every_opcode_is_there() -> None:
    wanted = """add subtract multiply mulhi divide remainder power maximum minimum and or xor
    shift-left shift-right-arithmetic shift-right-logical atan2 complex compare select clamp"""
    assert set(wanted.split()) <= OPCODES.keys()


@pytest.mark.parametrize(
    ("op", "operands", "inferred"),
    [
        (Add(), [COLUMNS, ROWS], COLUMNS),
        (Add(), [ROWS, BOUNDED], BOUNDED),
        (Add(), [UNKNOWN, ROWS], ROWS),
        (Add(), [UNKNOWN, BOUNDED], BOUNDED),
        (Add(), [array("f32", 1, 3), UNKNOWN], UNKNOWN),
        (Add(), [PRED_2, PRED_2], PRED_2),
        (Add(), [array("f16", 2), array("bf16", 2)], array("bf16", 2)),
        (Power(), [C64_2, C64_2], C64_2),
        (And(), [PRED_2, PRED_2], PRED_2),
        (Complex(), [F32_2, F32_2], C64_2),
        (Complex(), [array("f64"), array("f64")], array("c128")),
        (Compare("LT"), [F32_2, array("bf16", 2)], PRED_2),
        (Compare("EQ"), [C64_2, C64_2], PRED_2),
        (Select(), [PRED, F32_2, F32_2], F32_2),
        (Select(), [PRED_2, F32_2, F32_2], F32_2),
        (Select(), [PRED, pack(F32, S32), pack(F32, S32)], pack(F32, S32)),
        (Select(), [PRED, COLUMNS, ROWS], COLUMNS),
        (Select(), [array("pred", 4, 3), COLUMNS, COLUMNS], ROWS),
        (Clamp(), [F32, COLUMNS, ROWS], COLUMNS),
        (Clamp(), [F32, array("bf16", 2), F32], array("bf16", 2)),
    ],
)
def test_inferred_shape(op: Op, operands: Sequence[Shape], inferred: Shape) -> None:
    assert op.infer_shape(operands, []).text == inferred.text
    op.check_shape(operands, [], inferred)


@pytest.mark.parametrize(
    ("one", "other", "inferred"),
    [
        (F32_4, F32, F32_4),
        (F32, COLUMNS, ROWS),
        (ArrayShape(ELEMENT_TYPES["f32"], [4, 1], Layout([0, 1])), COLUMNS, ROWS),
        (array("f32", 1, 3), BOUNDED, BOUNDED),
    ],
)
def test_stretching_is_inferred_but_not_allowed(one: Shape, other: Shape, inferred: Shape) -> None:
    assert Add().infer_shape([one, other], []).text == inferred.text
    with pytest.raises(ShapeError, match=r"add: operands .* and .* differ in dimensions"):
        Add().check_shape([one, other], [], inferred)


def test_packing_goes_with_the_type() -> None:
    packed = ArrayShape(ELEMENT_TYPES["s4"], [4], Layout([0], element_size_bits=4))
    assert Add().infer_shape([packed, packed], []).text == "s4[4]{0:E(4)}"
    assert Compare("EQ").infer_shape([packed, packed], []).text == "pred[4]{0}"


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        (Add(), [F32_2, F32_4], r"add: operands f32\[2\] and f32\[4\] differ in dimensions"),
        (Add(), [F32_2, ROWS], r"add: operands f32\[2\] and f32\[4,3\] differ in rank"),
        (Add(), [F32, S32], r"add: operands f32\[\] and s32\[\] differ in element type"),
        (Subtract(), [PRED, PRED], r"subtract: operand 0 is pred\[\], elements wanted: signed"),
        (And(), [F32, F32], r"and: operand 0 is f32\[\], elements wanted: pred, signed"),
        (Maximum(), [C64_2, C64_2], r"maximum: operand 0 is c64\[2\], elements wanted: pred"),
        (ShiftLeft(), [F32, F32], r"shift-left: operand 0 is f32\[\], elements wanted: signed, u"),
        (Atan2(), [S32, S32], r"atan2: operand 0 is s32\[\], elements wanted: float, complex"),
        (Complex(), [array("f16"), array("f16")], "complex: parts are .* f32 or f64 for both"),
        (Compare("LT"), [C64_2, C64_2], "compare: complex numbers have no order for LT"),
        (Select(), [S32, F32, F32], r"select: operand 0 is s32\[\], elements wanted: pred"),
        (Select(), [PRED_2, F32_4, F32_4], r"select: operands pred\[2\] and f32\[4\] differ"),
        (Select(), [PRED, F32, S32], r"select: operands f32\[\] and s32\[\] differ in element"),
        (Select(), [PRED_2, pack(F32), pack(F32)], "select: operand 1 is .*, an array is wanted"),
        (Clamp(), [F32_2, F32_4, F32], r"clamp: f32\[2\] is no bound for f32\[4\]"),
        (Clamp(), [S32, F32_4, S32], r"clamp: s32\[\] is no bound for f32\[4\]"),
        (Clamp(), [C64_2, C64_2, C64_2], r"clamp: operand 1 is c64\[2\]"),
    ],
)
def test_operands_that_do_not_fit(op: Op, operands: Sequence[Shape], words: str) -> None:
    with pytest.raises(ShapeError, match=f"^{words}"):
        op.infer_shape(operands, [])


def test_declared_shape_is_compared() -> None:
    words = r"^add: shape f32\[4\] is declared, f32\[2\] is inferred$"
    with pytest.raises(ShapeError, match=words):
        Add().check_shape([F32_2, F32_2], [], F32_4)
    Add().check_shape([COLUMNS, COLUMNS], [], ROWS)


@pytest.mark.parametrize(
    ("element_type", "default"),
    [("f32", "FLOAT"), ("c64", "FLOAT"), ("s8", "SIGNED"), ("u8", "UNSIGNED"),
     ("pred", "UNSIGNED")],
)  # fmt: skip
def test_default_type_of_a_comparison_is_not_kept(element_type: str, default: str) -> None:
    operands = [array(element_type)] * 2
    assert comparison_type(ELEMENT_TYPES[element_type]) == default
    assert Compare("EQ", default).adapted(operands, PRED) == Compare("EQ")
    other = Compare("EQ", "TOTALORDER")
    assert other.adapted(operands, PRED) is other
    assert list(other.written()) == [("direction", "EQ"), ("type", "TOTALORDER")]
    assert Compare.adapts
    assert not Add.adapts
