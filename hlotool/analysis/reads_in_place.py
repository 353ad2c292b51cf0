"""What of an operand must still be there when elements of a fusion's result are written."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.reduction import Reduce
from hlotool.ops.shape_changing import Broadcast
from hlotool.ops.source import Constant, Iota, Parameter
from hlotool.ops.tuples import GetTupleElement

_MOST_FUSED = 256
"""How large a fusion may be to be looked into."""
_OF_ROWS = (Elementwise, Broadcast, Reduce, GetTupleElement, Constant, Iota, Parameter)
"""What may stand in a fusion that folds all of a row before it stores any of its elements."""


def lie_alike(result: Shape, operand: Shape) -> bool:
    """Whether elements of two arrays with equal indices lie at the same place."""
    return (
        isinstance(operand, ArrayShape)
        and isinstance(result, ArrayShape)
        and operand.dimensions == result.dimensions
        and operand.layout == result.layout
        and operand.element_type.storage_bytes == result.element_type.storage_bytes
        and operand.is_static
        and result.is_static
    )


class Reads(Enum):
    """What of a parameter elements of the result of a fusion need."""

    ELEMENT = auto()  # the one that lies where they do
    ROW = auto()  # that, and folds of the row that they stand in, as in a softmax
    MORE = auto()


def reads_of(fused: Computation, parameter_number: int) -> Reads:
    """Returns what of a parameter elements of the result need.

    A kernel has the folds of a row before it stores any of it.
    """
    if len(fused.instructions) > _MOST_FUSED:
        return Reads.MORE
    parameter = fused.parameters[parameter_number]
    shape = parameter.shape
    if not isinstance(shape, ArrayShape):
        return Reads.MORE
    if _Users(shape, None).are_in_place([parameter], []):
        return Reads.ELEMENT
    folds = [one for one in fused.instructions if isinstance(one.op, Reduce)]
    kept = _kept_by_all(folds, shape)
    if kept is None or not all(isinstance(one.op, _OF_ROWS) for one in fused.instructions):
        return Reads.MORE
    return Reads.ROW if _Users(shape, kept).are_in_place([parameter], folds) else Reads.MORE


def _kept_by_all(folds: Iterable[Instruction], shape: ArrayShape) -> tuple[int, ...] | None:
    """Returns the dimensions that number the rows of an array; `None` where folds differ."""
    found = set()
    for fold in folds:
        folded = fold.operands[0].shape
        assert isinstance(fold.op, Reduce)
        if not isinstance(folded, ArrayShape) or folded.dimensions != shape.dimensions:
            return None
        found.add(tuple(d for d in range(folded.rank) if d not in fold.op.dimensions))
    return found.pop() if len(found) == 1 else None


class _Users:
    """Follows elements of an array, and values of its rows, to all that they are needed for."""

    def __init__(self, shape: ArrayShape, kept: tuple[int, ...] | None) -> None:
        self._shape = shape
        self._kept = kept
        """The dimensions that number the rows; `None` where there are none."""

    def are_in_place(self, arrays: list[Instruction], rows: list[Instruction]) -> bool:
        """Whether all that needs these arrays, or values of rows, needs them where it lies."""
        of_row = {**dict.fromkeys(arrays, False), **dict.fromkeys(rows, True)}
        waiting = list(of_row)
        while waiting:
            one = waiting.pop()
            for user in one.users:
                found = self._is_of_row(user, one, is_row=of_row[one])
                if found is None or of_row.get(user, found) is not found:
                    return False
                if user not in of_row:
                    of_row[user] = found
                    waiting.append(user)
        return True

    def _is_of_row(self, user: Instruction, operand: Instruction, *, is_row: bool) -> bool | None:
        """Whether a user is a value of each row, or one of each element; `None` if neither."""
        match user.op:
            case Elementwise():
                fits = self._is_row(user) if is_row else lie_alike(user.shape, self._shape)
                return is_row if fits else None
            case Reduce():
                half = len(user.operands) // 2
                is_folded = not is_row and operand not in user.operands[half:]
                return True if is_folded and self._kept is not None else None
            case GetTupleElement():
                return True if is_row else None
            case Broadcast():
                is_spread = is_row and user.op.dimensions == self._kept
                return False if is_spread and lie_alike(user.shape, self._shape) else None
        return None

    def _is_row(self, user: Instruction) -> bool:
        sizes = tuple(self._shape.dimensions[d] for d in self._kept or ())
        return isinstance(user.shape, ArrayShape) and user.shape.dimensions == sizes
