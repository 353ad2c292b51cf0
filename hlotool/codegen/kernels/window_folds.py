"""Where windows lie: which element a part of a window shows, and whether it shows one at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from hlotool.codegen.elements.choices import Condition, all_of, is_zero
from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.indexing.index import ZERO, Counter, Index, Known, index_of
from hlotool.codegen.indexing.index_values import in_range, lane_values
from hlotool.codegen.llvm.value import Value, constant
from hlotool.ir.window import Window, WindowDimension

_MOST_UNROLLED = 12
"""Windows of so many places are written place by place."""


def shown_place(
    emitter: ElementEmitter, dimension: WindowDimension, window: Index, part: Index, size: int
) -> tuple[Index, Condition]:
    """Writes which element of a dimension of `size` a part of a window shows, and whether any.

    Where it shows none, the index is one that can be read all the same.
    """
    place = window * dimension.stride + part * dimension.window_dilation - dimension.padding_low
    flag: Condition = True
    step = dimension.base_dilation
    if step > 1:
        shift = max(0, -(place.low // step))
        moved = place + shift * step
        flag = is_zero(emitter, moved % step)
        place = moved // step - shift
    flag = all_of(emitter.function, [flag, in_range(emitter.function, place, size, emitter.lanes)])
    if flag is True:
        return place, True
    if flag is False:
        return ZERO, False
    if place.low >= 0 and place.high < size:
        return place, flag
    value = lane_values(emitter.function, place, emitter.lanes)
    inside = emitter.function.select(flag, value, constant("i64", 0))
    return index_of(Known(inside, size - 1)), flag


def shown_index(
    emitter: ElementEmitter,
    window: Window,
    places: Sequence[Index],
    parts: Sequence[Index],
    sizes: Sequence[int],
) -> tuple[Indices, Condition]:
    """Writes the index of the element that a part of a window shows, and whether it shows one."""
    found: list[Index] = []
    flag: Condition = True
    for dimension, place, part, size in zip(window, places, parts, sizes, strict=True):
        index, is_shown = shown_place(emitter, dimension, place, part, size)
        found.append(index)
        flag = all_of(emitter.function, [flag, is_shown])
    return tuple(found), flag


Round: TypeAlias = Callable[[Indices, tuple[Value, ...]], Sequence[Value]]
"""Writes a round of nested loops: from the counters and what is carried to what is left."""


def folded_over(
    emitter: ElementEmitter, extents: Sequence[int], carried: Sequence[Value], body: Round
) -> tuple[Value, ...]:
    """Writes loops over all indices of sizes `extents`, the last one fastest.

    Yields what the last round leaves, or `carried` where there is no round. Few rounds are
    written one after the other.
    """
    if 0 in extents:
        return tuple(carried)
    if prod(extents) > _MOST_UNROLLED:
        return _nested(emitter, extents, (), tuple(carried), body)
    values = tuple(carried)
    for indices in product(*map(range, extents)):
        values = tuple(body(tuple(Index((), number) for number in indices), values))
    return values


def _nested(
    emitter: ElementEmitter,
    extents: Sequence[int],
    indices: Indices,
    carried: tuple[Value, ...],
    body: Round,
) -> tuple[Value, ...]:
    if not extents:
        return tuple(body(indices, carried))
    extent, *rest = extents
    if extent == 1:
        return _nested(emitter, rest, (*indices, ZERO), carried, body)
    function = emitter.function
    begin, end = constant("i64", 0), constant("i64", extent)
    with function.loop(begin, end, carried=carried) as loop, emitter.region():
        counter = Counter(extent, loop.index, splits=False)
        loop.next = _nested(emitter, rest, (*indices, index_of(counter)), loop.carried, body)
    return loop.results
