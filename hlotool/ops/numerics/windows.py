"""Which elements of an array a window meets, padding and holes left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from hlotool.ir.lazy import numpy as np

if TYPE_CHECKING:
    from hlotool.ir.frame import Array
    from hlotool.ir.window import WindowDimension

Meeting: TypeAlias = tuple[tuple[slice, ...], tuple[slice, ...]]
"""Places of a window, and the element that one and the same part of it shows at each of them."""


def meetings(window: Sequence[WindowDimension], sizes: Sequence[int]) -> Iterator[Meeting]:
    """Yields for each part of a window, in row-major order, where it shows elements, and which.

    A part that shows only padding and holes of the base is left out.
    """
    along = [
        [_meeting(dimension, part, size) for part in range(dimension.size)]
        for dimension, size in zip(window, sizes, strict=True)
    ]
    for parts in product(*along):
        found = all_met(parts)
        if found is not None:
            yield found


def _meeting(dimension: WindowDimension, part: int, size: int) -> tuple[slice, slice] | None:
    first = part * dimension.window_dilation - dimension.padding_low
    return met_elements(first, dimension.stride, dimension, dimension.output_size(size), size)


def met_elements(
    first: int, step: int, dimension: WindowDimension, count: int, size: int
) -> tuple[slice, slice] | None:
    """Returns which of `count` steps fall on elements of the base, and on which.

    Steps go from place `first` of the dilated base, `step` places each; the base has `size`
    elements. `None` where no step meets one.
    """
    elements, hole = np.divmod(first + step * np.arange(count), dimension.base_dilation)
    met = np.flatnonzero((hole == 0) & (elements >= 0) & (elements < size))
    return (_progression(met), _progression(elements[met])) if met.size else None


def all_met(along: Iterable[tuple[slice, slice] | None]) -> Meeting | None:
    """Returns what is met along all dimensions together; `None` where one of them meets none."""
    found = list(along)
    met = [pair for pair in found if pair is not None]
    if len(met) < len(found):
        return None
    return tuple(steps for steps, _ in met), tuple(elements for _, elements in met)


def _progression(numbers: Array) -> slice:
    # Stride and dilation are even, so what they make to meet is evenly spaced, too.
    step = int(numbers[1] - numbers[0]) if numbers.size > 1 else 1
    return slice(int(numbers[0]), int(numbers[-1]) + 1, step)


def spans(dimension: WindowDimension, size: int) -> tuple[Array, Array]:
    """Returns the first element and the one after the last of the window's extent, by place."""
    places = np.arange(dimension.output_size(size))
    start = places * dimension.stride - dimension.padding_low
    extent = (dimension.size - 1) * dimension.window_dilation + 1
    # The first element at or after a place of the dilated base.
    first, after = (
        np.clip(-(-place // dimension.base_dilation), 0, size) for place in (start, start + extent)
    )
    return first, after
