"""Devices of several replicas and partitions as replicas alone, numbered replica by replica."""

from __future__ import annotations

from hlotool.errors import UnsupportedError
from hlotool.ir.element_type import U32
from hlotool.ir.literal import Literal
from hlotool.ir.op import Op
from hlotool.ir.replica_groups import ListedGroups
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.collective_groups import Collective, GroupedCollective, GroupMode
from hlotool.ops.elementwise import Divide, Remainder
from hlotool.ops.permuting import CollectivePermute
from hlotool.ops.source import Constant, PartitionId, ReplicaId


def flat_collective(op: Op, replicas: int, partitions: int) -> Op:
    """Returns a collective among replicas alone that joins the same devices.

    Raises `UnsupportedError` for a collective that names devices in a way of its own.
    """
    assert isinstance(op, Collective)
    if isinstance(op, CollectivePermute):
        pairs = tuple(
            pair
            for source, target in op.source_target_pairs
            for pair in zip(
                _flat(op.group_mode, source, replicas, partitions),
                _flat(op.group_mode, target, replicas, partitions),
                strict=True,
            )
        )
        return op.replace(channel_id=None, source_target_pairs=pairs)
    if not isinstance(op, GroupedCollective):
        raise UnsupportedError(f"{op.opcode} on several partitions is not handed to XLA")
    groups = op.replica_groups.groups
    if not groups:
        groups = (tuple(range(op.group_mode.device_count(replicas, partitions))),)
    flat = [one for group in groups for one in _flat_groups(op, group, replicas, partitions)]
    changes: dict[str, object] = {"channel_id": None, "replica_groups": ListedGroups(tuple(flat))}
    if hasattr(op, "use_global_device_ids"):
        changes["use_global_device_ids"] = False
    return op.replace(**changes)


def _flat_groups(
    op: GroupedCollective, group: tuple[int, ...], replicas: int, partitions: int
) -> list[tuple[int, ...]]:
    meant = [_flat(op.group_mode, number, replicas, partitions) for number in group]
    if op.group_mode is GroupMode.CROSS_REPLICA_AND_PARTITION:
        return [tuple(device for devices in meant for device in devices)]
    return list(zip(*meant, strict=True))


def _flat(mode: GroupMode, number: int, replicas: int, partitions: int) -> list[int]:
    """Returns the devices of a number, one for each time that its group is there."""
    match mode:
        case GroupMode.FLATTENED_ID:
            return [number]
        case GroupMode.CROSS_PARTITION:
            return [replica * partitions + number for replica in range(replicas)]
    return [number * partitions + partition for partition in range(partitions)]


def flat_number(op: Op, shape: Shape, partitions: int) -> list[tuple[Op, Shape]]:
    """Returns the steps that yield the number of replica or partition: number, divisor, both."""
    assert isinstance(op, ReplicaId | PartitionId)
    count = Literal(ArrayShape(U32), partitions.to_bytes(4, "little"))
    combine: Op = Divide() if isinstance(op, ReplicaId) else Remainder()
    return [(ReplicaId(), shape), (Constant(count), shape), (combine, shape)]
