"""The passes that fold a reduction, or a scan, in several steps."""

import numpy as np
import pytest
from hypothesis import given

from hlotool.ops.reduction import ReduceWindow
from hlotool.passes.contracting.reduce_window_rewriter import ReduceWindowRewriter
from hlotool.passes.contracting.reduction_splitter import ReductionSplitter
from hlotool.passes.contracting.tree_reduction_rewriter import TreeReductionRewriter
from hlotool.passes.pass_base import Pass
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import few
from tests.passes.contracting.reductions import reducer, reductions, window_reductions


@pytest.mark.parametrize(
    "one",
    [
        TreeReductionRewriter(window_size=2),
        TreeReductionRewriter(window_size=3),
        ReductionSplitter(least_size=2),
    ],
    ids=lambda one: one.text,
)
@few
@given(text=reductions(9, layouts=False))
def test_values_of_reductions_stay(one: Pass, text: str) -> None:
    passed(text, one)


@pytest.mark.parametrize("length", [2, 3])
@few
@given(text=window_reductions(9))
def test_values_of_windows_stay(length: int, text: str) -> None:
    passed(text, ReduceWindowRewriter(base_length=length))


def one_reduce(operand: str, result: str, dimensions: str, element_type: str = "f32") -> str:
    return f"""HloModule m
{reducer("add", element_type)}
ENTRY e {{
  x = {element_type}{operand} parameter(0)
  i = {element_type}[] constant(5)
  ROOT r = {element_type}{result} reduce(x, i), dimensions={dimensions}, to_apply=f
}}
"""


def test_a_long_reduction_becomes_a_tree() -> None:
    module = passed(one_reduce("[1500]", "[]", "{0}"), TreeReductionRewriter())
    assert opcodes(module).count("reduce-window") == 2
    # An initial value that is not neutral counts once.
    assert module.entry.root.operands[0].shape.plain_text == "f32[2]"


def test_short_reductions_stay() -> None:
    module = passed(one_reduce("[32,3]", "[3]", "{0}"), TreeReductionRewriter())
    assert opcodes(module) == ["constant", "reduce"]


def test_types_without_a_neutral_number_stay() -> None:
    text = one_reduce("[50]", "[]", "{0}", "f8e4m3fn").replace(" add(", " maximum(")
    assert opcodes(passed(text, TreeReductionRewriter())) == ["constant", "reduce"]


def test_dimensions_that_are_apart_go_one_by_one() -> None:
    module = passed(one_reduce("[8,3,9]", "[3]", "{2,0}"), ReductionSplitter())
    reduces = [one for one in module.entry.instructions if one.opcode == "reduce"]
    assert [one.shape.plain_text for one in reduces] == ["f32[8,3]", "f32[3]"]


@pytest.mark.parametrize(
    ("operand", "result", "dimensions"),
    [("[8,9,3]", "[3]", "{0,1}"), ("[7,3,7]", "[3]", "{0,2}"), ("[9,3]", "[3]", "{0}")],
    ids=["together", "small", "one"],
)
def test_other_reductions_are_not_split(operand: str, result: str, dimensions: str) -> None:
    module = passed(one_reduce(operand, result, dimensions), ReductionSplitter())
    assert opcodes(module) == ["constant", "reduce"]


def scan(element_type: str, op: str, init: str, size: int, pad: str, *, more: str = "") -> str:
    return f"""HloModule m
{reducer(op, element_type)}
ENTRY e {{
  x = {element_type}[2,{size},3] parameter(0)
  i = {element_type}[] constant({init})
  ROOT r = {element_type}[2,{size},3] reduce-window(x, i),
      window={{size=1x{size}x1 pad=0_0x{pad}x0_0{more}}}, to_apply=f
}}
"""


@pytest.mark.parametrize(
    ("element_type", "op", "init"),
    [("s8", "add", "0"), ("u32", "multiply", "1"), ("s16", "maximum", "-32768"),
     ("f32", "minimum", "inf"), ("pred", "or", "false"), ("u8", "and", "255")],
)  # fmt: skip
@pytest.mark.parametrize("size", [17, 32, 33, 300])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_long_scans_are_split(
    element_type: str, op: str, init: str, size: int, direction: str
) -> None:
    pad = f"0_{size - 1}" if direction == "backward" else f"{size - 1}_0"
    module = passed(scan(element_type, op, init, size, pad), ReduceWindowRewriter(), exact=True)
    ops = [one.op for one in module.entry.instructions]
    windows = [op.window for op in ops if isinstance(op, ReduceWindow)]
    sizes = [max(dimension.size for dimension in window) for window in windows]
    assert max(sizes) <= 16
    assert len(windows) == (3 if size > 256 else 2)


def test_sums_of_floats_stay_near() -> None:
    text = scan("f32", "add", "0", 100, "99_0")
    numbers = np.random.default_rng(3).standard_normal((2, 100, 3)).astype(np.float32)
    assert "reshape" in opcodes(passed(text, ReduceWindowRewriter(), numbers))


def test_nan_and_infinity_reach_what_is_behind_them_only() -> None:
    numbers = np.ones((2, 40, 3), np.float32)
    numbers[0, 20, 1], numbers[1, 30, 2] = np.nan, np.inf
    passed(scan("f32", "add", "0", 40, "39_0"), ReduceWindowRewriter(), numbers)


@pytest.mark.parametrize(
    "text",
    [
        scan("f32", "add", "0", 16, "15_0"),
        scan("f32", "add", "1", 40, "39_0"),
        scan("f32", "add", "0", 40, "20_19"),
    ],
    ids=["short", "not-neutral", "both-ways"],
)
def test_these_windows_stay(text: str) -> None:
    assert opcodes(passed(text, ReduceWindowRewriter())) == ["constant", "reduce-window"]
