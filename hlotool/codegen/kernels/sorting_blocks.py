"""Loops over a known number of places, several lanes at a time, one for those left over."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.llvm.value import Value, constant


def each_block(
    emitter: ElementEmitter, count: int, lanes: int, write: Callable[[Value], None]
) -> None:
    """Writes what `write` does for each place below `count`, with the emitter's lanes set."""
    whole = count - count % lanes
    for begin, end, step in ((0, whole, lanes), (whole, count, 1)):
        if begin < end:
            bounds = (constant("i64", begin), constant("i64", end))
            with (
                emitter.function.loop(*bounds, step) as loop,
                emitter.region(),
                emitter.with_lanes(step),
            ):
                write(loop.index)
