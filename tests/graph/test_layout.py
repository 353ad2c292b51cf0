"""The layout of the page under node: what holds for all pictures, and what stands where."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hlotool.graph.page_data import page_data
from hlotool.text.parser import parse
from tests.conftest import ROOT, modules_below

ASSETS = ROOT / "hlotool" / "graph" / "assets"
SCRIPT = Path(__file__).with_name("run_layout.js")

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")

FUSED = """HloModule m
fused {
  p0 = f32[4] parameter(0)
  p1 = f32[4] parameter(1)
  two = f32[] constant(2)
  twos = f32[4] broadcast(two), dimensions={}
  scaled = f32[4] multiply(p1, twos)
  ROOT sum = f32[4] add(p0, scaled)
}
ENTRY main {
  x = f32[4] parameter(0), metadata={op_name="args[0]['weights']"}
  e = f32[4] exponential(x)
  n = f32[4] negate(x)
  f = f32[4] fusion(e, n), kind=kLoop, calls=fused
  ROOT square = f32[4] multiply(f, f)
}
"""

LOOP = """HloModule m
body {
  state = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8] get-tuple-element(state), index=1
  w = f32[8] get-tuple-element(state), index=2
  y = f32[8] multiply(x, w)
  ROOT out = (s32[], f32[8], f32[8]) tuple(next, y, w)
}
condition {
  state.1 = (s32[], f32[8], f32[8]) parameter(0)
  i.1 = s32[] get-tuple-element(state.1), index=0
  five = s32[] constant(5)
  ROOT less = pred[] compare(i.1, five), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  start = (s32[], f32[8], f32[8]) tuple(zero, a, b)
  loop = (s32[], f32[8], f32[8]) while(start), condition=condition, body=body
  result = f32[8] get-tuple-element(loop), index=1
  waits = f32[8] cosine(b), control-predecessors={loop}
  ROOT last = f32[8] add(result, waits)
}
"""


def run_node(*arguments: object) -> Any:
    """What the script writes."""
    command = ["node", str(SCRIPT), str(ASSETS), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def described(folder: Path, text: str, *views: dict[str, Any]) -> list[dict[str, Any]]:
    """What the pictures of views of a module show, one after the other in one layout engine."""
    file = folder / "module.json"
    file.write_text(json.dumps(page_data(parse(text))))
    found: list[dict[str, Any]] = run_node("describe", file, *map(json.dumps, views or ({},)))
    assert [one["findings"] for one in found] == [[]] * len(found)
    return found


def root_of(folder: Path, text: str, **view: Any) -> dict[str, Any]:
    graph: dict[str, Any] = described(folder, text, view)[0]["graphs"][0]
    return graph


def chain(count: int, *, layer: str = "") -> str:
    """A module of equal layers: each takes what the one before gives."""
    lines = ["HloModule m", "ENTRY main {", "  v0 = f32[4] parameter(0)"]
    ops = ["exponential", "negate", "tanh", "cosine", "sine", "abs", "sqrt"]
    for number in range(count):
        before = f"v{number}"
        for place, op in enumerate(ops):
            name = f"v{number + 1}" if place == len(ops) - 1 else f"{op}.{number}"
            lines.append(f"  {name} = f32[4] {op}({before})")
            before = name
        lines += [layer.format(number)] if layer else []
    return "\n".join([*lines, f"  ROOT end = f32[4] negate(v{count})", "}", ""])


def test_invariants_of_real_modules(corpus: Path, tmp_path: Path) -> None:
    cases = ROOT / "testdata" / "cases"
    paths = [path for path in modules_below(corpus) if path.suffix == ".hlo"]
    paths += [path for path in sorted(cases.glob("*.hlo")) if not path.name.startswith("error_")]
    files = []
    for number, path in enumerate(paths):
        # Folders have modules of the same name.
        files.append(tmp_path / f"{number}_{path.stem}.json")
        files[-1].write_text(json.dumps(page_data(parse(path.read_text()))))
    assert len(files) > 20
    assert run_node("documents", *files) == {}


def test_invariants_of_random_modules() -> None:
    assert run_node("random", 0, 40) == {}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(40, 640, 100))
def test_invariants_of_many_random_modules(first: int) -> None:
    assert run_node("random", first, first + 100) == {}


def test_broken_pictures_are_found_out(tmp_path: Path) -> None:
    layers = chain(4).replace(
        "ENTRY",
        "fused {\n  p = f32[4] parameter(0)\n  k = f32[] constant(3)"
        "\n  ks = f32[4] broadcast(k), dimensions={}\n"
        "  ROOT r = f32[4] add(p, ks)\n}\nENTRY",
        1,
    )
    wide = "\n".join(f"  w{n} = f32[4] sine(exponential.0)" for n in range(12))
    far = "  far = f32[4] add(w0, v4)\n  ROOT end = (f32[4], f32[4]) tuple(fused.1, far)"
    text = layers.replace("  negate.0 =", f"{wide}\n  negate.0 =", 1).replace(
        "  ROOT end = f32[4] negate(v4)",
        "  fused.1 = f32[4] fusion(v4), kind=kLoop, calls=fused\n" + far,
    )  # fmt: skip
    file = tmp_path / "module.json"
    file.write_text(json.dumps(page_data(parse(text))))
    found = run_node("mutants", file)
    assert len(found) >= 12
    assert [name for name, findings in found.items() if not findings] == []


def test_constants_and_arguments_are_chips(tmp_path: Path) -> None:
    graph = root_of(tmp_path, FUSED)
    assert "x" not in graph["boxes"]
    assert graph["boxes"]["e"]["rows"] == ["args.0.weights f32[4]"]
    inside = described(tmp_path, FUSED, {"open": ["main/f"]})[0]["graphs"][1]
    assert inside["boxes"]["scaled"]["rows"] == ["2"]
    assert {"two", "twos"}.isdisjoint(inside["boxes"])


def test_an_open_fusion_has_its_operands_above_its_parameters(tmp_path: Path) -> None:
    outer, inner = described(tmp_path, FUSED, {"open": ["main/f"]})[0]["graphs"]
    assert "OPEN" in outer["boxes"]["f"]["flags"]
    assert [inner["boxes"][name]["title"] for name in ("p0", "p1")] == ["e", "n"]
    assert inner["boxes"]["p0"]["y"] == inner["boxes"]["p1"]["y"]
    assert {"PILL", "INPUT"} <= set(inner["boxes"]["p0"]["flags"])
    assert "ROOT" in inner["boxes"]["sum"]["flags"]


@pytest.mark.parametrize(("inputs", "pills"), [(12, 12), (13, 0)])
def test_many_parameters_are_chips(tmp_path: Path, inputs: int, pills: int) -> None:
    parameters = "\n".join(f"  p{n} = f32[4] parameter({n})" for n in range(inputs))
    taken = ", ".join(f"p{n}" for n in range(inputs))
    values = "\n".join(f"  v{n} = f32[4] sine(x)" for n in range(inputs))
    handed = ", ".join(f"v{n}" for n in range(inputs))
    text = (
        f"HloModule m\nfused {{\n{parameters}\n"
        f"  ROOT all = f32[{4 * inputs}] concatenate({taken}), dimensions={{0}}\n}}\n"
        f"ENTRY main {{\n  x = f32[4] parameter(0)\n{values}\n"
        f"  ROOT f = f32[{4 * inputs}] fusion({handed}), kind=kLoop, calls=fused\n}}\n"
    )
    boxes = described(tmp_path, text, {"open": ["main/f"]})[0]["graphs"][1]["boxes"]
    assert sum("INPUT" in box["flags"] for box in boxes.values()) == pills
    assert boxes["all"]["rows"][:1] == ([] if pills else ["v0 f32[4]"])


def test_what_hangs_on_a_user_stands_above_it(tmp_path: Path) -> None:
    text = chain(1).replace(
        "  ROOT end = f32[4] negate(v1)",
        "  w = f32[4] parameter(1)\n  half = f32[4] floor(w)\n  whole = f32[4] ceil(half)\n"
        "  ROOT end = f32[4] add(v1, whole)",
    )
    boxes = root_of(tmp_path, text)["boxes"]
    assert boxes["whole"]["y"] == boxes["v1"]["y"]
    assert boxes["half"]["y"] == boxes["abs.0"]["y"]


def test_pills_say_what_is_handed_in(tmp_path: Path) -> None:
    text = LOOP.replace("  y = f32[8] multiply(x, w)", "  k = f32[8] constant({1,2,3,4,5,6,7,8})\n"
                        "  y = f32[8] fusion(x, k), kind=kLoop, calls=fused")  # fmt: skip
    fused = "fused {\n  q0 = f32[8] parameter(0)\n  q1 = f32[8] parameter(1)\n"
    fused += "  ROOT sum = f32[8] add(q0, q1)\n}\n"
    text = text.replace("body {", f"{fused}body {{", 1)
    view = {"open": ["main/loop", "main/loop/body/y"]}
    boxes = described(tmp_path, text, view)[0]["graphs"][3]["boxes"]
    assert boxes["q0"]["title"] == "#1 of state"
    assert boxes["q1"]["title"] == "{1, 2, 3, 4, 5, 6, 7, 8}"


def test_equal_operands_have_a_line_each(tmp_path: Path) -> None:
    lines = root_of(tmp_path, FUSED)["lines"]
    assert [line for line in lines if line[1] == "square"] == [
        ["f", "square", 0, "data", ""], ["f", "square", 1, "data", ""]
    ]  # fmt: skip


def test_a_loop_shows_its_state_as_chips(tmp_path: Path) -> None:
    outer, condition, body = described(tmp_path, LOOP, {"open": ["main/loop"]})[0]["graphs"]
    assert [condition["path"], body["path"]] == ["main/loop/condition", "main/loop/body"]
    assert condition["boxes"]["less"]["rows"] == ["#0 of state s32[]", "5"]
    assert body["boxes"]["y"]["rows"] == ["#1 of state f32[8]", "#2 of state f32[8]"]
    assert body["boxes"]["out"]["rows"] == ["1 unchanged"]
    assert outer["boxes"]["start"]["rows"] == ["#0 ← 0", "#1 ← a f32[8]", "#2 ← b f32[8]"]


def test_elements_are_labels_and_control_is_its_own_kind(tmp_path: Path) -> None:
    graph = root_of(tmp_path, LOOP)
    assert "result" not in graph["boxes"]
    assert ["loop", "last", 0, "data", "#1"] in graph["lines"]
    assert ["loop", "waits", -1, "control", ""] in graph["lines"]


def test_long_edges_are_portals(tmp_path: Path) -> None:
    text = chain(3).replace("ROOT end = f32[4] negate(v3)", "ROOT end = f32[4] add(v3, tanh.0)")
    graph = root_of(tmp_path, text)
    assert graph["portals"] == [["tanh.0", "end", 1]]
    assert graph["boxes"]["end"]["rows"] == ["▴ tanh.0"]


def test_the_far_users_of_a_wide_fan_are_portals(tmp_path: Path) -> None:
    near = "\n".join(f"  near{n} = f32[4] sine(v0)" for n in range(9))
    text = chain(1).replace(
        "v0 = f32[4] parameter(0)", "p = f32[4] parameter(0)\n  v0 = f32[4] abs(p)"
    )
    text = text.replace(
        "  ROOT end = f32[4] negate(v1)", f"{near}\n  ROOT end = f32[4] add(v1, v0)"
    )
    assert root_of(tmp_path, text)["portals"] == [["v0", "end", 1]]


def test_equal_stages_share_one_geometry(tmp_path: Path) -> None:
    stages = root_of(tmp_path, chain(40))["stages"]
    kinds = [stage["kind"] for stage in stages]
    assert len(stages) > 40
    assert len({stage["geometry"] for stage in stages}) == len(set(kinds)) < 14
    overview = described(tmp_path, chain(40), {})[0]["overview"]
    assert max(row["count"] for row in overview["rows"]) >= 5
    assert sum(row["count"] * len(row["cards"]) for row in overview["rows"]) == len(stages)


def test_a_fold_stands_for_its_stages(tmp_path: Path) -> None:
    whole, folded = described(
        tmp_path, chain(6), {}, {"folded": [["0", 1, 3]], "find": ["main/tanh.2", "main/tanh.0"]}
    )
    stages = folded["graphs"][0]["stages"]
    assert [(one["number"], one["last"], one["folded"]) for one in stages[:3]] == [
        (0, 0, False), (1, 3, True), (4, 4, False)
    ]  # fmt: skip
    assert folded["graphs"][0]["height"] < whole["graphs"][0]["height"]
    assert folded["found"] == [
        {"path": None, "exact": False}, {"path": "main/tanh.0", "exact": True}
    ]  # fmt: skip


def test_opening_leaves_other_graphs_as_they_are(tmp_path: Path) -> None:
    text = FUSED.replace(
        "ROOT square = f32[4] multiply(f, f)",
        "g = f32[4] fusion(f, n), kind=kLoop, calls=fused\n  ROOT square = f32[4] multiply(g, f)",
    )
    views = [{"open": ["main/f"]}, {"open": ["main/f", "main/g"]}, {"open": ["main/f"]}]
    one, both, again = (found["graphs"] for found in described(tmp_path, text, *views))
    assert again == one
    assert [graph["path"] for graph in both] == ["main", "main/f/calls", "main/g/calls"]
    assert both[1]["id"] == one[1]["id"]
    assert both[0]["id"] != one[0]["id"]
    assert both[2]["boxes"]["p0"]["title"] == "f"


def test_what_is_left_out_is_behind_portals(tmp_path: Path) -> None:
    graph = root_of(tmp_path, FUSED, only=["e", "f"])
    assert set(graph["boxes"]) == {"e", "f"}
    assert graph["portals"] == [["n", "f", 1]]


def test_a_body_can_be_shown_alone(tmp_path: Path) -> None:
    graph = root_of(tmp_path, FUSED, root="main/f/calls")
    assert graph["boxes"]["p0"]["title"] == "e"
    assert root_of(tmp_path, FUSED, root="fused")["boxes"]["p0"]["title"] == "p0"


def test_what_has_no_box_is_found_at_what_shows_it(tmp_path: Path) -> None:
    paths = ["main/f/calls/scaled", "main/x", "main/f"]
    found = described(tmp_path, FUSED, {"find": paths})[0]["found"]
    assert found == [
        {"path": "main/f", "exact": False}, {"path": "main/e", "exact": False},
        {"path": "main/f", "exact": True},
    ]  # fmt: skip


def test_search_by_words_fields_and_expressions(tmp_path: Path) -> None:
    queries = ["op:multiply", "MULT", "/^f$/", "shape:f32[] constant", "op:add p0", ""]
    found = described(tmp_path, FUSED, {"search": queries})[0]["searched"]
    assert found == [
        ["scaled", "square"], ["scaled", "f", "square"], ["f"], ["two"], [], []
    ]  # fmt: skip


def test_layouts_come_from_a_worker_or_from_the_page(tmp_path: Path) -> None:
    file = tmp_path / "module.json"
    file.write_text(json.dumps(page_data(parse(chain(30)))))
    found = run_node("asking", file)
    cancelled = "Cancelled: the layout was cancelled"
    assert [found[name]["kind"] for name in ("page", "worker", "bytes", "broken")] == [
        "page", "worker", "worker", "page"
    ]  # fmt: skip
    garbled = found.pop("garbled")
    assert garbled[0].startswith(("Error: ", "TypeError: "))
    for one in found.values():
        wrong = "Error: no computation in path 99"
        assert one["endings"] == [cancelled, "done", cancelled, wrong]
        assert one["findings"] == []
        assert one["text"] == found["page"]["text"]
