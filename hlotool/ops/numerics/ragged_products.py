"""A dimension that falls into consecutive groups of given sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hlotool.ir.lazy import numpy as np

if TYPE_CHECKING:
    from hlotool.ir.frame import Array


def part_of(array: Array, dimension: int, elements: slice) -> Array:
    """Returns the part of an array that has only these elements of a dimension."""
    return array[(slice(None),) * dimension + (elements,)]


def group_parts(sizes: Array, extent: int) -> Iterator[tuple[slice, Array]]:
    """Yields for each group the elements that are in it for some outer index, and for which.

    `sizes` is [outer..., groups], the elements are those of a dimension of size `extent`; which
    of them are inside comes as [outer..., elements of the slice].
    """
    ends = np.cumsum(sizes, axis=-1)
    starts = ends - sizes
    for group in range(sizes.shape[-1]):
        start, end = starts[..., group, None], ends[..., group, None]
        low = min(extent, int(start.min(initial=extent)))
        high = max(low, min(extent, int(end.max(initial=0))))
        elements = np.arange(low, high)
        yield slice(low, high), (start <= elements) & (elements < end)
