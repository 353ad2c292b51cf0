"""Which devices work together in a collective.

Devices form a grid of replicas and partitions. An op says by `channel_id` and
`use_global_device_ids` what the numbers in its groups are: see `GroupMode`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import ClassVar

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import BOOLEAN, INTEGER
from hlotool.ir.frame import Device, Frame, Place, Value
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.replica_groups import NO_GROUPS, REPLICA_GROUPS, ListedGroups, ReplicaGroups
from hlotool.ir.shape import ProgramShape, Shape, TupleShape
from hlotool.ir.tile_assignment import MOST_LISTED
from hlotool.ops.tuple_values import single_or_tuple, with_contexts

_MORE_DEVICES = "run on more devices with --num-replicas or --num-partitions"


class GroupMode(Enum):
    """What the numbers in replica groups are."""

    CROSS_REPLICA = "replicas, in each partition"
    CROSS_PARTITION = "partitions, in each replica"
    CROSS_REPLICA_AND_PARTITION = "replicas, each with all its partitions"
    FLATTENED_ID = "devices, numbered replica by replica"

    def device_count(self, replicas: int, partitions: int) -> int:
        """Returns how many numbers there are."""
        if self is GroupMode.CROSS_PARTITION:
            return partitions
        return replicas * partitions if self is GroupMode.FLATTENED_ID else replicas

    def number_of(self, device: Device) -> int:
        """Returns the number of a device."""
        if self is GroupMode.CROSS_PARTITION:
            return device.partition
        if self is GroupMode.FLATTENED_ID:
            return device.replica * device.partitions + device.partition
        return device.replica

    def places(self, number: int, device: Device) -> list[Place]:
        """Returns the devices of a number, as it is meant where `device` works."""
        match self:
            case GroupMode.CROSS_REPLICA:
                return [(number, device.partition)]
            case GroupMode.CROSS_PARTITION:
                return [(device.replica, number)]
            case GroupMode.FLATTENED_ID:
                return [divmod(number, device.partitions)]
        return [(number, partition) for partition in range(device.partitions)]


class Collective(Op):
    """Base of the ops that devices run together."""

    category = Category.COLLECTIVE
    arity: ClassVar[int | range | None] = None
    infers_shape = False

    channel_id: int | None = attr(INTEGER, default=None)

    @property
    def group_mode(self) -> GroupMode:
        """What the numbers of devices are."""
        return GroupMode.CROSS_REPLICA if self.channel_id is None else GroupMode.CROSS_PARTITION

    def check_devices(
        self, replicas: int, partitions: int, operands: Sequence[Shape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where the op does not fit the devices of the module.

        A count of 1 says nothing: modules for many devices leave counts out.
        """

    def _check_range(self, numbers: Iterable[int], count: int, what: str) -> None:
        for number in numbers:
            if number < 0 or (number >= count > 1):
                raise ShapeError(f"{self.opcode}: {what} {number} is out of range for {count}")


