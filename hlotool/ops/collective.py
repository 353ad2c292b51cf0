"""Collectives: what devices compute together, each group of them on its own.

Devices form a grid of replicas and partitions. An op says by `channel_id` and
`use_global_device_ids` what the numbers in its groups are: see `GroupMode`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import ClassVar

from hlotool.errors import ShapeError
from hlotool.ir.attribute import BOOLEAN, INTEGER, INTEGER_LISTS, INTEGERS, ONE_DIMENSION, choice
from hlotool.ir.op import Op, Role
from hlotool.ir.record import REQUIRED, attr
from hlotool.ir.replica_groups import NO_GROUPS, REPLICA_GROUPS, ReplicaGroups
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape, TupleShape
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
    same_type_but_float_width,
    scalar,
)

_MODES = ("cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id")


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


class Collective(Op):
    """Base of the ops that devices run together."""

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
        try:
            groups = self.replica_groups.groups
        except ValueError as error:
            raise ShapeError(f"{self.opcode}: replica_groups: {error}") from None
        count = mode.device_count(replicas, partitions)
        members = [member for group in groups for member in group]
        self._check_range(members, count, "replica_groups: device")
        if len(set(members)) != len(members):
            twice = next(member for member, times in Counter(members).items() if times > 1)
            raise ShapeError(f"{self.opcode}: replica_groups: device {twice} is in two groups")
        sizes = {len(group) for group in groups} or {count}
        if len(sizes) == 1:
            (size,) = sizes
            if mode is GroupMode.CROSS_REPLICA_AND_PARTITION:
                size *= partitions
            if size > 1:
                self.check_group_size(size, operands, declared)

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


class AllReduce(FlaggedCollective, opcode="all-reduce"):
    """Gives every member of a group the elementwise fold of all members' operands."""

    roles = (Role("to_apply"),)
    allows_mixed_precision = True

    mode: str | None = attr(choice(_MODES), default=None, read_only=True)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, or the tuple of several operands'."""
        self.check_channel()
        _check_reducer(calls, self.opcode)
        return one_or_tuple(arrays(operands, self.opcode))


class AllReduceStart(AllReduce, opcode="all-reduce-start"):
    """Begins an all-reduce; the shape is that of the result to come."""

    has_side_effect = True


class AllReduceDone(Op, opcode="all-reduce-done"):
    """Waits for an all-reduce; yields its result."""

    arity = 1
    infers_shape = False
    has_side_effect = True

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the start."""
        return operands[0]


class ReduceScatter(FlaggedCollective, opcode="reduce-scatter"):
    """Folds as all-reduce, cuts the result along a dimension, gives each member its piece."""

    roles = (Role("to_apply", aliases=("calls",), name_of_body="calls"),)

    dimensions: int = attr(ONE_DIMENSION, default=REQUIRED)

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless results are pieces of the operands."""
        self.check_channel()
        _check_reducer(calls, self.opcode)
        results = _parts(declared, len(operands), self.opcode)
        _check_pieces(self.opcode, self.dimensions, results, operands, None)

    def check_group_size(self, size: int, operands: Sequence[Shape], declared: Shape) -> None:
        """Raises `ShapeError` unless operands have as many pieces as a group has members."""
        results = _parts(declared, len(operands), self.opcode)
        _check_pieces(self.opcode, self.dimensions, results, operands, size)


class AllGather(FlaggedCollective, opcode="all-gather"):
    """Gives every member of a group all members' operands, joined along a dimension."""

    dimensions: int = attr(ONE_DIMENSION, default=REQUIRED)
    use_global_device_ids: bool = attr(BOOLEAN, default=False)

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless results are whole multiples of the operands."""
        self.check_channel()
        results = self._results(operands, declared)
        _check_pieces(self.opcode, self.dimensions, operands, results, None)

    def check_group_size(self, size: int, operands: Sequence[Shape], declared: Shape) -> None:
        """Raises `ShapeError` unless results have an operand's size for each member."""
        results = self._results(operands, declared)
        _check_pieces(self.opcode, self.dimensions, operands, results, size)

    def _results(self, operands: Sequence[Shape], declared: Shape) -> Sequence[Shape]:
        return _parts(declared, len(operands), self.opcode)


