"""The sizes that a reshaped array has when some of its dimensions are not full."""

from __future__ import annotations

from math import prod

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Array
from hlotool.ir.shape import UNBOUNDED, ArrayShape


def reshaped_sizes(
    operand: Array, shape: ArrayShape, result: ArrayShape, inferred_dimension: int = -1
) -> list[int]:
    """Returns how many elements each dimension of `result` has.

    Dimensions of operand and result fall into groups, each with as many elements on one side
    as on the other when full. In a group, the one dynamic dimension of the result takes what
    the static ones leave; of several it is `inferred_dimension`, and the others are full.
    Raises `EvaluationError` where elements do not fit, or fit in more than one way.
    """
    sizes = list(result.dimensions)
    if operand.shape == shape.dimensions and UNBOUNDED not in sizes:
        return sizes
    for ours, theirs in _groups(shape, result):
        live = prod(operand.shape[d] for d in ours)
        open_dimensions = [d for d in theirs if result.is_dynamic(d)]
        if live == prod(sizes[d] for d in theirs) and UNBOUNDED not in sizes:
            continue
        dimension = _inferred(open_dimensions, inferred_dimension, result)
        rest = prod(sizes[d] for d in theirs if d != dimension)
        size, left_over = divmod(live, rest) if rest else (0, live)
        bound = result.dimensions[dimension]
        if left_over or (size > bound and bound != UNBOUNDED):
            raise EvaluationError(
                f"reshape: {live} elements do not fill dimension {dimension}"
                f" of {result.plain_text} evenly"
            )
        sizes[dimension] = size
    return sizes


def _inferred(open_dimensions: list[int], inferred_dimension: int, result: ArrayShape) -> int:
    """Returns the dimension whose size follows from the others'."""
    if inferred_dimension in open_dimensions:
        return inferred_dimension
    # A dimension of at most one element is not the one that takes what is there.
    wide = [d for d in open_dimensions if result.dimensions[d] != 1] or open_dimensions
    if len(wide) == 1:
        return wide[0]
    found = f"{len(wide)} dynamic dimensions" if wide else "no dynamic dimension"
    raise EvaluationError(
        f"reshape: the operand is not full, and {result.plain_text} has {found}"
        " that could have less elements, 1 is wanted",
    )


def _groups(one: ArrayShape, other: ArrayShape) -> list[tuple[range, range]]:
    """Returns the shortest runs of dimensions that hold equally many elements on both sides."""
    sizes = one.dimensions, other.dimensions
    if UNBOUNDED in (*sizes[0], *sizes[1]) or 0 in (*sizes[0], *sizes[1]):
        return [(range(one.rank), range(other.rank))]
    begins, ends, counts = [0, 0], [0, 0], [1, 1]
    groups = []
    while ends[0] < one.rank and ends[1] < other.rank:
        # A run begins with a dimension of each side; then the side with less takes one more.
        lesser = int(counts[0] > counts[1])
        for side in (0, 1) if counts == [1, 1] else (lesser,):
            counts[side] *= sizes[side][ends[side]]
            ends[side] += 1
        if counts[0] == counts[1]:
            groups.append((range(begins[0], ends[0]), range(begins[1], ends[1])))
            begins, counts = list(ends), [1, 1]
    # What is left has one element a dimension, and belongs to the last group.
    begun = groups.pop() if groups and counts == [1, 1] else None
    starts = begins if begun is None else [begun[0].start, begun[1].start]
    return [*groups, (range(starts[0], one.rank), range(starts[1], other.rank))]