class GroupedCollective(Collective):
    """Base of the collectives that work in groups; no groups are one group of all."""

    replica_groups: ReplicaGroups = attr(REPLICA_GROUPS, default=NO_GROUPS, always=True)

    def check_devices(
        self, replicas: int, partitions: int, operands: Sequence[Shape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where groups are not of the module's devices or not disjoint."""
        mode = self.group_mode
        count = mode.device_count(replicas, partitions)
        sizes = self._checked_group_sizes(count) or {count}
        if len(sizes) == 1:
            (size,) = sizes
            if mode is GroupMode.CROSS_REPLICA_AND_PARTITION:
                size *= partitions
            if size > 1:
                self.check_group_size(size, operands, declared)

    def _checked_group_sizes(self, count: int) -> set[int]:
        groups = self.replica_groups
        if not isinstance(groups, ListedGroups):
            # These hold all devices up to a number, each once, and need not be written out.
            total = groups.group_count * groups.group_size
            if total > MOST_LISTED:
                raise ShapeError(
                    f"{self.opcode}: replica_groups: {total} devices are too many to list"
                )
            self._check_range(range(count, total)[:1], count, "replica_groups: device")
            return {groups.group_size} if groups.group_count else set()
        members = [member for group in groups.groups for member in group]
        self._check_range(members, count, "replica_groups: device")
        if len(set(members)) != len(members):
            twice = next(member for member, times in Counter(members).items() if times > 1)
            raise ShapeError(f"{self.opcode}: replica_groups: device {twice} is in two groups")
        return {len(group) for group in groups.groups}

    def members(self, device: Device) -> list[Place] | None:
        """Returns the group that a device is in, in the order listed; `None` for no group."""
        mode = self.group_mode
        groups = self.replica_groups.groups
        if not groups:
            groups = (tuple(range(mode.device_count(device.replicas, device.partitions))),)
        own = mode.number_of(device)
        group = next((group for group in groups if own in group), None)
        if group is None:
            return None
        return [place for number in group for place in mode.places(number, device)]

    def exchange(
        self, value: Value, frame: Frame, combine: Callable[[list[Value]], Value] = list
    ) -> Value:
        """Returns what `combine` makes of what the members of the group bring, in order.

        Raises `EvaluationError` where the device is in no group.
        """
        device = frame.device
        members = self.members(device)
        if members is None:
            raise EvaluationError(
                f"{self.opcode}: replica {device.replica}, partition {device.partition}"
                f" is in none of replica_groups={self.replica_groups.text}"
            )
        for place in members:
            check_place(place, device, self.opcode)
        try:
            self.check_group_size(len(members), frame.operand_shapes, frame.shape)
        except ShapeError as error:
            raise EvaluationError(error.message, notes=[_MORE_DEVICES]) from None
        return device.exchange(frame, members, value, combine)

    def place_among_members(self, device: Device) -> int:
        """Returns which member of its group a device is."""
        return (self.members(device) or []).index((device.replica, device.partition))

    def check_group_size(self, size: int, operands: Sequence[Shape], declared: Shape) -> None:
        """Raises `ShapeError` where shapes do not fit groups of `size` members."""


class FlaggedCollective(GroupedCollective):
    """Base of the collectives whose groups may hold numbers of devices."""

    constrain_layout: bool = attr(BOOLEAN, default=False)
    use_global_device_ids: bool = attr(BOOLEAN, default=False)

    @property
    def group_mode(self) -> GroupMode:
        """What the numbers in the groups are."""
        if self.channel_id is None:
            return GroupMode.CROSS_REPLICA
        if self.use_global_device_ids:
            return GroupMode.FLATTENED_ID
        return GroupMode.CROSS_REPLICA_AND_PARTITION

    def check_channel(self) -> None:
        """Raises `ShapeError` where device numbers are used without a channel."""
        if self.use_global_device_ids and self.channel_id is None:
            raise ShapeError(f"{self.opcode}: use_global_device_ids=true needs a channel_id")


class StartedDone(Op):
    """Base of the ops that wait for what a start of `(operands, result)` has begun."""

    category = Category.COLLECTIVE
    runs_code = False
    arity = 1
    infers_shape = False
    has_side_effect = True

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the second part of the start's shape."""
        return start_parts(operands[0], f"{self.opcode}: operand 0")[1]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the result that the start yields beside its operands."""
        return operands[0][1]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns where the result is in the start."""
        return 0, (1, *index)


def start_parts(shape: Shape, what: str) -> tuple[Shape, Shape]:
    """Returns the shapes of operands and result by that of a start.

    Raises `ShapeError` where it is none; `what` begins the message.
    """
    if isinstance(shape, TupleShape) and len(shape.elements) >= 2:
        return shape.elements[0], shape.elements[1]
    raise ShapeError(f"{what} is {shape.plain_text}, (operand, result) is wanted")


def check_place(place: Place, device: Device, opcode: str) -> None:
    """Raises `EvaluationError` where the run has no device in a place."""
    replica, partition = place
    if replica not in range(device.replicas) or partition not in range(device.partitions):
        raise EvaluationError(
            f"{opcode} works with replica {replica}, partition {partition};"
            f" the run has {device.replicas} x {device.partitions} devices",
            notes=[_MORE_DEVICES],
        )


def started_operand(index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
    """Returns which of `count` operands a part of a start is in, and where; see `Op.passes`."""
    if index[:1] != (0,):
        return None
    if count == 1:
        return 0, index[1:]
    return (index[1], index[2:]) if len(index) > 1 else None


def started(operands: Sequence[Value], result: Value, frame: Frame) -> Value:
    """Returns what a start yields: the operands, the result, contexts as its shape has them."""
    return with_contexts((single_or_tuple(operands), result), frame.shape)
