"""Values of what folds or selects the elements of windows."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from hlotool.ir.window import Window, WindowDimension, write_window
from tests.evaluating import entry, evaluated
from tests.ops.reducers import (
    ARGMAX,
    HORNER,
    HORNER_SLOW,
    INF,
    NAN,
    OPCODES,
    binary_reducer,
    listed,
)


def _windowed(reducer: str, array: Any, init: Any, window: Window) -> Any:
    sizes = tuple(d.output_size(n) for d, n in zip(window, array.shape, strict=True))
    text = entry(
        f"a = f32[{listed(array.shape)}] parameter(0)\ni = f32[] parameter(1)\n"
        f"ROOT r = f32[{listed(sizes)}] reduce-window(a, i),"
        f" window={write_window(window)}, to_apply={reducer.split(maxsplit=1)[0]}",
        reducer,
    )
    return evaluated(text, array.astype(np.float32), np.float32(init))


def test_window_by_hand() -> None:
    window = (WindowDimension(2, 2, 1, 2, 2),)
    found = _windowed(binary_reducer("add", "f32"), np.arange(1.0, 5), 100, window)
    np.testing.assert_array_equal(found, [101, 102, 103, 104, 100])


def test_padding_contributes_nothing_to_a_maximum() -> None:
    found = _windowed(
        binary_reducer("maximum", "f32"),
        np.array([-5, -7], np.float32),
        -INF,
        (WindowDimension(2, 1, 2, 1),),
    )
    np.testing.assert_array_equal(found, [-INF, -5, -5, -7])


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(3, 0, [1, 3, 6, 10]), (0, 3, [10, 9, 7, 4]), (3, 3, [1, 3, 6, 10, 9, 7, 4])],
)
def test_cumulative_sum(low: int, high: int, wanted: list[float]) -> None:
    window = (WindowDimension(4, 1, low, high),)
    found = _windowed(binary_reducer("add", "f32"), np.arange(1.0, 5), 0, window)
    np.testing.assert_array_equal(found, wanted)


def test_cumulative_maximum_keeps_nan() -> None:
    array = np.array([1, 3, NAN, 2], np.float32)
    window = (WindowDimension(4, 1, 3, 0),)
    found = _windowed(binary_reducer("maximum", "f32"), array, -INF, window)
    np.testing.assert_array_equal(found, [1, 3, NAN, NAN])


@pytest.mark.parametrize("reducer", [HORNER, HORNER_SLOW])
def test_elements_of_a_window_come_in_row_major_order(reducer: str) -> None:
    window = (WindowDimension(2), WindowDimension(2))
    found = _windowed(reducer, np.array([[1, 2, 3], [4, 5, 6]], np.float32), 1, window)
    np.testing.assert_array_equal(found, [[16 + 8 + 8 + 8 + 5, 16 + 16 + 12 + 10 + 6]])


def test_reducer_that_yields_the_last_element_of_a_window() -> None:
    last = "last { a = f32[] parameter(0)\n ROOT b = f32[] parameter(1) }"
    found = _windowed(last, np.array([1, 2, 3]), 9, (WindowDimension(2, 1, 2, 1),))
    np.testing.assert_array_equal(found, [9, 1, 2, 3, 3])


def test_window_of_no_dimensions() -> None:
    found = _windowed(binary_reducer("add", "f32"), np.asarray(3.0), 4, ())
    assert found == 7
    assert _windowed(HORNER, np.asarray(3.0), 4, ()) == 11


def test_variadic_window_finds_the_place_of_the_greatest() -> None:
    text = entry(
        "a = f32[5] parameter(0)\nn = s32[5] iota(), iota_dimension=0\n"
        "low = f32[] constant(-inf)\nz = s32[] constant(0)\n"
        "ROOT r = (f32[3], s32[3]) reduce-window(a, n, low, z),"
        " window={size=3}, to_apply=argmax",
        ARGMAX,
    )
    value, index = evaluated(text, np.array([4, 1, 4, NAN, 9], np.float32))
    np.testing.assert_array_equal(value, np.array([4, NAN, NAN], np.float32))
    np.testing.assert_array_equal(index, [0, 3, 3])


def _select_and_scatter(
    direction: str, array: Any, source: Any, window: Window, scatter: str = "add"
) -> Any:
    text = entry(
        f"a = f32[{listed(array.shape)}] parameter(0)\n"
        f"s = f32[{listed(source.shape)}] parameter(1)\ni = f32[] constant(100)\n"
        f"ROOT r = f32[{listed(array.shape)}] select-and-scatter(a, s, i),"
        f" window={write_window(window)}, select=keep, scatter=f",
        "keep { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        f" ROOT r = pred[] compare(a, b), direction={direction} }}",
        binary_reducer(scatter, "f32"),
    )
    return evaluated(text, array.astype(np.float32), source.astype(np.float32))


@pytest.mark.parametrize(
    ("direction", "array", "wanted"),
    [
        ("GE", [1, 1, NAN, 4], [101, 100, 100, 102]),
        ("GT", [1, 1, 4, NAN], [100, 101, 100, 102]),
        ("LE", [1, 0, -0.0, 0.0], [100, 101, 102, 100]),
        ("NE", [NAN, 1, 2, 2], [101, 100, 100, 102]),
    ],
)
def test_selection_by_hand(direction: str, array: list[float], wanted: list[float]) -> None:
    window = (WindowDimension(2, 2),)
    found = _select_and_scatter(direction, np.asarray(array), np.asarray([1, 2]), window)
    np.testing.assert_array_equal(found, wanted)


def test_overlapping_windows_scatter_to_one_place() -> None:
    window = (WindowDimension(3, 1),)
    array = np.asarray([1, 2, 9, 3, 4])
    found = _select_and_scatter("GE", array, np.asarray([1, 2, 3]), window)
    np.testing.assert_array_equal(found, [100, 100, 106, 100, 100])


def test_scatter_takes_the_source_first() -> None:
    window = (WindowDimension(3, 1),)
    array = np.asarray([1, 2, 9, 3, 4])
    found = _select_and_scatter("GE", array, np.asarray([1, 2, 3]), window, "subtract")
    # 3 - (2 - (1 - 100)).
    np.testing.assert_array_equal(found, [100, 100, 3 - (2 - (1 - 100)), 100, 100])


def test_padding_is_never_selected() -> None:
    window = (WindowDimension(2, 2, 1, 1),)
    found = _select_and_scatter("LE", np.asarray([5.0, 6]), np.asarray([1, 2]), window)
    np.testing.assert_array_equal(found, [101, 102])


def test_source_for_other_windows_than_the_live_ones_is_an_error() -> None:
    text = entry(
        "a = f32[<=4] parameter(0)\ns = f32[<=4] parameter(1)\ni = f32[] constant(0)\n"
        "ROOT r = f32[<=4] select-and-scatter(a, s, i), window={size=1}, select=keep, scatter=f",
        "keep { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " ROOT r = pred[] compare(a, b), direction=GE }",
        binary_reducer("add", "f32"),
    )
    with pytest.raises(EvaluationError, match="one for each place of the window"):
        evaluated(text, np.ones(3, np.float32), np.ones(2, np.float32))


@pytest.mark.parametrize(("parameter", "wanted"), [(0, [7, 3]), (1, [100, 100])])
def test_scatter_that_yields_a_parameter(parameter: int, wanted: list[float]) -> None:
    names = ["a = f32[] parameter(0)", "b = f32[] parameter(1)"]
    names[parameter] = f"ROOT {names[parameter]}"
    text = entry(
        "a = f32[2] parameter(0)\ns = f32[3] parameter(1)\ni = f32[] constant(100)\n"
        "ROOT r = f32[2] select-and-scatter(a, s, i),"
        " window={size=2 pad=1_1}, select=keep, scatter=one",
        "keep { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " ROOT r = pred[] compare(a, b), direction=GE }",
        "one { " + "\n".join(names) + " }",
    )
    arrays = np.array([1, 2], np.float32), np.array([7, 8, 3], np.float32)
    found = evaluated(text, *arrays)
    np.testing.assert_array_equal(found, wanted)


def test_windows_of_padding_alone_scatter_nothing() -> None:
    window = (WindowDimension(1, 1, 2, 0),)
    found = _select_and_scatter("GE", np.asarray([5.0, 6]), np.asarray([1, 2, 3, 4]), window)
    np.testing.assert_array_equal(found, [103, 104])


_DIMENSIONS = st.builds(
    WindowDimension,
    size=st.integers(1, 4),
    stride=st.integers(1, 3),
    padding_low=st.integers(-2, 4),
    padding_high=st.integers(-2, 4),
    base_dilation=st.integers(1, 3),
    window_dilation=st.integers(1, 3),
)


def _shown(window: Window, place: tuple[int, ...], sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Returns the index of each element that a window shows at a place, in row-major order."""
    found = []
    for part in product(*(range(d.size) for d in window)):
        at = [
            p * d.stride + k * d.window_dilation - d.padding_low
            for p, k, d in zip(place, part, window, strict=True)
        ]
        index = [divmod(a, d.base_dilation) for a, d in zip(at, window, strict=True)]
        if all(r == 0 and 0 <= i < n for (i, r), n in zip(index, sizes, strict=True)):
            found.append(tuple(i for i, _ in index))
    return found


