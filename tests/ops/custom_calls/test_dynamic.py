"""Arrays of a bounded size, made static and back."""

import numpy as np
import pytest

from hlotool.errors import EvaluationError
from tests.evaluating import entry, evaluated

PADDED = """
  x = f32[<=4,3] parameter(0)
  ROOT y = (f32[4,3], s32[], s32[]) custom-call(x), custom_call_target="PadToStatic"
"""
SLICED = """
  x = f32[4,3] parameter(0)
  rows = s32[] parameter(1)
  columns = s32[] parameter(2)
  ROOT y = f32[<=4,3] custom-call(x, rows, columns), custom_call_target="SliceToDynamic"
"""


def test_live_elements_are_padded_and_counted() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    padded, rows, columns = evaluated(entry(PADDED), x)
    assert padded.tolist() == [[0, 1, 2], [3, 4, 5], [0, 0, 0], [0, 0, 0]]
    assert (rows, columns) == (2, 3)
    assert rows.dtype == np.int32


def test_a_slice_has_only_live_elements() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = evaluated(entry(SLICED), x, np.int32(2), np.int32(3))
    assert found.tolist() == x[:2].tolist()


def test_assertions_about_sizes() -> None:
    body = """
  n = s32[] parameter(0)
  two = s32[] constant(2)
  good = pred[] compare(n, two), direction=GE
  ROOT y = () custom-call(good, n), custom_call_target="shape_assertion"
"""
    assert evaluated(entry(body), np.int32(2)) == ()
    with pytest.raises(EvaluationError, match="shape_assertion: sizes 1 are not those"):
        evaluated(entry(body), np.int32(1))


@pytest.mark.parametrize("rows", [-1, 5])
def test_sizes_beyond_the_array_are_refused(rows: int) -> None:
    x = np.zeros((4, 3), np.float32)
    with pytest.raises(
        EvaluationError, match=r"sizes \[-?\d, 3\] are given, at most \[4, 3\] is wanted"
    ):
        evaluated(entry(SLICED), x, np.int32(rows), np.int32(3))


def test_bounds_that_do_not_hold_the_array_are_refused() -> None:
    body = """
  x = f32[4] parameter(0)
  ROOT y = {} custom-call(x), custom_call_target="PadToStatic"
"""
    x = np.zeros(4, np.float32)
    with pytest.raises(EvaluationError, match=r"sizes \[4\] are given, at most \[3\] is wanted"):
        evaluated(entry(body.format("(f32[3], s32[])")), x)
    with pytest.raises(EvaluationError, match=r"f32\[4\] is declared, a tuple is wanted"):
        evaluated(entry(body.format("f32[4]")), x)
