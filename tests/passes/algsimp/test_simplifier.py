"""The algebraic simplifier as a pass: what must stay, arrays of constants, long chains."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from tests.passes.algsimp.expressions import expression_of, module_text
from tests.passes.checking import changed_by, opcodes, passed

STAYING = [
    ("f32", "add(x, 0.0)", "-0 + 0 is 0"),
    ("f32", "multiply(x, 0.0)", "of infinity it is NaN"),
    ("f32", "subtract(x, x)", "of infinity it is NaN"),
    ("f32", "divide(x, x)", "0 / 0 is NaN"),
    ("s32", "divide(x, x)", "0 / 0 is -1"),
    ("s32", "divide(0, x)", "0 / 0 is -1"),
    ("f32", "add(add(x, 1.0), 2.0)", "rounds twice"),
    ("f32", "multiply(multiply(x, 3.0), 2.0)", "overflows sooner"),
    ("f32", "divide(x, 3.0)", "the reciprocal is not exact"),
    ("f32", "divide(x, 1.7014118e+38)", "the reciprocal is no normal number"),
    ("s32", "divide(x, 4)", "is cut towards zero, not down"),
    ("s32", "remainder(x, 4)", "has the sign of x"),
    ("f32", "compare.EQ(x, x)", "NaN does not equal itself"),
    ("f32", "not(compare.LT(x, y))", "with NaN neither holds"),
    ("f32", "select(compare.LT(x, y), x, y)", "minimum is NaN with NaN"),
    ("f32", "maximum(x, minimum(x, y))", "is NaN with a NaN in y"),
    ("f32", "maximum(x, inf)", "is NaN with NaN"),
    ("f32", "negate(subtract(x, y))", "of equal ones it is -0"),
    ("f32", "subtract(0.0, x)", "0 - 0 is 0"),
    ("f32", "log(exponential(x))", "overflows"),
    ("f64", "power(x, 2.0)", "powers are not rounded once"),
    ("bf16", "power(x, 2.0)", "the square may be too small for single precision"),
    ("c64", "multiply(x, 1)", "infinity times 0 is NaN"),
    ("s8", "abs(multiply(x, x))", "wraps"),
    ("s8", "compare.LT(negate(x), 3)", "the least has no opposite"),
    ("s8", "divide(negate(x), negate(y))", "the least has no opposite"),
    ("s32", "convert.u8(convert.f32(x))", "floats stop at the limits"),
    ("s8", "convert.u8(convert.f32(x))", "floats stop at the limits"),
    ("s16", "convert.f32(convert.f16(x))", "rounds"),
    ("s32", "convert.s32(convert.s8(x))", "loses high bits"),
    ("f32", "convert.f32(convert.bf16(x))", "rounds"),
    ("u8", "convert.u8(convert.pred(x))", "only 0 and 1 come back"),
    ("f32", "reduce-precision.5.10(reduce-precision.8.2(x))", "each cuts something else"),
    ("s32", "shift-left(shift-right-logical(x, 2), 3)", "the amounts differ"),
    ("f32", "compare.EQ(subtract(x, y), 0.0)", "infinity less infinity is NaN"),
]


@pytest.mark.parametrize(("element_type", "expression", "reason"), STAYING)
def test_what_could_change_a_value_stays(element_type: str, expression: str, reason: str) -> None:
    module = parse(module_text(expression, element_type, 4))
    before = expression_of(module)
    assert not changed_by(module, AlgebraicSimplifier()), reason
    assert expression_of(module) == before


def entry(lines: str) -> str:
    return f"HloModule m\n\nENTRY e {{\n{lines}\n}}\n"


def test_a_constant_of_equal_elements_is_spread() -> None:
    module = passed(
        entry("  ROOT c = f32[2,3] constant({{-0.0, -0.0, -0.0}, {-0.0, -0.0, -0.0}})"),
        AlgebraicSimplifier(),
        exact=True,
    )
    assert opcodes(module) == ["constant", "broadcast"]


def test_a_constant_that_counts_is_an_iota() -> None:
    module = passed(entry("  ROOT c = u8[4] constant({0, 1, 2, 3})"), AlgebraicSimplifier())
    assert opcodes(module) == ["iota"]


@pytest.mark.parametrize(
    "constant",
    [
        "f32[3] constant({0.0, 1.0, 3.0})",
        "f32[2] constant({-0.0, 1.0})",
        "f32[2] constant({0.0, -0.0})",
        "s32[1] constant({7})",
        "f32[0] constant({})",
        "s32[2,2] constant({{0, 1}, {2, 3}})",
        "f32[3] constant({...})",
    ],
)
def test_other_constants_stay(constant: str) -> None:
    assert not changed_by(parse(entry(f"  ROOT c = {constant}")), AlgebraicSimplifier())


def test_constants_are_seen_through_broadcast_reshape_and_transpose() -> None:
    module = passed(
        entry("""  x = s32[3,2] parameter(0)
  zero = s32[1,1] constant({{0}})
  flat = s32[1] reshape(zero)
  wide = s32[1,2,3] broadcast(flat), dimensions={0}
  narrow = s32[2,3] reshape(wide)
  turned = s32[3,2] transpose(narrow), dimensions={1,0}
  ROOT r = s32[3,2] add(x, turned)"""),
        AlgebraicSimplifier(),
    )
    assert opcodes(module) == []


def test_mixed_float_types_stay() -> None:
    module = parse(
        entry("""  x = bf16[2] parameter(0)
  one = f32[] constant(1)
  ones = f32[2] broadcast(one), dimensions={}
  ROOT r = f32[2] multiply(x, ones)""")
    )
    assert not changed_by(module, AlgebraicSimplifier())


def test_dynamic_sizes_stay() -> None:
    module = parse(
        entry("""  x = s32[<=4] parameter(0)
  ROOT r = s32[<=4] subtract(x, x)""")
    )
    assert not changed_by(module, AlgebraicSimplifier())


def test_a_flag_for_whole_arrays_and_one_for_elements_stay_two() -> None:
    module = parse(
        entry("""  p = pred[] parameter(0)
  q = pred[3] parameter(1)
  x = f32[3] parameter(2)
  y = f32[3] parameter(3)
  s = f32[3] select(q, x, y)
  ROOT r = f32[3] select(p, s, y)""")
    )
    assert not changed_by(module, AlgebraicSimplifier())


def test_a_tuple_is_chosen_as_it_was() -> None:
    module = parse(
        entry("""  p = pred[] parameter(0)
  x = (f32[], s32[]) parameter(1)
  ROOT r = (f32[], s32[]) select(p, x, x)""")
    )
    assert not changed_by(module, AlgebraicSimplifier())


def test_the_range_of_an_index_decides_comparisons() -> None:
    module = passed(
        entry("""  i = s32[10] iota(), iota_dimension=0
  ten = s32[] constant(10)
  tens = s32[10] broadcast(ten), dimensions={}
  ROOT r = pred[10] compare(i, tens), direction=LT"""),
        AlgebraicSimplifier(),
    )
    assert opcodes(module) == ["constant", "broadcast"]
    assert module.entry.root.operands[0].op.literal.scalar() is True  # type: ignore[attr-defined]


def test_layouts_stay() -> None:
    module = passed(
        entry("""  x = s32[2,3]{0,1} parameter(0)
  zero = s32[] constant(0)
  zeros = s32[2,3]{0,1} broadcast(zero), dimensions={}
  less = s32[2,3]{0,1} subtract(x, x)
  ROOT r = s32[2,3]{0,1} or(less, zeros)"""),
        AlgebraicSimplifier(),
    )
    assert module.entry.root.shape.text == "s32[2,3]{0,1}"


def test_what_is_empty_is_simplified_too() -> None:
    x = np.zeros((0, 2), np.int32)
    text = entry("""  x = s32[0,2] parameter(0)
  y = s32[0,2] negate(x)
  ROOT r = s32[0,2] negate(y)""")
    assert opcodes(passed(text, AlgebraicSimplifier(), x)) == []


def test_fuel_bounds_the_rewrites() -> None:
    module = parse(module_text("not(not(not(not(not(x)))))", "s32", 2))
    journal = Journal("algsimp", Fuel({"algsimp": 1}))
    AlgebraicSimplifier().run(module, journal)
    assert journal.hits.total() == 1
    assert expression_of(module) == "not(not(not(x)))"


def test_rounds_are_bounded() -> None:
    module = parse(module_text("add(add(add(add(x, 1), 1), 1), 1)", "s32", 2))
    AlgebraicSimplifier(max_rounds=1).run(module, Journal("algsimp"))
    AlgebraicSimplifier().run(module, Journal("algsimp"))
    assert expression_of(module) == "add(x, 4)"


def test_a_long_chain_is_folded() -> None:
    chain = (f"  v{n} = s32[2] add(v{n - 1}, ones)" for n in range(1, 1500))
    lines = """  x = s32[2] parameter(0)
  one = s32[] constant(1)
  ones = s32[2] broadcast(one), dimensions={}
  v0 = s32[2] add(x, ones)
""" + "\n".join(chain)
    lines += "\n  ROOT r = s32[2] negate(v1499)"
    module = passed(entry(lines), AlgebraicSimplifier(), np.array([1, 2], np.int32))
    assert opcodes(module) == ["constant", "broadcast", "subtract"]


def test_fast_math_allows_what_the_other_options_do() -> None:
    module = parse(module_text("add(multiply(x, 0.0), log(exponential(y)))", "f32", 2))
    AlgebraicSimplifier(fast_math=True).run(module, Journal("algsimp"))
    assert expression_of(module) == "y"


def test_the_body_of_a_fusion_that_goes_goes_too() -> None:
    module = passed(
        """HloModule m
body {
  x = s32[2] parameter(0)
  c = s32[2] copy(x)
  ROOT n = s32[2] negate(c)
}
ENTRY e {
  x = s32[2] parameter(0)
  f = s32[2] fusion(x), kind=kLoop, calls=body
  ROOT d = s32[2] subtract(f, f)
}
""",
        AlgebraicSimplifier(),
    )
    assert [computation.name for computation in module.computations] == ["e"]
