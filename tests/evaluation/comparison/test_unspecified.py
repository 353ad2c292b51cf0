"""Elements that HLO leaves open are found, followed, and not counted."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from hlotool.evaluation.comparison.compare import compare
from hlotool.evaluation.comparison.unspecified import unspecified_elements
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.text.parser import parse
from tests.evaluating import entry

UPPER = np.triu(np.ones((3, 3), bool), 1)
CHOLESKY = "p = f32[3,3] parameter(0)\nc = f32[3,3] cholesky(p), lower=true\n"


def mask(body: str, *called: str, expected: Any = None) -> Any:
    found = unspecified_elements(parse(entry(body, *called)), expected)
    if () not in found:
        return None
    flags = found[()].mask
    assert flags.dtype == bool
    return flags


def test_modules_without_open_elements_have_no_mask() -> None:
    assert mask("p = f32[3] parameter(0)\nROOT r = f32[3] negate(p)") is None


def test_the_other_triangle_of_cholesky_is_open() -> None:
    np.testing.assert_array_equal(mask(CHOLESKY + "ROOT r = f32[3,3] copy(c)"), UPPER)
    upper = CHOLESKY.replace("lower=true", "lower=false")
    np.testing.assert_array_equal(mask(upper + "ROOT r = f32[3,3] negate(c)"), UPPER.T)


@pytest.mark.parametrize(
    ("root", "wanted"),
    [
        ("f32[3,3] transpose(c), dimensions={1,0}", UPPER.T),
        ("f32[3,2] slice(c), slice={[0:3],[1:3]}", UPPER[:, 1:]),
        ("f32[3,3] reverse(c), dimensions={0}", UPPER[::-1]),
        ("f32[9] reshape(c)", UPPER.reshape(9)),
        ("f32[2,3,3] broadcast(c), dimensions={1,2}", np.broadcast_to(UPPER, (2, 3, 3))),
        ("f32[6,3] concatenate(p, c), dimensions={0}", np.concatenate([UPPER & False, UPPER])),
        ("f32[3,4] pad(c, s), padding=0_0x1_0", np.pad(UPPER, ((0, 0), (1, 0)))),
        ("f32[3,3] add(c, p)", UPPER),
        ("f32[3,3] add-dependency(c, t)", UPPER),
        ('f32[3,3] custom-call(c), custom_call_target="MoveToHost"', UPPER),
        ("f32[3,3] dot(c, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}", UPPER | True),
    ],
)
def test_masks_move_with_their_elements(root: str, wanted: Any) -> None:
    more = "s = f32[] constant(0)\nt = token[] after-all()\n"
    np.testing.assert_array_equal(mask(f"{CHOLESKY}{more}ROOT r = {root}"), wanted)


@pytest.mark.parametrize(
    "steps",
    [
        "s = (f32[3,3], f32[3,3], u32[]) copy-start(c)\nROOT r = f32[3,3] copy-done(s)",
        (
            "s = (f32[3,3], f32[3,3]) all-gather-start(c), dimensions={0}\n"
            "ROOT r = f32[3,3] get-tuple-element(s), index=0"
        ),
        (
            "s = ((f32[3,3]), f32[3,3], u32[]) async-start(c), calls=f\n"
            "u = ((f32[3,3]), f32[3,3], u32[]) async-update(s)\nROOT r = f32[3,3] async-done(u)"
        ),
    ],
)
def test_masks_go_through_starts_and_dones(steps: str) -> None:
    negated = "f { a = f32[3,3] parameter(0)\n ROOT b = f32[3,3] negate(a) }"
    np.testing.assert_array_equal(mask(CHOLESKY + steps, negated), UPPER)


def test_what_is_gathered_of_open_elements_is_open() -> None:
    steps = (
        "s = (f32[3,3], f32[3,3]) all-gather-start(c), dimensions={0}\n"
        "ROOT r = f32[3,3] all-gather-done(s)"
    )
    assert mask(CHOLESKY + steps).all()


LOOP = """
condition {{
  s = (s32[], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT r = pred[] compare(i, n), direction=LT
}}
body {{
  s = (s32[], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  {elements}
  ROOT t = (s32[], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2]) tuple(j, x1, x1, x2, x3, x4, x5)
}}"""
LOOPED = """
  p = f32[2] parameter(0)
  i = s32[] constant(0)
  {open}
  t = (s32[], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2]) tuple({first}, u, p, p, p, p, p)
  w = (s32[], f32[2], f32[2], f32[2], f32[2], f32[2], f32[2]) while(t), condition=condition,
    body=body
  ROOT r = f32[2] get-tuple-element(w), index={index}"""
ELEMENTS = "\n  ".join(f"x{n} = f32[2] get-tuple-element(s), index={n}" for n in range(1, 7))
OPEN = 'u = f32[2] custom-call(), custom_call_target="AllocateBuffer"'


@pytest.mark.parametrize("index", range(1, 7))
def test_a_loop_moves_open_elements_further_every_round(index: int) -> None:
    looped = LOOPED.format(open=OPEN, first="i", index=index)
    assert mask(looped, LOOP.format(elements=ELEMENTS)).all()
    assert mask(LOOPED.format(open=OPEN, first="i", index=0).replace(
        "f32[2] get", "s32[] get"), LOOP.format(elements=ELEMENTS)) is None  # fmt: skip


def test_a_loop_may_join_open_elements_with_others() -> None:
    joined = (
        "h = f32[1] slice(x0), slice={[1:2]}\n  g = f32[1] slice(x2), slice={[0:1]}\n"
        "  x1 = f32[2] concatenate(h, g), dimensions={0}"
    )
    elements = ELEMENTS.replace("x1 =", "x0 =") + "\n  " + joined
    half = OPEN.replace("u = f32[2]", "v = f32[1]") + (
        "\n  q = f32[1] slice(p), slice={[0:1]}\n  u = f32[2] concatenate(q, v), dimensions={0}"
    )
    found = mask(LOOPED.format(open=half, first="i", index=1), LOOP.format(elements=elements))
    assert found.tolist() == [True, True]


def test_a_loop_of_an_open_number_of_rounds_is_open() -> None:
    drawn = OPEN + '\n  k = s32[] custom-call(), custom_call_target="AllocateBuffer"'
    looped = LOOPED.format(open=drawn.replace("u = ", "v = "), first="k", index=6)
    found = mask(looped.replace("u, p", "p, p"), LOOP.format(elements=ELEMENTS))
    assert found.all()


def test_a_triangle_that_is_cut_out_is_not_open() -> None:
    body = CHOLESKY + (
        "i = s32[3,3] iota(), iota_dimension=0\nj = s32[3,3] iota(), iota_dimension=1\n"
        "k = pred[3,3] compare(i, j), direction=GE\nz = f32[] constant(0)\n"
        "b = f32[3,3] broadcast(z), dimensions={}\nROOT r = f32[3,3] select(k, c, b)"
    )
    assert mask(body) is None


def test_long_chains_of_constants_are_followed_once() -> None:
    lines = ["x0 = s32[] constant(0)"]
    lines += [f"x{n} = s32[] add(x{n - 1}, x{n - 1})" for n in range(1, 2000)]
    body = CHOLESKY + "\n".join(lines) + (
        "\nk = pred[] compare(x1999, x0), direction=NE\nROOT r = f32[3,3] select(k, c, p)"
    )  # fmt: skip
    assert mask(body) is None


def test_large_arrays_that_are_open_take_no_memory() -> None:
    tracemalloc.start()
    assert mask('ROOT r = f32[300000000] custom-call(), custom_call_target="AllocateBuffer"').all()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 24


def test_each_array_has_its_own_reasons() -> None:
    body = (
        f"{CHOLESKY}z = f32[] constant(0)\nd = f32[4] rng(z, z), distribution=rng_uniform\n"
        "ROOT r = (f32[3,3], f32[4]) tuple(c, d)"
    )
    found = unspecified_elements(parse(entry(body)))
    reasons = [found[index].reasons for index in ((0,), (1,))]
    assert [len(some) for some in reasons] == [1, 1]
    assert reasons[0][0].startswith("c: ")
    assert reasons[1][0].startswith("d: ")


def test_a_solver_does_not_look_at_the_other_triangle() -> None:
    solve = (
        "ROOT r = f32[3,3] triangular-solve(c, p), left_side=true, lower=true,"
        " transpose_a=NO_TRANSPOSE"
    )
    assert mask(CHOLESKY + solve) is None
    assert mask(CHOLESKY + solve.replace("lower=true", "lower=false")).all()


def test_fusions_calls_and_tuples_are_looked_into() -> None:
    called = f"f {{\n{CHOLESKY}ROOT t = (f32[3,3], f32[3,3]) tuple(c, p)\n}}"
    body = "p = f32[3,3] parameter(0)\nt = (f32[3,3], f32[3,3]) call(p), to_apply=f\n"
    taken = body + "ROOT g = f32[3,3] get-tuple-element(t), index={}"
    np.testing.assert_array_equal(mask(taken.format(0), called), UPPER)
    assert mask(taken.format(1), called) is None


@pytest.mark.parametrize(
    "body",
    [
        "a = f32[] constant(0)\nROOT r = f32[4] rng(a, a), distribution=rng_uniform",
        'ROOT r = f32[4] custom-call(), custom_call_target="AllocateBuffer"',
        "ROOT r = u64[2] rng-get-and-update-state(), delta=1",
    ],
)
def test_random_and_uninitialised_arrays_are_open(body: str) -> None:
    assert mask(body).all()


def test_specified_random_bits_are_counted() -> None:
    body = (
        "s = u64[2] parameter(0)\n"
        "ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry"
    )
    assert unspecified_elements(parse(entry(body))) == {}


COMPARATOR = """less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}"""
SORT = (
    "k = s32[5] parameter(0)\nv = s32[5] parameter(1)\n"
    "ROOT r = (s32[5], s32[5]) sort(k, v), dimensions={0}, to_apply=less"
)


def test_equal_keys_of_an_unstable_sort_may_be_exchanged() -> None:
    module = parse(entry(SORT, COMPARATOR))
    keys = np.array([1, 2, 2, 3, 4], np.int32)
    expected = (keys, np.array([0, 1, 2, 3, 4], np.int32))
    exchanged = (keys, np.array([0, 2, 1, 3, 4], np.int32))
    result = compare(module, exchanged, expected)
    assert result.agrees
    assert result.unspecified == 2
    assert "equal keys" in result.leaves[1].unspecified[0]
    wrong = (keys, np.array([0, 1, 2, 4, 3], np.int32))
    assert not compare(module, wrong, expected).agrees


def test_the_comparator_says_which_operand_is_the_key() -> None:
    by_second = COMPARATOR.replace("compare(a, b)", "compare(c, d)")
    values, keys = np.array([5, 5, 7], np.int32), np.array([1, 2, 2], np.int32)
    body = SORT.replace("s32[5]", "s32[3]")
    found = unspecified_elements(parse(entry(body, by_second)), (values, keys))
    assert list(found) == [(0,)]
    assert found[0,].mask.tolist() == [False, True, True]
    different = np.arange(3, dtype=np.int32)
    assert unspecified_elements(parse(entry(body, by_second)), (keys, different)) == {}


def test_all_keys_that_are_compared_must_be_equal() -> None:
    three = """less {
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      c = s32[] parameter(2)
      d = s32[] parameter(3)
      e = s32[] parameter(4)
      f = s32[] parameter(5)
      l = pred[] compare(a, b), direction=LT
      q = pred[] compare(a, b), direction=EQ
      m = pred[] compare(c, d), direction=LT
      n = pred[] and(q, m)
      ROOT r = pred[] or(l, n)
    }"""
    sort = (
        "k = s32[4] parameter(0)\nj = s32[4] parameter(1)\nv = s32[4] parameter(2)\n"
        "s = (s32[4], s32[4], s32[4]) sort(k, j, v), dimensions={0}, to_apply=less\n"
    )
    parts = [f"x{n} = s32[4] get-tuple-element(s), index={n}\n" for n in range(3)]
    body = sort + "".join(parts) + "ROOT r = (s32[4], s32[4], s32[4]) tuple(x2, x1, x0)"
    first, second = np.array([1, 1, 1, 2], np.int32), np.array([3, 3, 4, 4], np.int32)
    values = np.arange(4, dtype=np.int32)
    found = unspecified_elements(parse(entry(body, three)), (values, second, first))
    assert {index: each.mask.tolist() for index, each in found.items()} == {
        (0,): [True, True, False, False]
    }
    # Nobody knows the keys that the result leaves out.
    without = sort + parts[0] + parts[2] + "ROOT r = (s32[4], s32[4]) tuple(x2, x0)"
    assert unspecified_elements(parse(entry(without, three)), (values, first)) == {}


def test_equal_keys_of_a_stable_sort_are_counted() -> None:
    stable = SORT.replace("to_apply", "is_stable=true, to_apply")
    keys = np.zeros(5, np.int32)
    assert unspecified_elements(parse(entry(stable, COMPARATOR)), (keys, keys)) == {}


def test_open_elements_among_joined_ones_are_left_out() -> None:
    module = parse(entry(CHOLESKY + "ROOT r = f32[6,3] concatenate(p, c), dimensions={0}"))
    expected = np.concatenate([np.eye(3), np.eye(3)]).astype(np.float32)
    actual = expected.copy()
    actual[3:][UPPER] = 7
    result = compare(module, actual, expected)
    assert result.agrees
    assert result.unspecified == 3
    actual[0, 1] = 7
    assert compare(module, actual, expected).mismatches == 1


def test_open_elements_are_left_out_of_every_count() -> None:
    module = parse(entry(CHOLESKY + "ROOT r = f32[3,3] copy(c)"))
    expected = np.eye(3, dtype=np.float32)
    actual = expected.copy()
    actual[UPPER] = np.nan
    result = compare(module, actual, expected)
    found = result.leaves[0].differences
    assert result.agrees
    assert (found.elements, found.unspecified, found.actual.nan) == (6, 3, 0)
    actual[2, 0] = 5
    assert compare(module, actual, expected).mismatches == 1


@pytest.mark.parametrize("size", ["?", "<=5"])
def test_mask_of_a_dynamic_result_is_that_of_what_is_live(size: str) -> None:
    module = parse(
        f"HloModule m\nENTRY e {{\n  a = f64[{size},2,2] parameter(0)\n"
        f"  ROOT c = f64[{size},2,2] cholesky(a), lower=true\n}}"
    )
    argument = np.broadcast_to(np.eye(2), (3, 2, 2))
    result = evaluate_module(module, [argument])
    expected = result.copy()
    expected[:, 0, 1] = 7
    comparison = compare(module, result, expected)
    assert comparison.agrees
    assert comparison.unspecified == 3
