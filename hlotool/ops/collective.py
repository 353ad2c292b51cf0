"""Collectives that reduce, gather and broadcast: all members of a group get the same or a part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hlotool.errors import ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import BOOLEAN, ONE_DIMENSION, choice
from hlotool.ir.frame import Array, Callee, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op, Role
from hlotool.ir.record import REQUIRED, attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape, TupleShape
from hlotool.ops.callees.collecting import cut, folded_members
from hlotool.ops.collective_groups import (
    FlaggedCollective,
    GroupedCollective,
    StartedDone,
    start_parts,
    started,
    started_operand,
)
from hlotool.ops.shape_checks import (
    array,
    arrays,
    check_dimension,
    check_same,
    one_or_tuple,
    same_sizes,
    same_type_but_float_width,
    scalar,
)
from hlotool.ops.tuple_values import single_or_tuple

_MODES = ("cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id")


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

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the fold of the members' operands, in the order of the group."""
        fold = partial(folded_members, reducer=frame.calls[0])
        return single_or_tuple(self.exchange(tuple(operands), frame, fold))


class AllReduceStart(AllReduce, opcode="all-reduce-start"):
    """Begins an all-reduce; the shape is that of the result to come."""

    has_side_effect = True


class AllReduceDone(Op, opcode="all-reduce-done"):
    """Waits for an all-reduce; yields its result."""

    category = Category.COLLECTIVE
    runs_code = False
    arity = 1
    infers_shape = False
    has_side_effect = True

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the start."""
        return operands[0]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the value of the start."""
        return operands[0]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the same part of the start."""
        return 0, index


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

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the piece of the fold that is this member's."""
        cut_fold = partial(self._cut_fold, reducer=frame.calls[0])
        pieces = self.exchange(tuple(operands), frame, cut_fold)
        own = self.place_among_members(frame.device)
        return single_or_tuple([of_operand[own] for of_operand in pieces])

    def _cut_fold(self, brought: list[Value], reducer: Callee) -> list[list[Array]]:
        count = len(brought)
        wholes = folded_members(brought, reducer)
        return [cut(whole, count, self.dimensions, self.opcode) for whole in wholes]


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

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the members' operands joined in the order of the group."""
        return single_or_tuple(self.exchange(tuple(operands), frame, self._joined))

    def _joined(self, brought: list[Value]) -> list[Value]:
        return [np.concatenate(pieces, self.dimensions) for pieces in zip(*brought, strict=True)]

    def _results(self, operands: Sequence[Shape], declared: Shape) -> Sequence[Shape]:
        return _parts(declared, len(operands), self.opcode)


class AllGatherStart(AllGather, opcode="all-gather-start"):
    """Begins an all-gather; yields the operands and the results to come."""

    has_side_effect = True

    def _results(self, operands: Sequence[Shape], declared: Shape) -> Sequence[Shape]:
        started, coming = start_parts(declared, f"{self.opcode}: shape")
        check_same(started, one_or_tuple(operands), f"{self.opcode}: element 0 of the shape")
        return _parts(coming, len(operands), self.opcode)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns operands and result."""
        return started(operands, super().evaluate(operands, frame), frame)

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the operand that the part is in, for the first part of the start."""
        return started_operand(index, count)


class AllGatherDone(StartedDone, opcode="all-gather-done"):
    """Waits for an all-gather; yields its result."""


class CollectiveBroadcast(GroupedCollective, opcode="collective-broadcast"):
    """Gives every member of a group the operand of the first; others get zeros."""

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, or the tuple of several operands'."""
        return one_or_tuple(arrays(operands, self.opcode))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operands of the first member, zeros on a device in no group."""
        if self.members(frame.device) is None:
            return single_or_tuple([np.zeros_like(operand) for operand in operands])
        return single_or_tuple(self.exchange(tuple(operands), frame)[0])


def _parts(declared: Shape, count: int, opcode: str) -> Sequence[Shape]:
    # The results, one an operand.
    if count == 1:
        return (declared,)
    if isinstance(declared, TupleShape) and len(declared.elements) == count:
        return declared.elements
    raise ShapeError(
        f"{opcode}: shape {declared.plain_text} is declared, a tuple of {count} is wanted"
    )


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
        pieces = "pieces" if count is None else f"{count} piece{'' if count == 1 else 's'}"
        raise ShapeError(
            f"{opcode}: {pieces} of {piece.plain_text} along dimension {dimension}"
            f" do not make {whole.plain_text}"
        )
