"""Generated arguments that are indices, and counters of loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from tests.evaluation.constraints.generating import ADD, SEEDS, argument, made, module_of


@pytest.mark.parametrize("seed", SEEDS)
def test_starts_of_slices_lie_inside(seed: int) -> None:
    body = """
      x = f32[5,3] parameter(0)
      i = s32[] parameter(1)
      j = s32[] parameter(2)
      ROOT y = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}"""
    values = made(module_of(body), seed).values
    assert 0 <= values[1] <= 3
    assert values[2] == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_shared_starts_lie_inside_for_every_use(seed: int) -> None:
    body = """
      x = f32[9] parameter(0)
      i = u8[1] parameter(1)
      s = u8[] reshape(i)
      j = s32[] convert(s)
      a = f32[8] dynamic-slice(x, s), dynamic_slice_sizes={8}
      u = f32[2] slice(x), slice={[0:2]}
      ROOT y = f32[9] dynamic-update-slice(x, u, j)"""
    assert made(module_of(body), seed).values[1][0] in {0, 1}


def test_vectors_of_starts_have_bounds_of_their_own() -> None:
    body = """
      x = f32[100,3] parameter(0)
      i = s32[2] parameter(1)
      ROOT y = f32[1,3] dynamic-slice(x, i), dynamic_slice_sizes={1,3}"""
    firsts = {int(argument(body, number=1, seed=seed)[0]) for seed in SEEDS}
    assert max(firsts) > 8
    assert all(0 <= first < 100 for first in firsts)
    assert argument(body, number=1)[1] == 0


GATHER = """
  x = f32[40,3] parameter(0)
  i = s32[{sizes}] parameter(1)
  {prepared}
  ROOT y = f32[30] gather(x, v), offset_dims={{}}, collapsed_slice_dims={{0,1}},
    start_index_map={{0,1}}, index_vector_dim={dimension}, slice_sizes={{1,1}}{rest}"""


def gather_indices(
    sizes: str = "30,2", prepared: str = "v = s32[30,2] copy(i)", dimension: int = 1, rest: str = ""
) -> Any:
    return argument(
        GATHER.format(sizes=sizes, prepared=prepared, dimension=dimension, rest=rest), number=1
    )


@pytest.mark.parametrize(
    ("sizes", "prepared", "dimension"),
    [
        ("30,2", "v = s32[30,2] copy(i)", 1),
        ("2,30", "v = s32[30,2] transpose(i), dimensions={1,0}", 1),
        ("2,30", "v = s32[2,30] copy(i)", 0),
        ("5,6,2", "v = s32[30,2] reshape(i)", 1),
        ("40,4", "v = s32[30,2] slice(i), slice={[0:30], [0:4:2]}", 1),
        ("2", "v = s32[30,2] broadcast(i), dimensions={1}", 1),
        ("30,2", "w = s32[30,2] reverse(i), dimensions={0}\n v = s32[30,2] copy(w)", 1),
    ],
)
def test_index_vectors_have_bounds_for_each_place(
    sizes: str, prepared: str, dimension: int
) -> None:
    found = gather_indices(sizes, prepared, dimension)
    axis = 0 if sizes.startswith("2") else -1
    firsts, seconds = np.take(found, 0, axis), np.take(found, 2 if sizes == "40,4" else 1, axis)
    assert firsts.min() >= 0
    assert firsts.max() < 40
    assert firsts.size == 1 or firsts.max() > 8
    assert set(seconds.flat[:30]) <= {0, 1, 2}


def test_index_vectors_of_two_arrays_have_bounds_for_each() -> None:
    prepared = "j = s32[30,1] parameter(2)\n v = s32[30,2] concatenate(i, j), dimensions={1}"
    text = GATHER.format(sizes="30,1", prepared=prepared, dimension=1, rest="")
    found = made(module_of(text)).values
    assert 8 < found[1].max() < 40
    assert set(found[2].flat) == {0, 1, 2}


def test_sorted_indices_are_sorted() -> None:
    found = gather_indices(rest=", indices_are_sorted=true")
    order = found[:, 0] * 3 + found[:, 1]
    assert (np.diff(order) >= 0).all()
    assert order.max() > order.min()


def test_indices_that_count_from_the_end_stay_plain_indices() -> None:
    prepared = """
      zero = s32[] constant(0)
      zeros = s32[30,2] broadcast(zero), dimensions={}
      n = s32[2] constant({40, 3})
      ns = s32[30,2] broadcast(n), dimensions={1}
      below = pred[30,2] compare(i, zeros), direction=LT
      from_end = s32[30,2] add(i, ns)
      v = s32[30,2] select(below, from_end, i)"""
    found = gather_indices(prepared=prepared)
    assert found.min() >= 0
    assert found[:, 1].max() < 3


SCATTER = """
  x = f32[{size}] parameter(0)
  i = s32[6] parameter(1)
  v = s32[6,1] reshape(i)
  u = f32[6,{window}] parameter(2)
  ROOT y = f32[{size}] scatter(x, v, u), update_window_dims={{1}}, inserted_window_dims={{}},
    scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, indices_are_sorted={sorted},
    unique_indices=true, to_apply=add"""


@pytest.mark.parametrize(("size", "window"), [(6, 1), (20, 3), (10**7, 5)])
def test_unique_windows_do_not_overlap(size: int, window: int) -> None:
    for is_sorted in ("true", "false"):
        body = SCATTER.format(size=size, window=window, sorted=is_sorted)
        found = argument(body, ADD, number=1)
        ordered = np.sort(found)
        assert (np.diff(ordered) >= window).all()
        assert ordered[0] >= 0
        assert ordered[-1] <= size - window
        if is_sorted == "true":
            assert (found == ordered).all()


def test_orders_of_two_uses_are_joined() -> None:
    body = SCATTER.format(size=30, window=3, sorted="false").replace("ROOT ", "")
    gather = """
      g = f32[6,1] gather(x, v), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1}, indices_are_sorted=true
      ROOT r = (f32[30], f32[6,1]) tuple(y, g)"""
    found = argument(body + gather, ADD, number=1)
    assert (np.diff(found) >= 3).all()
    assert found[-1] <= 27


def test_windows_that_must_overlap_are_noted() -> None:
    found = made(module_of(SCATTER.format(size=5, window=1, sorted="false"), ADD))
    assert found.notes == (
        "parameter i: y wants different indices: there are 5 different index vectors, not 6",
    )
    assert set(found.values[1]) <= set(range(5))


def test_batches_have_different_indices_each() -> None:
    body = """
      x = f32[2,4] parameter(0)
      i = s32[2,4,1] parameter(1)
      u = f32[2,4] parameter(2)
      ROOT y = f32[2,4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1},
        scatter_dims_to_operand_dims={1}, input_batching_dims={0},
        scatter_indices_batching_dims={0}, index_vector_dim=2, unique_indices=true, to_apply=add"""
    found = argument(body, ADD, number=1)
    assert [sorted(row) for row in found[..., 0].tolist()] == [[0, 1, 2, 3]] * 2


def test_branch_numbers_name_branches() -> None:
    branches = [f"b{n} {{ ROOT p = f32[] parameter(0) }}" for n in range(3)]
    body = """
      i = s32[] parameter(0)
      x = f32[] parameter(1)
      ROOT y = f32[] conditional(i, x, x, x), branch_computations={b0, b1, b2}"""
    found = {int(argument(body, *branches, seed=seed)) for seed in range(20)}
    assert found == {0, 1, 2}


LOOP = """
  condition {{ s = ({t}[], {t}[]) parameter(0)
    i = {t}[] get-tuple-element(s), index=0
    n = {t}[] get-tuple-element(s), index=1
    ROOT c = pred[] compare({compared}), direction={direction} }}
  body {{ s = ({t}[], {t}[]) parameter(0)
    i = {t}[] get-tuple-element(s), index=0
    n = {t}[] get-tuple-element(s), index=1
    one = {t}[] constant(1)
    j = {t}[] {step}(i, one)
    ROOT r = ({t}[], {t}[]) tuple(j, n) }}"""
COUNTERS = """
  i = {t}[] parameter(0)
  n = {t}[] parameter(1)
  s = ({t}[], {t}[]) tuple(i, n)
  ROOT w = ({t}[], {t}[]) while(s), condition=condition, body=body"""


@pytest.mark.parametrize("element_type", ["s32", "u32", "s64", "f32"])
@pytest.mark.parametrize(
    ("compared", "direction", "step"),
    [
        ("i, n", "LT", "add"),
        ("n, i", "GE", "add"),
        ("i, n", "NE", "add"),
        ("i, n", "GT", "subtract"),
        ("n, i", "LT", "subtract"),
    ],
)
def test_loops_end_soon(element_type: str, compared: str, direction: str, step: str) -> None:
    if element_type == "f32" and direction == "NE":
        direction = "LE"
    loop = LOOP.format(t=element_type, compared=compared, direction=direction, step=step)
    module = module_of(COUNTERS.format(t=element_type), loop)
    for large_range in (False, True):
        for seed in SEEDS:
            found = made(module, seed, large_range=large_range)
            evaluate_module(module, found.values, LoneDevice(most_iterations=20))


@pytest.mark.parametrize(
    ("limit", "direction", "step"),
    [("1000000", "LT", "add"), ("1000000", "NE", "add"), ("0", "GT", "subtract"),
     ("0", "NE", "subtract")],
)  # fmt: skip
def test_counters_begin_near_a_constant_limit(limit: str, direction: str, step: str) -> None:
    computations = f"""
      condition {{ i = s32[] parameter(0)
        n = s32[] constant({limit})
        ROOT c = pred[] fusion(i, n), kind=kLoop, calls=compared }}
      body {{ i = s32[] parameter(0)
        one = s32[] constant(1)
        ROOT j = s32[] {step}(i, one) }}"""
    compared = f"""
      compared {{ i = s32[] parameter(0)
        z = s32[] constant({limit})
        n = s32[] parameter(1)
        a = pred[] compare(i, z), direction={direction}
        b = pred[] compare(n, n), direction=EQ
        ROOT c = pred[] and(a, b) }}"""
    body = "i = s32[] parameter(0)\nROOT w = s32[] while(i), condition=condition, body=body"
    module = module_of(body, compared, computations)
    for seed in SEEDS:
        evaluate_module(module, made(module, seed).values, LoneDevice(most_iterations=10))


TAKEN = "\nROOT y = f32[2] dynamic-slice(x, j), dynamic_slice_sizes={2}"
PASSED = [
    'j = s32[] custom-call(i), custom_call_target="Sharding"',
    'j = s32[] custom-call(i), custom_call_target="LayoutConstraint"',
    'j = s32[] custom-call(i), custom_call_target="SPMDFullToShardShape"',
    'j = s32[] custom-call(i), custom_call_target="xla.sdy.FuncResultSharding"',
    (
        'c = (s32[], s32[]) custom-call(k, i), custom_call_target="xla.sdy.Barrier"\n'
        "j = s32[] get-tuple-element(c), index=1"
    ),
    "a = token[] after-all()\nj = s32[] add-dependency(i, a)",
    "s = (s32[], s32[], u32[]) copy-start(i)\nj = s32[] copy-done(s)",
    (
        "s = (s32[], s32[]) collective-permute-start(i), source_target_pairs={{0,0}}\n"
        "j = s32[] collective-permute-done(s)"
    ),
    (
        "r = s32[1] reshape(i)\ns = (s32[1], s32[1]) all-gather-start(r), dimensions={0}\n"
        "d = s32[1] all-gather-done(s)\nj = s32[] reshape(d)"
    ),
    (
        "r = s32[1] reshape(i)\nq = s32[1] reshape(k)\n"
        "s = ((s32[1], s32[1]), (s32[1], s32[1])) all-gather-start(q, r), dimensions={0}\n"
        "d = (s32[1], s32[1]) all-gather-done(s)\n"
        "e = s32[1] get-tuple-element(d), index=1\nj = s32[] reshape(e)"
    ),
    (
        "p = (s32[], s32[]) collective-permute(k, i), source_target_pairs={{0,0}}\n"
        "j = s32[] get-tuple-element(p), index=1"
    ),
    "j = s32[] collective-broadcast(i), replica_groups={{0}}",
]


@pytest.mark.parametrize("steps", PASSED)
def test_indices_are_followed_through_ops_that_pass_them_on(steps: str) -> None:
    body = "x = f32[5] parameter(0)\ni = s32[] parameter(1)\nk = s32[] parameter(2)\n"
    found = [argument(body + steps + TAKEN, number=1, seed=seed) for seed in range(12)]
    assert all(0 <= index <= 3 for index in found)
