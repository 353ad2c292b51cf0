"""Shapes and literals: every one is the same when written and read."""

from __future__ import annotations

import re
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from hlotool.errors import ParseError, UnsupportedError
from hlotool.ir.element_type import ELEMENT_TYPES, F32, S4, S32, ElementType
from hlotool.ir.literal import Literal
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
)
from hlotool.proto.literals import read_literal, write_literal
from hlotool.proto.schema import HloModuleProto, LiteralProto, ShapeProto
from hlotool.proto.shapes import (
    read_program_shape,
    read_shape,
    write_program_shape,
    write_shape,
)

ELEMENT_TYPE = st.sampled_from(list(ELEMENT_TYPES.values()))
SIZES = st.integers(0, 5)
INTEGER_TYPE = st.sampled_from([t for t in ELEMENT_TYPES.values() if t.is_integer])


@st.composite
def layouts(draw: st.DrawFn, rank: int) -> Layout:
    return Layout(
        draw(st.permutations(range(rank))),
        draw(st.lists(st.tuples(st.none() | SIZES, SIZES), max_size=2)),
        tail_padding_alignment_in_elements=draw(st.integers(1, 3)),
        index_type=draw(st.none() | INTEGER_TYPE),
        pointer_type=draw(st.none() | INTEGER_TYPE),
        element_size_bits=draw(SIZES),
        memory_space=draw(SIZES),
        split_configs=draw(st.lists(st.tuples(SIZES, st.tuples(SIZES)), max_size=2)),
        dynamic_shape_metadata_prefix_bytes=draw(SIZES),
    )


@st.composite
def arrays(draw: st.DrawFn) -> ArrayShape:
    sizes = draw(st.lists(SIZES | st.just(UNBOUNDED), max_size=4))
    dynamic = [size == UNBOUNDED or draw(st.booleans()) for size in sizes]
    return ArrayShape(draw(ELEMENT_TYPE), sizes, draw(layouts(len(sizes))), dynamic)


SHAPES: st.SearchStrategy[Shape] = st.recursive(
    arrays() | st.sampled_from([TOKEN, OPAQUE]) | arrays().map(BufferShape),
    lambda inner: st.lists(inner, max_size=3).map(TupleShape),
    max_leaves=6,
)


def written(shape: Shape) -> Any:
    proto = ShapeProto()
    write_shape(proto, shape)
    return proto


@given(SHAPES)
def test_shape_is_the_same_when_written_and_read(shape: Shape) -> None:
    found = read_shape(written(shape))
    assert found == shape
    assert found.text == shape.text


@given(st.lists(SHAPES, max_size=3), SHAPES)
def test_program_shape_keeps_names(parameters: list[Shape], result: Shape) -> None:
    names = [f"p{number}" for number in range(len(parameters))]
    shape = ProgramShape(parameters, result, names)
    proto = HloModuleProto().host_program_shape
    write_program_shape(proto, shape)
    found = read_program_shape(proto)
    assert found == shape
    assert found.parameter_names == tuple(names)


def test_shape_without_a_layout_is_row_major() -> None:
    proto = written(ArrayShape(F32, (2, 3), Layout((0, 1))))
    proto.ClearField("layout")
    proto.ClearField("is_dynamic_dimension")
    assert read_shape(proto) == ArrayShape(F32, (2, 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory_space: -1", "layout: memory_space is -1"),
        ("element_size_in_bits: -8", "layout: element_size_in_bits is -8"),
        ("index_primitive_type: F32", "layout: indices of type f32, an integer type is wanted"),
        ("minor_to_major: 1", "layout {1,0,1} does not order 2 dimensions"),
        ("tiles { dimensions: -3 }", "layout: a tile has size -3"),
        ("split_configs { dimension: 1 }", "layout: dimension 1 is split nowhere"),
        ("physical_shape {}", "a physical shape is for sparse arrays only"),
    ],
)
def test_fault_of_a_layout_is_told(text: str, message: str) -> None:
    proto = written(ArrayShape(F32, (2, 3)))
    text_format.Merge(text, proto.layout)
    with pytest.raises(ParseError, match=re.escape(message)):
        read_shape(proto)


