import pytest
from hypothesis import given

from hlotool.passes.contracting.reduce_window_to_reduce_and_broadcast import (
    ReduceWindowToReduceAndBroadcast,
)
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import few
from tests.passes.contracting.reductions import reducer, window_reductions


def windows(result: str, window: str) -> str:
    return f"""HloModule m
{reducer("add", "s32")}
ENTRY e {{
  x = s32[2,3] parameter(0)
  i = s32[] constant(7)
  ROOT r = s32{result} reduce-window(x, i), window={{{window}}}, to_apply=f
}}
"""


@few
@given(text=window_reductions())
def test_values_stay(text: str) -> None:
    passed(text, ReduceWindowToReduceAndBroadcast())


@pytest.mark.parametrize(
    ("result", "window", "wanted"),
    [
        ("[2,1]", "size=1x3", ["constant", "reduce", "broadcast"]),
        ("[2,3]", "size=1x5 pad=0_0x2_2", ["constant", "reduce", "broadcast"]),
        ("[1,1]", "size=2x3", ["constant", "reduce", "broadcast"]),
        ("[2,1]", "size=1x5 lhs_dilate=1x2", ["constant", "reduce", "broadcast"]),
        ("[2,2]", "size=1x2", ["constant", "reduce-window"]),
        ("[2,1]", "size=1x2 rhs_dilate=1x2", ["constant", "reduce-window"]),
        ("[2,3]", "size=1x3 pad=0_0x1_1", ["constant", "reduce-window"]),
        ("[2,3]", "size=1x1", ["constant", "reduce-window"]),
    ],
)
def test_windows_that_show_everything_go(result: str, window: str, wanted: list[str]) -> None:
    module = passed(windows(result, window), ReduceWindowToReduceAndBroadcast(), exact=True)
    assert opcodes(module) == wanted
