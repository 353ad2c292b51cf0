from pathlib import Path

import pytest

from hlotool.graph.model import (
    ModuleGraph,
    called_by,
    is_folded,
    part_number,
    updated_in_place,
)
from hlotool.ir.appearance import Category
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.text.parser import parse
from hlotool.text.printer import print_module

TEXT = """HloModule m
sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
body { p = f32[64,8] parameter(0)
 e = f32[64,8] exponential(p)
 z = f32[] constant(0)
 ROOT r = f32[64] reduce(e, z), dimensions={1}, to_apply=sum }
dot_body { q = f32[64,64] parameter(0)
 n = f32[64,64] negate(q)
 ROOT d = f32[64,64] dot(n, q), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
move { t = f32[64,64] parameter(0)
 ROOT u = f32[64,64] transpose(t), dimensions={1,0} }
condition { c = (s32[]) parameter(0)
 i = s32[] get-tuple-element(c), index=0
 k = s32[] constant(8)
 ROOT l = pred[] compare(i, k), direction=LT }
loop { c2 = (s32[]) parameter(0)
 i2 = s32[] get-tuple-element(c2), index=0
 one = s32[] constant(1)
 j = s32[] add(i2, one)
 ROOT out = (s32[]) tuple(j) }
ENTRY e {
  x = f32[64,8] parameter(0)
  y = f32[64,64] parameter(1)
  zero = s32[] constant(0)
  f = f32[64] fusion(x), kind=kInput, calls=body
  g = f32[64,64] fusion(y), kind=kOutput, calls=dot_body
  h = f32[64,64] fusion(g), kind=kLoop, calls=move
  cc = f32[2] custom-call(h), custom_call_target="my target"
  state = (s32[]) tuple(zero)
  w = (s32[]) while(state), condition=condition, body=loop
  zeros = s32[4] broadcast(zero), dimensions={}
  upd = s32[4] dynamic-update-slice(zeros, s, zero)
  ROOT all = (f32[64], s32[4], (s32[]), f32[2]) tuple(f, upd, w, cc)
}
""".replace("s, zero)", "small, zero)").replace(
    "  upd =", "  small = s32[1] broadcast(zero), dimensions={}\n  upd ="
)


@pytest.fixture(name="module", scope="module")
def _module() -> Module:
    return parse(TEXT)


def named(module: Module, name: str) -> Instruction:
    return next(one for one in module.instructions() if one.name == name)


@pytest.mark.parametrize(
    ("name", "title", "category"),
    [
        ("x", "parameter", Category.SOURCE),
        ("e", "exponential", Category.ELEMENTWISE),
        ("r", "reduce add", Category.REDUCTION),
        ("f", "exponential · reduce", Category.ELEMENTWISE),
        ("g", "dot · negate", Category.CONTRACTION),
        ("h", "transpose", Category.MOVEMENT),
        ("cc", "my target", Category.EXTERNAL),
        ("l", "compare LT", Category.ELEMENTWISE),
        ("w", "while \N{MULTIPLICATION SIGN}8", Category.CONTROL),
    ],
)
def test_titles_and_categories(module: Module, name: str, title: str, category: Category) -> None:
    graph = ModuleGraph(module)
    assert graph.title(named(module, name)) == title
    assert graph.category(named(module, name)) is category


@pytest.mark.parametrize(
    ("start", "config", "title"),
    [
        ("zero", "", "while \N{MULTIPLICATION SIGN}8"),
        ("n", "", "while"),
        ("n", '{"known_trip_count":{"n":"1200"}}', "while \N{MULTIPLICATION SIGN}1,200"),
        ("n", '{"known_init_step":{"init":"0"}}', "while"),
        # What the compiler says counts.
        ("zero", '{"known_trip_count":{"n":"7"}}', "while \N{MULTIPLICATION SIGN}7"),
    ],
)
def test_a_loop_says_how_often_it_turns(start: str, config: str, title: str) -> None:
    text = TEXT.replace("state = (s32[]) tuple(zero)", f"state = (s32[]) tuple({start})")
    text = text.replace("  zero = s32[]", "  n = s32[] parameter(2)\n  zero = s32[]")
    attribute = f", backend_config={config}" if config else ""
    module = parse(text.replace("body=loop", f"body=loop{attribute}"))
    assert ModuleGraph(module).title(named(module, "w")) == title


