import re
import stat
from pathlib import Path

import pytest

from hlotool.errors import UnsupportedError, UsageError
from hlotool.graph.colours import colours
from hlotool.graph.dot import graph_dot, module_dot
from hlotool.graph.model import ModuleGraph
from hlotool.graph.palette import LIGHT
from hlotool.graph.rendering import rendered
from hlotool.graph.selection import Choice, selected
from hlotool.ir.appearance import Category
from hlotool.ir.module import Module
from hlotool.text.parser import parse

FUSED = """HloModule m
body { p = f32[4] parameter(0)
 c = f32[] constant(2)
 s = f32[4] sine(p)
 b = f32[4] broadcast(c), dimensions={}
 ROOT r = f32[4] multiply(s, b) }
ENTRY e {
  x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=body
  ROOT n = f32[4] negate(f)
}
"""
LOOP = """HloModule m
condition { c = (s32[]) parameter(0)
 i = s32[] get-tuple-element(c), index=0
 k = s32[] constant(8)
 ROOT l = pred[] compare(i, k), direction=LT }
body { c2 = (s32[]) parameter(0)
 i2 = s32[] get-tuple-element(c2), index=0
 one = s32[] constant(1)
 j = s32[] add(i2, one)
 ROOT out = (s32[]) tuple(j) }
ENTRY e {
  state = (s32[]) parameter(0)
  ROOT w = (s32[]) while(state), condition=condition, body=body
}
"""
BRANCHES = """HloModule m
b0 { p = f32[2] parameter(0)
 ROOT n = f32[2] negate(p) }
b1 { q = f32[2] parameter(0)
 ROOT a = f32[2] abs(q) }
ENTRY e {
  i = s32[] parameter(0)
  x = f32[2] parameter(1)
  y = f32[2] parameter(2)
  ROOT c = f32[2] conditional(i, x, y), branch_computations={b0, b1}
}
"""


