"""Rows and slices that devices put into arrays of other devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Array, Place, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ops.tuple_values import parts


def with_rows(brought: Sequence[Sequence[Array]], own: int) -> Array:
    """Returns a member's array with the rows that all members send to it put in, in their order.

    Each member brings rows, an array to put rows into, and four lists: where its rows begin
    and how many they are, where the receiver puts them, how many it receives. A list has
    one or more numbers for each member. Raises `EvaluationError` where the numbers do not fit.
    """
    into = brought[own][1].copy()
    received = _by_member(brought[own][5], len(brought))
    for member, (rows, _, *lists) in enumerate(brought):
        begins, sizes, places = (_by_member(numbers, len(brought))[own] for numbers in lists[:3])
        if list(sizes) != list(received[member]):
            raise EvaluationError(
                f"ragged-all-to-all: member {member} sends {_shown(sizes)} rows,"
                f" member {own} awaits {_shown(received[member])}"
            )
        for begin, size, place in zip(begins, sizes, places, strict=True):
            if size:
                into[_rows(into, place, size)] = rows[_rows(rows, begin, size)]
    return into


def with_slices(
    brought: Mapping[Place, Sequence[Value]],
    pairs: Sequence[tuple[Place, Place]],
    own: Place,
    operands: Sequence[Value],
    slice_sizes: Sequence[Sequence[int]],
) -> Value:
    """Returns the output of device `own` with the slices that sources send put in.

    Each device brings input, output, and where slices begin in both, by its own account. With
    several slices the pairs of a source have one each, in order; its only pair has all.
    """
    output = operands[1]
    outputs = [array.copy() for array in parts(output)]
    targets = list(_slices(output, operands[3], slice_sizes))
    for source in dict.fromkeys(source for source, target in pairs if target == own):
        source_input, source_begins = brought[source][0], brought[source][2]
        inputs = parts(source_input)
        slices = list(_slices(source_input, source_begins, slice_sizes))
        ways = [target for begin, target in pairs if begin == source]
        for (number, turn, begin, sizes), (_, _, place, _) in zip(slices, targets, strict=True):
            # An only pair has all slices, several have one each of every array.
            ways_of_slice = ways if len(ways) == 1 else ways[turn : turn + 1]
            if own in ways_of_slice:
                cut = inputs[number][_part(inputs[number], begin, sizes)]
                outputs[number][_part(outputs[number], place, sizes)] = cut
    return tuple(outputs) if isinstance(output, tuple) else outputs[0]


def _by_member(numbers: Array, members: int) -> Array:
    if numbers.size % members:
        raise EvaluationError(
            f"ragged-all-to-all: lists of {numbers.size} numbers are given,"
            f" as many for each of {members} members are wanted"
        )
    return numbers.reshape(members, -1).astype(np.int64)


def _rows(array: Array, begin: int, size: int) -> slice:
    if begin < 0 or size < 0 or begin + size > array.shape[0]:
        raise EvaluationError(
            f"ragged-all-to-all: {size} rows from row {begin} are given,"
            f" rows within {array.shape[0]} are wanted"
        )
    return slice(begin, begin + size)


def _shown(numbers: Array) -> str:
    return " + ".join(map(str, numbers))


def _slices(
    arrays: Value, begins: Value, slice_sizes: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int, Sequence[int], Sequence[int]]]:
    """Yields of each slice its array, which of that array's slices it is, begin and sizes."""
    of_arrays = begins if isinstance(arrays, tuple) else (begins,)
    several = [own if own and isinstance(own[0], tuple) else (own,) for own in of_arrays]
    count = sum(map(len, several))
    if count != len(slice_sizes):
        raise EvaluationError(
            f"collective-permute: {len(slice_sizes)} slice_sizes are given, {count} are wanted"
        )
    sizes = iter(slice_sizes)
    for number, own in enumerate(several):
        for turn, begin in enumerate(own):
            yield number, turn, [int(index) for index in begin], next(sizes)


def _part(array: Array, begin: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    # As in dynamic-slice, a slice that would reach over an end is moved inwards.
    moved = [
        max(0, min(index, whole - size))
        for index, size, whole in zip(begin, sizes, array.shape, strict=True)
    ]
    return tuple(slice(index, index + size) for index, size in zip(moved, sizes, strict=True))
