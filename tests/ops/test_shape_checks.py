"""The checks that shape rules are made of."""

from __future__ import annotations

import re

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.shape import TOKEN, UNBOUNDED, ArrayShape, Layout
from hlotool.ops.shape_checks import (
    FLOAT_KINDS,
    any_dynamic,
    array,
    arrays,
    check_dimensions,
    check_kind,
    check_length,
    check_signature,
    common_element_type,
    merged_dimensions,
    physical_order,
    same_size,
    scalar,
    wider,
)
from tests.ops import shapes
from tests.ops.shapes import F32, F32_2, PRED, S32, signature


def test_what_is_no_array_is_named() -> None:
    assert array(F32_2, "dot: operand 0") is F32_2
    with pytest.raises(ShapeError, match=r"^add: operand 1 is token\[\], an array is wanted$"):
        arrays([F32, TOKEN], "add")


def test_scalar_has_no_dimensions() -> None:
    assert scalar(F32, "pad: operand 1") is F32
    with pytest.raises(ShapeError, match=r"^pad: operand 1 is f32\[2\], a scalar is wanted$"):
        scalar(F32_2, "pad: operand 1")


def test_kinds_that_are_wanted_are_listed() -> None:
    check_kind(F32, FLOAT_KINDS, "floor: operand")
    with pytest.raises(ShapeError, match=r"^floor: operand is s32\[\], elements wanted: float$"):
        check_kind(S32, FLOAT_KINDS, "floor: operand")


@pytest.mark.parametrize(
    ("dimensions", "words"),
    [
        ((0, 2), "reverse: dimensions {0,2}: 2 is out of range for rank 2"),
        ((-1,), "reverse: dimensions {-1}: -1 is out of range for rank 2"),
        ((1, 1), "reverse: dimensions {1,1} are not distinct"),
        ((1, 0), "reverse: dimensions {1,0} are not in increasing order"),
    ],
)
def test_dimension_numbers(dimensions: tuple[int, ...], words: str) -> None:
    with pytest.raises(ShapeError, match=f"^{re.escape(words)}$"):
        check_dimensions(dimensions, 2, "reverse: dimensions", increasing=True)


def test_order_of_dimensions_matters_only_where_asked() -> None:
    check_dimensions((1, 0), 2, "reverse: dimensions")


def test_length_says_both_numbers() -> None:
    with pytest.raises(ShapeError, match=r"^pad: padding: 1 given, 2 wanted$"):
        check_length([0], 2, "pad: padding")


def test_unbounded_size_may_be_any() -> None:
    assert same_size(3, 3)
    assert same_size(UNBOUNDED, 3)
    assert not same_size(3, 4)


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        ("f16", "bf16", "bf16"),
        ("f16", "f32", "f32"),
        ("f8e5m2", "f8e4m3fn", "f8e5m2"),
        ("f8e4m3fn", "f8e4m3", "f8e4m3fn"),
        ("f8e4m3b11fnuz", "f8e4m3", "f8e4m3"),
        ("f8e8m0fnu", "bf16", "bf16"),
        ("f6e2m3fn", "f6e3m2fn", "f6e3m2fn"),
        ("s8", "s32", "s32"),
        ("u8", "s8", "s8"),
        ("s64", "f16", "f16"),
        ("c64", "f64", "c64"),
        ("c64", "c128", "c128"),
    ],
)
def test_wider_type_has_more_range(one: str, other: str, result: str) -> None:
    types = ELEMENT_TYPES
    assert wider(types[one], types[other]) is types[result]
    assert wider(types[other], types[one]) is types[result]


def test_only_floats_may_differ_in_type() -> None:
    both = [F32_2, shapes.array("bf16", 2)]
    assert common_element_type(both, "add").name == "f32"
    words = r"^add: operands f32\[\] and s32\[\] differ in element type$"
    with pytest.raises(ShapeError, match=words):
        common_element_type([F32, S32], "add")


def test_known_sizes_win_over_unbounded_ones() -> None:
    f32 = ELEMENT_TYPES["f32"]
    unknown = ArrayShape(f32, [UNBOUNDED, 3], None, [True, False])
    bounded = ArrayShape(f32, [4, 3], None, [True, False])
    static = ArrayShape(f32, [4, 3])
    assert merged_dimensions([unknown, static], "add") == ((4, 3), (False, False))
    assert merged_dimensions([static, bounded], "add") == ((4, 3), (True, False))
    assert merged_dimensions([unknown, unknown], "add") == ((UNBOUNDED, 3), (True, False))
    assert any_dynamic([static, bounded]) == (True, False)


def test_signature_ignores_float_width_only() -> None:
    call = signature([F32, shapes.array("bf16")], F32)
    check_signature(call, [F32, F32], F32, "reduce: to_apply")
    with pytest.raises(ShapeError, match="to_apply takes 2 parameters, 1 are wanted"):
        check_signature(call, [F32], F32, "reduce: to_apply")
    with pytest.raises(ShapeError, match=r"parameter 1 is bf16\[\], s32\[\] is wanted"):
        check_signature(call, [F32, S32], F32, "reduce: to_apply")
    with pytest.raises(ShapeError, match=r"to_apply yields f32\[\], pred\[\] is wanted"):
        check_signature(call, [F32, F32], PRED, "reduce: to_apply")


def test_layout_must_list_each_dimension() -> None:
    transposed = ArrayShape(ELEMENT_TYPES["f32"], [2, 3], Layout([0, 1]))
    broken = ArrayShape(ELEMENT_TYPES["f32"], [2, 3], Layout([0, 5]))
    assert physical_order(transposed, "copy: operand") == (0, 1)
    words = r"^copy: operand has layout \{0,5\}, an order of 2 dimensions is wanted$"
    with pytest.raises(ShapeError, match=words):
        physical_order(broken, "copy: operand")