class Drawn:
    """The nodes and edges of a dot text by the names of instructions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes: dict[str, str] = {}
        for name, rest in re.findall(r"^\s*(n\d+) (\[.*)$", text, re.MULTILINE):
            tooltip = re.search(r'tooltip="?([^\s"\\\]]+)', rest)
            assert tooltip is not None
            self.nodes[name] = tooltip[1]
        self.lines: dict[str, str] = dict(re.findall(r"^\s*(n\d+) (\[.*)$", text, re.MULTILINE))
        found = re.findall(r"^\s*(n\d+) -> (n\d+) (.*)$", text, re.MULTILINE)
        self.edges = sorted((self.nodes[a], self.nodes[b]) for a, b, _ in found)
        self.labels = {(self.nodes[a], self.nodes[b]): rest for a, b, rest in found}

    @property
    def names(self) -> list[str]:
        return list(self.nodes.values())

    def line(self, name: str) -> str:
        (line,) = (self.lines[node] for node, one in self.nodes.items() if one == name)
        return line


def drawn(text: str, **choice: object) -> Drawn:
    return Drawn(module_dot(parse(text), "", Choice(**choice)))  # type: ignore[arg-type]  # by name


def test_a_fusion_is_a_box_around_its_body() -> None:
    found = Drawn(module_dot(parse(FUSED), "a title"))
    assert "a title" in found.text
    assert found.text.count("subgraph cluster") == 1
    # The parameter of the body is the argument, and the constants are lines in their user.
    assert found.names == ["x", "s", "r", "n"]
    assert "operand 1 = f32[] 2" in found.line("r")
    assert found.edges == [("r", "n"), ("s", "r"), ("x", "s")]
    assert "0: f32[4]" in found.labels["s", "r"]
    assert ": " not in found.labels["x", "s"]


def test_at_the_top_level_fusions_are_closed() -> None:
    found = drawn(FUSED, top_level=True)
    assert "subgraph" not in found.text
    assert found.names == ["x", "f", "n"]
    assert "peripheries=2" in found.line("f")
    assert "calls=body" in found.line("f")


def test_a_body_that_two_fusions_call_is_drawn_twice() -> None:
    found = drawn(
        "HloModule m\nbody { p = f32[4] parameter(0)\n ROOT r = f32[4] negate(p) }\n"
        "ENTRY e {\n  x = f32[4] parameter(0)\n  f = f32[4] fusion(x), kind=kLoop, calls=body\n"
        "  ROOT g = f32[4] fusion(f), kind=kLoop, calls=body\n}\n"
    )
    assert found.edges == [("r", "r"), ("x", "r")]
    assert len(found.nodes) == 3


def test_a_loop_has_both_its_bodies_inside() -> None:
    found = drawn(LOOP)
    assert found.text.count("subgraph cluster") == 3
    assert "condition: condition" in found.text
    assert "body: body" in found.text
    assert {("state", "c"), ("state", "c2"), ("l", "w"), ("out", "w")} <= set(found.edges)
    # The boxes around say it already.
    assert "body=body" not in found.line("w")


def test_a_loop_says_how_often_it_turns() -> None:
    assert 'label="while  w"' in drawn(LOOP).text
    noted = LOOP.replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"5"}}')
    assert 'label="while \N{MULTIPLICATION SIGN}5  w"' in drawn(noted).text


def test_each_branch_takes_its_own_operand() -> None:
    found = drawn(BRANCHES)
    assert found.edges == [
        ("a", "c"), ("i", "c"), ("n", "c"), ("p", "n"), ("q", "a"), ("x", "p"), ("y", "q"),
    ]  # fmt: skip


def test_a_constant_that_a_fusion_takes_stands_in_the_user_inside() -> None:
    found = drawn(
        "HloModule m\nbody { p = f32[] parameter(0)\n q = f32[4] parameter(1)\n"
        " b = f32[4] broadcast(p), dimensions={}\n ROOT r = f32[4] add(q, b) }\n"
        "ENTRY e {\n  x = f32[4] parameter(0)\n  k = f32[] constant(7)\n"
        "  ROOT f = f32[4] fusion(k, x), kind=kLoop, calls=body\n}\n"
    )
    assert found.names == ["x", "b", "r"]
    assert "operand 0 = f32[] 7" in found.line("b")


def test_names_and_strings_of_a_module_are_escaped() -> None:
    text = module_dot(
        parse(
            "HloModule m\nENTRY e {\n  ROOT c = f32[4] custom-call(),"
            ' custom_call_target="a\\"];evil[label=<b>x</b>"\n}\n'
        ),
        "<b>title</b> & \x07",
    )
    outside = re.sub(r'"[^"]*"', "", re.sub(r"\\.", "", text))
    assert "evil" in text
    assert "evil" not in outside
    assert "&lt;b&gt;title&lt;/b&gt; &amp; \N{REPLACEMENT CHARACTER}" in text


def test_a_fusion_that_yields_its_parameter_is_drawn() -> None:
    found = drawn(
        "HloModule m\nbody { ROOT p = f32[4] parameter(0) }\n"
        "ENTRY e {\n  x = f32[4] parameter(0)\n"
        "  ROOT f = f32[4] fusion(x), kind=kLoop, calls=body\n}\n"
    )
    assert found.names == ["x"]


def test_no_label_of_an_instruction_is_html(nasty: Module) -> None:
    text = module_dot(nasty)
    assert [rest[:6] for rest in text.split("label=<")[1:]] == ["<table"]
    assert "tooltip=<" not in text


def test_control_edges_are_dotted() -> None:
    text = (
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] negate(x)\n"
        "  ROOT z = f32[4] abs(x), control-predecessors={y}\n}\n"
    )
    found = drawn(text)
    assert "style=dotted" in found.labels["y", "z"]
    assert "style=dotted" not in found.labels["x", "z"]


def test_what_is_named_and_what_is_cut_off_can_be_seen() -> None:
    found = drawn(FUSED, around="n", radius=0)
    assert found.names == ["n"]
    assert "dashed" in found.line("n")
    assert LIGHT.named["operand"] in found.line("n")
    assert "dashed" not in drawn(FUSED).line("n")


def test_of_too_many_nodes_fusions_are_closed_first() -> None:
    assert drawn(FUSED, most_nodes=4).names == ["x", "f", "n"]
    found = drawn(FUSED, most_nodes=2)
    assert found.names == ["x", "f"]
    assert "… 1 more" in found.text
    assert drawn(FUSED, most_nodes=6).names == ["x", "s", "r", "n"]


def test_colours_are_those_of_categories_and_are_explained() -> None:
    found = drawn(FUSED)
    tint = LIGHT.tints[Category.ELEMENTWISE]
    assert tint.fill in found.line("s")
    heading = found.text[found.text.index("label=<") :]
    assert "elementwise" in heading
    assert "collectives" not in heading


def test_colours_by_sharding() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0), sharding={replicated}\n"
        "  y = f32[4] negate(x), sharding={maximal device=1}\n"
        "  z = f32[4] negate(y), sharding={replicated}\n  ROOT w = f32[4] abs(z)\n}\n"
    )
    graph = ModuleGraph(module)
    choice = Choice()
    found = Drawn(
        graph_dot(graph, selected(graph, choice), choice, colours(graph, "sharding"), "t")
    )
    fills = {name: re.findall(r'fillcolor="(#\w+)"', found.line(name)) for name in "xyzw"}
    assert fills["x"] == fills["z"]
    assert len({tuple(fill) for fill in fills.values()}) == 3
    for words in ("{replicated}", "{maximal device=1}", "no sharding"):
        assert words in found.text


def test_every_real_module_is_drawn(model_module: Path) -> None:
    module = parse(model_module.read_text())
    text = module_dot(module)
    assert text.startswith("digraph")
    assert text.rstrip().endswith("}")
    assert Drawn(text).nodes


def test_many_edges_between_two_boxes_are_few() -> None:
    operands = ", ".join(["x"] * 9 + ["k"] * 20)
    text = module_dot(
        parse("HloModule m\nENTRY e {\n  x = f32[1] parameter(0)\n  k = f32[1] constant({7})\n"
              f"  ROOT r = f32[29] concatenate({operands}), dimensions={{0}}\n}}\n")
    )  # fmt: skip
    assert text.count(" -> ") == 5
    assert "5 more: f32[1]" in text
    assert "operand 20 = f32[1]" in text
    assert "operand 21 = " not in text
    assert "8 more such operands" in text


def test_a_large_graph_is_drawn_so_that_it_takes_little_time() -> None:
    chain = "\n".join(f"  x{n + 1} = f32[4] negate(x{n})" for n in range(160))
    text = module_dot(
        parse(f"HloModule m\nENTRY e {{\n  x0 = f32[4] parameter(0)\n{chain}\n"
              "  ROOT r = f32[4] abs(x160)\n}\n")
    )  # fmt: skip
    assert "nslimit" in text
    assert "nslimit" not in module_dot(parse(FUSED))
    assert 'tooltip="f32[4]"' in text
    assert 'label="  f32[4]"' not in text


def test_graphviz_takes_it(nasty: Module) -> None:
    for module in (parse(FUSED), parse(LOOP), parse(BRANCHES), nasty):
        try:
            picture = rendered(module_dot(module), "svg")
        except UsageError:
            pytest.skip("the program dot is not installed")
        assert b"<svg" in picture


@pytest.fixture(name="nasty")
def _nasty() -> Module:
    module = parse(FUSED)
    module.name = '</svg>"<b>\\N & \x00\u2028\u202e'
    for instruction in module.instructions():
        instruction.name = f'<"]<i>\\G\x01\n\u202e{instruction.name}>'
        metadata = instruction.annotations.metadata.replace(op_name="<lambda>")
        instruction.annotations = instruction.annotations.replace(metadata=metadata)
    return module


def test_without_graphviz_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError) as error:
        rendered(module_dot(parse(FUSED)), "svg")
    assert error.value.message == "svg needs the program dot, which is missing"
    assert "apt install graphviz" in error.value.notes[0]


def test_what_graphviz_says_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho 'Error: too hard' >&2\nexit 3\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(UnsupportedError) as error:
        rendered("digraph {}", "svg")
    assert error.value.message == "the program dot has failed: Error: too hard"
