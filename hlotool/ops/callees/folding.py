"""Folding arrays with a reducer: along dimensions, or in windows that slide over them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from hlotool.ir.frame import Callee
from hlotool.ir.lazy import numpy as np
from hlotool.ops.callees.mapping import Mapped
from hlotool.ops.callees.reducers import Combination, Taken, chooses, recognized
from hlotool.ops.numerics.windows import meetings, spans

if TYPE_CHECKING:
    from hlotool.ir.frame import Array
    from hlotool.ir.window import Window, WindowDimension

_Arrays = Sequence["Array"]


def folded(
    reducer: Callee, inputs: _Arrays, initials: _Arrays, dimensions: Sequence[int]
) -> list[Array]:
    """Returns the accumulators after all elements along `dimensions`, in row-major order."""
    components = recognized(reducer.computation)
    folded_away = tuple(dimensions)
    if components is not None:
        return [
            component.reduced(elements, initial, folded_away)
            if isinstance(component, Combination)
            else _taken(component, elements, initial, folded_away)
            for component, elements, initial in zip(components, inputs, initials, strict=True)
        ]
    rows = [_rows(elements, folded_away) for elements in inputs]
    accumulators = [np.broadcast_to(initial, rows[0].shape[1:]) for initial in initials]
    if not len(rows[0]):
        return accumulators
    reduce = Mapped(reducer)
    if reduce.is_whole and chooses(reducer.computation):
        while len(rows[0]) > 1:
            rows = _neighbours_combined(reduce, rows)
    for row in zip(*rows, strict=True):
        accumulators = reduce([*accumulators, *row])
    return accumulators


def _taken(taken: Taken, elements: Array, initial: Array, dimensions: tuple[int, ...]) -> Array:
    rows = _rows(elements, dimensions)
    is_initial = taken is Taken.ACCUMULATOR or not len(rows)
    return np.broadcast_to(initial, rows.shape[1:]) if is_initial else rows[-1]


def _rows(elements: Array, dimensions: tuple[int, ...]) -> Array:
    """Returns [folded elements in row-major order, kept dimensions...]."""
    first = sorted(dimensions)
    kept = [d for d in range(elements.ndim) if d not in dimensions]
    count = prod(elements.shape[d] for d in first)
    return elements.transpose(first + kept).reshape(count, *(elements.shape[d] for d in kept))


def _neighbours_combined(reduce: Mapped, rows: _Arrays) -> list[Array]:
    """Returns half as many rows: each two neighbours combined, the last as it is if it is odd."""
    count = len(rows[0])
    pairs = count // 2 * 2
    left = [array[0:pairs:2] for array in rows]
    right = [array[1:pairs:2] for array in rows]
    combined = reduce([*left, *right])
    if pairs == count:
        return combined
    return [
        np.concatenate([some, array[-1:].astype(some.dtype)])
        for some, array in zip(combined, rows, strict=True)
    ]


def folded_in_windows(
    reducer: Callee, inputs: _Arrays, initials: _Arrays, window: Window
) -> list[Array]:
    """Returns for each place of the window the accumulators after the elements it shows there.

    Padding and holes are not elements; the others come in row-major order.
    """
    components = recognized(reducer.computation)
    if components is not None and all(isinstance(c, Combination) for c in components):
        return [
            _combined_in_windows(component, elements, initial, window)
            for component, elements, initial in zip(components, inputs, initials, strict=True)
            if isinstance(component, Combination)
        ]
    places = [d.output_size(n) for d, n in zip(window, inputs[0].shape, strict=True)]
    accumulators = [np.full(places, initial) for initial in initials]
    reduce = Mapped(reducer)
    for met, shown in meetings(window, inputs[0].shape):
        so_far = [accumulator[met] for accumulator in accumulators]
        stepped = reduce([*so_far, *(elements[shown] for elements in inputs)])
        for accumulator, values in zip(accumulators, stepped, strict=True):
            accumulator[met] = values
    return accumulators


def _combined_in_windows(
    combination: Combination, elements: Array, initial: Array, window: Window
) -> Array:
    """Returns `folded_in_windows` for an op that may combine one dimension after the other."""
    combined = combination.encoded(elements)
    for number, dimension in enumerate(window):
        lines = np.moveaxis(combined, number, 0)
        combined = np.moveaxis(_combined_along(combination, lines, dimension), 0, number)
    return combination.decoded(combination.function(combination.encoded(initial), combined))


def _combined_along(combination: Combination, lines: Array, dimension: WindowDimension) -> Array:
    """Returns what a window shows at each of its places on dimension 0, combined."""
    count = len(lines)
    starts, ends = spans(dimension, count)
    has_edge = (starts == 0) | (ends == count)
    if dimension.window_dilation == 1 and dimension.size > 1 and has_edge.all():
        return _combined_from_edges(combination, lines, starts, ends)
    sizes = (dimension.output_size(count), *lines.shape[1:])
    combined = np.full(sizes, combination.neutral, combination.encoding)
    for met, shown in meetings([dimension], [count]):
        combined[met] = combination.function(combined[met], lines[shown])
    return combined


def _combined_from_edges(
    combination: Combination, lines: Array, starts: Array, ends: Array
) -> Array:
    """Returns lines `starts` to `ends` combined, each from the first line on or up to the last."""
    none = np.full((1, *lines.shape[1:]), combination.neutral, combination.encoding)
    accumulate = combination.function.accumulate
    # Entry n of the one has the first n lines, entry n of the other all but these.
    first = np.concatenate([none, accumulate(lines, axis=0)])
    last = np.concatenate([accumulate(lines[::-1], axis=0)[::-1], none])
    is_first = (starts == 0).reshape(-1, *[1] * (lines.ndim - 1))
    found: Array = np.where(is_first, first[ends], last[starts])
    return found
