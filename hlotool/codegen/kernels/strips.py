"""Runs of places as vectors, and what to do with those that are left over."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.llvm.value import Value, constant


def strips(count: int, lanes: int) -> list[tuple[int, int, int]]:
    """Returns loops over a number of places, as begin, end and step: whole vectors, single ones."""
    whole = count - count % lanes
    both = ((0, whole, lanes), (whole, count, 1))
    return [(begin, end, step) for begin, end, step in both if begin < end]


def each_strip(
    emitter: ElementEmitter, count: int, lanes: int, write: Callable[[Value], None]
) -> None:
    """Writes what `write` does for each place below `count`, with the emitter's lanes set."""
    for begin, end, step in strips(count, lanes):
        bounds = (constant("i64", begin), constant("i64", end))
        with (
            emitter.function.loop(*bounds, step) as loop,
            emitter.region(),
            emitter.with_lanes(step),
        ):
            write(loop.index)


def widths_of(count: int, lanes: int) -> tuple[int, ...]:
    """Returns how wide vectors for some places are: whole ones, then ever smaller halves."""
    found = [lanes] * (count // lanes)
    rest, width = count % lanes, lanes // 2
    while rest:
        if width <= rest:
            found.append(width)
            rest -= width
        width //= 2
    return tuple(found)
