"""Broadcasts, reshapes, transposes and their like: shapes, layouts, dynamic dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.op import Op
from hlotool.ir.shape import TOKEN, UNBOUNDED, ArrayShape, BufferShape, Layout, Shape
from hlotool.ir.window import PADDING, PaddingDimension
from hlotool.ops.numerics.physical_size import physical_bytes
from hlotool.ops.shape_changing import (
    Bitcast,
    Broadcast,
    Concatenate,
    DynamicReshape,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from tests.ops.shapes import F32, F32_2, F32_4, S32, array

TYPES = ELEMENT_TYPES
ROWS = array("f32", 2, 3)


def shaped(*sizes: int, order: Sequence[int] | None = None, dynamic: int = -1) -> ArrayShape:
    """Returns an f32 array with a layout, and one dimension dynamic."""
    layout = None if order is None else Layout(order)
    return ArrayShape(TYPES["f32"], sizes, layout, [d == dynamic for d in range(len(sizes))])


def unknown(*sizes: int) -> ArrayShape:
    """Returns an f32 array of which the sizes `UNBOUNDED` are dynamic."""
    return ArrayShape(TYPES["f32"], sizes, None, [size == UNBOUNDED for size in sizes])


def padding(text: str) -> tuple[PaddingDimension, ...]:
    return PADDING.read(text)


@pytest.mark.parametrize(
    ("op", "operands", "inferred"),
    [
        (Broadcast(()), [F32], "f32[]"),
        (Transpose((1, 2, 0)), [shaped(5, 2, 3)], "f32[2,3,5]{1,0,2}"),
        (Transpose((1, 2, 0)), [shaped(5, 2, 3, order=(0, 2, 1))], "f32[2,3,5]{2,1,0}"),
        (Transpose((1, 0)), [shaped(2, 3, order=(0, 1), dynamic=1)], "f32[<=3,2]{1,0}"),
        (Transpose(()), [F32], "f32[]"),
        (Reverse((1, 0)), [shaped(2, 3, order=(0, 1), dynamic=1)], "f32[2,<=3]{0,1}"),
        (Reverse(()), [F32], "f32[]"),
        (Concatenate(1), [shaped(2, 3, order=(0, 1)), shaped(2, 4)], "f32[2,7]{1,0}"),
        (Concatenate(0), [F32_2, array("bf16", 4), shaped(0)], "f32[6]{0}"),
        (Concatenate(1), [shaped(2, 3, dynamic=1), shaped(2, 4, dynamic=0)], "f32[<=2,<=7]{1,0}"),
        (Concatenate(1), [unknown(UNBOUNDED, 3), unknown(2, UNBOUNDED)], "f32[2,?]{1,0}"),
        (Slice(((0, 4, 1), (1, 3, 3))), [shaped(10, 3)], "f32[4,1]{1,0}"),
        (Slice(((0, 5, 2), (0, 0, 1))), [shaped(10, 3, order=(0, 1))], "f32[3,0]{1,0}"),
        (Slice(((0, 4, 1),)), [shaped(8, dynamic=0)], "f32[<=4]{0}"),
        (Slice(((3, 4, 1),)), [shaped(8, dynamic=0)], "f32[1]{0}"),
        (Slice(((3, 9, 1),)), [unknown(UNBOUNDED)], "f32[6]{0}"),
        (Pad(padding("1_1x0_2_1")), [shaped(2, 3, order=(0, 1)), F32], "f32[4,7]{1,0}"),
        (Pad(padding("-1_-1x-1_0_1")), [ROWS, F32], "f32[0,4]{1,0}"),
        (Pad(padding("-1_0x1_2_1")), [shaped(2, 0), F32], "f32[1,3]{1,0}"),
        (Pad(padding("1_1_2x0_1")), [shaped(2, 3, dynamic=0), F32], "f32[<=6,4]{1,0}"),
        (Pad(padding("1_1")), [unknown(UNBOUNDED), F32], "f32[?]{0}"),
        (Pad(padding("1_1")), [array("bf16", 2), F32], "f32[4]{0}"),
        (Pad(()), [F32, F32], "f32[]"),
    ],
)
def test_inferred_shape(op: Op, operands: Sequence[Shape], inferred: str) -> None:
    found = op.infer_shape(operands, [])
    assert found.text == inferred
    op.check_shape(operands, [], found)


@pytest.mark.parametrize(
    ("op", "operands", "declared"),
    [
        (Broadcast(()), [F32], ROWS),
        (Broadcast((1,)), [array("f32", 3)], ROWS),
        (Broadcast((1, 0)), [array("f32", 3, 2)], ROWS),
        (Broadcast((0,)), [unknown(UNBOUNDED)], ROWS),
        (Reshape(), [ROWS], array("f32", 3, 2)),
        (Reshape(), [array("f32", 1, 1)], F32),
        (Reshape(inferred_dimension=0), [ROWS], unknown(UNBOUNDED, 2)),
        (DynamicReshape(), [ROWS, S32, S32], shaped(3, 2, dynamic=0)),
        (Bitcast(), [ROWS], array("f32", 6)),
        (Bitcast(), [ROWS], array("u8", 24)),
        (Bitcast(), [BufferShape(ROWS)], BufferShape(array("f32", 6))),
        (Bitcast(), [unknown(UNBOUNDED)], F32),
    ],
)
def test_shapes_that_fit(op: Op, operands: Sequence[Shape], declared: Shape) -> None:
    op.check_shape(operands, [], declared)


@pytest.mark.parametrize(
    ("op", "operands", "declared", "words"),
    [
        (Broadcast(()), [F32_2], F32_2, "broadcast: dimensions: 0 given, 1 wanted"),
        (Broadcast((2,)), [F32_2], ROWS, r"broadcast: dimensions \{2\}: 2 is out of range"),
        (Broadcast((0, 0)), [array("f32", 2, 2)], ROWS, r"dimensions \{0,0\} are not distinct"),
        (Broadcast((1,)), [F32_2], ROWS, r"f32\[2\] does not fit dimensions \{1\} of f32\[2,3\]"),
        (Broadcast((1,)), [array("f32", 1)], ROWS, r"f32\[1\] does not fit dimensions \{1\}"),
        (Broadcast(()), [S32], ROWS, r"broadcast: s32\[\] becomes f32\[2,3\], equal element types"),
        (Reshape(), [ROWS], F32_4, r"f32\[2,3\] has 6 elements, f32\[4\] has 4"),
        (Reshape(), [F32], S32, r"reshape: f32\[\] becomes s32\[\], equal element types"),
        (Reshape(2), [ROWS], ROWS, "reshape: inferred_dimension 2 is out of range for rank 2"),
        (DynamicReshape(), [ROWS, S32], ROWS, "list of sizes: 1 given, 2 wanted"),
        (DynamicReshape(), [F32_2, F32], F32_2, r"operand 1 is f32\[\], elements wanted: signed"),
        (DynamicReshape(), [F32_2, F32_2], F32_2, r"operand 1 is f32\[2\], a scalar is wanted"),
        (Bitcast(), [F32_2], F32_4, r"f32\[2\]\{0\} takes 8 bytes, f32\[4\]\{0\} takes 16"),
        (Bitcast(), [TOKEN], F32, r"bitcast: operand is token\[\], an array is wanted"),
    ],
)
def test_shapes_that_do_not_fit(
    op: Op, operands: Sequence[Shape], declared: Shape, words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        op.check_shape(operands, [], declared)


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        (Broadcast((0,)), [F32_2], "broadcast: the shape cannot be inferred; write it out"),
        (Transpose((0, 2)), [ROWS], r"transpose: dimensions \{0,2\} do not permute rank 2"),
        (Transpose((0,)), [ROWS], r"transpose: dimensions \{0\} do not permute rank 2"),
        (Transpose((1, 0)), [shaped(2, 3, order=(1, 1))], r"operand has layout \{1,1\}"),
        (Reverse((0, 0)), [ROWS], r"reverse: dimensions \{0,0\} are not distinct"),
        (Concatenate(1), [F32_2], "concatenate: dimension 1 is out of range for rank 1"),
        (Concatenate(0), [F32_2, S32], "concatenate: operands .* differ in element type"),
        (Concatenate(0), [F32_2, ROWS], "concatenate: operands .* may differ in dimension 0 only"),
        (Concatenate(0), [ROWS, array("f32", 2, 4)], "concatenate: operands .* differ in dim"),
        (Slice(((0, 2, 1),)), [ROWS], "slice: slice: 1 given, 2 wanted"),
        (Slice(((0, 3, 1),)), [F32_2], r"slice: \[0:3\] is no range of a dimension of size 2"),
        (Slice(((2, 1, 1),)), [F32_2], r"slice: \[2:1\] is no range of a dimension of size 2"),
        (Slice(((-1, 1, 1),)), [F32_2], r"slice: \[-1:1\] is no range of a dimension of size 2"),
        (Slice(((0, 1, 0),)), [F32_2], "slice: stride is 0, 1 or more is wanted"),
        (Pad(padding("1_1")), [ROWS, F32], "pad: padding: 1 given, 2 wanted"),
        (Pad(padding("-1_-2")), [F32_2, F32], "pad: padding -1_-2 leaves less than 0 of 2"),
        (Pad((PaddingDimension(0, 0, -1),)), [F32_2, F32], "interior padding -1 is negative"),
        (Pad(padding("1_1")), [F32_2, F32_2], r"pad: operand 1 is f32\[2\], a scalar is wanted"),
        (Pad(padding("1_1")), [F32_2, S32], "pad: operands .* differ in element type"),
    ],
)
def test_operands_that_do_not_fit(op: Op, operands: Sequence[Shape], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        op.infer_shape(operands, [])


def test_transpose_keeps_the_rest_of_the_layout() -> None:
    layout = Layout([1, 0], [(8, 128)], memory_space=1, split_configs=[(0, (4,))])
    operand = ArrayShape(TYPES["f32"], [8, 3], layout)
    inferred = Transpose((1, 0)).infer_shape([operand], [])
    assert inferred.text == "f32[3,8]{0,1:T(8,128)S(1)SC(1:4)}"


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        (array("f32", 2, 3), 24),
        (array("pred", 3), 3),
        (array("s4", 3), 3),
        (ArrayShape(TYPES["s4"], [3], Layout([0], element_size_bits=4)), 2),
        (ArrayShape(TYPES["f32"], [10, 200], Layout([1, 0], [(8, 128)])), 16 * 256 * 4),
        (ArrayShape(TYPES["f32"], [10, 200], Layout([0, 1], [(8, 128)])), 200 * 128 * 4),
        (ArrayShape(TYPES["bf16"], [10, 200], Layout([1, 0], [(8, 128), (2, 1)])), 16 * 256 * 2),
        (ArrayShape(TYPES["f32"], [3, 5, 7], Layout([2, 1, 0], [(None, 16, 8)])), 16 * 8 * 4),
        (ArrayShape(TYPES["f32"], [3], Layout([0], [(2, 4)])), 2 * 4 * 4),
        (ArrayShape(TYPES["f32"], [], Layout([], [(256,)])), 256 * 4),
        (
            ArrayShape(TYPES["u8"], [5], Layout([0], tail_padding_alignment_in_elements=4)),
            8,
        ),
    ],
)
def test_bytes_in_memory(shape: ArrayShape, wanted: int) -> None:
    assert physical_bytes(shape, "bitcast: operand") == wanted


def test_what_is_printed() -> None:
    assert list(Broadcast(()).written()) == [("dimensions", "{}")]
    assert list(Reshape().written()) == []
    assert list(Reshape(1).written()) == [("inferred_dimension", "1")]
    assert list(Concatenate(1).written()) == [("dimensions", "{1}")]
    assert list(Slice(((0, 4, 2), (1, 3, 1))).written()) == [("slice", "{[0:4:2], [1:3:1]}")]
    assert list(Pad(padding("1_1x0_2_1")).written()) == [("padding", "1_1_0x0_2_1")]


def test_which_shapes_the_text_may_leave_out() -> None:
    given = {op for op in (Bitcast, Broadcast, Concatenate, DynamicReshape, Pad, Reshape, Reverse,
                           Slice, Transpose) if not op.infers_shape}  # fmt: skip
    assert given == {Bitcast, DynamicReshape, Reshape, Slice}
