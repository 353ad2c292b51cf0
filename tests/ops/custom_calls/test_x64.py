"""Numbers of 64 bits in two halves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluating import entry, evaluated

HALVES = """
  x = {wide}[3] parameter(0)
  low = {half}[3] custom-call(x), custom_call_target="X64SplitLow"
  high = {half}[3] custom-call(x), custom_call_target="X64SplitHigh"
  again = {wide}[3] custom-call(low, high), custom_call_target="X64Combine"
  ROOT t = ({half}[3], {half}[3], {wide}[3]) tuple(low, high, again)
"""


@pytest.mark.parametrize(("wide", "half"), [("u64", "u32"), ("s64", "u32"), ("s64", "s32")])
def test_integers_are_cut_into_bits(wide: str, half: str) -> None:
    number = {"u": 0xFEDCBA9876543210, "s": -2}[wide[0]]
    x = np.array([number, 0, 1 << 32], {"u": np.uint64, "s": np.int64}[wide[0]])
    low, high, again = evaluated(entry(HALVES.format(wide=wide, half=half)), x)
    bits = [int(number) & (2**64 - 1) for number in x.tolist()]
    assert [part & 0xFFFFFFFF for part in low.tolist()] == [part & 0xFFFFFFFF for part in bits]
    assert [part & 0xFFFFFFFF for part in high.tolist()] == [part >> 32 for part in bits]
    assert again.tolist() == x.tolist()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3))
def test_halves_make_up_the_number(numbers: list[int]) -> None:
    x = np.array(numbers, np.int64)
    assert evaluated(entry(HALVES.format(wide="s64", half="u32")), x)[2].tolist() == numbers


def test_floats_are_sums_of_two() -> None:
    x = np.array([1 + 2.0**-40, np.inf, -0.0])
    low, high, again = evaluated(entry(HALVES.format(wide="f64", half="f32")), x)
    assert high.tolist() == [1, np.inf, 0]
    assert low.tolist() == [2.0**-40, 0, 0]
    assert again.tolist() == x.tolist()
