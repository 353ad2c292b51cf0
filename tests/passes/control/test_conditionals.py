"""Conditionals that lose branches, results and operands, or become selects."""

import numpy as np
import pytest

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.passes.control.conditional_canonicalizer import ConditionalCanonicalizer
from hlotool.passes.control.conditional_to_select import ConditionalToSelect
from hlotool.passes.control.simplify_conditional import SimplifyConditional
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed

BRANCHES = """HloModule m
f { p = (f32[2], f32[2]) parameter(0)
 a = f32[2] get-tuple-element(p), index=0
 b = f32[2] get-tuple-element(p), index=1
 c = f32[2] exponential(a)
 d = f32[2] negate(a)
 ROOT t = (f32[2], f32[2]) tuple(c, d) }
g { p = (f32[2], f32[2]) parameter(0)
 b = f32[2] get-tuple-element(p), index=1
 c = f32[2] tanh(b)
 d = f32[2] abs(b)
 ROOT t = (f32[2], f32[2]) tuple(c, d) }
h { q = (f32[2], f32[2]) parameter(0)
 e = f32[2] get-tuple-element(q), index=1
 r = f32[2] tanh(e)
 s = f32[2] abs(e)
 ROOT t = (f32[2], f32[2]) tuple(r, s) }
"""


def entry(*lines: str) -> str:
    """Returns a module with the branches, a tuple `t` of two arrays, and these lines."""
    return "\n".join(
        [BRANCHES, "ENTRY e {", "x = f32[2] parameter(0)", "y = f32[2] parameter(1)",
         "t = (f32[2], f32[2]) tuple(x, y)", *lines, "}"]
    )  # fmt: skip


def conditional(module: Module) -> Instruction:
    """Returns the only conditional."""
    (found,) = (one for one in module.instructions() if one.opcode == "conditional")
    return found


@pytest.mark.parametrize(
    ("selector", "kept"),
    [("pred[] constant(true)", "exponential"), ("pred[] constant(false)", "tanh")],
)
def test_a_constant_flag_chooses(selector: str, kept: str) -> None:
    text = entry(
        f"s = {selector}",
        "ROOT c = (f32[2], f32[2]) conditional(s, t, t), true_computation=f, false_computation=g",
    )
    found = opcodes(passed(text, SimplifyConditional()))
    assert kept in found
    assert "conditional" not in found


@pytest.mark.parametrize(
    ("number", "kept"), [(0, "exponential"), (1, "tanh"), (-1, "tanh"), (7, "tanh")]
)
def test_a_constant_number_chooses(number: int, kept: str) -> None:
    text = entry(
        f"s = s32[] constant({number})",
        "ROOT c = (f32[2], f32[2]) conditional(s, t, t), branch_computations={f, g}",
    )
    found = opcodes(passed(text, SimplifyConditional()))
    assert kept in found
    assert "conditional" not in found


def test_equal_branches_are_one() -> None:
    text = entry(
        "s = s32[] parameter(2)",
        "ROOT c = (f32[2], f32[2]) conditional(s, t, t, t), branch_computations={g, h, g}",
    )
    assert "tanh" in opcodes(passed(text, SimplifyConditional()))
    other = text.replace("conditional(s, t, t, t)", "conditional(s, t, t, q)").replace(
        "ROOT c", "q = (f32[2], f32[2]) tuple(y, x)\nROOT c"
    )
    assert "conditional" in opcodes(passed(other, SimplifyConditional()))


@pytest.mark.parametrize("flag", [0, 1])
def test_unused_results_and_operands_go(flag: int) -> None:
    text = entry(
        "s = pred[] parameter(2)",
        "c = (f32[2], f32[2]) conditional(s, t, t), true_computation=f, false_computation=g",
        "ROOT r = f32[2] get-tuple-element(c), index=1",
    )
    values = np.array([1, -2], np.float32), np.array([3, -4], np.float32)
    module = passed(text, SimplifyConditional(), *values, np.bool_(flag))
    found = conditional(module)
    assert found.shape.plain_text == "(f32[2])"
    assert [operand.shape.plain_text for operand in found.operands[1:]] == ["(f32[2])"] * 2
    assert {"exponential", "tanh"}.isdisjoint(one.opcode for one in module.instructions())


