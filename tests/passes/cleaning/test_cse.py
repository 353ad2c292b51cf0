import time

import pytest

from hlotool.passes.cleaning.cse import CommonSubexpressionElimination
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed


def merged(*lines: str, head: str = "", header: str = "m") -> list[str]:
    """Returns the opcodes that are left of an entry."""
    text = "\n".join([f"HloModule {header}", head, "ENTRY e {", *lines, "}"])
    return opcodes(passed(text, CommonSubexpressionElimination()))


def test_equal_chains_become_one() -> None:
    assert merged(
        "x = f32[3] parameter(0)",
        "a = f32[3] exponential(x)",
        "b = f32[3] exponential(x)",
        "c = f32[3] negate(a)",
        "d = f32[3] negate(b)",
        "ROOT r = f32[3] add(c, d)",
    ) == ["exponential", "negate", "add"]


def test_constants_are_equal_by_their_bits() -> None:
    found = merged(
        "a = f32[] constant(0)",
        "b = f32[] constant(-0.0)",
        "c = f32[] constant(0)",
        "d = f64[] constant(0)",
        "e = s32[2] constant({1, 2})",
        "f = s32[2] constant({1, 2})",
        "ROOT r = (f32[], f32[], f32[], f64[], s32[2], s32[2]) tuple(a, b, c, d, e, f)",
    )
    assert found == ["constant"] * 4 + ["tuple"]


def test_layouts_keep_apart() -> None:
    found = merged(
        "x = f32[2,3] parameter(0)",
        "a = f32[2,3]{1,0} copy(x)",
        "b = f32[2,3]{0,1} copy(x)",
        "c = f32[2,3]{1,0} copy(x)",
        "ROOT r = (f32[2,3], f32[2,3]{0,1}, f32[2,3]) tuple(a, b, c)",
    )
    assert found == ["copy", "copy", "tuple"]


@pytest.mark.parametrize(
    ("kind", "op", "left"),
    [
        ("f32", "add", 1), ("f32", "multiply", 1), ("s32", "maximum", 1), ("f32", "maximum", 2),
        ("f32", "subtract", 2), ("u8", "xor", 1), ("s32", "divide", 2), ("pred", "and", 1),
    ],
)  # fmt: skip
def test_operands_of_commutative_ops_may_be_exchanged(kind: str, op: str, left: int) -> None:
    found = merged(
        f"x = {kind}[4] parameter(0)",
        f"y = {kind}[4] parameter(1)",
        f"a = {kind}[4] {op}(x, y)",
        f"b = {kind}[4] {op}(y, x)",
        f"ROOT r = ({kind}[4], {kind}[4]) tuple(a, b)",
    )
    assert found.count(op) == left


def test_called_computations_are_compared_by_what_they_do() -> None:
    head = """
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
g { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT s = f32[] add(p, q), metadata={op_name="s"} }
h { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT s = f32[] maximum(p, q) }
"""
    found = merged(
        "x = f32[4] parameter(0)",
        "z = f32[] constant(0)",
        "a = f32[] reduce(x, z), dimensions={0}, to_apply=f",
        "b = f32[] reduce(x, z), dimensions={0}, to_apply=g",
        "c = f32[] reduce(x, z), dimensions={0}, to_apply=h",
        "ROOT r = (f32[], f32[], f32[]) tuple(a, b, c)",
        head=head,
    )
    assert found == ["constant", "reduce", "reduce", "tuple"]


def test_merging_inside_makes_computations_equal() -> None:
    head = """
f { a = f32[2] parameter(0)
 b = f32[2] negate(a)
 c = f32[2] negate(a)
 ROOT r = f32[2] add(b, c) }
g { a = f32[2] parameter(0)
 b = f32[2] negate(a)
 ROOT r = f32[2] add(b, b) }
"""
    found = merged(
        "x = f32[2] parameter(0)",
        "a = f32[2] call(x), to_apply=f",
        "b = f32[2] call(x), to_apply=g",
        "ROOT r = f32[2] add(a, b)",
        head=head,
    )
    assert found == ["call", "add"]


@pytest.mark.parametrize(
    "line",
    [
        "{} = f32[4] rng(z, o), distribution=rng_uniform",
        '{} = f32[4] custom-call(z), custom_call_target="f", custom_call_has_side_effect=true',
        "{} = f32[] opt-barrier(z)",
        '{} = f32[] negate(z), frontend_attributes={{n="{}"}}',
        "{} = f32[] negate(z), control-predecessors={{o}}",
    ],
)  # fmt: skip
def test_what_must_stay_apart(line: str) -> None:
    text = "\n".join(
        [
            "HloModule m",
            "ENTRY e {",
            "z = f32[] parameter(0)",
            "o = f32[] parameter(1)",
            line.format("a", "a"),
            line.format("b", "b"),
            "ROOT r = f32[] add(z, o)",
            "}",
        ]
    )
    module = parse(text)
    count = len(module.entry.instructions)
    assert not CommonSubexpressionElimination().run(module, Journal("cse"))
    assert len(module.entry.instructions) == count


def test_the_root_may_be_one_of_them() -> None:
    found = merged(
        "x = f32[3] parameter(0)",
        "a = f32[3] negate(x)",
        "b = f32[3] exponential(a)",
        "ROOT r = f32[3] negate(x)",
    )
    assert found == ["negate", "exponential"]


def test_fuel_ends_it() -> None:
    lines = "\n".join(f"a{number} = f32[3] negate(x)" for number in range(9))
    names = ", ".join(f"a{number}" for number in range(9))
    shapes = ", ".join(["f32[3]"] * 9)
    text = f"""HloModule m
ENTRY e {{
x = f32[3] parameter(0)
{lines}
ROOT t = ({shapes}) tuple({names})
}}"""
    module = parse(text)
    journal = Journal("cse", Fuel({"cse": 3}))
    assert CommonSubexpressionElimination().run(module, journal)
    assert opcodes(module).count("negate") == 6


def test_sixty_thousand_instructions_take_linear_time() -> None:
    count = 30_000
    lines = ["x.0 = f32[] parameter(0)"]
    for number in range(count):
        lines += [f"y.{number} = f32[] negate(x.{number})"]
        lines += [f"x.{number + 1} = f32[] negate(x.{number})"]
    names = ", ".join(f"y.{number}" for number in range(count))
    shapes = ", ".join(["f32[]"] * count)
    text = "\n".join(
        ["HloModule m", "ENTRY e {", *lines, f"ROOT t = ({shapes}) tuple({names})", "}"]
    )
    module = parse(text)
    start = time.perf_counter()
    assert CommonSubexpressionElimination().run(module, Journal("cse"))
    assert time.perf_counter() - start < 30
    assert len(module.entry.instructions) == count + 2


def test_constants_that_the_text_leaves_out_may_differ() -> None:
    module = parse(
        """HloModule m
one { ROOT a = f32[4] constant({...}) }
other { ROOT b = f32[4] constant({...}) }
ENTRY e {
  a = f32[4] constant({...})
  b = f32[4] constant({...})
  c = f32[4] call(), to_apply=one
  d = f32[4] call(), to_apply=other
  ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d)
}
"""
    )
    assert not CommonSubexpressionElimination().run(module, Journal("cse"))
    assert opcodes(module) == ["constant", "constant", "call", "call", "tuple"]
