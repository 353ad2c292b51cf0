import re
from pathlib import Path

import graphviz
import pytest

from hlotool.graph.dot import module_dot
from hlotool.text.parser import parse

FUSED = """HloModule m
body { p = f32[4] parameter(0)
 c = f32[] constant(2)
 b = f32[4] broadcast(c), dimensions={}
 ROOT r = f32[4] multiply(p, b) }
ENTRY e {
  x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=body
  ROOT n = f32[4] negate(f)
}
"""


def test_a_fusion_is_a_box_around_its_body() -> None:
    text = module_dot(parse(FUSED), "a title")
    assert "a title" in text
    assert "subgraph cluster" in text
    nodes = [line for line in text.splitlines() if "tooltip=" in line]
    # The parameter of the body is the argument, and the constant a line in its user.
    assert [line.split("tooltip=")[1].rstrip("]") for line in nodes] == ["x", "b", "r", "n"]
    assert "operand 0 = f32[] 2" in text
    edges = [line.split("[")[0].strip() for line in text.splitlines() if "->" in line]
    assert sorted(edges) == ["n0 -> n3", "n2 -> n3", "n3 -> n4"]


def test_a_body_that_two_fusions_call_is_drawn_twice() -> None:
    text = module_dot(
        parse(
            "HloModule m\nbody { p = f32[4] parameter(0)\n ROOT r = f32[4] negate(p) }\n"
            "ENTRY e {\n  x = f32[4] parameter(0)\n  f = f32[4] fusion(x), kind=kLoop, calls=body\n"
            "  ROOT g = f32[4] fusion(f), kind=kLoop, calls=body\n}\n"
        )
    )
    edges = [line.split("[")[0].strip() for line in text.splitlines() if "->" in line]
    assert edges == ["n0 -> n2", "n2 -> n4"]


def test_names_and_strings_of_a_module_are_escaped() -> None:
    text = module_dot(
        parse(
            "HloModule m\nENTRY e {\n  ROOT c = f32[4] custom-call(),"
            ' custom_call_target="a\\"];evil[label=<b>x</b>"\n}\n'
        )
    )
    outside = re.sub(r'"[^"]*"', "", re.sub(r"\\.", "", text))
    assert "evil" in text
    assert "evil" not in outside


def test_a_fusion_that_yields_its_parameter_is_drawn() -> None:
    text = module_dot(
        parse(
            "HloModule m\nbody { ROOT p = f32[4] parameter(0) }\n"
            "ENTRY e {\n  x = f32[4] parameter(0)\n"
            "  ROOT f = f32[4] fusion(x), kind=kLoop, calls=body\n}\n"
        )
    )
    assert "tooltip=x" in text


def test_every_real_module_is_drawn(model_module: Path) -> None:
    text = module_dot(parse(model_module.read_text()))
    assert text.startswith("digraph")
    assert text.rstrip().endswith("}")


def test_graphviz_takes_it() -> None:
    try:
        picture = graphviz.Source(module_dot(parse(FUSED))).pipe(format="svg")
    except graphviz.ExecutableNotFound:
        pytest.skip("the program dot is not installed")
    assert b"<svg" in picture