def test_kinds_of_computations(module: Module) -> None:
    graph = ModuleGraph(module)
    assert {one.name: graph.kind(one) for one in graph.computations} == {
        "sum": "applied",
        "body": "fusion",
        "dot_body": "fusion",
        "move": "fusion",
        "condition": "condition",
        "loop": "body",
        "e": "entry",
    }


def test_what_is_called_has_its_part(module: Module) -> None:
    parts = [(one.part, one.kind, one.is_inside) for one in called_by(named(module, "w"))]
    assert parts == [("condition", "condition", True), ("body", "body", True)]
    (applied,) = called_by(named(module, "r"))
    assert not applied.is_inside


def test_branches_are_numbered() -> None:
    branches = "".join(
        f"b{n} {{ p{n} = f32[2] parameter(0)\n ROOT r{n} = f32[2] negate(p{n}) }}\n"
        for n in range(2)
    )
    module = parse(
        f"HloModule m\n{branches}ENTRY e {{\n  i = s32[] parameter(0)\n  x = f32[2] parameter(1)\n"
        "  ROOT c = f32[2] conditional(i, x, x), branch_computations={b0, b1}\n}\n"
    )
    parts = [(one.part, one.kind) for one in called_by(named(module, "c"))]
    assert parts == [("branch 0", "branch"), ("branch 1", "branch")]


def test_a_caller_costs_what_is_inside(module: Module) -> None:
    graph = ModuleGraph(module)
    assert graph.cost(named(module, "g")).flops == 2 * 64**3 + 64**2
    # One turn: the comparison and the addition.
    assert graph.cost(named(module, "w")).flops == 2
    assert graph.cost(named(module, "zero")).bytes_accessed == 0


def test_constants_and_what_repeats_them_are_folded(module: Module) -> None:
    folded = [one.name for one in module.entry.instructions if is_folded(one)]
    assert folded == ["zero", "zeros", "small"]


def test_numbers_of_parts(module: Module) -> None:
    numbers = [part_number(named(module, name)) for name in ("y", "i", "f")]
    assert numbers == [1, 0, None]


def test_updates_in_place(module: Module) -> None:
    assert list(updated_in_place(named(module, "upd"))) == [0]
    assert not list(updated_in_place(named(module, "f")))
    fused = parse(
        "HloModule m\nbody { i = s32[] parameter(0)\n a = f32[8] parameter(1)\n"
        " u = f32[1] parameter(2)\n ROOT d = f32[8] dynamic-update-slice(a, u, i) }\n"
        "ENTRY e {\n  n = s32[] parameter(0)\n  x = f32[8] parameter(1)\n"
        "  v = f32[1] parameter(2)\n"
        "  ROOT f = f32[8] fusion(n, x, v), kind=kLoop, calls=body\n}\n"
    )
    assert list(updated_in_place(fused.entry.root)) == [1]


def test_every_instruction_knows_its_line(model_module: Path) -> None:
    module = parse(model_module.read_text())
    text = ModuleGraph(module).text
    assert text.text == print_module(module).rstrip("\n") + "\n"
    lines = text.text.split("\n")
    for computation in text.computations:
        for instruction in text.instructions[computation]:
            assert f"%{instruction.name} = " in lines[text.line[instruction]]


def test_what_sugar_hides_has_the_line_of_its_caller() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n"
        "  s = ((f32[4]), f32[4], s32[]) negate-start(x)\n  ROOT d = f32[4] negate-done(s)\n}\n"
    )
    text = ModuleGraph(module).text
    start = named(module, "s")
    inner = start.calls[0].root
    assert "negate-start" in text.text.split("\n")[text.line[start]]
    assert text.line[inner] == text.line[start.calls[0]] == text.line[start]
