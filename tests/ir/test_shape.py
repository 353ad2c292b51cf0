"""Shapes: texts, layouts, compatibility, leaves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from hlotool.ir.element_type import F32, S4, U32
from hlotool.ir.shape import (
    OPAQUE,
    TOKEN,
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    Layout,
    ProgramShape,
    Shape,
    TupleShape,
    join_marked,
)
from hlotool.text.parser import parse_shape
from tests.strategies import SHAPES

TABLE = ArrayShape(F32, (2, 3))
SCALAR = ArrayShape(F32)

UNCHANGED = [
    "f32[]",
    "f32[]{:T(256)}",
    "f32[0]{0}",
    "f32[2,3]{0,1}",
    "f32[<=3,?]{1,0}",
    "s4[8]{0:E(4)}",
    "f32[2,3]{1,0:T(8,128)(2,1)L(4)#(u32)*(u64)E(4)S(3)SC(0:1,2)(1:3)M(8)}",
    "f32[2,3]{1,0:T(*,128)}",
    "token[]",
    "opaque[]",
    "()",
    "(f32[2]{0}, (s32[], token[]), ())",
    "(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[], s8[])",
    "b(f32[2]{0:S(1)})",
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_texts_print_as_they_stand(text: str) -> None:
    assert parse_shape(text).text == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("f32[2,3]", "f32[2,3]{1,0}"),
        ("f32[ 2 , 3 ] { 0 , 1 : }", "f32[2,3]{0,1}"),
        ("f32[007]", "f32[7]{0}"),
        ("f32[2]{0:L(1)E(0)S(0)M(0)}", "f32[2]{0}"),
        ("f32[2,3]{1,0:D(D,C+~)S(1)}", "f32[2,3]{1,0:S(1)}"),
        ("(f32[2],/*index=1*/f32[])", "(f32[2]{0}, f32[])"),
    ],
)
def test_other_texts_print_in_one_form(text: str, shown: str) -> None:
    assert parse_shape(text).text == shown


@settings(deadline=None)  # the first text makes the parser
@given(SHAPES)
def test_printed_shapes_read_as_themselves(shape: Shape) -> None:
    again = parse_shape(shape.text)
    assert again == shape
    assert hash(again) == hash(shape)
    assert parse_shape(shape.plain_text).compatible(shape)


def test_plain_text_has_no_layout() -> None:
    shape = parse_shape("(f32[2,3]{0,1:S(1)}, b(f32[<=2]{0}))")
    assert shape.plain_text == "(f32[2,3], b(f32[<=2]))"


def test_layout_has_every_part_in_its_place() -> None:
    layout = Layout(
        (1, 0),
        ((8, None), (2,)),
        tail_padding_alignment_in_elements=4,
        index_type=U32,
        element_size_bits=4,
        memory_space=3,
        split_configs=((0, (1, 2)),),
        dynamic_shape_metadata_prefix_bytes=8,
    )
    assert layout.text == "{1,0:T(8,*)(2)L(4)#(u32)E(4)S(3)SC(0:1,2)M(8)}"
    assert layout.replace(memory_space=0, tiles=()).text == "{1,0:L(4)#(u32)E(4)SC(0:1,2)M(8)}"
    assert layout.has_tail
    assert not layout.is_default
    assert layout != Layout((1, 0))


def test_default_layout_is_row_major() -> None:
    assert TABLE.layout == Layout((1, 0))
    assert TABLE.layout.is_default
    assert not Layout((0, 1)).is_default
    turned = TABLE.with_layout(Layout((0, 1)))
    assert turned != TABLE
    assert turned.with_default_layout() == TABLE
    assert TABLE.with_default_layout() is TABLE


def test_compatible_shapes_hold_the_same_values() -> None:
    turned = TABLE.with_layout(Layout((0, 1)))
    dynamic = ArrayShape(F32, (2, 3), dynamic=(True, False))
    assert TABLE.compatible(turned)
    assert TABLE.compatible(dynamic)
    assert not TABLE.compatible(ArrayShape(S4, (2, 3)))
    assert not TABLE.compatible(ArrayShape(F32, (3, 2)))
    assert not TABLE.compatible(TupleShape([TABLE]))
    assert TupleShape([TABLE, TOKEN]).compatible(TupleShape([turned, TOKEN]))
    assert not TupleShape([TABLE]).compatible(TupleShape([TABLE, TABLE]))
    assert BufferShape(TABLE).compatible(BufferShape(turned))
    assert not BufferShape(TABLE).compatible(TABLE)
    assert TOKEN.compatible(TOKEN)
    assert not TOKEN.compatible(OPAQUE)


def test_dynamic_dimensions_are_marked() -> None:
    shape = ArrayShape(F32, (2, UNBOUNDED, 4), dynamic=(True, True, False))
    assert shape.plain_text == "f32[<=2,?,4]"
    assert shape.dynamic_flags() == (True, True, False)
    assert not shape.is_static
    assert shape.is_dynamic(0)
    assert not shape.is_dynamic(2)
    static = ArrayShape(F32, (2,), dynamic=(False,))
    assert static == ArrayShape(F32, (2,))
    assert static.dynamic_flags() == (False,)
    assert static.is_static


def test_arrays_know_their_size() -> None:
    assert (TABLE.rank, TABLE.element_count, TABLE.is_scalar) == (2, 6, False)
    assert (SCALAR.rank, SCALAR.element_count, SCALAR.is_scalar) == (0, 1, True)
    assert TABLE.with_element_type(S4).text == "s4[2,3]{1,0}"


def test_leaves_and_parts_of_tuples() -> None:
    shape = TupleShape([TABLE, TupleShape([TOKEN, TupleShape()]), SCALAR])
    assert list(shape.leaves()) == [((0,), TABLE), ((1, 0), TOKEN), ((2,), SCALAR)]
    assert list(TABLE.leaves()) == [((), TABLE)]
    assert shape.subshape((1, 0)) is TOKEN
    assert shape.subshape(()) is shape
    assert shape.subshape((1, 1)) == TupleShape()
    assert [shape.subshape(index) for index in ((3,), (-1,), (0, 0), (1, 0, 0))] == [None] * 4


def test_equal_program_shapes_may_name_parameters_differently() -> None:
    one = ProgramShape([TABLE], SCALAR, ["a"])
    assert one == ProgramShape([TABLE], SCALAR, ["b"])
    assert hash(one) == hash(ProgramShape([TABLE], SCALAR))
    assert one != ProgramShape([SCALAR], SCALAR)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, ""), (1, "0"), (5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, 3, 4, /*index=5*/5"),
     (11, "0, 1, 2, 3, 4, /*index=5*/5, 6, 7, 8, 9, /*index=10*/10")],
)  # fmt: skip
def test_every_fifth_part_has_its_index_in_front(count: int, text: str) -> None:
    assert join_marked([str(number) for number in range(count)]) == text
