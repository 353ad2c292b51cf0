import ml_dtypes
import numpy as np
import pytest

from hlotool.passes.expanders.select_and_scatter import SelectAndScatterExpander
from tests.passes.checking import opcodes, passed


def _module(element: str, size: str, source: str, window: str, scatter: str = "add(v, old)") -> str:
    return f"""HloModule m
keep {{
  a = {element}[] parameter(0)
  b = {element}[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}}
put {{
  v = {element}[] parameter(0)
  old = {element}[] parameter(1)
  ROOT r = {element}[] {scatter}
}}
ENTRY e {{
  x = {element}[{size}] parameter(0)
  source = {element}[{source}] parameter(1)
  init = {element}[] parameter(2)
  ROOT r = select-and-scatter(x, source, init), window={{{window}}}, select=keep, scatter=put
}}
"""


@pytest.mark.parametrize(
    ("size", "source", "window"),
    [
        ("4,6", "2,3", "size=2x2 stride=2x2"),
        ("4,6", "4,6", "size=3x3 pad=1_1x1_1"),
        ("5", "5", "size=3 stride=1 pad=3_-1"),
        ("7", "3", "size=2 stride=2 rhs_dilate=2"),
        ("0", "0", "size=2"),
        ("", "", ""),
    ],
)
def test_places_are_chosen_by_a_reduce_window(size: str, source: str, window: str) -> None:
    text = _module("f32", size, source, window)
    if not window:
        text = text.replace("window={}, ", "")
    module = passed(text, SelectAndScatterExpander())
    assert "select-and-scatter" not in opcodes(module)
    assert "scatter" in opcodes(module)


def test_ties_nan_and_values_less_than_the_padding() -> None:
    text = _module("f32", "6", "6", "size=3 pad=1_1")
    x = np.array([-1, -1, np.nan, -2, -2, -np.inf], np.float32)
    source = np.arange(1, 7, dtype=np.float32)
    passed(text, SelectAndScatterExpander(), x, source, np.float32(0.5))


def test_the_source_is_the_first_argument_of_the_combiner() -> None:
    text = _module("s32", "6", "3", "size=2 stride=2", "subtract(v, old)")
    x = np.array([1, 2, 4, 3, 5, 5], np.int32)
    passed(text, SelectAndScatterExpander(), x, np.array([1, 2, 3], np.int32), np.int32(7))


def test_narrow_floats() -> None:
    x = np.array([1, 2, 4, 3, 5, 5], ml_dtypes.bfloat16)
    text = _module("bf16", "6", "5", "size=2")
    passed(text, SelectAndScatterExpander(), x, x[:5], np.array(0, ml_dtypes.bfloat16))
