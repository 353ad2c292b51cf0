"""Collectives: shapes, groups, pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.replica_groups import ListedGroups
from hlotool.ir.shape import UNBOUNDED, ProgramShape, Shape
from hlotool.ops.collective import (
    AllGather,
    AllGatherDone,
    AllGatherStart,
    AllReduce,
    AllReduceDone,
    AllReduceStart,
    AllToAll,
    Collective,
    CollectiveBroadcast,
    CollectivePermute,
    CollectivePermuteDone,
    CollectivePermuteStart,
    GroupedCollective,
    GroupMode,
    RaggedAllToAll,
    ReduceScatter,
)
from tests.ops.shapes import BF16_2, F32, F32_2, F32_4, S32, U32, array, pack, signature

ADD = signature([F32, F32], F32)
TABLE = array("f32", 4, 3)
ROWS = array("f32", 8, 3)
NUMBERS = array("s32", 2)
TO_NEXT = ((0, 1), (1, 0))


@pytest.mark.parametrize(
    "op_class",
    [AllReduce, AllReduceStart, AllReduceDone, ReduceScatter, AllGather, AllGatherStart,
     AllGatherDone, AllToAll, RaggedAllToAll, CollectiveBroadcast, CollectivePermute,
     CollectivePermuteStart, CollectivePermuteDone],
)  # fmt: skip
def test_each_opcode_has_its_class_and_wants_its_shape_written(op_class: type[Op]) -> None:
    assert OPCODES[op_class.opcode] is op_class
    assert not op_class.infers_shape


def test_a_start_or_done_must_stay_without_users() -> None:
    for opcode in ("all-reduce", "all-gather", "collective-permute"):
        assert not OPCODES[opcode].has_side_effect
        assert OPCODES[f"{opcode}-start"].has_side_effect
        assert OPCODES[f"{opcode}-done"].has_side_effect


@pytest.mark.parametrize(
    ("op", "operands", "declared"),
    [
        (AllReduce(), [F32_2], F32_2),
        (AllReduce(), [F32_2], BF16_2),
        (AllReduce(), [F32_2, F32_4], pack(F32_2, F32_4)),
        (AllReduceStart(), [F32_2], F32_2),
        (ReduceScatter(dimensions=0), [ROWS], TABLE),
        (ReduceScatter(dimensions=0), [ROWS, F32_4], pack(TABLE, F32_2)),
        (ReduceScatter(dimensions=0), [array("f32", 0)], array("f32", 0)),
    ],
)
def test_reductions_that_fit(op: Op, operands: Sequence[Shape], declared: Shape) -> None:
    op.check_shape(operands, [ADD], declared)


@pytest.mark.parametrize(
    ("op", "operands", "declared"),
    [
        (AllReduceDone(), [F32_2], F32_2),
        (AllGather(dimensions=0), [TABLE], ROWS),
        (AllGather(dimensions=0), [TABLE, F32_2], pack(ROWS, F32_4)),
        (AllGather(dimensions=0), [array("f32", UNBOUNDED)], F32_4),
        (AllGatherStart(dimensions=0), [TABLE], pack(TABLE, ROWS)),
        (AllGatherStart(dimensions=0), [TABLE, F32_2], pack(pack(TABLE, F32_2), pack(ROWS, F32_4))),
        (AllGatherDone(), [pack(TABLE, ROWS)], ROWS),
        (AllToAll(dimensions=1), [TABLE], TABLE),
        (AllToAll(), [F32_2, F32_2], pack(F32_2, F32_2)),
        (AllToAll(), [F32_2], pack(F32_2)),
        (RaggedAllToAll(), [TABLE, ROWS, *[NUMBERS] * 4], ROWS),
        (CollectiveBroadcast(), [F32_2], F32_2),
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
        (AllReduce(), [F32_2], F32_4, r"all-reduce: shape f32\[4\] is declared"),
        (AllReduce(), [pack(F32_2)], pack(F32_2), "all-reduce: operand 0 is"),
        (AllReduce(use_global_device_ids=True), [F32_2], F32_2, "true needs a channel_id"),
        (
            ReduceScatter(dimensions=0),
            [ROWS],
            array("f32", 3, 3),
            r"pieces of f32\[3,3\] along dimension 0 do not make f32\[8,3\]",
        ),
        (ReduceScatter(dimensions=2), [ROWS], TABLE, "dimension 2 is out of range for rank 2"),
        (ReduceScatter(dimensions=0), [ROWS], F32_4, "do not make"),
        (ReduceScatter(dimensions=0), [ROWS, ROWS], TABLE, "a tuple of 2 is wanted"),
    ],
)
def test_reductions_that_do_not_fit(
    op: Op, operands: Sequence[Shape], declared: Shape, words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        op.check_shape(operands, [ADD], declared)


@pytest.mark.parametrize(
    ("op", "operands", "declared", "words"),
    [
        (AllReduceDone(), [F32_2], F32_4, "all-reduce-done: shape"),
        (AllGather(dimensions=0), [ROWS], TABLE, r"pieces of f32\[8,3\] along dimension 0"),
        (AllGather(dimensions=1), [TABLE], ROWS, "along dimension 1 do not make"),
        (AllGather(dimensions=0), [array("s32", 2)], F32_4, "do not make"),
        (AllGather(dimensions=0, use_global_device_ids=True), [TABLE], ROWS, "channel_id"),
        (AllGatherStart(dimensions=0), [TABLE], ROWS, r"\(operand, result\) is wanted"),
        (AllGatherStart(dimensions=0), [TABLE], pack(ROWS, ROWS), "element 0 of the shape is"),
        (AllGatherDone(), [TABLE], TABLE, r"all-gather-done: operand 0 is f32\[4,3\]"),
        (AllToAll(dimensions=2), [TABLE], TABLE, "dimension 2 is out of range"),
        (AllToAll(dimensions=0), [TABLE, TABLE], TABLE, "2 operands are given, one is wanted"),
        (AllToAll(), [F32_2, F32_4], pack(F32_2, F32_4), r"operand 1 is f32\[4\]"),
        (RaggedAllToAll(), [F32_2, ROWS, *[NUMBERS] * 4], ROWS, "do not fit into"),
        (RaggedAllToAll(), [TABLE, ROWS, F32_2, *[NUMBERS] * 3], ROWS, "operand 2 is f32"),
        (CollectiveBroadcast(), [F32_2], F32_4, "collective-broadcast: shape"),
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


@pytest.mark.parametrize(
    ("reducer", "words"),
    [
        (signature([F32], F32), "to_apply takes 1 parameters, 2 are wanted"),
        (signature([F32, F32_2], F32), r"to_apply: parameter 1 is f32\[2\], a scalar"),
        (signature([F32, F32], F32_2), r"to_apply: the result is f32\[2\], a scalar"),
    ],
)
def test_a_reducer_takes_two_scalars(reducer: ProgramShape, words: str) -> None:
    for op in (AllReduce(), ReduceScatter(dimensions=0)):
        with pytest.raises(ShapeError, match=words):
            op.check_shape([F32_2], [reducer], F32_2)


@pytest.mark.parametrize(
    ("op", "mode"),
    [
        (AllReduce(), GroupMode.CROSS_REPLICA),
        (AllReduce(channel_id=0), GroupMode.CROSS_REPLICA_AND_PARTITION),
        (AllReduce(channel_id=1, use_global_device_ids=True), GroupMode.FLATTENED_ID),
        (AllToAll(), GroupMode.CROSS_REPLICA),
        (AllToAll(channel_id=1), GroupMode.CROSS_PARTITION),
        (CollectivePermute(source_target_pairs=(), channel_id=1), GroupMode.CROSS_PARTITION),
    ],
)
def test_what_numbers_of_devices_mean(op: Collective, mode: GroupMode) -> None:
    assert op.group_mode is mode


def test_how_many_numbers_there_are() -> None:
    assert GroupMode.CROSS_REPLICA.device_count(2, 3) == 2
    assert GroupMode.CROSS_REPLICA_AND_PARTITION.device_count(2, 3) == 2
    assert GroupMode.CROSS_PARTITION.device_count(2, 3) == 3
    assert GroupMode.FLATTENED_ID.device_count(2, 3) == 6


def with_groups(op: GroupedCollective, *members: tuple[int, ...]) -> GroupedCollective:
    return op.replace(replica_groups=ListedGroups(members))


@pytest.mark.parametrize(
    ("op", "operands", "declared"),
    [
        (with_groups(AllReduce(), (0, 1), (2, 3)), [F32_2], F32_2),
        (with_groups(AllReduce(), (0,), (1, 2, 3)), [F32_2], F32_2),
        (AllGather(dimensions=0), [F32], F32),
        (with_groups(AllGather(dimensions=0), (0, 1), (2, 3)), [TABLE], ROWS),
        (with_groups(ReduceScatter(dimensions=0), (3, 0), (2, 1)), [ROWS], TABLE),
        (with_groups(AllToAll(dimensions=0), (0, 1)), [TABLE], TABLE),
        (with_groups(AllToAll(), (0, 1)), [F32_2, F32_2], pack(F32_2, F32_2)),
        (CollectivePermute(source_target_pairs=((3, 0),)), [F32_2], F32_2),
    ],
)
def test_groups_that_fit_four_replicas(
    op: Collective, operands: Sequence[Shape], declared: Shape
) -> None:
    if operands != [F32]:
        op.check_devices(4, 1, operands, declared)
    # A count of 1 stands for a count that nobody wrote.
    op.check_devices(1, 1, operands, declared)


@pytest.mark.parametrize(
    ("op", "operands", "declared", "words"),
    [
        (
            with_groups(AllReduce(), (0, 1), (1, 2)),
            [F32_2],
            F32_2,
            "all-reduce: replica_groups: device 1 is in two groups",
        ),
        (with_groups(AllReduce(), (0, 4)), [F32_2], F32_2, "device 4 is out of range for 4"),
        (with_groups(AllReduce(), (-1, 0)), [F32_2], F32_2, "device -1 is out of range"),
        (AllGather(dimensions=0), [TABLE], ROWS, r"4 pieces of f32\[4,3\] along dimension 0"),
        (with_groups(AllGather(dimensions=0), (0, 1, 2)), [TABLE], ROWS, "3 pieces of"),
        (ReduceScatter(dimensions=0), [ROWS], TABLE, "4 pieces of"),
        (AllToAll(dimensions=1), [TABLE], TABLE, "cannot be cut into 4 equal pieces"),
        (AllToAll(), [F32_2], pack(F32_2), "1 operands are given, 4 are wanted"),
        (
            CollectivePermute(source_target_pairs=((0, 4),)),
            [F32_2],
            F32_2,
            "source_target_pairs: device 4 is out of range for 4",
        ),
    ],
)
def test_groups_that_do_not_fit_four_replicas(
    op: Collective, operands: Sequence[Shape], declared: Shape, words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        op.check_devices(4, 1, operands, declared)


def test_replicas_with_all_their_partitions_are_one_group() -> None:
    gather = with_groups(AllGather(dimensions=0, channel_id=1), (0,), (1,))
    gather.check_devices(2, 2, [TABLE], ROWS)
    with pytest.raises(ShapeError, match="4 pieces of"):
        with_groups(AllGather(dimensions=0, channel_id=1), (0, 1)).check_devices(
            2, 2, [TABLE], ROWS
        )


def test_attributes_print_in_order() -> None:
    def names(op: Op) -> list[str]:
        return [name for name, _ in op.written()]

    flags: dict[str, Any] = {
        "channel_id": 1,
        "constrain_layout": True,
        "use_global_device_ids": True,
    }
    assert names(AllReduce(mode="flattened_id", **flags)) == [
        "channel_id", "replica_groups", "constrain_layout", "use_global_device_ids",
    ]  # fmt: skip
    assert names(ReduceScatter(dimensions=0, **flags)) == [
        "channel_id", "replica_groups", "constrain_layout", "use_global_device_ids", "dimensions",
    ]  # fmt: skip
    assert names(AllGatherStart(dimensions=0, **flags)) == [
        "channel_id", "replica_groups", "constrain_layout", "dimensions", "use_global_device_ids",
    ]  # fmt: skip
    assert names(AllToAll(dimensions=0)) == ["replica_groups", "dimensions"]
    assert names(RaggedAllToAll(dimensions=(0,))) == ["replica_groups"]
    permute = CollectivePermute(source_target_pairs=TO_NEXT, slice_sizes=((2, 4),), channel_id=0)
    assert list(permute.written()) == [
        ("channel_id", "0"), ("source_target_pairs", "{{0,1},{1,0}}"), ("slice_sizes", "{{2,4}}"),
    ]  # fmt: skip