class AllGatherStart(AllGather, opcode="all-gather-start"):
    """Begins an all-gather; yields the operands and the results to come."""

    has_side_effect = True

    def _results(self, operands: Sequence[Shape], declared: Shape) -> Sequence[Shape]:
        started, coming = _start_parts(declared, f"{self.opcode}: shape")
        check_same(started, one_or_tuple(operands), f"{self.opcode}: element 0 of the shape")
        return _parts(coming, len(operands), self.opcode)


class _StartedDone(Op):
    arity = 1
    infers_shape = False
    has_side_effect = True

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the second part of the start's shape."""
        return _start_parts(operands[0], f"{self.opcode}: operand 0")[1]


class AllGatherDone(_StartedDone, opcode="all-gather-done"):
    """Waits for an all-gather; yields its result."""


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


class CollectiveBroadcast(GroupedCollective, opcode="collective-broadcast"):
    """Gives every member of a group the operand of the first; others get zeros."""

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, or the tuple of several operands'."""
        return one_or_tuple(arrays(operands, self.opcode))


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
        started, coming = _start_parts(declared, f"{self.opcode}: shape")
        check_same(started, sent, f"{self.opcode}: element 0 of the shape")
        check_same(coming, result, f"{self.opcode}: element 1 of the shape")


class CollectivePermuteDone(_StartedDone, opcode="collective-permute-done"):
    """Waits for a collective-permute; yields its result."""


def _parts(declared: Shape, count: int, opcode: str) -> Sequence[Shape]:
    # The results, one an operand.
    if count == 1:
        return (declared,)
    if isinstance(declared, TupleShape) and len(declared.elements) == count:
        return declared.elements
    raise ShapeError(
        f"{opcode}: shape {declared.plain_text} is declared, a tuple of {count} is wanted"
    )


def _start_parts(shape: Shape, what: str) -> tuple[Shape, Shape]:
    if isinstance(shape, TupleShape) and len(shape.elements) >= 2:
        return shape.elements[0], shape.elements[1]
    raise ShapeError(f"{what} is {shape.plain_text}, (operand, result) is wanted")


def _check_reducer(calls: Sequence[ProgramShape], opcode: str) -> None:
    (reducer,) = calls
    if len(reducer.parameters) != 2:
        raise ShapeError(
            f"{opcode}: to_apply takes {len(reducer.parameters)} parameters, 2 are wanted"
        )
    for number, parameter in enumerate(reducer.parameters):
        scalar(parameter, f"{opcode}: to_apply: parameter {number}")
    scalar(reducer.result, f"{opcode}: to_apply: the result")


def _check_pieces(
    opcode: str, dimension: int, pieces: Sequence[Shape], wholes: Sequence[Shape], count: int | None
) -> None:
    # `count` is how many pieces make a whole, `None` where any number will do.
    for piece, whole in zip(pieces, wholes, strict=True):
        _check_piece(opcode, dimension, array(piece, opcode), array(whole, opcode), count)


def _check_piece(
    opcode: str, dimension: int, piece: ArrayShape, whole: ArrayShape, count: int | None
) -> None:
    check_dimension(dimension, whole.rank, f"{opcode}: dimension")
    sizes = list(whole.dimensions)
    cut = sizes[dimension]
    fits = piece.rank == whole.rank and same_type_but_float_width(
        piece.element_type, whole.element_type
    )
    if fits:
        size = piece.dimensions[dimension]
        sizes[dimension] = size
        fits = same_sizes(piece.dimensions, sizes)
        if UNBOUNDED not in {size, cut}:
            fits = fits and (cut % size == 0 if size else cut == 0)
            fits = fits and (count is None or cut == size * count)
    if not fits:
        pieces = "pieces" if count is None else f"{count} pieces"
        raise ShapeError(
            f"{opcode}: {pieces} of {piece.plain_text} along dimension {dimension}"
            f" do not make {whole.plain_text}"
        )
