"""Code for indices: a value for all lanes at once, or one for each lane."""

from __future__ import annotations

from hlotool.codegen.indexing.index import (
    Bounded,
    Counter,
    Index,
    Known,
    Quotient,
    Remainder,
    Term,
)
from hlotool.codegen.indexing.places import quotient, remainder
from hlotool.codegen.llvm.value import Value, constant, constant_lanes
from hlotool.codegen.llvm.writer import FunctionWriter


def first_value(function: FunctionWriter, index: Index) -> Value:
    """Writes an index in the first of the lanes that are handled at once: an `i64`.

    Terms that outer loops know are added there. Raises `SplitNeeded` where a loop had better
    be two.
    """
    index.ask_for_splits()
    parts = [_scaled(function, _first(function, term), factor) for term, factor in index.terms]
    parts.sort(key=lambda value: value.level)
    total = constant("i64", index.offset)
    for part in parts:
        total = part if total.name == "0" else function.binary("add nsw", part, total)
    return total


def lane_values(function: FunctionWriter, index: Index, lanes: int) -> Value:
    """Writes an index in each of the lanes that are handled at once: a vector of `i64`.

    Where it is the same in all lanes it has one lane.
    """
    index.ask_for_splits()
    if not index.varies():
        return first_value(function, index)
    step = index.step()
    if step is not None:
        offsets = constant_lanes("i64", [step * lane for lane in range(lanes)])
        return function.binary("add nsw", first_value(function, index), offsets)
    total = constant("i64", index.offset)
    for term, factor in index.terms:
        part = _scaled(function, _lanes(function, term, lanes), factor)
        total = function.binary("add nsw", part, total)
    return total


def in_range(function: FunctionWriter, index: Index, size: int, lanes: int) -> Value | bool:
    """Writes whether an index is one of `size`; answers where it always or never is."""
    if index.low >= 0 and index.high < size:
        return True
    if index.high < 0 or index.low >= size:
        return False
    # A negative number is a large one without its sign.
    value = lane_values(function, index, lanes)
    return function.compare("ult", value, constant("i64", size))


def _first(function: FunctionWriter, term: Term) -> Value:
    if isinstance(term, Counter):
        assert term.value is not None, "code is made only of counters of open loops"
        return term.value
    if isinstance(term, Known):
        return function.extract(term.value, 0)
    if isinstance(term, Bounded):
        return first_value(function, term.index)
    return _divided(function, term, first_value(function, term.index))


def _lanes(function: FunctionWriter, term: Term, lanes: int) -> Value:
    if isinstance(term, Counter):
        return lane_values(function, Index(((term, 1),)), lanes)
    if isinstance(term, Known):
        return term.value
    if isinstance(term, Bounded):
        return lane_values(function, term.index, lanes)
    return _divided(function, term, lane_values(function, term.index, lanes))


def _divided(function: FunctionWriter, term: Quotient | Remainder, value: Value) -> Value:
    by_constant = quotient if isinstance(term, Quotient) else remainder
    if term.index.high < 1 << 31:
        # Halves of 64 bits are divided much faster, in lanes above all.
        narrow = function.cast("trunc", value, "i32")
        return function.cast("zext", by_constant(function, narrow, term.divisor), "i64")
    return by_constant(function, value, term.divisor)


def _scaled(function: FunctionWriter, value: Value, factor: int) -> Value:
    if factor == 1:
        return value
    return function.binary("mul nsw", value, constant("i64", factor))