def test_branches_that_others_call_are_copied() -> None:
    text = entry(
        "s = pred[] parameter(2)",
        "c = (f32[2], f32[2]) conditional(s, t, t), true_computation=f, false_computation=g",
        "d = (f32[2], f32[2]) conditional(s, t, t), true_computation=g, false_computation=f",
        "r = f32[2] get-tuple-element(c), index=1",
        "ROOT w = (f32[2], (f32[2], f32[2])) tuple(r, d)",
    )
    module = passed(text, SimplifyConditional())
    shapes = [one.shape.plain_text for one in module.entry.instructions if one.calls]
    assert sorted(shapes) == ["(f32[2])", "(f32[2], f32[2])"]


def test_effects_in_branches_stay() -> None:
    text = """HloModule m
f { p = (f32[], token[]) parameter(0)
 a = f32[] get-tuple-element(p), index=0
 k = token[] get-tuple-element(p), index=1
 o = token[] outfeed(a, k), outfeed_shape=f32[]
 ROOT t = (f32[], token[]) tuple(a, o) }
g { p = (f32[], token[]) parameter(0)
 a = f32[] get-tuple-element(p), index=0
 k = token[] get-tuple-element(p), index=1
 ROOT t = (f32[], token[]) tuple(a, k) }
ENTRY e { x = f32[] parameter(0)
 s = pred[] parameter(1)
 k = token[] after-all()
 t = (f32[], token[]) tuple(x, k)
 c = (f32[], token[]) conditional(s, t, t), true_computation=f, false_computation=g
 ROOT r = f32[] get-tuple-element(c), index=0 }
"""
    module = passed(text, SimplifyConditional())
    assert "outfeed" in {one.opcode for one in module.instructions()}
    assert conditional(module).shape.plain_text == "(f32[])"


def test_results_become_tuples() -> None:
    text = """HloModule m
f { a = f32[2] parameter(0)
 ROOT r = f32[2] negate(a) }
g { ROOT a = f32[2] parameter(0) }
ENTRY e { x = f32[2] parameter(0)
 s = pred[] parameter(1)
 c = f32[2] conditional(s, x, x), true_computation=f, false_computation=g, sharding={replicated}
 d = f32[2] add(c, c)
 ROOT r = f32[2] conditional(s, d, c), true_computation=g, false_computation=f }
"""
    module = passed(text, ConditionalCanonicalizer())
    found = [one for one in module.entry.instructions if one.opcode == "conditional"]
    assert [one.shape.plain_text for one in found] == ["(f32[2])"] * 2
    assert module.entry.root.opcode == "get-tuple-element"


def test_conditionals_in_maps_become_selects() -> None:
    text = """HloModule m
f { a = f32[] parameter(0)
 ROOT r = f32[] negate(a) }
g { a = f32[] parameter(0)
 ROOT r = f32[] exponential(a) }
h { ROOT a = f32[] parameter(0) }
each { x = f32[] parameter(0)
 n = s32[] parameter(1)
 c = f32[] conditional(n, x, x, x), branch_computations={f, g, h}
 z = f32[] constant(0)
 s = pred[] compare(x, z), direction=LT
 ROOT d = f32[] conditional(s, c, x), true_computation=f, false_computation=h }
ENTRY e { x = f32[4] parameter(0)
 n = s32[4] parameter(1)
 ROOT r = f32[4] map(x, n), dimensions={0}, to_apply=each }
"""
    given = np.array([1, -1, 2, -3], np.float32), np.array([0, 1, 2, 9], np.int32)
    module = passed(text, ConditionalToSelect(), *given)
    found = [one.opcode for one in module.instructions()]
    assert "conditional" not in found
    assert found.count("select") == 3


def test_conditionals_of_the_program_stay() -> None:
    text = entry(
        "s = pred[] parameter(2)",
        "ROOT c = (f32[2], f32[2]) conditional(s, t, t), true_computation=f, false_computation=g",
    )
    assert not changed_by(parse(text), ConditionalToSelect())
