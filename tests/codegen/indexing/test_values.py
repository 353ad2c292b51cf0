"""Code for indices and for the numbers of places, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from hlotool.codegen.indexing.index import Bounded, Counter, Index, Known, index_of
from hlotool.codegen.indexing.index_values import in_range, lane_values
from hlotool.codegen.indexing.places import decoded, divided, quotient, remainder
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from tests.codegen.compiling import Array, Compiled, module_text

EXTENT = 48


def computed(write: Callable[[FunctionWriter, Index], Value], lanes: int) -> Array:
    """Returns what code makes of the counter of a loop of `EXTENT` rounds, as 64-bit numbers."""
    writer = FunctionWriter("run", [Argument("ptr", "out")], linkage="")
    with writer.loop(writer.integer(0), writer.integer(EXTENT), lanes) as loop:
        counter = index_of(Counter(EXTENT, loop.index, lanes, splits=False))
        found = writer.cast("zext", writer.splat(write(writer, counter), lanes), "i64")
        writer.store(found, writer.offset(writer.argument(0), loop.index, "i64"))
    result = np.empty(EXTENT, "i8")
    Compiled(module_text(writer)).call("run", result)
    return result


@pytest.mark.parametrize("lanes", [1, 4, 16])
@pytest.mark.parametrize(
    "formula",
    [
        lambda i: i * 3 + 5,
        lambda i: (i * 7 + 3) // 5,
        lambda i: (i * 7 + 3) % 5 * 2 + i // 6,
        lambda i: (i + (1 << 33)) // 7,
        lambda i: (i // 4 % 3) * 100 + i % 4,
    ],
    ids=["even", "quotient", "mixed", "wide", "digits"],
)
def test_numbers_of_lanes(formula: Callable[[Index | Array], Index | Array], lanes: int) -> None:
    def write(writer: FunctionWriter, index: Index) -> Value:
        found = formula(index)
        assert isinstance(found, Index)
        return lane_values(writer, found, lanes)

    np.testing.assert_array_equal(computed(write, lanes), formula(np.arange(EXTENT)))


@pytest.mark.parametrize("lanes", [1, 8])
def test_what_is_in_range(lanes: int) -> None:
    def write(writer: FunctionWriter, index: Index) -> Value:
        found = in_range(writer, index - 5, 20, lanes)
        assert isinstance(found, Value)
        return found

    numbers = np.arange(EXTENT) - 5
    np.testing.assert_array_equal(computed(write, lanes), (numbers >= 0) & (numbers < 20))


def test_ranges_that_are_known() -> None:
    writer = FunctionWriter("none", [])
    index = index_of(Counter(8, Value("%i", "i64")))
    assert in_range(writer, index, 8, 1) is True
    assert in_range(writer, index + 8, 8, 1) is False
    assert in_range(writer, index_of(Bounded(index * 5, 3)), 4, 1) is True


def test_computed_values_are_as_they_are() -> None:
    def write(writer: FunctionWriter, index: Index) -> Value:
        value = writer.binary("xor", lane_values(writer, index, 4), writer.integer(1))
        return lane_values(writer, index_of(Known(value, EXTENT)) * 2, 4)

    np.testing.assert_array_equal(computed(write, 4), (np.arange(EXTENT) ^ 1) * 2)


@pytest.mark.parametrize("divisor", [1, 2, 7])
def test_parts_of_places(divisor: int) -> None:
    whole = computed(lambda w, i: quotient(w, lane_values(w, i, 4), divisor), 4)
    rest = computed(lambda w, i: remainder(w, lane_values(w, i, 4), divisor), 4)
    np.testing.assert_array_equal(whole, np.arange(EXTENT) // divisor)
    np.testing.assert_array_equal(rest, np.arange(EXTENT) % divisor)
    both = computed(lambda w, i: w.binary("add", *divided(w, lane_values(w, i, 1), divisor)), 1)
    np.testing.assert_array_equal(both, whole + rest)


@pytest.mark.parametrize("extents", [(48,), (4, 12), (2, 1, 3, 8)])
def test_places_decoded(extents: tuple[int, ...]) -> None:
    def digit(number: int, writer: FunctionWriter, index: Index) -> Value:
        return decoded(writer, lane_values(writer, index, 1), extents)[number]

    for number, wanted in enumerate(np.unravel_index(np.arange(EXTENT), extents)):
        np.testing.assert_array_equal(computed(partial(digit, number), 1), wanted)
    assert decoded(FunctionWriter("none", []), Value("%i", "i64"), ()) == []
