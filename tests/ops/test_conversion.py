"""Conversions: which types and dimensions become which."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.op import Op
from hlotool.ir.shape import TOKEN, UNBOUNDED, ArrayShape, Shape
from hlotool.ops.conversion import BitcastConvert, Convert, ReducePrecision, StochasticConvert
from tests.ops.shapes import F32_2, F32_4, array, pack

U32_2 = array("u32", 2)
UNKNOWN = ArrayShape(ELEMENT_TYPES["s8"], [UNBOUNDED], None, [True])


@pytest.mark.parametrize(
    ("op", "operand", "declared"),
    [
        (Convert(), F32_2, array("s8", 2)),
        (Convert(), array("c64"), array("f32")),
        (Convert(), F32_2, UNKNOWN),
        (BitcastConvert(), F32_2, array("s32", 2)),
        (BitcastConvert(), F32_2, array("f64")),
        (BitcastConvert(), F32_2, array("u8", 2, 4)),
        (BitcastConvert(), array("u16", 2, 2), array("u32", 2)),
        (BitcastConvert(), array("s4", 2), array("s8")),
        (BitcastConvert(), array("s8"), array("u4", 2)),
        (BitcastConvert(), array("c64", 2), array("f64", 2)),
        (BitcastConvert(), array("pred", 2), array("u8", 2)),
        (ReducePrecision(5, 10), F32_2, F32_2),
    ],
)
def test_shapes_that_fit(op: Op, operand: Shape, declared: Shape) -> None:
    op.check_shape([operand], [], declared)


@pytest.mark.parametrize(
    ("op", "operand", "declared", "words"),
    [
        (Convert(), F32_2, array("s8", 4), r"convert: f32\[2\] becomes s8\[4\], equal dimensions"),
        (Convert(), pack(F32_2), F32_2, r"convert: operand 0 is \(f32\[2\]\), an array is wanted"),
        (Convert(), F32_2, TOKEN, r"convert: result is token\[\], an array is wanted"),
        (BitcastConvert(), F32_2, array("u8", 2), r"the bits of f32\[2\] do not fill u8\[2\]"),
        (BitcastConvert(), F32_2, array("u8", 4, 2), r"the bits of f32\[2\] do not fill u8\[4,2\]"),
        (BitcastConvert(), F32_4, array("f64"), r"the bits of f32\[4\] do not fill f64\[\]"),
        (BitcastConvert(), array("f6e2m3fn", 2), array("f16"), "the bits of"),
        (BitcastConvert(), array("c64"), F32_2, r"the bits of c64\[\] do not fill f32\[2\]"),
        (BitcastConvert(), array("pred", 4), array("u32"), r"the bits of pred\[4\] do not fill"),
        (ReducePrecision(0, 10), F32_2, F32_2, "exponent_bits is 0, 1 or more is wanted"),
        (ReducePrecision(5, -1), F32_2, F32_2, "mantissa_bits is -1, 0 or more is wanted"),
        (ReducePrecision(5, 10), U32_2, U32_2, r"operand is u32\[2\], elements wanted: float"),
        (ReducePrecision(5, 10), F32_2, F32_4, r"shape f32\[4\] is declared, f32\[2\] is inf"),
    ],
)
def test_shapes_that_do_not_fit(op: Op, operand: Shape, declared: Shape, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        op.check_shape([operand], [], declared)


def test_random_bits_are_as_wide_as_the_floats() -> None:
    op = StochasticConvert()
    op.check_shape([F32_2, U32_2], [], array("s8", 2))
    words = r"random bits are u16\[2\], 32 bits an element are wanted"
    with pytest.raises(ShapeError, match=words):
        op.check_shape([F32_2, array("u16", 2)], [], array("s8", 2))
    with pytest.raises(ShapeError, match=r"operand 1 is s32\[2\], elements wanted: unsigned"):
        op.check_shape([F32_2, array("s32", 2)], [], array("s8", 2))
    with pytest.raises(ShapeError, match=r"result is pred\[2\], elements wanted"):
        op.check_shape([F32_2, U32_2], [], array("pred", 2))
    with pytest.raises(ShapeError, match=r"f32\[2\] becomes s8\[4\], equal dimensions"):
        op.check_shape([F32_2, U32_2], [], array("s8", 4))


def test_converted_shape_must_be_written() -> None:
    assert not any(op.infers_shape for op in (Convert, BitcastConvert, ReducePrecision))
    with pytest.raises(ShapeError, match="convert: the shape cannot be inferred; write it out"):
        Convert().infer_shape([F32_2], [])
    assert list(ReducePrecision(5, 10).written()) == [
        ("exponent_bits", "5"),
        ("mantissa_bits", "10"),
    ]
