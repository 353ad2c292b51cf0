"""Global arrays cut into the arguments of devices, and put together from their results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.evaluation.sharded import assembled, sharded_arguments
from hlotool.ir.module import Module
from hlotool.ir.sharding import Sharding
from hlotool.text.parser import parse


def one_parameter(shape: str, sharding: str) -> Module:
    return parse(
        f"HloModule m\nENTRY e {{ ROOT p = {shape} parameter(0), sharding={{{sharding}}} }}"
    )


def sharding_of(text: str) -> Sharding:
    found = one_parameter("f32[]", text).entry.root.annotations.sharding
    assert found is not None
    return found


def cut(shape: str, sharding: str, value: Any, partitions: int, replicas: int = 1) -> list[Any]:
    lists = sharded_arguments(one_parameter(shape, sharding), [value], partitions, replicas)
    return [argument for (argument,) in lists]


def test_a_partitioned_module_gives_what_the_whole_one_gives(root: Path) -> None:
    models = root / "testdata" / "models" / "jax"
    module = parse((models / "spmd_matmul.opt.hlo").read_text(encoding="utf-8"))
    with np.load(models / "spmd_matmul.npz") as arrays:
        given_arrays, wanted = [arrays["in0"], arrays["in1"]], arrays["out0"]
    found = evaluate_on_devices(module, sharded_arguments(module, given_arrays, 8), 1, 8)
    whole = assembled(
        found, sharding_of("devices=[2,1,4]<=[8] last_tile_dim_replicate"), wanted.shape
    )
    np.testing.assert_allclose(whole, wanted, rtol=2e-6, atol=2e-7)


def test_tiles_go_to_their_devices() -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    found = cut("f32[2,3]", "devices=[2,2]3,1,0,2", x, 4)
    np.testing.assert_array_equal(found[3], x[:2, :3])
    np.testing.assert_array_equal(found[1], x[:2, 3:])
    np.testing.assert_array_equal(found[0], x[2:, :3])
    np.testing.assert_array_equal(found[2], x[2:, 3:])


def test_each_replica_has_all_tiles() -> None:
    x = np.arange(4, dtype=np.float32)
    found = cut("f32[2]", "devices=[2]<=[2]", x, 2, 3)
    assert [part.tolist() for part in found] == [[0, 1], [2, 3]] * 3


def test_a_last_tile_is_padded_and_the_padding_dropped() -> None:
    x = np.arange(5, dtype=np.float32)
    found = cut("f32[2]", "devices=[4]<=[4]", x, 4)
    assert [part.tolist() for part in found] == [[0, 1], [2, 3], [4, 0], [0, 0]]
    whole = assembled(found, sharding_of("devices=[4]<=[4]"), (5,))
    np.testing.assert_array_equal(whole, x)


def test_a_value_that_fits_goes_to_all() -> None:
    x = np.ones(2, np.float32)
    found = cut("f32[2]", "devices=[2]<=[2]", x, 2)
    assert all(part is x for part in found)
    assert cut("token[]", "replicated", None, 2) == [None, None]


def test_the_parts_of_a_tuple_have_shardings_of_their_own() -> None:
    module = parse(
        """HloModule m
        ENTRY e { ROOT p = (f32[2], (f32[4], f32[1])) parameter(0),
          sharding={{devices=[2]<=[2]}, {replicated}, {devices=[2]1,0}} }"""
    )
    x, y, z = (np.arange(n, dtype=np.float32) for n in (4, 4, 2))
    (first,), (second,) = sharded_arguments(module, [(x, (y, z))], 2)
    assert (first[0].tolist(), second[0].tolist()) == ([0, 1], [2, 3])
    assert first[1][0] is y
    assert second[1][0] is y
    assert (first[1][1].tolist(), second[1][1].tolist()) == ([1], [0])


def test_what_is_maximal_is_on_one_device() -> None:
    x = np.arange(2, dtype=np.float32)
    parts = [np.zeros(2, np.float32), x]
    np.testing.assert_array_equal(assembled(parts, sharding_of("maximal device=1"), (2,)), x)


@pytest.mark.parametrize(
    ("shape", "sharding", "words"),
    [
        ("f32[3]", "devices=[2]<=[2]", r"argument 0 is float32\[4\], parameter p is f32\[3\] cut"),
        ("f32[2]", "replicated", "parameter p is f32"),
        ("f32[2]", "devices=[2,2]<=[4]", "the array has 1"),
        ("f32[2,2]", "devices=[2]<=[2]", "parameter p is f32"),
        ("f32[2]", "devices=[2]<=[2]", "has no tile for device 2"),
    ],
)
def test_values_that_no_sharding_cuts_so(shape: str, sharding: str, words: str) -> None:
    with pytest.raises(EvaluationError, match=words):
        cut(shape, sharding, np.zeros(4, np.float32), 3 if "no tile" in words else 2)


def test_as_many_arguments_as_parameters() -> None:
    with pytest.raises(EvaluationError, match="has 1 parameters, 2 arguments are given"):
        sharded_arguments(one_parameter("f32[]", "replicated"), [None, None], 1)
    module = one_parameter("(f32[2], f32[2])", "replicated")
    with pytest.raises(EvaluationError, match="argument 0 has 1 parts"):
        sharded_arguments(module, [(np.zeros(2, np.float32),)], 2)


def test_devices_that_share_a_tile_must_agree() -> None:
    replicated = sharding_of("devices=[1,2]<=[2] last_tile_dim_replicate")
    one, other = np.array([0.0], np.float32), np.array([-0.0], np.float32)
    np.testing.assert_array_equal(assembled([one, one], replicated, (1,)), one)
    with pytest.raises(EvaluationError, match="partitions 0 and 1 differ in the tile they share"):
        assembled([one, other], replicated, (1,))


def test_results_that_are_no_tiles() -> None:
    x = np.zeros(2, np.float32)
    with pytest.raises(EvaluationError, match=r"holds float32\[2\], its tile has dimensions \[4\]"):
        assembled([x, x], sharding_of("devices=[2]<=[2]"), (8,))
    with pytest.raises(EvaluationError, match="sharding of a tuple"):
        assembled([x, x], sharding_of("{replicated}, {replicated}"), (2,))
    with pytest.raises(EvaluationError, match="no partition holds a tile"):
        assembled([x, x], sharding_of("maximal device=7"), (2,))
    with pytest.raises(UnsupportedError, match="parts of a sum"):
        assembled([x, x], sharding_of("unreduced"), (2,))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.permutations(range(8)),
    st.sampled_from([(8, 1), (4, 2), (2, 4), (1, 8), (2, 2), (2, 1), (1, 1)]),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_cut_and_put_together_again(
    order: list[int], counts: tuple[int, int], sizes: tuple[int, int]
) -> None:
    copies = 8 // (counts[0] * counts[1])
    listed = f"devices=[{counts[0]},{counts[1]},{copies}]{','.join(map(str, order))}"
    sharding = listed + " last_tile_dim_replicate"
    x = np.arange(sizes[0] * sizes[1], dtype=np.float32).reshape(sizes)
    tile = [-(-size // count) for size, count in zip(sizes, counts, strict=True)]
    found = cut(f"f32[{tile[0]},{tile[1]}]", sharding, x, 8)
    if copies < 8 and tuple(tile) != sizes:
        # The device in place n of the list has row n // (columns * copies) of the tiles.
        for place, device in enumerate(order):
            row, column = place // copies // counts[1], place // copies % counts[1]
            for i in range(tile[0]):
                for j in range(tile[1]):
                    y, z = row * tile[0] + i, column * tile[1] + j
                    inside = y < sizes[0] and z < sizes[1]
                    assert found[device][i, j] == (x[y, z] if inside else 0)
        np.testing.assert_array_equal(assembled(found, sharding_of(sharding), sizes), x)
