"""Values of tokens, of the queues to and from the host, and of asynchronous copies."""

from typing import Any

import numpy as np
import pytest

from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated

_ARRAY = np.asarray([1, 2], np.float32)
_INFEED = entry(
    "k = token[] after-all()\n"
    "one = (f32[2], token[]) infeed(k)\n"
    "then = token[] get-tuple-element(one), index=1\n"
    "two = ((s32[], pred[1]), token[]) infeed(then)\n"
    "a = f32[2] get-tuple-element(one), index=0\n"
    "b = (s32[], pred[1]) get-tuple-element(two), index=0\n"
    "ROOT r = (f32[2], (s32[], pred[1])) tuple(a, b)"
)


def _run(text: str, *arguments: Any, device: LoneDevice | None = None) -> Any:
    return evaluate_module(parse(text), arguments, device)


def test_tokens_are_values_of_their_own() -> None:
    text = entry(
        "k = token[] after-all()\nj = token[] after-all(k, k)\na = f32[2] parameter(0)\n"
        "d = f32[2] add-dependency(a, j)\nROOT r = (f32[2], token[]) tuple(d, j)"
    )
    assert _run(text, _ARRAY) == (_ARRAY, None)


def test_infeed_takes_values_in_order() -> None:
    pair = (np.asarray(3, np.int32), np.asarray([False]))
    assert _run(_INFEED, device=LoneDevice(infeed=[_ARRAY, pair])) == (_ARRAY, pair)


def test_infeed_of_an_empty_queue_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="the infeed queue is empty"):
        _run(_INFEED, device=LoneDevice(infeed=[_ARRAY]))


def test_infeed_of_another_shape_is_an_error() -> None:
    device = LoneDevice(infeed=[np.zeros(3, np.float32)])
    with pytest.raises(EvaluationError, match=r"float32\[3\]"):
        _run(_INFEED, device=device)


def test_outfeed_puts_values_in_order() -> None:
    text = entry(
        "a = f32[2] parameter(0)\nt = (f32[2], f32[2]) tuple(a, a)\nk = token[] after-all()\n"
        "one = token[] outfeed(a, k), outfeed_shape=f32[2]\n"
        "ROOT two = token[] outfeed(t, one), outfeed_shape=(f32[2], f32[2])"
    )
    device = LoneDevice()
    assert _run(text, _ARRAY, device=device) is None
    assert device.outfed == [_ARRAY, (_ARRAY, _ARRAY)]


def test_copy_yields_its_operand() -> None:
    text = entry(
        "a = f32[2] parameter(0)\ns = (f32[2], f32[2], u32[]) copy-start(a)\n"
        "ROOT d = f32[2] copy-done(s)"
    )
    np.testing.assert_array_equal(evaluated(text, _ARRAY), _ARRAY)


def test_started_copy_has_destination_source_and_context() -> None:
    text = entry("a = f32[2] parameter(0)\nROOT s = (f32[2], f32[2], u32[]) copy-start(a)")
    destination, source, context = evaluated(text, _ARRAY)
    np.testing.assert_array_equal(destination, _ARRAY)
    np.testing.assert_array_equal(source, _ARRAY)
    assert context.dtype == np.uint32
    assert context.shape == ()
