"""Which part of an array each device has."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.mesh import AxisReference, DimensionAxes, Mesh, MeshSharding
from hlotool.ir.sharding import ArraySharding, NamedSharding
from hlotool.ir.tile_assignment import Iota, TileAssignment
from hlotool.ops.numerics.tiles import cut_tile, tile_counts, tile_of, whole_of


def tiled(dimensions: list[int], devices: list[int], *subgroups: str) -> ArraySharding:
    tiles = TileAssignment.of(dimensions, tuple(devices))
    return ArraySharding(tiles=tiles, subgroups=subgroups)


def test_tiles_follow_the_order_of_devices() -> None:
    sharding = tiled([2, 2], [0, 2, 1, 3])
    assert tile_of([4, 6], sharding, 0) == (slice(0, 2), slice(0, 3))
    assert tile_of([4, 6], sharding, 2) == (slice(0, 2), slice(3, 6))
    assert tile_of([4, 6], sharding, 1) == (slice(2, 4), slice(0, 3))


def test_uneven_tiles_reach_over_the_end() -> None:
    sharding = ArraySharding(tiles=TileAssignment.of([4], Iota.of([4])))
    x = np.arange(5)
    tiles = [tile_of([5], sharding, device) for device in range(4)]
    parts = [cut_tile(x, tile) for tile in tiles]
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3], [4, 0], [0, 0]]
    assert whole_of([5], list(zip(tiles, parts, strict=True))).tolist() == x.tolist()


@pytest.mark.parametrize("word", ["replicated", "manual", "unknown"])
def test_words_leave_the_array_whole(word: str) -> None:
    assert tile_of([3, 2], ArraySharding(word), 5) == (slice(0, 3), slice(0, 2))
    assert tile_counts(2, ArraySharding(word)) == (1, 1)


def test_subgroups_hold_the_same_tile() -> None:
    sharding = tiled([2, 2], [0, 1, 2, 3], "replicated")
    assert [tile_of([4], sharding, device)[0].start for device in range(4)] == [0, 0, 2, 2]


def test_parts_of_a_sum_are_no_tiles() -> None:
    with pytest.raises(UnsupportedError, match="devices hold parts of a sum"):
        tile_of([4], tiled([2, 2], [0, 1, 2, 3], "unreduced"), 0)
    sharding = MeshSharding(Mesh.of([("a", 2)]), word="unreduced")
    with pytest.raises(UnsupportedError, match="devices hold parts of a sum"):
        tile_of([4], NamedSharding(sharding), 0)


def test_what_a_sharding_does_not_know_is_refused() -> None:
    with pytest.raises(EvaluationError, match="has no tile for device 7"):
        tile_of([4], tiled([2], [0, 1]), 7)
    with pytest.raises(EvaluationError, match="cuts 1 dimensions, the array has 2"):
        tile_of([4, 4], tiled([2], [0, 1]), 0)


def test_a_mesh_cuts_along_whole_axes_and_parts() -> None:
    mesh = Mesh.of([("a", 2), ("b", 4)])
    dimensions = (
        DimensionAxes((AxisReference("b", 2, 2),)),
        DimensionAxes((AxisReference("a"), AxisReference("b", 1, 2))),
    )
    sharding = NamedSharding(MeshSharding(mesh, dimensions))
    assert tile_counts(3, sharding) == (2, 4, 1)
    starts = []
    for device in range(8):
        tile = tile_of([2, 4, 9], sharding, device)
        starts.append((tile[0].start, tile[1].start))
        assert tile[2] == slice(0, 9)
    # Device number: a, then the two halves of b.
    wanted = [(low, 2 * a + high) for a, high, low in product(range(2), repeat=3)]
    assert starts == wanted


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(0, 7), min_size=1, max_size=3),
    counts=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    copies=st.integers(1, 2),
    seed=st.integers(0, 99),
)
def test_tiles_make_up_the_array(
    sizes: list[int], counts: list[int], copies: int, seed: int
) -> None:
    counts = counts[: len(sizes)]
    total = int(np.prod(counts)) * copies
    devices = np.random.default_rng(seed).permutation(total)
    sharding = tiled([*counts, copies], devices.tolist(), "replicated")
    x = np.random.default_rng(seed).integers(0, 99, sizes)
    tiles = [tile_of(sizes, sharding, device) for device in range(total)]
    parts = [cut_tile(x, tile) for tile in tiles]
    assert whole_of(sizes, list(zip(tiles, parts, strict=True))).tolist() == x.tolist()
    for index in np.ndindex(*sizes):
        # The device that has an element is found from the place of the element.
        place = tuple(
            n // -(-size // count) for n, size, count in zip(index, sizes, counts, strict=True)
        )
        holders = devices.reshape(*counts, copies)[place]
        for holder in holders:
            inside = tuple(n - part.start for n, part in zip(index, tiles[holder], strict=True))
            assert parts[holder][inside] == x[index]
