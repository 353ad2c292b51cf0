"""Slices, gathers and scatters at indices that a module computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.op import Op
from hlotool.ir.shape import UNBOUNDED, ArrayShape, Layout, ProgramShape, Shape
from hlotool.ops.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    GetDimensionSize,
    Scatter,
    SetDimensionSize,
)
from tests.ops.shapes import F32, F32_2, F32_4, S32, array, pack, signature

TABLE = array("f32", 4, 5)
COLUMNS = ArrayShape(ELEMENT_TYPES["f32"], [4, 5], Layout([0, 1]))
ADD = signature([F32, F32], F32)
ROW_GATHER: dict[str, Any] = {
    "offset_dims": (1,), "collapsed_slice_dims": (0,), "start_index_map": (0,),
    "index_vector_dim": 1, "slice_sizes": (1, 5),
}  # fmt: skip
BATCH_GATHER: dict[str, Any] = {
    "offset_dims": (2,), "collapsed_slice_dims": (1,), "start_index_map": (1,),
    "operand_batching_dims": (0,), "start_indices_batching_dims": (0,),
    "index_vector_dim": 2, "slice_sizes": (1, 1, 6),
}  # fmt: skip
ROW_SCATTER: dict[str, Any] = {
    "update_window_dims": (1,), "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1,
}  # fmt: skip
BATCH_SCATTER: dict[str, Any] = {
    "update_window_dims": (2,), "inserted_window_dims": (1,),
    "scatter_dims_to_operand_dims": (1,), "input_batching_dims": (0,),
    "scatter_indices_batching_dims": (0,), "index_vector_dim": 2,
}  # fmt: skip


def bounded(element_type: str, *sizes: int, dynamic: int) -> ArrayShape:
    """Returns an array with one dimension dynamic."""
    flags = [d == dynamic for d in range(len(sizes))]
    return ArrayShape(ELEMENT_TYPES[element_type], sizes, None, flags)


def gather(**changes: Any) -> Gather:
    return Gather(**(ROW_GATHER | changes))


def scatter(**changes: Any) -> Scatter:
    return Scatter(**(ROW_SCATTER | changes))


@pytest.mark.parametrize(
    ("op", "operands", "inferred"),
    [
        (DynamicSlice((2, 5)), [COLUMNS, S32, array("u8")], "f32[2,5]{1,0}"),
        (DynamicSlice((2, 5)), [TABLE, array("s64", 2)], "f32[2,5]{1,0}"),
        (DynamicSlice((2,)), [F32_4, array("s32", 1)], "f32[2]{0}"),
        (DynamicSlice((2,)), [F32_4, S32], "f32[2]{0}"),
        (DynamicSlice(()), [F32], "f32[]"),
        (DynamicSlice((4, 2)), [bounded("f32", 4, 5, dynamic=0), S32, S32], "f32[<=4,2]{1,0}"),
        (DynamicSlice((2, 2)), [bounded("f32", 4, 5, dynamic=0), S32, S32], "f32[2,2]{1,0}"),
        (DynamicUpdateSlice(), [COLUMNS, array("f32", 2, 5), S32, S32], "f32[4,5]{0,1}"),
        (DynamicUpdateSlice(), [F32_4, array("bf16", 2), array("s32", 1)], "f32[4]{0}"),
        (DynamicUpdateSlice(), [F32_4, bounded("f32", 4, dynamic=0), S32], "f32[<=4]{0}"),
        (DynamicUpdateSlice(), [F32_4, bounded("f32", 2, dynamic=0), S32], "f32[4]{0}"),
        (DynamicUpdateSlice(), [F32_4, bounded("f32", UNBOUNDED, dynamic=0), S32], "f32[4]{0}"),
        (GetDimensionSize(1), [TABLE], "s32[]"),
        (SetDimensionSize(1), [COLUMNS, S32], "f32[4,<=5]{0,1}"),
        (gather(), [COLUMNS, array("s32", 3, 1)], "f32[3,5]{1,0}"),
        (gather(), [TABLE, array("s32", 3)], "f32[3,5]{1,0}"),
        (gather(offset_dims=(0,)), [TABLE, array("u8", 3)], "f32[5,3]{1,0}"),
        (gather(), [bounded("f32", 4, 5, dynamic=1), bounded("s32", 3, dynamic=0)],
         "f32[<=3,<=5]{1,0}"),
        (gather(slice_sizes=(1, 4)), [bounded("f32", 4, 5, dynamic=1), array("s32", 3)],
         "f32[3,4]{1,0}"),
        (gather(), [TABLE, bounded("s32", 3, UNBOUNDED, dynamic=1)], "f32[3,5]{1,0}"),
        (gather(offset_dims=(0,), index_vector_dim=0), [TABLE, S32], "f32[5]{0}"),
        (gather(offset_dims=(), collapsed_slice_dims=(0, 1), start_index_map=(1, 0),
                slice_sizes=(1, 1)), [TABLE, array("s32", 3, 2)], "f32[3]{0}"),
        (gather(offset_dims=(0, 1), collapsed_slice_dims=(), slice_sizes=(2, 5),
                index_vector_dim=0), [TABLE, array("s32", 1)], "f32[2,5]{1,0}"),
        (Gather(**BATCH_GATHER), [array("f32", 4, 5, 6), array("s32", 4, 2)],
         "f32[4,2,6]{2,1,0}"),
    ],
)  # fmt: skip
def test_inferred_shape(op: Op, operands: Sequence[Shape], inferred: str) -> None:
    found = op.infer_shape(operands, [])
    assert found.text == inferred
    op.check_shape(operands, [], found)


@pytest.mark.parametrize(
    ("op", "operands", "call", "inferred"),
    [
        (scatter(), [COLUMNS, array("s32", 3, 1), array("f32", 3, 5)], ADD, COLUMNS),
        (scatter(), [TABLE, array("s32", 3), array("f32", 3, 4)], ADD, TABLE),
        (scatter(), [TABLE, array("s32", 3), array("bf16", 3, 4)], ADD, TABLE),
        (Scatter(**BATCH_SCATTER),
         [array("f32", 4, 5, 6), array("s32", 4, 2), array("f32", 4, 2, 6)], ADD,
         array("f32", 4, 5, 6)),
        (scatter(),
         [TABLE, array("s8", 4, 5), array("s32", 3), array("f32", 3, 5), array("s8", 3, 5)],
         signature([F32, array("s8"), F32, array("s8")], pack(F32, array("s8"))),
         pack(TABLE, array("s8", 4, 5))),
    ],
)  # fmt: skip
def test_scatter_yields_what_it_writes_to(
    op: Op, operands: Sequence[Shape], call: ProgramShape, inferred: Shape
) -> None:
    assert op.infer_shape(operands, [call]) == inferred


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        (DynamicSlice((2, 6)), [TABLE, S32, S32], r"sizes \{2,6\} is no part of f32\[4,5\]"),
        (DynamicSlice((-1,)), [F32_4, S32], r"sizes \{-1\} is no part of f32\[4\]"),
        (DynamicSlice((2,)), [TABLE, S32, S32], "dynamic_slice_sizes: 1 given, 2 wanted"),
        (DynamicSlice((2, 2)), [TABLE, S32], "list of start indices: 1 given, 2 wanted"),
        (DynamicSlice((2, 2)), [TABLE, array("s32", 3)], r"are s32\[3\], a vector of 2 is wanted"),
        (DynamicSlice((2, 2)), [TABLE, F32, S32], r"start index is f32\[\], elements wanted"),
        (DynamicSlice((2, 2)), [TABLE, S32, array("s32", 1)], r"is s32\[1\], a scalar is wanted"),
        (DynamicUpdateSlice(), [F32_2, F32_4, S32], r"operand 1, f32\[4\], is no part of f32\[2\]"),
        (DynamicUpdateSlice(), [F32_2, array("s32", 2), S32], "differ in element type"),
        (DynamicUpdateSlice(), [TABLE, F32_2, S32, S32], "shape of operand 1: 1 given, 2 wanted"),
        (GetDimensionSize(2), [TABLE], "get-dimension-size: dimension 2 is out of range"),
        (SetDimensionSize(2), [TABLE, S32], "set-dimension-size: dimension 2 is out of range"),
        (SetDimensionSize(0), [TABLE, array("s64")], r"size is s64\[\], s32\[\] is wanted"),
        (SetDimensionSize(0), [TABLE, array("s32", 1)], r"size is s32\[1\], s32\[\] is wanted"),
    ],
)
def test_operands_that_do_not_fit(op: Op, operands: Sequence[Shape], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        op.infer_shape(operands, [])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"slice_sizes": (1, 6)}, r"slice_sizes \{1,6\} is no part of f32\[4,5\]"),
        ({"slice_sizes": (2, 5)}, r"slice_sizes \{2,5\} must be 1 in dimension 0"),
        ({"slice_sizes": (1,)}, "slice_sizes: 1 given, 2 wanted"),
        ({"offset_dims": (2,)}, r"offset_dims \{2\}: 2 is out of range for rank 2"),
        ({"offset_dims": (0, 1)}, "offset_dims: 2 given, 1 wanted"),
        ({"start_index_map": (0, 1)}, "start_index_map: 2 given, 1 wanted"),
        ({"start_index_map": (2,)}, r"start_index_map \{2\}: 2 is out of range for rank 2"),
        ({"collapsed_slice_dims": (1, 0)}, r"collapsed_slice_dims \{1,0\} are not in increasing"),
        ({"collapsed_slice_dims": (0, 0)}, r"collapsed_slice_dims \{0,0\} are not distinct"),
        ({"index_vector_dim": 2}, "index_vector_dim 2 is out of range for rank 2"),
        ({"operand_batching_dims": (0,)},
         r"gather: operand_batching_dims and collapsed_slice_dims both contain \{0\}"),
        ({"operand_batching_dims": (1,)}, "start_indices_batching_dims: 0 given, 1 wanted"),
        ({"operand_batching_dims": (0,), "collapsed_slice_dims": ()},
         r"gather: operand_batching_dims and start_index_map both contain \{0\}"),
    ],
)  # fmt: skip
def test_gathers_that_do_not_fit(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        gather(**changes).infer_shape([TABLE, array("s32", 3)], [])


@pytest.mark.parametrize(
    ("indices", "changes", "words"),
    [
        (array("s32", 3, 2), {}, r"0 of f32\[4,5,6\] and 0 of s32\[3,2\] differ in size"),
        (array("s32", 4, 2), {"start_indices_batching_dims": (2,)}, "2 is out of range for rank 2"),
        (array("s32", 4, 2, 1), {"start_indices_batching_dims": (2,)},
         "start_indices_batching_dims contains index_vector_dim 2"),
        (array("s32", 4, 2), {"slice_sizes": (2, 1, 6)}, "must be 1 in dimension 0"),
        (array("f32", 4, 2), {}, "the array of indices is .*, elements wanted: signed, unsigned"),
    ],
)  # fmt: skip
def test_batched_gathers_that_do_not_fit(
    indices: Shape, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        Gather(**(BATCH_GATHER | changes)).infer_shape([array("f32", 4, 5, 6), indices], [])


@pytest.mark.parametrize(
    ("update", "changes", "words"),
    [
        (array("f32", 3, 6), {}, r"windows of f32\[3,6\] are larger than f32\[4,5\]"),
        (array("f32", 2, 5), {}, r"updates are f32\[2,5\], one window for each index of s32\[3\]"),
        (array("f32", 3), {}, r"updates are f32\[3\], rank 2 is wanted"),
        (array("s32", 3, 5), {}, "differ in element type"),
        (array("f32", 3, 5), {"update_window_dims": (0, 1)}, "update_window_dims: 2 given, 1 wan"),
        (array("f32", 3, 5), {"update_window_dims": (2,)}, r"update_window_dims \{2\}: 2 is out"),
        (array("f32", 3, 5), {"inserted_window_dims": (2,)}, r"inserted_window_dims \{2\}: 2 is"),
        (array("f32", 3, 5), {"scatter_dims_to_operand_dims": (0, 1)}, "2 given, 1 wanted"),
        (array("f32", 3, 5), {"input_batching_dims": (0,)}, r"inserted_window_dims both contain"),
    ],
)
def test_scatters_that_do_not_fit(update: Shape, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        scatter(**changes).infer_shape([TABLE, array("s32", 3), update], [ADD])


def test_scatter_combiner_takes_and_yields_the_elements() -> None:
    operands = [TABLE, array("s32", 3), array("f32", 3, 5)]
    with pytest.raises(ShapeError, match="to_apply takes 1 parameters, 2 are wanted"):
        scatter().infer_shape(operands, [signature([F32], F32)])
    with pytest.raises(ShapeError, match=r"to_apply yields s32\[\], f32\[\] is wanted"):
        scatter().infer_shape(operands, [signature([F32, F32], S32)])
    with pytest.raises(ShapeError, match="scatter: 2 operands, n arrays, indices and n updates"):
        scatter().infer_shape(operands[:2], [ADD])


def test_order_and_defaults_of_what_is_printed() -> None:
    assert [name for name, _ in gather().written()] == [
        "offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim",
        "slice_sizes",
    ]  # fmt: skip
    full = Scatter(**BATCH_SCATTER, indices_are_sorted=True, unique_indices=True)
    assert list(full.written()) == [
        ("update_window_dims", "{2}"),
        ("inserted_window_dims", "{1}"),
        ("scatter_dims_to_operand_dims", "{1}"),
        ("input_batching_dims", "{0}"),
        ("scatter_indices_batching_dims", "{0}"),
        ("index_vector_dim", "2"),
        ("indices_are_sorted", "true"),
        ("unique_indices", "true"),
    ]
    assert [role.name for role in Scatter.roles] == ["to_apply"]
    assert not DynamicSlice.infers_shape
    assert not DynamicUpdateSlice.infers_shape
