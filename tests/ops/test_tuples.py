"""Making and taking apart tuples."""

from __future__ import annotations

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.shape import TOKEN, ArrayShape, Layout, Shape
from hlotool.ops.tuples import GetTupleElement, Tuple
from tests.ops.shapes import F32, F32_2, F32_4, array, pack

COLUMNS = ArrayShape(ELEMENT_TYPES["f32"], [2, 3], Layout([0, 1]))


def test_tuple_keeps_layouts() -> None:
    assert Tuple().infer_shape([COLUMNS, TOKEN], []).text == "(f32[2,3]{0,1}, token[])"
    assert Tuple().infer_shape([], []).text == "()"
    Tuple().check_shape([COLUMNS], [], pack(array("f32", 2, 3)))
    with pytest.raises(
        ShapeError, match=r"tuple: shape \(\) is declared, \(f32\[2\]\) is inferred"
    ):
        Tuple().check_shape([F32_2], [], pack())


def test_element_keeps_its_layout() -> None:
    operand = pack(F32, COLUMNS)
    assert GetTupleElement(1).infer_shape([operand], []) is COLUMNS
    assert list(GetTupleElement(1).written()) == [("index", "1")]


@pytest.mark.parametrize(
    ("index", "operand", "words"),
    [
        (2, pack(F32, F32_4), "index 2 is out of range, the operand has 2 elements"),
        (-1, pack(F32, F32_4), "index -1 is out of range, the operand has 2 elements"),
        (0, F32, r"get-tuple-element: operand is f32\[\], a tuple is wanted"),
    ],
)
def test_elements_that_are_not_there(index: int, operand: Shape, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        GetTupleElement(index).infer_shape([operand], [])
