"""The passes that give reductions other dimensions, layouts or orders."""

import pytest
from hypothesis import given

from hlotool.passes.contracting.reduce_decomposer import ReduceDecomposer
from hlotool.passes.contracting.reduction_degenerate_dim_remover import (
    ReductionDegenerateDimRemover,
)
from hlotool.passes.contracting.reduction_dimension_grouper import ReductionDimensionGrouper
from hlotool.passes.contracting.reduction_layout_normalizer import ReductionLayoutNormalizer
from hlotool.passes.contracting.reorder_reduce_transpose import ReorderReduceTranspose
from hlotool.passes.pass_base import Pass
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import few
from tests.passes.contracting.reductions import ARGMAX, reducer, reductions

ALL = (
    ReduceDecomposer(),
    ReductionDegenerateDimRemover(),
    ReductionDimensionGrouper(),
    ReductionLayoutNormalizer(),
    ReorderReduceTranspose(),
)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
@few
@given(text=reductions())
def test_values_stay(one: Pass, text: str) -> None:
    passed(text, one)


def one_reduce(operand: str, result: str, dimensions: str) -> str:
    return f"""HloModule m
{reducer("add", "s32")}
ENTRY e {{
  x = s32{operand} parameter(0)
  i = s32[] constant(3)
  ROOT r = s32{result} reduce(x, i), dimensions={dimensions}, to_apply=f
}}
"""


def test_dimensions_of_one_go() -> None:
    module = passed(one_reduce("[1,4,1,5,1]", "[4,1,1]", "{0,3}"), ReductionDegenerateDimRemover())
    assert opcodes(module) == ["constant", "reshape", "reduce", "reshape"]
    assert module.entry.root.operands[0].shape.plain_text == "s32[4]"


def test_an_initial_value_still_counts_where_only_ones_are_folded() -> None:
    module = passed(one_reduce("[1,4]", "[4]", "{0}"), ReductionDegenerateDimRemover())
    assert opcodes(module) == ["constant", "reduce"]


def test_neighbours_of_one_fate_are_grouped() -> None:
    text = one_reduce("[2,3,4,5,6]", "[2,3,6]", "{3,2}")
    module = passed(text, ReductionDimensionGrouper())
    assert opcodes(module) == ["constant", "reshape", "reduce", "reshape"]
    reduce = module.entry.root.operands[0]
    assert reduce.operands[0].shape.plain_text == "s32[6,20,6]"


def test_neighbours_in_another_layout_stay() -> None:
    text = one_reduce("[2,3,4]{0,1,2}", "[4]", "{0,1}")
    assert opcodes(passed(text, ReductionDimensionGrouper())) == ["constant", "reduce"]


def test_a_layout_becomes_an_order_of_dimensions() -> None:
    text = one_reduce("[2,3,4]{1,0,2}", "[2,3]", "{2}")
    module = passed(text, ReductionLayoutNormalizer())
    assert opcodes(module) == ["constant", "bitcast", "reduce"]
    assert module.entry.root.operands[0].shape.text == "s32[4,2,3]{2,1,0}"


def test_a_result_that_lies_otherwise_is_copied() -> None:
    text = one_reduce("[2,3,4]{0,1,2}", "[3,4]{1,0}", "{0}")
    module = passed(text, ReductionLayoutNormalizer())
    assert opcodes(module) == ["constant", "bitcast", "reduce", "bitcast", "copy"]


def test_a_copy_makes_a_layout_that_does_not_follow() -> None:
    text = one_reduce("[2,3,4]", "[3,4]{0,1}", "{0}")
    module = passed(text, ReduceDecomposer())
    assert opcodes(module) == ["constant", "reduce", "copy"]
    assert module.entry.root.operands[0].shape.text == "s32[3,4]{1,0}"


def test_layouts_that_follow_stay() -> None:
    text = one_reduce("[2,3,4]{0,1,2}", "[3,4]{0,1}", "{0}")
    assert opcodes(passed(text, ReduceDecomposer())) == ["constant", "reduce"]


def test_a_transpose_goes_where_the_rest_is_in_order() -> None:
    module = passed(
        f"""HloModule m
{reducer("add", "f32")}
ENTRY e {{
  x = f32[2,3,4] parameter(0)
  t = f32[4,2,3] transpose(x), dimensions={{2,0,1}}
  i = f32[] constant(0)
  ROOT r = f32[2,3] reduce(t, i), dimensions={{0}}, to_apply=f
}}
""",
        ReorderReduceTranspose(),
    )
    assert opcodes(module) == ["constant", "reduce"]


def test_a_smaller_transpose_comes_behind() -> None:
    module = passed(
        f"""HloModule m
{reducer("add", "f32")}
ENTRY e {{
  x = f32[2,3,4] parameter(0)
  t = f32[4,3,2] transpose(x), dimensions={{2,1,0}}
  i = f32[] constant(0)
  ROOT r = f32[4,2] reduce(t, i), dimensions={{1}}, to_apply=f
}}
""",
        ReorderReduceTranspose(),
    )
    assert opcodes(module) == ["constant", "reduce", "transpose"]


def test_a_reducer_that_might_tell_the_order_keeps_it() -> None:
    module = passed(
        f"""HloModule m
{ARGMAX}
ENTRY e {{
  x = f32[2,3] parameter(0)
  y = s32[2,3] parameter(1)
  s = f32[3,2] transpose(x), dimensions={{1,0}}
  t = s32[3,2] transpose(y), dimensions={{1,0}}
  v = f32[] constant(-inf)
  i = s32[] constant(0)
  ROOT r = (f32[], s32[]) reduce(s, t, v, i), dimensions={{0,1}}, to_apply=g
}}
""",
        ReorderReduceTranspose(),
    )
    assert opcodes(module).count("transpose") == 2
