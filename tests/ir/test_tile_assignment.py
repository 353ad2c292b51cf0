"""Arrays of devices: short forms, transposing, sorting."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.ir.tile_assignment import MOST_LISTED, Iota, TileAssignment
from tests.strategies import iotas, tile_assignments


@pytest.mark.parametrize(
    ("sizes", "permutation", "text"),
    [
        ((8,), (0,), "[8]"),
        ((2, 2), (0, 1), "[4]"),
        ((2, 2), (1, 0), "[2,2]T(1,0)"),
        ((1, 4), (1, 0), "[4]"),
        ((1, 1), (1, 0), "[1]"),
        ((2, 1, 2), (2, 1, 0), "[2,2]T(1,0)"),
        ((2, 2, 1), (1, 2, 0), "[2,2]T(1,0)"),
        ((2, 2, 2), (1, 2, 0), "[2,4]T(1,0)"),
        ((2, 2, 2), (2, 0, 1), "[4,2]T(1,0)"),
        ((2, 2, 2), (2, 1, 0), "[2,2,2]T(2,1,0)"),
        ((2, 3, 5, 7), (2, 3, 0, 1), "[6,35]T(1,0)"),
    ],
)
def test_iota_takes_its_shortest_form(
    sizes: tuple[int, ...], permutation: tuple[int, ...], text: str
) -> None:
    assert Iota.of(sizes, permutation).text == text


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_short_form_keeps_the_numbers(sizes: list[int], random: Random) -> None:
    permutation = random.sample(range(len(sizes)), len(sizes))
    wanted = np.arange(np.prod(sizes)).reshape(sizes).transpose(permutation).ravel()
    assert Iota.of(sizes, permutation).numbers() == tuple(wanted)


@pytest.mark.parametrize(
    ("sizes", "permutation", "message"),
    [
        ((2, 2), (0, 0), r"T\(0,0\) does not permute \[2,2\]"),
        ((2, 2), (0,), r"T\(0\) does not permute \[2,2\]"),
        ((2, 2), (1, 2), r"T\(1,2\) does not permute \[2,2\]"),
        ((2, -2), (0, 1), r"\[2,-2\] has a negative size"),
    ],
)
def test_iota_refuses_what_is_no_array(
    sizes: tuple[int, ...], permutation: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Iota.of(sizes, permutation)


def test_devices_beyond_any_machine_stay_counted_up() -> None:
    many = TileAssignment.of((1 << 20, 1 << 20), Iota.of((1 << 40,)))
    assert many.text == "[1048576,1048576]<=[1099511627776]"
    assert many.devices.count > MOST_LISTED if isinstance(many.devices, Iota) else False
    with pytest.raises(ValueError, match="1099511627776 devices are too many to list"):
        many.numbers()


@pytest.mark.parametrize(
    ("dimensions", "devices", "message"),
    [
        ((2, 2), (0, 1, 2), r"\[2,2\] needs 4 devices, 3 given"),
        ((2, 2), Iota.of((5,)), r"\[2,2\] needs 4 devices, 5 given"),
        ((-2, 2), Iota.of((4,)), r"\[-2,2\] has a negative size"),
    ],
)
def test_devices_fit_the_dimensions(
    dimensions: tuple[int, ...], devices: Iota | tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        TileAssignment.of(dimensions, devices)


def test_text_shows_listed_and_counted_devices() -> None:
    assert TileAssignment.of((2, 1), (1, 0)).text == "[2,1]1,0"
    assert TileAssignment.of((2, 2), Iota.of((2, 2), (1, 0))).text == "[2,2]<=[2,2]T(1,0)"


@given(tile_assignments(), st.data())
def test_transposed_moves_devices_as_numpy_does(tiles: TileAssignment, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(tiles.dimensions))))
    wanted = np.array(tiles.numbers()).reshape(tiles.dimensions).transpose(order)
    moved = tiles.transposed(order)
    assert moved.dimensions == wanted.shape
    assert moved.numbers() == tuple(wanted.ravel())


@given(tile_assignments(), st.data())
def test_sorted_runs_are_sorted(tiles: TileAssignment, data: st.DataObject) -> None:
    count = len(tiles.numbers())
    run = data.draw(st.sampled_from([n for n in range(1, count + 1) if count % n == 0]))
    wanted = np.sort(np.array(tiles.numbers()).reshape(-1, run), axis=1)
    assert tiles.with_sorted_runs(run).numbers() == tuple(wanted.ravel())


@given(st.integers(1, 24).flatmap(iotas))
def test_counted_devices_stay_counted_where_dimensions_can_be_cut(iota: Iota) -> None:
    # Each dimension of the array is one of the iota's own.
    sizes = [iota.sizes[d] for d in iota.permutation]
    tiles = TileAssignment.of(sizes, iota)
    assert isinstance(tiles.transposed(range(len(sizes))[::-1]).devices, Iota)


def test_dimensions_that_cannot_be_cut_are_listed() -> None:
    tiles = TileAssignment.of((2, 3), Iota.of((2, 3), (1, 0)))
    assert tiles.transposed([1, 0]).text == "[3,2]0,4,3,2,1,5"
    assert tiles.with_sorted_runs(3).text == "[2,3]0,1,3,2,4,5"
