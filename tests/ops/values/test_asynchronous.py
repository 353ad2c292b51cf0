"""Values of what runs beside other work: the start computes, the done hands over."""

from typing import Any

import numpy as np

from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated

_WRAPPED = """
wrapped {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  ROOT r = f32[2] subtract(a, b)
}
"""
_STARTED = "((f32[2], f32[2]), f32[2], (u32[], s32[3]), token[])"


def _arrays() -> tuple[Any, Any]:
    return np.asarray([5, 7], np.float32), np.asarray([1, 2], np.float32)


def test_start_yields_operands_result_and_contexts() -> None:
    text = entry(
        "a = f32[2] parameter(0)\nb = f32[2] parameter(1)\n"
        f"ROOT s = {_STARTED} async-start(a, b), calls=wrapped",
        _WRAPPED,
    )
    first, second = _arrays()
    operands, result, context, token = evaluate_module(parse(text), [first, second])
    assert operands[0] is first
    assert operands[1] is second
    np.testing.assert_array_equal(result, [4, 5])
    assert context[0].dtype == np.uint32
    np.testing.assert_array_equal(context[1], np.zeros(3, np.int32))
    assert token is None


def test_done_yields_the_result_of_the_start() -> None:
    text = entry(
        "a = f32[2] parameter(0)\nb = f32[2] parameter(1)\n"
        f"s = {_STARTED} async-start(a, b), calls=wrapped\n"
        f"u = {_STARTED} async-update(s)\nROOT d = f32[2] async-done(u)",
        _WRAPPED,
    )
    np.testing.assert_array_equal(evaluated(text, *_arrays()), [4, 5])


def test_sugar_means_the_same() -> None:
    text = entry(
        "a = f32[2] parameter(0)\nb = f32[2] parameter(1)\n"
        "s = ((f32[2], f32[2]), f32[2], s32[]) subtract-start(a, b)\n"
        "u = ((f32[2], f32[2]), f32[2], s32[]) subtract-update(s)\n"
        "ROOT d = f32[2] subtract-done(u)"
    )
    np.testing.assert_array_equal(evaluated(text, *_arrays()), [4, 5])


def test_two_starts_do_not_mix() -> None:
    started = "((f32[2]), f32[2])"
    text = entry(
        "a = f32[2] parameter(0)\nb = f32[2] parameter(1)\n"
        f"s = {started} negate-start(a)\nt = {started} negate-start(b)\n"
        "e = f32[2] negate-done(t)\nd = f32[2] negate-done(s)\n"
        "ROOT r = (f32[2], f32[2]) tuple(d, e)"
    )
    first, second = evaluated(text, *_arrays())
    np.testing.assert_array_equal(first, [-5, -7])
    np.testing.assert_array_equal(second, [-1, -2])