@st.composite
def _array_and_window(draw: st.DrawFn) -> tuple[Any, Window]:
    window = tuple(draw(st.lists(_DIMENSIONS, min_size=1, max_size=2)))
    sizes = tuple(draw(st.integers(0, 5)) for _ in window)
    numbers = st.integers(-3, 3)
    count = int(np.prod(sizes, dtype=int))
    array = np.asarray(draw(st.lists(numbers, min_size=count, max_size=count)), np.float32)
    return array.reshape(sizes), window


@given(_array_and_window(), st.sampled_from(sorted(OPCODES)))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_reduce_window_is_a_loop_over_windows(
    array_and_window: tuple[Any, Window], opcode: str
) -> None:
    array, window = array_and_window
    found = _windowed(binary_reducer(opcode, "f32"), array, 2, window)
    for place in np.ndindex(found.shape):
        wanted = 2.0
        for index in _shown(window, place, array.shape):
            wanted = OPCODES[opcode](wanted, float(array[index]))
        assert found[place] == wanted


@given(_array_and_window(), st.sampled_from(["GE", "GT", "LE", "LT", "EQ"]))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_select_and_scatter_is_a_loop_over_windows(
    array_and_window: tuple[Any, Window], direction: str
) -> None:
    array, window = array_and_window
    keeps = getattr(np.float32, f"__{direction.lower()}__")
    places = tuple(d.output_size(n) for d, n in zip(window, array.shape, strict=True))
    source = np.arange(1, 1 + int(np.prod(places)), dtype=np.float32).reshape(places)
    wanted = np.full(array.shape, 100, np.float32)
    for place in np.ndindex(*places):
        chosen: tuple[int, ...] | None = None
        for index in _shown(window, place, array.shape):
            if chosen is None or not keeps(array[chosen], array[index]):
                chosen = index
        if chosen is not None:
            wanted[chosen] += source[place]
    found = _select_and_scatter(direction, array, source, window)
    np.testing.assert_array_equal(found, wanted)
