"""Indices: sums, quotients and remainders of counters against the numbers that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.codegen.indexing.cuts import CutCounter, CutNeeded, ask_for_cuts
from hlotool.codegen.indexing.index import (
    ZERO,
    Bounded,
    Counter,
    Index,
    Known,
    SplitNeeded,
    Term,
    delinear,
    index_of,
    linear,
)
from hlotool.codegen.llvm.value import Value

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def number(index: Index, counters: Mapping[Counter, int]) -> int:
    """Returns what an index is where counters have some values."""
    return index.offset + sum(factor * _term(term, counters) for term, factor in index.terms)


def _term(term: Term, counters: Mapping[Counter, int]) -> int:
    if isinstance(term, Counter):
        return counters[term]
    assert not isinstance(term, Known)
    inner = number(term.index, counters)
    if isinstance(term, Bounded):
        return inner
    return inner // term.divisor if type(term).__name__ == "Quotient" else inner % term.divisor


@given(SIZES, st.data())
def test_places_of_other_sizes_are_the_same(sizes: tuple[int, ...], data: st.DataObject) -> None:
    counters = [Counter(size) for size in sizes]
    indices = list(map(index_of, counters))
    place = linear(indices, sizes)
    here = {one: data.draw(st.integers(0, one.extent - 1)) for one in counters}
    wanted = int(np.ravel_multi_index([here[one] for one in counters], sizes))
    assert number(place, here) == wanted
    others = data.draw(st.permutations(sizes)).copy()
    if len(others) > 1:
        others[:2] = [others[0] * others[1]]
    found = delinear(place, tuple(others))
    assert [number(one, here) for one in found] == list(np.unravel_index(wanted, others))
    assert all(one.low <= number(one, here) <= one.high for one in found)
    assert all(one.low >= 0 and one.high < size for one, size in zip(found, others, strict=True))
    assert number(linear(found, others), here) == wanted


@given(SIZES)
def test_a_reshape_that_is_taken_back_is_no_division(sizes: tuple[int, ...]) -> None:
    indices = tuple(index_of(Counter(size)) for size in sizes)
    flat = linear(indices, sizes)
    assert delinear(flat, sizes) == indices
    assert linear(delinear(flat, (prod(sizes), 1)), (prod(sizes), 1)) == flat


@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 30), st.integers(1, 12), st.data())
def test_quotients_and_remainders(
    extent: int, factor: int, offset: int, divisor: int, data: st.DataObject
) -> None:
    counter = Counter(extent)
    index = index_of(counter) * factor + offset
    value = data.draw(st.integers(0, extent - 1))
    whole, rest = index // divisor, index % divisor
    plain = value * factor + offset
    assert number(whole, {counter: value}) == plain // divisor
    assert number(rest, {counter: value}) == plain % divisor
    assert whole.low <= plain // divisor <= whole.high
    assert rest.low <= plain % divisor <= rest.high
    assert number(whole * divisor + rest, {counter: value}) == plain
    assert number(index - whole, {counter: value}) == plain - plain // divisor


def test_terms_that_cancel_are_gone() -> None:
    index = index_of(Counter(7))
    assert index - index == ZERO
    assert index_of(Counter(1)) == ZERO
    assert (index * 0).is_constant


def test_steps_from_lane_to_lane() -> None:
    lanes, single = Counter(16, lanes=4), Counter(9)
    assert (index_of(lanes) * 3 + index_of(single)).step() == 3
    assert index_of(single).step() == 0
    assert (index_of(lanes) // 5).step() is None
    assert not index_of(single).varies()
    assert index_of(Known(Value("%v", "i64", 4), 8)).step() is None


@pytest.mark.parametrize("factor", [1, 2])
def test_a_division_asks_for_two_loops(factor: int) -> None:
    counter = Counter(24)
    index = (index_of(counter) * factor + index_of(Counter(factor))) // (4 * factor)
    with pytest.raises(SplitNeeded) as found:
        index.ask_for_splits()
    assert found.value.counter is counter
    assert found.value.stride == 4
    (index_of(Counter(24, splits=False)) // 5).ask_for_splits()


def test_where_loops_are_cut() -> None:
    counter = CutCounter(20)
    with pytest.raises(CutNeeded) as found:
        ask_for_cuts(index_of(counter) * 2 + 1, [0, 5, 8, 100])
    # 2 * 2 + 1 is the first that is 5 at least, 2 * 4 + 1 that is 8 at least.
    assert found.value.places == (2, 4)
    with pytest.raises(CutNeeded) as found:
        ask_for_cuts(index_of(counter) // 3 + 1, [3])
    assert found.value.places == (6,)
    ask_for_cuts(index_of(counter), [0, 20])
    ask_for_cuts(index_of(CutCounter(20, cuts=False)), [7])
    ask_for_cuts(index_of(Counter(20)), [7])
