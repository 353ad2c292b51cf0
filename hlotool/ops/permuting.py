"""Collectives that move pieces: each device sends some and receives others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.attribute import BOOLEAN, INTEGER_LISTS, INTEGERS, ONE_DIMENSION
from hlotool.ir.frame import Device, Frame, Place, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.record import REQUIRED, attr
from hlotool.ir.shape import UNBOUNDED, ProgramShape, Shape, TupleShape
from hlotool.ops.callees.collecting import cut
from hlotool.ops.collective_groups import (
    Collective,
    GroupedCollective,
    StartedDone,
    check_place,
    start_parts,
    started,
    started_operand,
)
from hlotool.ops.numerics.permuted import with_rows, with_slices
from hlotool.ops.shape_checks import (
    INTEGER_KINDS,
    array,
    arrays,
    check_dimension,
    check_kind,
    check_same,
    check_same_dimensions,
    one_or_tuple,
    same_sizes,
)
from hlotool.ops.tuple_values import single_or_tuple


class AllToAll(GroupedCollective, opcode="all-to-all"):
    """Sends one piece to each member of a group and yields the pieces of all members.

    With `dimensions` the pieces are cut from one operand along that dimension and joined
    along it; without, each operand is a piece and the result is the tuple of them.
    """

    constrain_layout: bool = attr(BOOLEAN, default=False)
    dimensions: int | None = attr(ONE_DIMENSION, default=None)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the one operand, or the tuple of the pieces."""
        found = arrays(operands, self.opcode)
        if self.dimensions is None:
            for number, piece in enumerate(found):
                check_same(piece, found[0], f"{self.opcode}: operand {number}")
            return TupleShape(found)
        if len(found) != 1:
            raise ShapeError(
                f"{self.opcode}: {len(found)} operands are given, one is wanted with dimensions"
            )
        check_dimension(self.dimensions, found[0].rank, f"{self.opcode}: dimension")
        return found[0]

    def check_group_size(self, size: int, operands: Sequence[Shape], declared: Shape) -> None:
        """Raises `ShapeError` unless there is a piece for each member."""
        if self.dimensions is None:
            if len(operands) != size:
                raise ShapeError(
                    f"{self.opcode}: {len(operands)} operands are given,"
                    f" {size} are wanted: one a member of a group"
                )
            return
        shape = array(operands[0], f"{self.opcode}: operand 0")
        cut = shape.dimensions[self.dimensions]
        if cut != UNBOUNDED and cut % size:
            raise ShapeError(
                f"{self.opcode}: dimension {self.dimensions} of {shape.plain_text} cannot be"
                f" cut into {size} equal pieces"
            )

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the pieces that the members have for this one, in the order of the group."""
        brought = self.exchange(tuple(operands), frame)
        own = self.place_among_members(frame.device)
        if self.dimensions is None:
            if len(operands) != len(brought):
                raise EvaluationError(
                    f"{self.opcode}: {len(operands)} operands are given,"
                    f" {len(brought)} are wanted: one a member"
                )
            return tuple(pieces[own] for pieces in brought)
        count = len(brought)
        pieces = [cut(whole, count, self.dimensions, self.opcode)[own] for (whole,) in brought]
        return np.concatenate(pieces, self.dimensions)


class RaggedAllToAll(GroupedCollective, opcode="ragged-all-to-all"):
    """Sends rows of the first operand to members of a group, which put them into the second.

    Four lists of numbers follow: where rows are taken, how many are sent, where the receiver
    puts them, how many are received.
    """

    arity = 6

    dimensions: tuple[int, ...] = attr(INTEGERS, default=(), read_only=True)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the second operand, which the rows are put into."""
        rows, into, *lists = arrays(operands, self.opcode)
        if rows.rank != into.rank or not same_sizes(rows.dimensions[1:], into.dimensions[1:]):
            raise ShapeError(
                f"{self.opcode}: rows of {rows.plain_text} do not fit into {into.plain_text}"
            )
        for number, numbers in enumerate(lists, start=2):
            check_kind(numbers, INTEGER_KINDS, f"{self.opcode}: operand {number}")
        check_same_dimensions(lists, self.opcode)
        return into

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the second operand with the rows that members send put into it."""
        brought = self.exchange(tuple(operands), frame)
        return with_rows(brought, self.place_among_members(frame.device))


class CollectivePermute(Collective, opcode="collective-permute"):
    """Sends the operand of each source to its target; a device that is no target gets zeros.

    With `slice_sizes` the operands are input, output, start indices in the input and in the
    output: slices of the input are put into the output in place.
    """

    source_target_pairs: tuple[tuple[int, ...], ...] = attr(INTEGER_LISTS, default=REQUIRED)
    slice_sizes: tuple[tuple[int, ...], ...] = attr(INTEGER_LISTS, default=())

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of what is sent, of several operands the tuple."""
        self._check_pairs()
        if not self.slice_sizes:
            return one_or_tuple(arrays(operands, self.opcode))
        if len(operands) != 4:
            raise ShapeError(
                f"{self.opcode}: {len(operands)} operands are given, 4 are wanted with slice_sizes"
            )
        return operands[1]

    def check_devices(
        self, replicas: int, partitions: int, operands: Sequence[Shape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where a pair names a device that the module does not have."""
        count = self.group_mode.device_count(replicas, partitions)
        numbers = (number for pair in self.source_target_pairs for number in pair)
        self._check_range(numbers, count, "source_target_pairs: device")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what the source sends here, or zeros; in place, the output with its slices."""
        device = frame.device
        pairs = [
            (self._place(source, device), self._place(target, device))
            for source, target in self.source_target_pairs
        ]
        own = device.replica, device.partition
        members = sorted({place for pair in pairs for place in pair})
        brought: dict[Place, Value] = {}
        if own in members:
            values = device.exchange(frame, members, tuple(operands))
            brought = dict(zip(members, values, strict=True))
        if self.slice_sizes:
            return with_slices(brought, pairs, own, operands, self.slice_sizes)
        sources = [source for source, target in pairs if target == own]
        if not sources:
            return single_or_tuple([np.zeros_like(operand) for operand in operands])
        return single_or_tuple(brought[sources[0]])

    def _place(self, number: int, device: Device) -> Place:
        (place,) = self.group_mode.places(number, device)
        check_place(place, device, self.opcode)
        return place

    def _check_pairs(self) -> None:
        for pair in self.source_target_pairs:
            if len(pair) != 2:
                shown = INTEGERS.write(pair)
                raise ShapeError(f"{self.opcode}: {shown} is no pair of source and target")
        if self.slice_sizes:
            # Each of several slices may go another way.
            return
        for side, word in enumerate(("source", "target")):
            counts = Counter(pair[side] for pair in self.source_target_pairs)
            for device, times in counts.items():
                if times > 1:
                    raise ShapeError(
                        f"{self.opcode}: device {device} is the {word} of {times} pairs"
                    )


class CollectivePermuteStart(CollectivePermute, opcode="collective-permute-start"):
    """Begins a collective-permute; yields operand, result to come, and contexts."""

    has_side_effect = True

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless the shape begins with operand and result."""
        result = self.infer_shape(operands, calls)
        sent = operands[0] if self.slice_sizes else one_or_tuple(operands)
        started, coming = start_parts(declared, f"{self.opcode}: shape")
        check_same(started, sent, f"{self.opcode}: element 0 of the shape")
        check_same(coming, result, f"{self.opcode}: element 1 of the shape")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns operands and result."""
        sent = operands[:1] if self.slice_sizes else operands
        return started(sent, super().evaluate(operands, frame), frame)

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the operand that the part is in, for the first part of the start."""
        return started_operand(index, 1 if self.slice_sizes else count)


class CollectivePermuteDone(StartedDone, opcode="collective-permute-done"):
    """Waits for a collective-permute; yields its result."""