def test_buffer_of_a_tuple_is_refused() -> None:
    proto = written(BufferShape(ArrayShape(F32)))
    proto.tuple_shapes[0].CopyFrom(written(TupleShape()))
    with pytest.raises(ParseError, match="a buffer holds one array"):
        read_shape(proto)


def literal(element_type: ElementType, sizes: tuple[int, ...], layout: Layout | None) -> Literal:
    """Returns a literal with every kind of byte in it."""
    shape = ArrayShape(element_type, sizes, layout)
    count = shape.element_count * element_type.storage_bytes
    values = bytes(7 * number % 256 for number in range(count))
    if element_type.name == "pred":
        values = bytes(byte & 1 for byte in values)
    elif element_type.is_signed and element_type.bits < 8:
        half = 1 << (element_type.bits - 1)
        values = bytes((byte % (2 * half) - half) % 256 for byte in values)
    elif element_type.bits < 8:
        values = bytes(byte % (1 << element_type.bits) for byte in values)
    return Literal(shape, values)


def proto_of(value: Literal) -> Any:
    proto = LiteralProto()
    write_literal(proto, value)
    return LiteralProto.FromString(proto.SerializeToString())


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=list(ELEMENT_TYPES))
@pytest.mark.parametrize("sizes", [(), (5,), (0, 3), (2, 3, 4)], ids=str)
def test_literal_is_the_same_when_written_and_read(
    element_type: ElementType, sizes: tuple[int, ...]
) -> None:
    for order in permutations(range(len(sizes))):
        value = literal(element_type, sizes, Layout(order))
        assert read_literal(proto_of(value)) == value


def test_elements_stand_in_the_order_of_memory() -> None:
    shape = ArrayShape(S32, (2, 3), Layout((0, 1)))
    value = Literal.from_array(np.arange(6).reshape(2, 3), shape)
    assert list(proto_of(value).s32s) == [0, 3, 1, 4, 2, 5]


def test_narrow_integers_keep_their_low_bits() -> None:
    value = Literal(ArrayShape(S4, (3,)), bytes([0xF8, 0xFF, 7]))
    assert proto_of(value).s4s == bytes([8, 15, 7])


def test_payload_of_a_nan_survives() -> None:
    bits = bytes.fromhex("0100807f 452381ff")
    assert read_literal(proto_of(Literal(ArrayShape(F32, (2,)), bits))).data == bits


def test_tuple_and_left_out_literals() -> None:
    left_out = Literal.elision(ArrayShape(F32, (1 << 40,)))
    value = Literal.of_elements([left_out, Literal.of_elements([literal(F32, (2,), None)])])
    found = read_literal(proto_of(value))
    assert found == value
    assert found.elements[0].elided


def test_faults_of_literals_are_told() -> None:
    proto = proto_of(literal(F32, (2,), None))
    proto.f32s.append(0)
    with pytest.raises(ParseError, match=r"f32\[2\]\{0\} takes 8 bytes, 12 are given"):
        read_literal(proto)
    proto.ClearField("f32s")
    proto.s32s.append(1)
    with pytest.raises(ParseError, match=r"a literal of f32\[2\]\{0\} has s32s"):
        read_literal(proto)
    proto.shape.is_dynamic_dimension[0] = True
    with pytest.raises(UnsupportedError, match="a literal needs a static shape"):
        read_literal(proto)
    with pytest.raises(ParseError, match=re.escape("a literal cannot be token[]")):
        read_literal(LiteralProto(shape=written(TOKEN)))
    with pytest.raises(ParseError, match=re.escape("a literal of (f32[]) has 0 elements")):
        read_literal(LiteralProto(shape=written(TupleShape([ArrayShape(F32)]))))
