"""The passes that change only the numbers of a dot's dimensions."""

import pytest
from hypothesis import given

from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.dot_dimension_merger import DotDimensionMerger
from hlotool.passes.contracting.dot_dimension_sorter import DotDimensionSorter
from hlotool.passes.contracting.dot_normalizer import DotNormalizer
from hlotool.passes.contracting.gemv_rewriter import GemvRewriter
from hlotool.passes.pass_base import Pass
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import dots, few


@pytest.mark.parametrize(
    "one",
    [DotDimensionMerger(), DotDimensionSorter(), DotNormalizer(), GemvRewriter()],
    ids=lambda one: one.name,
)
@few
@given(text=dots())
def test_values_stay(one: Pass, text: str) -> None:
    passed(text, one)


def one_dot(x: str, y: str, result: str, attributes: str) -> str:
    return f"""HloModule m
ENTRY e {{
  x = f32{x} parameter(0)
  y = f32{y} parameter(1)
  ROOT d = f32{result} dot(x, y), {attributes}
}}
"""


def test_neighbours_are_merged() -> None:
    text = one_dot(
        "[2,3,4,5,6]", "[2,3,7,5,6]", "[2,3,4,7]",
        "lhs_batch_dims={0,1}, lhs_contracting_dims={3,4},"
        " rhs_batch_dims={0,1}, rhs_contracting_dims={3,4}",
    )  # fmt: skip
    module = passed(text, DotDimensionMerger())
    assert opcodes(module) == ["reshape", "reshape", "dot", "reshape"]
    assert module.entry.root.operands[0].shape.plain_text == "f32[6,4,7]"


@pytest.mark.parametrize(
    ("x", "attributes"),
    [
        ("[2,3,4]", "lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}"),
        ("[2,3,4]{1,2,0}", "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}"),
        ("[3,2,4]", "lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1}"),
    ],
    ids=["crossed", "apart-in-memory", "apart"],
)
def test_what_does_not_go_side_by_side_is_not_merged(x: str, attributes: str) -> None:
    y = "[4,3,5]" if "{1,0}" in attributes else "[3,4,5]"
    assert opcodes(passed(one_dot(x, y, "[2,5]", attributes), DotDimensionMerger())) == ["dot"]


def test_contracting_dimensions_are_sorted_where_neither_side_has_them_in_order() -> None:
    text = one_dot("[2,3,4]", "[4,3,2]", "[]",
                   "lhs_contracting_dims={2,0,1}, rhs_contracting_dims={0,2,1}")  # fmt: skip
    root = passed(text, DotDimensionSorter()).entry.root
    assert isinstance(root.op, Dot)
    assert root.op.lhs_contracting_dims == (0, 1, 2)
    assert root.op.rhs_contracting_dims == (2, 1, 0)


def test_one_side_in_order_is_enough() -> None:
    text = one_dot("[2,3,4]", "[4,3,2]", "[]",
                   "lhs_contracting_dims={2,1,0}, rhs_contracting_dims={0,1,2}")  # fmt: skip
    root = passed(text, DotDimensionSorter()).entry.root
    assert isinstance(root.op, Dot)
    assert root.op.lhs_contracting_dims == (2, 1, 0)


def test_an_outer_product_contracts_one_element() -> None:
    text = one_dot("[2,3]", "[2,4]", "[2,3,4]",
                   "lhs_batch_dims={0}, lhs_contracting_dims={}, rhs_batch_dims={0},"
                   " rhs_contracting_dims={}")  # fmt: skip
    root = passed(text, DotNormalizer()).entry.root
    assert isinstance(root.op, Dot)
    assert root.op.lhs_contracting_dims == root.op.rhs_contracting_dims == (2,)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_vector_becomes_a_matrix(side: str) -> None:
    if side == "right":
        text = one_dot("[2,3]", "[3]", "[2]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}")
    else:
        text = one_dot("[3]", "[2,3]", "[2]", "lhs_contracting_dims={0}, rhs_contracting_dims={1}")
    module = passed(text, GemvRewriter())
    assert opcodes(module) == ["reshape", "dot", "reshape"]
    assert [one.shape.plain_text for one in module.entry.root.operands] == [
        "f32[2,1]" if side == "right" else "f32[1,2]"
    ]


def test_two_vectors_stay() -> None:
    text = one_dot("[3]", "[3]", "[]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}")
    assert opcodes(passed(text, GemvRewriter())) == ["dot"]
