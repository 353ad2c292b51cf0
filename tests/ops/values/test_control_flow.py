"""Values of calls, loops, branches, fusions and barriers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated

_TWICE = "twice { a = f32[2] parameter(0)\n ROOT r = f32[2] add(a, a) }"
_MINUS = "minus { a = f32[2] parameter(0)\n ROOT r = f32[2] negate(a) }"
_SAME = "same { ROOT a = f32[2] parameter(0) }"
_COUNTING = """
below {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] get-tuple-element(s), index=1
  ROOT r = pred[] compare(i, end), direction=LT
}
next {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  ROOT r = (s32[], s32[]) tuple(n, end)
}
"""
_LOOP = entry(
    "s = (s32[], s32[]) parameter(0)\nROOT w = (s32[], s32[]) while(s), condition=below, body=next",
    _COUNTING,
)


def _pair(first: int, second: int) -> tuple[Any, Any]:
    return np.asarray(first, np.int32), np.asarray(second, np.int32)


def _run(text: str, *arguments: Any, device: LoneDevice | None = None) -> Any:
    return evaluate_module(parse(text), arguments, device)


@pytest.mark.parametrize(
    "line",
    ["call(a), to_apply=twice", "fusion(a), kind=kLoop, calls=twice"],
)
def test_called_computation_gives_the_value(line: str) -> None:
    text = entry(f"a = f32[2] parameter(0)\nROOT r = f32[2] {line}", _TWICE)
    np.testing.assert_array_equal(evaluated(text, np.array([1.5, -2], np.float32)), [3, -4])


@pytest.mark.parametrize(("start", "end", "last"), [(0, 5, 5), (3, 3, 3), (7, 2, 7), (-2, 1, 1)])
def test_loop_ends_where_the_condition_fails_first(start: int, end: int, last: int) -> None:
    found = _run(_LOOP, _pair(start, end))
    assert found == _pair(last, end)


def test_loop_counts_each_round() -> None:
    _run(_LOOP, _pair(0, 5), device=LoneDevice(most_iterations=5))
    with pytest.raises(EvaluationError, match="loops have run 4 rounds"):
        _run(_LOOP, _pair(0, 5), device=LoneDevice(most_iterations=4))


def test_loop_leaves_its_first_state_alone() -> None:
    state = _pair(0, 5)
    _run(_LOOP, state)
    assert state == _pair(0, 5)


@pytest.mark.parametrize(("flag", "wanted"), [(1, [2, 4]), (0, [-1, -2])])
def test_flag_selects_a_computation(flag: int, wanted: list[float]) -> None:
    text = entry(
        "p = pred[] parameter(0)\na = f32[2] parameter(1)\n"
        "ROOT r = f32[2] conditional(p, a, a), true_computation=twice, false_computation=minus",
        _TWICE,
        _MINUS,
    )
    np.testing.assert_array_equal(
        evaluated(text, np.bool_(flag), np.array([1, 2], np.float32)), wanted
    )


@pytest.mark.parametrize(
    ("number", "wanted"),
    [(0, [2, 4]), (1, [-3, -4]), (2, [5, 6]), (3, [5, 6]), (-1, [5, 6]), (-(2**31), [5, 6])],
)
def test_number_selects_a_branch_with_its_own_operand(number: int, wanted: list[float]) -> None:
    text = entry(
        "n = s32[] parameter(0)\n"
        "a = f32[2] constant({1, 2})\nb = f32[2] constant({3, 4})\nc = f32[2] constant({5, 6})\n"
        "ROOT r = f32[2] conditional(n, a, b, c), branch_computations={twice, minus, same}",
        _TWICE,
        _MINUS,
        _SAME,
    )
    np.testing.assert_array_equal(evaluated(text, np.int32(number)), wanted)


def test_other_branches_do_not_run() -> None:
    endless = (
        "forever { s = (s32[], s32[]) parameter(0)\n ROOT r = pred[] constant(true) }\n"
        "stuck { s = (s32[], s32[]) parameter(0)\n"
        " ROOT w = (s32[], s32[]) while(s), condition=forever, body=next }\n"
        "kept { ROOT s = (s32[], s32[]) parameter(0) }"
    )
    text = entry(
        "s = (s32[], s32[]) parameter(0)\np = pred[] constant(false)\n"
        "ROOT r = (s32[], s32[]) conditional(p, s, s),"
        " true_computation=stuck, false_computation=kept",
        _COUNTING,
        endless,
    )
    device = LoneDevice(most_iterations=3)
    assert _run(text, _pair(1, 2), device=device) == _pair(1, 2)


def test_barrier_passes_a_tuple_with_a_token() -> None:
    text = entry("t = (f32[2], token[]) parameter(0)\nROOT r = (f32[2], token[]) opt-barrier(t)")
    array = np.array([1, 2], np.float32)
    assert _run(text, (array, None)) == (array, None)


def test_domain_passes_its_operand() -> None:
    text = entry(
        "a = f32[2] parameter(0)\n"
        'ROOT r = f32[2] domain(a), domain={kind="sharding", entry={replicated},'
        " exit={maximal device=0}}"
    )
    np.testing.assert_array_equal(evaluated(text, np.array([1, 2], np.float32)), [1, 2])


@given(st.integers(-3, 12), st.integers(1, 7))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_loop_walks_as_a_loop_in_python_does(start: int, step: int) -> None:
    body = _COUNTING.replace("constant(1)", f"constant({step})")
    state = start
    while state < 10:
        state += step
    text = entry(
        "s = (s32[], s32[]) parameter(0)\n"
        "ROOT w = (s32[], s32[]) while(s), condition=below, body=next",
        body,
    )
    assert _run(text, _pair(start, 10)) == _pair(state, 10)
