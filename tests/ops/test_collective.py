"""Collectives that reduce, gather and broadcast: shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import UNBOUNDED, ProgramShape, Shape
from hlotool.ops.collective import (
    AllGather,
    AllGatherDone,
    AllGatherStart,
    AllReduce,
    AllReduceDone,
    AllReduceStart,
    CollectiveBroadcast,
    ReduceScatter,
)
from tests.ops.shapes import BF16_2, F32, F32_2, F32_4, array, pack, signature

ADD = signature([F32, F32], F32)
TABLE = array("f32", 4, 3)
ROWS = array("f32", 8, 3)


@pytest.mark.parametrize(
    "op_class",
    [AllReduce, AllReduceStart, AllReduceDone, ReduceScatter, AllGather, AllGatherStart,
     AllGatherDone, CollectiveBroadcast],
)  # fmt: skip
def test_each_opcode_has_its_class_and_wants_its_shape_written(op_class: type[Op]) -> None:
    assert OPCODES[op_class.opcode] is op_class
    assert not op_class.infers_shape


def test_a_start_or_done_must_stay_without_users() -> None:
    for opcode in ("all-reduce", "all-gather"):
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
        (CollectiveBroadcast(), [F32_2], F32_2),
    ],
)
def test_others_that_fit(op: Op, operands: Sequence[Shape], declared: Shape) -> None:
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
        (CollectiveBroadcast(), [F32_2], F32_4, "collective-broadcast: shape"),
    ],
)
def test_others_that_do_not_fit(
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
