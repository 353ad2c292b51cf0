"""Sort and topk."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.shape import ArrayShape, Layout, ProgramShape, Shape
from hlotool.ops.ordering import Sort, TopK
from tests.ops.shapes import F32, F32_2, F32_4, PRED, S32, array, pack, signature

BEFORE = signature([F32, F32], PRED)
COLUMNS = ArrayShape(ELEMENT_TYPES["f32"], [4, 5], Layout([0, 1]))


def test_sort_keeps_shapes_and_layouts() -> None:
    assert Sort(1).infer_shape([COLUMNS], [BEFORE]) == COLUMNS
    numbers = array("s32", 4, 5)
    pairs = signature([F32, F32, S32, S32], PRED)
    assert Sort(0).infer_shape([COLUMNS, numbers], [pairs]) == pack(COLUMNS, numbers)


@pytest.mark.parametrize(
    ("operands", "call", "words"),
    [
        ([F32_4], signature([F32], PRED), "to_apply takes 1 parameters, 2 are wanted"),
        ([F32_4], signature([F32, S32], PRED), r"to_apply: parameter 1 is s32\[\], f32\[\] is"),
        ([F32_4], signature([F32, F32], F32), r"to_apply yields f32\[\], pred\[\] is wanted"),
        ([F32_4, F32_2], BEFORE, "sort: operands .* differ in dimensions"),
        ([F32], BEFORE, "sort: dimension 0 is out of range for rank 0"),
    ],
)
def test_sorts_that_do_not_fit(operands: list[Shape], call: ProgramShape, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        Sort(0).infer_shape(operands, [call])


def test_topk_cuts_the_last_dimension() -> None:
    inferred = TopK(2).infer_shape([COLUMNS], [])
    assert inferred.text == "(f32[4,2]{1,0}, s32[4,2]{1,0})"
    dynamic = ArrayShape(ELEMENT_TYPES["f32"], [4, 5], None, [True, True])
    assert TopK(2).infer_shape([dynamic], []).text == "(f32[<=4,2]{1,0}, s32[<=4,2]{1,0})"


@pytest.mark.parametrize(
    ("k", "operand", "words"),
    [
        (3, F32_2, r"topk: k is 3, f32\[2\] has 2 in a row"),
        (-1, F32_2, r"topk: k is -1, f32\[2\] has 2 in a row"),
        (0, F32, "topk: operand is a scalar"),
    ],
)
def test_topks_that_do_not_fit(k: int, operand: Shape, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        TopK(k).infer_shape([operand], [])


def test_what_is_printed() -> None:
    assert list(Sort(1).written()) == [("dimensions", "{1}")]
    assert list(Sort(1, is_stable=True).written())[1] == ("is_stable", "true")
    assert list(TopK(2).written()) == [("k", "2"), ("largest", "true")]
