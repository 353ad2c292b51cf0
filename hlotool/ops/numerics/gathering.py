"""Index arithmetic of the ops that read or write windows of an array at computed places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np

Starts = Mapping[int, Array]
"""The first index of each window, by dimension of the array; 0 along the others."""


def whole_numbers(indices: Array) -> Array:
    """Returns integers of any type as int64; what is larger becomes the largest."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64)


def window_starts(
    indices: Array,
    vector_dimension: int,
    index_map: Sequence[int],
    batching: Mapping[int, int],
) -> dict[int, Array]:
    """Returns where windows start, for an array of indices with one vector a window.

    `index_map` says which dimension each number of a vector counts; `batching` has, for a
    dimension that goes along with one of `indices`, that one.
    """
    numbers = whole_numbers(indices)
    if vector_dimension == indices.ndim:
        numbers = numbers[..., np.newaxis]
    vectors = np.moveaxis(numbers, vector_dimension, -1)
    starts: dict[int, Array] = {d: vectors[..., place] for place, d in enumerate(index_map)}
    for dimension, along in batching.items():
        # The dimension of the vectors is last now.
        position = along - int(along > vector_dimension)
        sizes = [1] * (vectors.ndim - 1)
        sizes[position] = -1
        line = np.arange(vectors.shape[position]).reshape(sizes)
        starts[dimension] = np.broadcast_to(line, vectors.shape[:-1])
    return starts


def window_places(
    starts: Starts,
    sizes: Sequence[int],
    window: Sequence[int],
    offset_dimensions: Sequence[int],
    batch: Sequence[int],
) -> list[Array]:
    """Returns for each dimension of an array the indices of all elements of all windows.

    They broadcast to the dimensions that all windows have together: at `offset_dimensions`
    those of a window, which are the dimensions `window` of the array, elsewhere `batch`. A
    window has `sizes`.
    """
    rank = len(batch) + len(offset_dimensions)
    outer = [d for d in range(rank) if d not in offset_dimensions]
    spread = [1] * rank
    for dimension, size in zip(outer, batch, strict=True):
        spread[dimension] = size
    along = dict(zip(window, offset_dimensions, strict=True))
    places = []
    for dimension, size in enumerate(sizes):
        place: Array = np.zeros([1] * rank, np.int64)
        if dimension in starts:
            place = starts[dimension].reshape(spread)
        if dimension in along:
            line = [1] * rank
            line[along[dimension]] = size
            place = place + np.arange(size).reshape(line)
        places.append(place)
    return places
