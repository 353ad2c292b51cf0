"""Folds: which reducers may take elements in any order, and folds inside of another loop."""

import numpy as np
import pytest

from hlotool.codegen.kernels.folds import order as folds_order
from hlotool.codegen.kernels.loops.loops import emit_loops
from hlotool.ir.instruction import Instruction
from hlotool.text.parser import parse
from tests.codegen.kernels.module_texts import reducer
from tests.codegen.kernels.one_kernel import check_near

_PAIRS = """pairs {{
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  k = s32[] parameter(3)
  {comparison}
  x = f32[] select(kept, a, b)
  n = s32[] select(kept, i, k)
  ROOT r = (f32[], s32[]) tuple(x, n)
}}
"""
_FIRST = """more = pred[] compare(a, b), direction=GT
  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, k), direction=LT
  tie = pred[] and(same, before)
  nan = pred[] compare(a, a), direction=NE
  some = pred[] or(more, nan)
  kept = pred[] or(some, tie)"""
_ANY = """kept = pred[] compare(a, b), direction=GE"""
_BY_NUMBER = """kept = pred[] compare(i, k), direction=LT"""


def _reduce(
    comparison: str, numbers: str = "iota(), iota_dimension=1", start: str = "0"
) -> Instruction:
    text = f"""HloModule order
{_PAIRS.format(comparison=comparison)}
ENTRY main {{
  x = f32[4,40] parameter(0)
  y = s32[4,40] parameter(1)
  numbers = s32[4,40] {numbers}
  least = f32[] constant(-inf)
  zero = s32[] constant({start})
  ROOT r = (f32[4], s32[4]) reduce(x, numbers, least, zero), dimensions={{1}}, to_apply=pairs
}}
"""
    return parse(text).entry.root


def test_the_first_of_the_greatest_is_found_by_position() -> None:
    found = _reduce(_FIRST)
    assert not folds_order.is_free(found.calls[0])
    assert folds_order.position(found) == 1


def test_positions_must_be_those_of_the_elements() -> None:
    assert folds_order.position(_reduce(_FIRST, "add(y, y)")) is None
    assert folds_order.position(_reduce(_FIRST, "iota(), iota_dimension=0")) is None


def test_the_last_of_the_greatest_depends_on_order_alone() -> None:
    # What is equal stays: the first position, but of NaNs the last one.
    assert not folds_order.is_free(_reduce(_ANY).calls[0])


def test_an_initial_value_that_could_win_keeps_the_order() -> None:
    # The first position wins, and that of the initial values is among those of the elements.
    assert folds_order.position(_reduce(_BY_NUMBER)) is None
    assert folds_order.position(_reduce(_BY_NUMBER, start="1")) is None


def test_greatest_numbers_of_pairs_may_come_in_any_order() -> None:
    text = """HloModule order
    pairs {
      a = s32[] parameter(0)
      i = s32[] parameter(1)
      b = s32[] parameter(2)
      k = s32[] parameter(3)
      more = pred[] compare(a, b), direction=GT
      same = pred[] compare(a, b), direction=EQ
      before = pred[] compare(i, k), direction=LT
      tie = pred[] and(same, before)
      kept = pred[] or(more, tie)
      x = s32[] select(kept, a, b)
      n = s32[] select(kept, i, k)
      ROOT r = (s32[], s32[]) tuple(x, n)
    }
    ENTRY main {
      x = s32[5] parameter(0)
      zero = s32[] constant(0)
      ROOT r = (s32[], s32[]) reduce(x, x, zero, zero), dimensions={0}, to_apply=pairs
    }
    """
    assert folds_order.is_free(parse(text).entry.root.calls[0])


def test_reducers_that_compute_keep_their_order() -> None:
    text = """HloModule order
    pairs {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      twice = f32[] add(a, a)
      ROOT r = f32[] maximum(twice, b)
    }
    ENTRY main {
      x = f32[5] parameter(0)
      zero = f32[] constant(0)
      ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=pairs
    }
    """
    assert not folds_order.is_free(parse(text).entry.root.calls[0])


@pytest.mark.parametrize(
    ("sizes", "folded"), [((6, 40), 1), ((5, 33), 0), ((3, 0), 1), ((4, 1), 1)]
)
def test_a_fold_inside_of_plain_loops(
    sizes: tuple[int, int], folded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = sizes[1 - folded]
    whole = f"f32[{sizes[0]},{sizes[1]}]"
    text = f"""HloModule inside
{reducer("add", "f32")}
{reducer("maximum", "f32", "greatest")}
fused {{
  x = {whole} parameter(0)
  zero = f32[] constant(0)
  sum = f32[{kept}] reduce(x, zero), dimensions={{{folded}}}, to_apply=reducer
  spread = {whole} broadcast(sum), dimensions={{{1 - folded}}}
  less = {whole} subtract(x, spread)
  most = f32[{kept}] reduce(less, zero), dimensions={{{folded}}}, to_apply=greatest
  ROOT r = f32[{kept}] multiply(sum, most)
}}
ENTRY main {{
  x = {whole} parameter(0)
  ROOT r = f32[{kept}] fusion(x), kind=kLoop, calls=fused
}}
"""
    monkeypatch.setattr("tests.codegen.kernels.one_kernel.written_kernel", emit_loops)
    x = np.random.default_rng(1).standard_normal(sizes).astype("f4")
    check_near(text, [x])


def test_one_result_of_a_fold_inside_of_plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""HloModule inside
{_PAIRS.format(comparison=_FIRST)}
fused {{
  x = f32[20,7] parameter(0)
  numbers = s32[20,7] iota(), iota_dimension=1
  least = f32[] constant(-inf)
  zero = s32[] constant(0)
  both = (f32[20], s32[20]) reduce(x, numbers, least, zero), dimensions={{1}}, to_apply=pairs
  number = s32[20] get-tuple-element(both), index=1
  ROOT r = s32[20] add(number, number)
}}
ENTRY main {{
  x = f32[20,7] parameter(0)
  ROOT r = s32[20] fusion(x), kind=kLoop, calls=fused
}}
"""
    x = np.random.default_rng(1).integers(0, 4, (20, 7)).astype("f4")
    with_rows = check_near(text, [x])
    monkeypatch.setattr("tests.codegen.kernels.one_kernel.written_kernel", emit_loops)
    plain = check_near(text, [x])
    assert with_rows.text != plain.text
