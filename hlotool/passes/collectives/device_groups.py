"""Which devices work together in a collective, written out as places in the grid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.ir.computation import Computation
from hlotool.ir.frame import Place
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.replica_groups import ListedGroups
from hlotool.ops.callees.reducers import recognized
from hlotool.ops.collective_groups import (
    Collective,
    FlaggedCollective,
    GroupedCollective,
    GroupMode,
)

Groups = tuple[tuple[Place, ...], ...]
"""Devices that work together, each group in the order of its members."""
MOST_DEVICES = 1024
"""Groups of more devices are not written out."""
_Collective = TypeVar("_Collective", bound=FlaggedCollective)


def grid_of(module: Module) -> tuple[int, int]:
    """Returns how many replicas and partitions run a module, as its header says."""
    return module.header.replica_count, module.header.num_partitions


def devices_of(module: Module) -> list[LoneDevice]:
    """Returns the devices that run a module, replica by replica."""
    replicas, partitions = grid_of(module)
    devices = []
    for number in range(replicas * partitions):
        device = LoneDevice()
        device.replica, device.partition = divmod(number, partitions)
        device.replicas, device.partitions = replicas, partitions
        devices.append(device)
    return devices


def device_groups(instruction: Instruction, module: Module) -> Groups | None:
    """Returns the groups of a collective; `None` where the module does not say how many devices.

    It is `None` too where a device is in no group.
    """
    op = instruction.op
    assert isinstance(op, GroupedCollective)
    replicas, partitions = grid_of(module)
    if not 1 < replicas * partitions <= MOST_DEVICES:
        return _listed_replicas(op)
    found: dict[tuple[Place, ...], None] = {}
    seen: set[Place] = set()
    for device in devices_of(module):
        if device.place in seen:
            continue
        members = op.members(device)
        if members is None:
            return None
        found[tuple(members)] = None
        seen.update(members)
    return tuple(found)


def _listed_replicas(op: GroupedCollective) -> Groups | None:
    # Modules for many devices may leave their number out, but then groups are listed.
    groups = op.replica_groups
    if op.group_mode is not GroupMode.CROSS_REPLICA or not isinstance(groups, ListedGroups):
        return None
    listed = sorted(number for group in groups.groups for number in group)
    if not listed or listed != list(range(len(listed))):
        return None
    return tuple(tuple((number, 0) for number in group) for group in groups.groups)


def same_size_of(groups: Groups) -> int | None:
    """Returns how many members each group has, where all have as many."""
    sizes = {len(group) for group in groups}
    return sizes.pop() if len(sizes) == 1 else None


def with_groups(op: _Collective, groups: Iterable[Sequence[Place]], module: Module) -> _Collective:
    """Returns the collective with other groups, written in the way that names fewest things.

    Without a channel these are replicas where just they differ, else numbers of devices.
    """
    listed = [tuple(group) for group in groups]
    _, partitions = grid_of(module)
    if op.channel_id is None and partitions == 1:
        replicas = tuple(tuple(replica for replica, _ in group) for group in listed)
        return op.replace(replica_groups=ListedGroups(replicas))
    numbers = tuple(
        tuple(replica * partitions + partition for replica, partition in group) for group in listed
    )
    channel = next_channel(module) if op.channel_id is None else op.channel_id
    return op.replace(
        replica_groups=ListedGroups(numbers), channel_id=channel, use_global_device_ids=True
    )


def next_channel(module: Module) -> int:
    """Returns a channel number that no collective of the module has."""
    taken = [
        instruction.op.channel_id or 0
        for instruction in module.instructions()
        if isinstance(instruction.op, Collective)
    ]
    return max(taken, default=0) + 1


def as_op(op: Op, wanted: type[Op], **changes: object) -> Op:
    """Returns an op of another class with the attributes that both have."""
    shared = {
        field.name: getattr(op, field.name) for field in wanted.fields if hasattr(op, field.name)
    }
    return wanted(**{**shared, **changes})


def reducer_key(reducer: Computation) -> object:
    """Returns what is equal for reducers that do the same with elements of one type."""
    found = recognized(reducer)
    return reducer if found is None else found
