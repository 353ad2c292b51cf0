"""Groups of devices: what their numbers mean, and whether they fit the devices there are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.mesh import AxisReference, Mesh
from hlotool.ir.replica_groups import IotaGroups, ListedGroups, MeshGroups, iota_groups
from hlotool.ir.shape import Shape
from hlotool.ir.tile_assignment import Iota
from hlotool.ops.collective import AllGather, AllReduce, ReduceScatter
from hlotool.ops.collective_groups import Collective, GroupedCollective, GroupMode
from hlotool.ops.permuting import AllToAll, CollectivePermute
from tests.ops.shapes import F32, F32_2, array, pack

TABLE = array("f32", 4, 3)
ROWS = array("f32", 8, 3)


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


MANY = MeshGroups(Mesh.of([("a", 4), ("b", 1 << 20)]), (AxisReference("b"),))


def test_devices_of_a_mesh_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(MeshGroups, "groups")
    monkeypatch.delattr(IotaGroups, "groups")
    for groups in (MANY, iota_groups(4, 1 << 20, Iota.of((1 << 22,)))):
        op = AllReduce(replica_groups=groups)
        op.check_devices(1 << 22, 1, [F32_2], F32_2)
        with pytest.raises(ShapeError, match=r"replica_groups: device 8 is out of range for 8"):
            op.check_devices(8, 1, [F32_2], F32_2)
        with pytest.raises(ShapeError, match=r"1048576 pieces of"):
            AllGather(dimensions=0, replica_groups=groups).check_devices(1 << 22, 1, [TABLE], ROWS)
    huge = AllReduce(replica_groups=MeshGroups(Mesh.of([("a", 1 << 40)]), (AxisReference("a"),)))
    with pytest.raises(ShapeError, match=r"1099511627776 devices are too many to list"):
        huge.check_devices(1, 1, [F32_2], F32_2)
    empty = AllReduce(replica_groups=iota_groups(0, 4, Iota.of((0,))))
    empty.check_devices(4, 1, [F32_2], F32_2)
