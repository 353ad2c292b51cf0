"""Elements that HLO leaves open are found, followed, and not counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlotool.evaluation.comparison.compare import compare
from hlotool.evaluation.comparison.unspecified import unspecified_elements
from hlotool.text.parser import parse
from tests.evaluating import entry

UPPER = np.triu(np.ones((3, 3), bool), 1)
CHOLESKY = "p = f32[3,3] parameter(0)\nc = f32[3,3] cholesky(p), lower=true\n"


def mask(body: str, *called: str, expected: Any = None) -> Any:
    found = unspecified_elements(parse(entry(body, *called)), expected)
    return found[()].mask if () in found else None


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
        ("f32[3,3] add(c, p)", UPPER),
        ("f32[3,3] dot(c, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}", UPPER | True),
    ],
)
def test_masks_move_with_their_elements(root: str, wanted: Any) -> None:
    np.testing.assert_array_equal(mask(f"{CHOLESKY}ROOT r = {root}"), wanted)


def test_a_triangle_that_is_cut_out_is_not_open() -> None:
    body = CHOLESKY + (
        "i = s32[3,3] iota(), iota_dimension=0\nj = s32[3,3] iota(), iota_dimension=1\n"
        "k = pred[3,3] compare(i, j), direction=GE\nz = f32[] constant(0)\n"
        "b = f32[3,3] broadcast(z), dimensions={}\nROOT r = f32[3,3] select(k, c, b)"
    )
    assert mask(body) is None


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


def test_equal_keys_of_a_stable_sort_are_counted() -> None:
    stable = SORT.replace("to_apply", "is_stable=true, to_apply")
    keys = np.zeros(5, np.int32)
    assert unspecified_elements(parse(entry(stable, COMPARATOR)), (keys, keys)) == {}


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
