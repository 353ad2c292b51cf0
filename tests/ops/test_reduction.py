"""Reductions, window reductions, map and scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hlotool.errors import ShapeError
from hlotool.ir.op import Op
from hlotool.ir.shape import ProgramShape
from hlotool.ir.window import WindowDimension
from hlotool.ops.reduction import Map, Reduce, ReduceWindow, Scan, SelectAndScatter
from hlotool.text.parser import parse, parse_shape
from hlotool.text.printer import print_module

ADD = "f32[], f32[] -> f32[]"
ARGMAX = "f32[], s32[], f32[], s32[] -> (f32[], s32[])"
STEP = "f32[4], f32[5] -> (f32[4], f32[5])"


def program(text: str) -> ProgramShape:
    """Returns the signature of a text such as `f32[], f32[] -> f32[]`."""
    parameters, result = text.split(" -> ")
    return ProgramShape([parse_shape(part) for part in parameters.split(", ")], parse_shape(result))


def infer(op: Op, operands: str, *calls: str) -> str:
    """Returns the shape of an op on operands that are separated by spaces."""
    shapes = [parse_shape(text) for text in operands.split()]
    return op.infer_shape(shapes, [program(call) for call in calls]).text


def check(op: Op, operands: str, calls: Sequence[str], declared: str) -> None:
    shapes = [parse_shape(text) for text in operands.split()]
    op.check_shape(shapes, [program(call) for call in calls], parse_shape(declared))


def windows(*sizes: int, **rest: Any) -> tuple[WindowDimension, ...]:
    return tuple(WindowDimension(size, **rest) for size in sizes)


@pytest.mark.parametrize(
    ("dimensions", "operands", "call", "shape"),
    [
        ((1,), "f32[2,3,4]{0,1,2} f32[]", ADD, "f32[2,4]{1,0}"),
        ((2, 0), "f32[2,3,4] f32[]", ADD, "f32[3]{0}"),
        ((), "f32[2] f32[]", ADD, "f32[2]{0}"),
        ((0,), "f32[2] f32[]", ADD, "f32[]"),
        ((0,), "f32[2] f32[]", "f32[], f32[] -> (f32[])", "f32[]"),
        ((0,), "bf16[2,3] bf16[]", ADD, "f32[3]{0}"),
        ((0,), "f32[2,3] f32[]", "bf16[], bf16[] -> bf16[]", "bf16[3]{0}"),
        ((0,), "f32[2,<=3] f32[]", ADD, "f32[<=3]{0}"),
        ((0,), "f32[2,3] s32[2,<=3] f32[] s32[]", ARGMAX, "(f32[<=3]{0}, s32[<=3]{0})"),
        ((1,), "f32[2,?] s32[2,3] f32[] s32[]", ARGMAX, "(f32[2]{0}, s32[2]{0})"),
        ((0,), "f32[2,?] s32[2,3] f32[] s32[]", ARGMAX, "(f32[?]{0}, s32[?]{0})"),
    ],
)
def test_reduce(dimensions: tuple[int, ...], operands: str, call: str, shape: str) -> None:
    assert infer(Reduce(dimensions), operands, call) == shape


@pytest.mark.parametrize(
    ("dimensions", "operands", "call", "words"),
    [
        ((1, 1), "f32[2,3] f32[]", ADD, r"reduce: dimensions \{1,1\} are not distinct"),
        ((2,), "f32[2,3] f32[]", ADD, r"dimensions \{2\}: 2 is out of range for rank 2"),
        ((0,), "f32[2] f32[1]", ADD, r"reduce: operand 1 is f32\[1\], a scalar is wanted"),
        ((0,), "f32[2] f32[2] f32[]", ADD, "3 operands are given, inputs and as many initial"),
        ((0,), "", ADD, "0 operands are given"),
        ((0,), "f32[2] token[]", ADD, r"reduce: operand 1 is token\[\], an array is wanted"),
        ((0,), "f32[2] s32[3] f32[] s32[]", ARGMAX, "differ in dimensions"),
        ((0,), "f32[2] f32[]", "f32[] -> f32[]", "to_apply takes 1 parameters, 2 are wanted"),
        (
            (0,),
            "f32[2] f32[]",
            "f32[], f32[] -> pred[]",
            r"to_apply yields pred\[\], f32\[\] is wanted",
        ),
        ((0,), "f32[2] f32[]", "f32[], s32[] -> f32[]", r"parameter 1 is s32\[\], f32\[\] is"),
        ((0,), "s32[2] f32[]", ADD, r"elements are s32\[\], the initial value is f32\[\]"),
    ],
)
def test_reduce_refuses(dimensions: tuple[int, ...], operands: str, call: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(Reduce(dimensions), operands, call)


def test_float_width_of_a_reduction_may_differ() -> None:
    check(Reduce((0,)), "bf16[2] bf16[]", [ADD], "bf16[]")
    with pytest.raises(ShapeError, match=r"shape s32\[\] is declared, f32\[\] is inferred"):
        check(Reduce((0,)), "f32[2] f32[]", [ADD], "s32[]")


@pytest.mark.parametrize(
    ("window", "operands", "call", "shape"),
    [
        (windows(2, 3, stride=2), "f32[8,9]{0,1} f32[]", ADD, "f32[4,4]{1,0}"),
        (windows(2, padding_low=1, padding_high=2, stride=2, base_dilation=2), "f32[4] f32[]",
         ADD, "f32[5]{0}"),
        (windows(9), "f32[4] f32[]", ADD, "f32[0]{0}"),
        (windows(2, padding_low=-3, padding_high=-3), "f32[4] f32[]", ADD, "f32[0]{0}"),
        ((), "f32[] f32[]", ADD, "f32[]"),
        (windows(2), "f32[<=4] f32[]", ADD, "f32[<=3]{0}"),
        (windows(2), "f32[?] f32[]", ADD, "f32[?]{0}"),
        (windows(2), "bf16[4] bf16[]", ADD, "bf16[3]{0}"),
        (windows(2), "f32[4] s32[4] f32[] s32[]", ARGMAX, "(f32[3]{0}, s32[3]{0})"),
    ],
)  # fmt: skip
def test_reduce_window(
    window: tuple[WindowDimension, ...], operands: str, call: str, shape: str
) -> None:
    assert infer(ReduceWindow(window), operands, call) == shape


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ((), "reduce-window: window has 0 dimensions, 1 are wanted"),
        (windows(0), r"\{size=0\}: size, stride and dilations of dimension 0 must be at least 1"),
        (windows(2, stride=0), "must be at least 1"),
        (windows(2, base_dilation=0), "must be at least 1"),
        (windows(2, window_dilation=-1), "must be at least 1"),
    ],
)
def test_windows_that_do_not_slide(window: tuple[WindowDimension, ...], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(ReduceWindow(window), "f32[4] f32[]", ADD)


GREATER = "f32[], f32[] -> pred[]"


def test_select_and_scatter_keeps_the_operand() -> None:
    op = SelectAndScatter(windows(2, 2, stride=2))
    assert infer(op, "f32[4,4]{0,1} f32[2,2] f32[]", GREATER, ADD) == "f32[4,4]{0,1}"
    assert infer(op, "f32[4,4] bf16[2,2] bf16[]", GREATER, ADD) == "f32[4,4]{1,0}"


@pytest.mark.parametrize(
    ("operands", "select", "scatter", "words"),
    [
        ("f32[4,4] f32[2,3] f32[]", GREATER, ADD, r"operand 1 is f32\[2,3\], f32\[2,2\] is"),
        ("f32[4,4] f32[2,2] f32[]", ADD, ADD, r"select yields f32\[\], pred\[\] is wanted"),
        ("f32[4,4] f32[2,2] f32[]", GREATER, GREATER, r"scatter yields pred\[\], f32\[\] is"),
        ("s32[4,4] f32[2,2] f32[]", "s32[], s32[] -> pred[]", ADD, r"s32\[2,2\] is wanted"),
        ("f32[4,4] f32[2,2] f32[2]", GREATER, ADD, "operand 2 is .* a scalar is wanted"),
        ("f32[4] f32[2] f32[]", GREATER, ADD, "window has 2 dimensions, 1 are wanted"),
    ],
)
def test_select_and_scatter_refuses(operands: str, select: str, scatter: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(SelectAndScatter(windows(2, 2, stride=2)), operands, select, scatter)


@pytest.mark.parametrize(
    ("operands", "call", "shape"),
    [
        ("f32[4,<=4]{0,1} f32[4,4]", ADD, "f32[4,<=4]{1,0}"),
        ("f32[4,4] f32[]", ADD, "f32[4,4]{1,0}"),
        ("bf16[4,4] f32[4,4]", ADD, "f32[4,4]{1,0}"),
        ("f32[4,4] s32[4,4]", "f32[], s32[] -> pred[]", "pred[4,4]{1,0}"),
    ],
)
def test_map(operands: str, call: str, shape: str) -> None:
    assert infer(Map((0, 1)), operands, call) == shape


@pytest.mark.parametrize(
    ("dimensions", "operands", "call", "words"),
    [
        ((1, 0), "f32[4,4] f32[4,4]", ADD, r"dimensions \{1,0\} are given, \{0,1\} is wanted"),
        ((), "f32[4] f32[4]", ADD, r"dimensions \{\} are given, \{0\} is wanted"),
        ((), "", ADD, "map: at least 1 operand is wanted"),
        ((0,), "f32[4] f32[3]", ADD, "differ in dimensions"),
        ((0,), "f32[4]", ADD, "to_apply takes 2 parameters, 1 are wanted"),
        ((0,), "f32[4]", "f32[] -> f32[1]", "the result is .* a scalar is wanted"),
    ],
)
def test_map_refuses(dimensions: tuple[int, ...], operands: str, call: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(Map(dimensions), operands, call)


def test_map_names_all_dimensions() -> None:
    declared = parse_shape("f32[4,4]")
    assert Map((1,)).adapted([declared], declared) == Map((0, 1))
    assert list(Map().adapted([], declared).written()) == [("dimensions", "{0,1}")]
    assert list(Map().written()) == [("dimensions", "{}")]


@pytest.mark.parametrize(
    ("op", "operands", "call", "shape"),
    [
        (Scan(0, 1), "f32[3,4]{0,1} f32[5]", STEP, "(f32[3,4]{1,0}, f32[5]{0})"),
        (Scan(1, 1), "f32[4,<=3] f32[5]", STEP, "(f32[4,<=3]{1,0}, f32[5]{0})"),
        (Scan(0, 0), "f32[3,4] f32[3,5]", STEP, "(f32[3,4]{1,0}, f32[3,5]{1,0})"),
        (Scan(0, 0), "f32[3]", "f32[] -> f32[]", "f32[3]{0}"),
        (Scan(0, 1), "f32[3] f32[]", ADD, "f32[]"),
        (Scan(0, 2), "s8[3] f32[] s32[]", "s8[], f32[], s32[] -> (f32[], s32[])",
         "(f32[], s32[])"),
    ],
)  # fmt: skip
def test_scan(op: Scan, operands: str, call: str, shape: str) -> None:
    assert infer(op, operands, call) == shape


@pytest.mark.parametrize(
    ("op", "operands", "call", "words"),
    [
        (Scan(0, 3), "f32[3,4] f32[5]", STEP, "num_carries is 3, with 2 operands"),
        (Scan(0, -1), "f32[3,4] f32[5]", STEP, "num_carries is -1"),
        (Scan(0, 1), "f32[5]", "f32[5] -> f32[5]", "num_carries is 1, with 1 operands"),
        (Scan(2, 1), "f32[3,4] f32[5]", STEP, "operand 0: dimension 2 is out of range"),
        (Scan(0, 0), "f32[3,4] f32[2,5]", STEP, "a length of 3 in dimension 0 is wanted"),
        (Scan(0, 1), "f32[3,4] f32[4]", STEP, r"parameter 1 is f32\[5\], f32\[4\] is wanted"),
        (Scan(0, 1), "f32[3,4] f32[5]", "f32[4], f32[5] -> (f32[4], f32[4])", "yields .* wanted"),
        (Scan(0, 2), "f32[3] f32[] f32[]", "f32[], f32[], f32[] -> f32[]", "yields .* wanted"),
        (Scan(1, 0), "f32[4,3]", "f32[4] -> f32[]", r"result f32\[\]: dimension 1 is out of"),
    ],
)
def test_scan_refuses(op: Scan, operands: str, call: str, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        infer(op, operands, call)


def test_scan_says_whether_it_is_associative() -> None:
    adapted = Scan(0, 1).adapted([], parse_shape("f32[]"))
    assert list(adapted.written()) == [
        ("dimensions", "{0}"), ("num_carries", "1"), ("is_associative", "false"),
    ]  # fmt: skip
    given = Scan(1, 1, is_reverse=True, is_associative=True)
    assert given.adapted([], parse_shape("f32[]")) is given
    assert [name for name, _ in given.written()][2:] == ["is_reverse", "is_associative"]


TEXT = """HloModule reductions, entry_computation_layout={(f32[4,4]{1,0}, f32[])->f32[3,3]{1,0}}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%step (c: f32[4], d: f32[]) -> (f32[4], f32[]) {
  %c = f32[4]{0} parameter(0)
  %d = f32[] parameter(1)
  ROOT %both = (f32[4]{0}, f32[]) tuple(%c, %d)
}

ENTRY %main (p: f32[4,4], q: f32[]) -> f32[3,3] {
  %p = f32[4,4]{1,0} parameter(0)
  %q = f32[] parameter(1)
  %reduce = f32[4]{0} reduce(%p, %q), dimensions={1}, to_apply=%add
  %map = f32[4,4]{1,0} map(%p, %p), dimensions={0,1}, to_apply=%add
  %scan = (f32[4,4]{1,0}, f32[]) scan(%p, %q), dimensions={0}, num_carries=1, \
is_associative=false, to_apply=%step
  ROOT %windows = f32[3,3]{1,0} reduce-window(%p, %q), window={size=2x2}, to_apply=%add
}

"""


def test_the_text_comes_back() -> None:
    assert print_module(parse(TEXT)) == TEXT
    short = TEXT.replace(", is_associative=false", "").replace("dimensions={0,1}", "dimensions={}")
    assert print_module(parse(short)) == TEXT
