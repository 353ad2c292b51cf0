"""Merge sorts of records: a general one, and one for short lines of unequal integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.kernels.sorting.records import RecordArray
from hlotool.codegen.llvm.value import INTEGER_BITS, Value, constant

IsBefore: TypeAlias = Callable[[Value, Value], Value]
"""Writes whether one record comes before another."""

BLOCK = 8
"""Records that are put in order at once, where all are unequal."""


def merge_sorted(
    emitter: ElementEmitter,
    lane: str,
    count: int | Value,
    arrays: tuple[Value, Value],
    is_before: IsBefore,
) -> Value:
    """Writes a stable sort by any comparator of the records in the first of two arrays.

    Returns which array they are in then. Whatever the comparator says, none is lost. A count
    that is computed is 2 at least.
    """
    if count == 1:
        return arrays[0]
    function = emitter.function
    end = count if isinstance(count, Value) else constant("i64", count)
    last = function.binary("sub", end, constant("i64", 1))
    levels = function.binary("sub", constant("i64", 64), function.bit_count("ctlz", last))
    begin = (constant("i64", 1), *arrays)
    with function.loop(constant("i64", 0), levels, carried=begin) as level:
        width, source, target = level.carried
        both = function.binary("shl", width, constant("i64", 1))
        with function.loop(constant("i64", 0), end, both) as pair:
            _merge(emitter, lane, (source, target), (pair.index, width, both, end), is_before)
        level.next = (both, target, source)
    return level.results[1]


def _merge(
    emitter: ElementEmitter,
    lane: str,
    arrays: tuple[Value, Value],
    run: tuple[Value, Value, Value, Value],
    is_before: IsBefore,
) -> None:
    """Merges two neighbouring runs; the second one may be short, or missing."""
    function, array = emitter.function, RecordArray(emitter.function, lane)
    (source, target), (begin, width, both, count) = arrays, run
    one = constant("i64", 1)
    middle = function.intrinsic("smin", function.binary("add", begin, width), count)
    end = function.intrinsic("smin", function.binary("add", begin, both), count)
    last_left = function.binary("sub", middle, one)
    last_right = function.binary("sub", end, one)
    with function.loop(begin, end, carried=(begin, middle)) as loop:
        left, right = loop.carried
        ours = array.load(source, function.intrinsic("smin", left, last_left))
        theirs = array.load(source, function.intrinsic("smin", right, last_right))
        overtakes = is_before(theirs, ours)
        is_left_over = function.compare("sge", left, middle)
        is_there = function.compare("slt", right, end)
        wanted = function.binary("or", overtakes, is_left_over)
        takes_right = function.binary("and", wanted, is_there)
        array.store(target, loop.index, function.select(takes_right, theirs, ours))
        step = function.cast("zext", takes_right, "i64")
        rest = function.binary("sub", one, step)
        loop.next = (function.binary("add", left, rest), function.binary("add", right, step))


def padded_count(count: int) -> int:
    """Returns how many records `sort_unequal` takes for so many."""
    return max(BLOCK, 1 << (count - 1).bit_length())


def sort_unequal(
    emitter: ElementEmitter, lane: str, count: int, arrays: tuple[Value, Value]
) -> Value:
    """Writes a sort of unequal integers without a sign, a power of two of at least `BLOCK`.

    They are in the first of two arrays; returns which one they are in then.
    """
    function = emitter.function
    source, target = arrays
    width = 1
    if INTEGER_BITS[lane] <= 64:
        with function.loop(constant("i64", 0), constant("i64", count), BLOCK) as loop:
            _sort_block(emitter, lane, source, target, loop.index)
        source, target = target, source
        width = BLOCK
    while width < count:
        _merge_equal(emitter, lane, count, width, (source, target))
        source, target = target, source
        width *= 2
    return source


def _sort_block(
    emitter: ElementEmitter, lane: str, source: Value, target: Value, begin: Value
) -> None:
    """Counts for each record of a block how many come before it: that is its place."""
    function, array = emitter.function, RecordArray(emitter.function, lane)
    block = array.load(source, begin, BLOCK)
    sign = constant(lane, -1 << (INTEGER_BITS[lane] - 1))
    signed = function.binary("xor", block, sign)
    places = constant(lane, 0, BLOCK)
    for number in range(BLOCK):
        one = function.shuffle(signed, signed, [number] * BLOCK)
        is_before = function.compare("slt", one, signed)
        places = function.binary("sub", places, function.cast("sext", is_before, lane))
    beginning = function.offset(target, begin, lane)
    for number in range(BLOCK):
        place = function.cast("zext", function.extract(places, number), "i64")
        array.store(beginning, place, function.extract(block, number))


def _merge_equal(
    emitter: ElementEmitter, lane: str, count: int, width: int, arrays: tuple[Value, Value]
) -> None:
    """Merges pairs of runs of one width from both ends, so that no run can end too early."""
    function, array = emitter.function, RecordArray(emitter.function, lane)
    source, target = arrays
    one, half = constant("i64", 1), constant("i64", width)
    with function.loop(constant("i64", 0), constant("i64", count), 2 * width) as pair:
        ours, place = (function.offset(a, pair.index, lane) for a in (source, target))
        begin = (0, width, width - 1, 2 * width - 1)
        with function.loop(
            constant("i64", 0), half, carried=[constant("i64", at) for at in begin]
        ) as loop:
            left, right, last_left, last_right = loop.carried
            a, b = array.load(ours, left), array.load(ours, right)
            c, d = array.load(ours, last_left), array.load(ours, last_right)
            array.store(place, loop.index, function.intrinsic("umin", a, b))
            behind = function.binary("sub", constant("i64", 2 * width - 1), loop.index)
            array.store(place, behind, function.intrinsic("umax", c, d))
            first = function.cast("zext", function.compare("ult", b, a), "i64")
            last = function.cast("zext", function.compare("ult", d, c), "i64")
            loop.next = (
                function.binary("add", left, function.binary("sub", one, first)),
                function.binary("add", right, first),
                function.binary("sub", last_left, last),
                function.binary("sub", last_right, function.binary("sub", one, last)),
            )
