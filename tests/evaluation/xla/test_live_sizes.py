"""Live sizes come as results of their own, and cut arrays that reach up to their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.evaluation.xla.live_sizes import dynamic_dimensions, live_results, with_live_sizes
from hlotool.evaluation.xla.portable import portable
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.evaluating import entry

STATIC = entry("p = f32[2] parameter(0)\nROOT r = f32[2] negate(p)")
DYNAMIC = entry(
    """
  p = f32[4,3] parameter(0)
  n = s32[] parameter(1)
  m = s32[] constant(1)
  c = f32[<=4,3] set-dimension-size(p, n), dimensions={0}
  d = f32[<=4,<=3] set-dimension-size(c, m), dimensions={1}
  t = (f32[<=4,<=3], f32[4,3]) tuple(d, p)
  ROOT r = ((f32[<=4,<=3], f32[4,3]), f32[<=4,3]) tuple(t, c)"""
)


def test_static_results_stay_as_they_are() -> None:
    module = parse(STATIC)
    assert print_module(with_live_sizes(module)) == print_module(parse(STATIC))
    values = [np.zeros(2, np.float32)]
    assert live_results(values, module.entry.root.shape) == values


def test_each_dynamic_dimension_has_a_size_in_the_result() -> None:
    shape = parse(DYNAMIC).entry.root.shape
    assert list(dynamic_dimensions(shape)) == [((0, 0), 0, 0), ((0, 0), 0, 1), ((1,), 2, 0)]
    module = parse(print_module(with_live_sizes(portable(parse(DYNAMIC)))))
    assert verify(module) == []
    arguments = [np.ones((4, 3), np.float32), np.array(2, np.int32)]
    whole, *sizes = evaluate_module(module, arguments)
    assert [int(size) for size in sizes] == [2, 1, 2]
    assert whole[0][0].shape == (2, 1)


def test_arrays_are_cut_to_their_live_sizes() -> None:
    shape = parse(DYNAMIC).entry.root.shape
    arrays = [np.arange(12.0).reshape(4, 3) for _ in range(3)]
    sizes = [np.array(size, np.int32) for size in (2, 1, 3)]
    found = live_results([*arrays, *sizes], shape)
    assert [one.shape for one in found] == [(2, 1), (4, 3), (3, 3)]
    np.testing.assert_array_equal(found[0], [[0], [3]])
    with pytest.raises(EvaluationError, match="XLA yields 3 arrays"):
        live_results(arrays, shape)
