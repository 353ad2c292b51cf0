"""The best elements of rows."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from tests.evaluating import entry, evaluated

GREATER = """
greater {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER
}
"""
TOP = """
  x = {kind}[2,5] parameter(0)
  ROOT y = ({kind}[2,{k}], s32[2,{k}]) custom-call(x), custom_call_target="{target}"{more}
"""
X = np.array([[3, np.nan, 1, 3, -np.nan], [0.0, -0.0, -1, np.inf, 2]], np.float32)


def top(target: str, x: Any, k: int = 3, more: str = "", *called: str) -> Any:
    kind = {"float32": "f32", "bfloat16": "bf16", "int32": "s32", "uint8": "u8"}[x.dtype.name]
    return evaluated(entry(TOP.format(kind=kind, k=k, target=target, more=more), *called), x)


@pytest.mark.parametrize("target", ["TopK", "mhlo.topk", "__gpu$TopK"])
def test_the_largest_in_total_order_come_first(target: str) -> None:
    values, indices = top(target, X)
    assert indices.tolist() == [[1, 0, 3], [3, 4, 0]]
    assert np.isnan(values[0, 0])
    assert values[0, 1:].tolist() == [3, 3]
    assert values[1].tolist() == [np.inf, 2, 0]


def test_the_smallest_where_the_parameters_say_so() -> None:
    values, indices = top("mhlo.topk", X, 3, ", backend_config={k = 3 : i64, largest = false}")
    assert indices.tolist() == [[4, 2, 0], [2, 1, 0]]
    assert np.signbit(values[1, 1])


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.int32, np.uint8])
def test_other_element_types(dtype: type) -> None:
    x: Any = np.array([[5, 1, 7, 7, 2], [9, 8, 6, 5, 4]]).astype(dtype)
    values, indices = top("TopK", x)
    assert indices.tolist() == [[2, 3, 0], [0, 1, 2]]
    assert values.astype(float).tolist() == [[7, 7, 5], [9, 8, 6]]


def test_the_called_computation_decides() -> None:
    reverse = GREATER.replace("GT", "LT")
    for computation, wanted in ((GREATER, [1, 0, 3]), (reverse, [4, 2, 0])):
        _, indices = top("TopK", X, 3, ", called_computations={greater}", computation)
        assert indices[0].tolist() == wanted


def test_any_computation_may_be_called() -> None:
    # By distance from 2, as no comparison of the elements themselves says it.
    nearest = """
greater {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  two = f32[] constant(2)
  c = f32[] subtract(a, two)
  d = f32[] abs(c)
  e = f32[] subtract(b, two)
  f = f32[] abs(e)
  ROOT r = pred[] compare(d, f), direction=LT
}
"""
    x = np.array([[9, 3, 1, 2, -7], [2, 2, 2, 5, 4]], np.float32)
    _, indices = top("TopK", x, 3, ", called_computations={greater}", nearest)
    assert indices.tolist() == [[3, 1, 2], [0, 1, 2]]


def test_a_comparator_may_leave_the_indices_out() -> None:
    values_alone = GREATER.replace("  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n", "")
    _, indices = top("TopK", X, 3, ", called_computations={greater}", values_alone)
    assert indices[0].tolist() == [1, 0, 3]
    half = values_alone.replace("  b = f32[] parameter(1)\n", "").replace("(a, b)", "(a, a)")
    with pytest.raises(EvaluationError, match="comparator takes 1 parameters, 2 are wanted"):
        top("TopK", X, 3, ", called_computations={greater}", half)
    sums = values_alone.replace(
        "pred[] compare(a, b), direction=GT, type=TOTALORDER", "f32[] add(a, b)"
    )
    with pytest.raises(EvaluationError, match=r"yields f32\[\], pred\[\] is wanted"):
        top("TopK", X, 3, ", called_computations={greater}", sums)


@pytest.mark.parametrize("kind", ["FLOAT", "TOTALORDER"])
def test_zeros_of_both_signs_are_equal_only_for_floats(kind: str) -> None:
    computation = GREATER.replace("TOTALORDER", kind)
    x = np.array([[-0.0, 0.0, -1, -2, 0.0]] * 2, np.float32)
    _, indices = top("TopK", x, 3, ", called_computations={greater}", computation)
    assert indices[0].tolist() == ([0, 1, 4] if kind == "FLOAT" else [1, 4, 0])


def test_how_many_may_be_an_operand() -> None:
    body = """
  x = f32[2,5] parameter(0)
  k = s32[] parameter(1)
  ROOT y = (f32[2,?], s32[2,?]) custom-call(x, k), custom_call_target="stablehlo.dynamic_top_k"
"""
    values, indices = evaluated(entry(body), X, np.int32(2))
    assert indices.tolist() == [[1, 0], [3, 4]]
    assert values[1].tolist() == [np.inf, 2]


def test_more_than_there_are_is_an_error() -> None:
    with pytest.raises(
        EvaluationError, match="TopK: 6 elements of a row are asked for, 0 to 5 are"
    ):
        top("TopK", X, 6)


APPROXIMATE = """
  x = f32[3,4] parameter(0)
  i = s32[3,4] iota(), iota_dimension=0
  least = f32[] constant(-inf)
  none = s32[] constant(-1)
  ROOT y = (f32[{k},4], s32[{k},4]) custom-call(x, i, least, none),
    custom_call_target="{target}", called_computations={{greater}},
    backend_config={{reduction_dim = 0 : i64, recall_target = 0.9 : f32}}
"""


@pytest.mark.parametrize("target", ["ApproxTopK", "PartialReduce"])
def test_approximate_calls_are_exact(target: str) -> None:
    x = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [2, 2, 9, 9]], np.float32)
    values, indices = evaluated(entry(APPROXIMATE.format(k=2, target=target), GREATER), x)
    assert values.tolist() == [[4, 3, 9, 9], [2, 2, 3, 4]]
    assert indices.tolist() == [[1, 1, 2, 2], [2, 0, 0, 0]]


def test_initial_values_stand_behind_the_last_element() -> None:
    x = np.zeros((3, 4), np.float32)
    text = entry(APPROXIMATE.format(k=4, target="PartialReduce"), GREATER)
    values, indices = evaluated(text, x)
    assert values[3].tolist() == [-np.inf] * 4
    assert indices[:, 0].tolist() == [0, 1, 2, -1]


ROWS = st.lists(st.floats(width=32), min_size=5, max_size=5)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(ROWS, ROWS)
def test_rows_are_those_that_sorting_finds(first: list[float], second: list[float]) -> None:
    x = np.array([first, second], np.float32)
    _, indices = top("TopK", x)
    for row, found in zip(x, indices, strict=True):
        bits = row.view(np.int32).tolist()
        # In total order negative patterns run backwards.
        keys = [bit if bit >= 0 else -(bit & 0x7FFFFFFF) - 1 for bit in bits]
        assert found.tolist() == sorted(range(5), key=lambda n: (-keys[n], n))[:3]
