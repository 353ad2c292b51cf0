"""Collectives that move pieces: shapes and pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import Shape
from hlotool.ops.permuting import (
    AllToAll,
    CollectivePermute,
    CollectivePermuteDone,
    CollectivePermuteStart,
    RaggedAllToAll,
)
from tests.ops.shapes import F32_2, F32_4, S32, U32, array, pack

TABLE = array("f32", 4, 3)
ROWS = array("f32", 8, 3)
NUMBERS = array("s32", 2)
TO_NEXT = ((0, 1), (1, 0))


@pytest.mark.parametrize(
    "op_class",
    [AllToAll, RaggedAllToAll, CollectivePermute, CollectivePermuteStart, CollectivePermuteDone],
)
def test_each_opcode_has_its_class_and_wants_its_shape_written(op_class: type[Op]) -> None:
    assert OPCODES[op_class.opcode] is op_class
    assert not op_class.infers_shape


def test_a_start_or_done_must_stay_without_users() -> None:
    assert not CollectivePermute.has_side_effect
    assert CollectivePermuteStart.has_side_effect
    assert CollectivePermuteDone.has_side_effect


@pytest.mark.parametrize(
    ("op", "operands", "declared"),
    [
        (AllToAll(dimensions=1), [TABLE], TABLE),
        (AllToAll(), [F32_2, F32_2], pack(F32_2, F32_2)),
        (AllToAll(), [F32_2], pack(F32_2)),
        (RaggedAllToAll(), [TABLE, ROWS, *[NUMBERS] * 4], ROWS),
        (CollectivePermute(source_target_pairs=TO_NEXT), [F32_2], F32_2),
        (CollectivePermute(source_target_pairs=TO_NEXT), [F32_2, TABLE], pack(F32_2, TABLE)),
        (
            CollectivePermute(source_target_pairs=((0, 1), (0, 2)), slice_sizes=((2,), (2,))),
            [F32_4, F32_2, pack(S32), pack(S32)],
            F32_2,
        ),
        (CollectivePermuteStart(source_target_pairs=()), [F32_2], pack(F32_2, F32_2, U32, U32)),
        (CollectivePermuteDone(), [pack(F32_2, F32_2, U32, U32)], F32_2),
    ],
)
def test_moves_that_fit(op: Op, operands: Sequence[Shape], declared: Shape) -> None:
    op.check_shape(operands, [], declared)


@pytest.mark.parametrize(
    ("op", "operands", "declared", "words"),
    [
        (AllToAll(dimensions=2), [TABLE], TABLE, "dimension 2 is out of range"),
        (AllToAll(dimensions=0), [TABLE, TABLE], TABLE, "2 operands are given, one is wanted"),
        (AllToAll(), [F32_2, F32_4], pack(F32_2, F32_4), r"operand 1 is f32\[4\]"),
        (RaggedAllToAll(), [F32_2, ROWS, *[NUMBERS] * 4], ROWS, "do not fit into"),
        (RaggedAllToAll(), [TABLE, ROWS, F32_2, *[NUMBERS] * 3], ROWS, "operand 2 is f32"),
        (CollectivePermute(source_target_pairs=()), [F32_2], F32_4, "collective-permute: shape"),
        (
            CollectivePermute(source_target_pairs=((0, 1), (2, 1))),
            [F32_2],
            F32_2,
            "device 1 is the target of 2 pairs",
        ),
        (
            CollectivePermute(source_target_pairs=((0, 1), (0, 2))),
            [F32_2],
            F32_2,
            "device 0 is the source of 2 pairs",
        ),
        (
            CollectivePermute(source_target_pairs=((0, 1, 2),)),
            [F32_2],
            F32_2,
            r"\{0,1,2\} is no pair",
        ),
        (
            CollectivePermute(source_target_pairs=(), slice_sizes=((2,),)),
            [F32_2],
            F32_2,
            "4 are wanted with slice_sizes",
        ),
        (
            CollectivePermuteStart(source_target_pairs=()),
            [F32_2],
            pack(F32_2, F32_4),
            "element 1 of the shape",
        ),
    ],
)
def test_moves_that_do_not_fit(
    op: Op, operands: Sequence[Shape], declared: Shape, words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        op.check_shape(operands, [], declared)


def test_attributes_print_in_order() -> None:
    def names(op: Op) -> list[str]:
        return [name for name, _ in op.written()]

    assert names(AllToAll(dimensions=0)) == ["replica_groups", "dimensions"]
    assert names(RaggedAllToAll(dimensions=(0,))) == ["replica_groups"]
    permute = CollectivePermute(source_target_pairs=TO_NEXT, slice_sizes=((2, 4),), channel_id=0)
    assert list(permute.written()) == [
        ("channel_id", "0"), ("source_target_pairs", "{{0,1},{1,0}}"), ("slice_sizes", "{{2,4}}"),
    ]  # fmt: skip
