"""The range that integers are found to lie in holds all that they turn out to be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.passes.algsimp.ranges import Range, range_of
from hlotool.text.parser import parse
from tests.passes.algsimp.expressions import module_text
from tests.passes.algsimp.test_identities import arguments, edges, results
from tests.passes.algsimp.test_random_expressions import expressions

KNOWN = [
    ("s32", "i", 0, 9),
    ("s32", "add(i, 5)", 5, 14),
    ("s32", "subtract(3, i)", -6, 3),
    ("s32", "multiply(subtract(i, 2), -3)", -21, 6),
    ("s32", "divide(subtract(i, 7), 3)", -2, 0),
    ("s32", "remainder(x, 5)", -4, 4),
    ("u32", "remainder(x, 5)", 0, 4),
    ("s32", "and(x, 12)", 0, 12),
    ("s32", "shift-right-logical(x, 28)", 0, 15),
    ("s32", "abs(subtract(i, 3))", 0, 6),
    ("s32", "abs(subtract(i, 20))", 11, 20),
    ("s32", "sign(i)", 0, 1),
    ("s32", "negate(sign(add(i, 1)))", -1, -1),
    ("s32", "clamp(2, x, 7)", 2, 7),
    ("s32", "select(p, i, 30)", 0, 30),
    ("s32", "convert.s32(compare.LT(x, 3))", 0, 1),
    ("s8", "multiply(i, 100)", -128, 127),
    ("s8", "abs(x)", -128, 127),
    ("u8", "negate(i)", 0, 255),
    ("s32", "convert.s32(convert.f32(i))", -(1 << 31), (1 << 31) - 1),
]


@pytest.mark.parametrize(("element_type", "expression", "low", "high"), KNOWN)
def test_a_range_is_found(element_type: str, expression: str, low: int, high: int) -> None:
    module = parse(module_text(expression, element_type, 10))
    assert range_of(module.entry.root.operands[0]) == Range(low, high)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.sampled_from(("s8", "u8", "s4", "u4")).flatmap(
        lambda element_type: st.tuples(st.just(element_type), expressions(element_type))
    )
)
def test_no_element_is_out_of_range(typed: tuple[str, str]) -> None:
    element_type, expression = typed
    whole = f"select(p, {expression}, select(p, {expression}, and(x, y)))"
    given_arrays = arguments(whole, element_type, edges(ELEMENT_TYPES[element_type]))
    module = parse(module_text(whole, element_type, given_arrays[0].size))
    found = range_of(module.entry.root.operands[0])
    values = results(module, given_arrays).astype(int)
    assert found.low <= values.min()
    assert values.max() <= found.high
