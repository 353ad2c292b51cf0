import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from hlotool.graph.model import ModuleGraph
from hlotool.graph.page_data import page_data
from hlotool.graph.page_tables import MOST_VALUE_CHARACTERS
from hlotool.text.parser import parse
from tests.conftest import MODELS

FRAMES = """HloModule m

FileNames
1 "/home/a/train.py"
2 "/home/a/layers.py"

FunctionNames
1 "main"
2 "forward"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 end_column=2}
2 {file_name_id=2 function_name_id=2 line=20 end_line=20 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


ENTRY e {
  x = f32[4] parameter(0), sharding={replicated}
  y = f32[4] negate(x), metadata={op_name="jit(f)/layer/neg" stack_frame_id=2}
  ROOT z = f32[4] negate(y), metadata={op_name="jit(f)/neg" source_file="/b/c.py" source_line=7}
}
"""


def column(document: dict[str, Any], name: str) -> list[str]:
    strings = [*document["strings"], ""]
    return [strings[number] for number in document["computations"][-1][name]]


def overlay(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in document["overlays"] if one["name"] == name)


def test_columns_say_what_the_module_says(model_module: Path) -> None:
    module = parse(model_module.read_text())
    document = json.loads(json.dumps(page_data(module), allow_nan=False))
    strings, lines = document["strings"], document["text"].split("\n")
    graph = ModuleGraph(module)
    assert len(document["computations"]) == len(graph.computations)
    start = 0
    for computation, found in zip(graph.computations, document["computations"], strict=True):
        start += found["line"]
        order = graph.instructions(computation)
        names = [strings[number] for number in accumulate(found["names"])]
        assert strings[found["name"]] == computation.name
        assert computation.name in lines[start]
        assert names == [one.name for one in order]
        assert order[found["root"]] is computation.root
        for name, line in zip(names, accumulate(found["lines"]), strict=True):
            assert f"%{name} = " in lines[start + line]
        ops = [document["ops"][number] for number in found["op"]]
        assert [op["opcode"] for op in ops] == [one.opcode for one in order]
        categories = [document["categories"][op["category"]] for op in ops]
        assert categories == [graph.category(one).value for one in order]
        shapes = [document["shapes"][number]["text"] for number in found["shape"]]
        assert shapes == [one.shape.text for one in order]
        ends = list(accumulate(found["ends"]))
        starts = [0, *ends]
        for number, one in enumerate(order):
            distances = found["operands"][starts[number] : ends[number]]
            assert [order[number - distance] for distance in distances] == list(one.operands)
        called = [
            (order[i], graph.computations[c])
            for i, c, _ in zip(*[iter(found["calls"])] * 3, strict=True)
        ]
        assert called == [(one, body) for one in order for body in one.calls]


def test_metadata_becomes_scope_source_and_frames() -> None:
    document = page_data(parse(FRAMES))
    assert column(document, "scope") == ["", "jit(f)/layer/neg", "jit(f)/neg"]
    assert column(document, "source") == ["", "layers.py:20", "c.py:7"]
    assert column(document, "sharding") == ["{replicated}", "", ""]
    strings = document["strings"]
    assert document["computations"][0]["frames"] == [-1, 0, -1]
    assert [[strings[frame] for frame in stack] for stack in document["stacks"]] == [
        ["/home/a/layers.py:20 forward", "/home/a/train.py:10 main"]
    ]


def test_overlays_of_a_small_module() -> None:
    document = page_data(parse(FRAMES))
    # Parameters stay to the end, and z takes the place of y.
    assert overlay(document, "live memory")["values"] == [[16, 32, 32]]
    assert overlay(document, "flops") == {
        "name": "flops", "label": "flops and transcendentals",
        "unit": "flop", "kind": "sequential", "sum": "sum",
        "values": [[None, 4, 4]],
    }  # fmt: skip
    assert overlay(document, "output bytes")["values"] == [[16, 16, 16]]
    assert overlay(document, "bytes")["values"] == [[None, 32, 32]]
    assert overlay(document, "intensity")["values"] == [[None, 0.125, 0.125]]
    strings = document["strings"]
    scopes = overlay(document, "source scope")["values"][0]
    assert [strings[number] for number in scopes[1:]] == ["jit(f)/layer", "jit(f)"]
    assert scopes[0] == -1
    (sharding,) = overlay(document, "sharding")["values"]
    assert strings[sharding[0]] == "{replicated}"


def test_what_lives_at_the_peak_is_in_the_data() -> None:
    document = page_data(parse(FRAMES))
    # z takes the place of y; both are there while they are computed from x.
    assert overlay(document, "live memory")["peak"] == {
        "at": [0, 1], "bytes": 32, "count": 2, "values": [0, 1, 16, 0, 0, 16],
    }  # fmt: skip
    assert "peak" not in overlay(document, "bytes")


def test_of_many_values_at_the_peak_the_largest_are_in_the_data() -> None:
    count = 70
    lines = [f"  x{n} = f32[{n + 1}] parameter({n})" for n in range(count)]
    shapes = ", ".join(f"f32[{n + 1}]" for n in range(count))
    values = ", ".join(f"x{n}" for n in range(count))
    lines += [f"  ROOT t = ({shapes}) tuple({values})"]
    document = page_data(parse("HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}\n"))
    live = next(one for one in document["overlays"] if one["name"].startswith("live memory"))
    found = live["peak"]
    assert found["count"] >= count
    assert len(found["values"]) == 3 * 60
    assert found["values"][2::3] == sorted(found["values"][2::3], reverse=True)


def test_overlays_without_a_value_are_left_out() -> None:
    document = page_data(parse("HloModule m\nENTRY e {\n  ROOT x = f32[4] parameter(0)\n}\n"))
    assert [one["name"] for one in document["overlays"]] == [
        "output bytes", "live memory", "buffer",
    ]  # fmt: skip


def test_statistics_of_a_profile_are_an_overlay() -> None:
    document = page_data(
        parse(
            "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x),"
            " statistics={visualizing_index=0,microseconds=12.5}\n}\n"
        )
    )
    assert overlay(document, "microseconds")["values"] == [[None, 12.5]]


@pytest.mark.parametrize(
    ("data", "kind", "values"),
    [
        ({"x": 1, "z": 2.5}, "sequential", [1, None, 2.5]),
        ({"y": -1.5}, "diverging", [None, -1.5, None]),
    ],
)
def test_given_numbers(data: dict[str, float], kind: str, values: list[float | None]) -> None:
    found = overlay(page_data(parse(FRAMES), {"mine": data}), "mine")
    assert (found["kind"], found["values"]) == (kind, [values])


def test_given_words() -> None:
    document = page_data(parse(FRAMES), {"mine": {"x": "a", "y": 2}})
    found = overlay(document, "mine")
    strings = document["strings"]
    assert found["kind"] == "categorical"
    assert [strings[n] if n >= 0 else None for n in found["values"][0]] == ["a", "2", None]


def test_long_constants_are_cut() -> None:
    text = ", ".join(["1.2345678"] * 10)
    document = page_data(
        parse(f"HloModule m\nENTRY e {{\n  ROOT c = f32[10] constant({{{text}}})\n}}\n")
    )
    (value,) = column(document, "value")
    assert value.startswith("{1.2345")
    assert value.endswith("…")
    assert len(value) == MOST_VALUE_CHARACTERS + 1


def test_tuples_know_their_parts() -> None:
    document = page_data(
        parse("HloModule m\nENTRY e {\n  ROOT p = (f32[4], (s32[], token[])) parameter(0)\n}\n")
    )
    shapes = document["shapes"]
    whole = shapes[document["computations"][0]["shape"][0]]
    first, second = (shapes[number] for number in whole["tuple"])
    assert (whole["bytes"], first["plain"], first["scalar"]) == (20, "f32[4]", 0)
    inner = [shapes[number] for number in second["tuple"]]
    assert [(one["plain"], one["bytes"], one["scalar"]) for one in inner] == [
        ("s32[]", 4, 1), ("token[]", 0, 0),
    ]  # fmt: skip


def test_control_edges_and_updates_in_place() -> None:
    document = page_data(
        parse(
            "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  u = f32[1] parameter(1)\n"
            "  i = s32[] parameter(2)\n  n = f32[1] negate(u)\n"
            "  ROOT d = f32[8] dynamic-update-slice(x, u, i), control-predecessors={n}\n}\n"
        )
    )
    (found,) = document["computations"]
    names = [document["strings"][number] for number in accumulate(found["names"])]
    assert [names[number] for number in found["control"]] == ["d", "n"]
    instruction, position = found["alias"]
    assert (names[instruction], position) == ("d", 0)


def test_memory_that_cannot_be_assigned_is_estimated() -> None:
    # Two callers of one computation: buffers would have to be in two places.
    document = page_data(
        parse(
            "HloModule m\nf { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }\n"
            "ENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[4] call(x), to_apply=f\n"
            "  b = f32[4] call(a), to_apply=f\n  ROOT c = f32[4] negate(b)\n}\n"
        )
    )
    names = [one["name"] for one in document["overlays"]]
    assert "live memory (estimate)" in names
    assert "buffer" not in names
    assert overlay(document, "live memory (estimate)")["values"][1] == [16, 16, 16, 32]


def test_estimates_free_values_behind_their_last_use() -> None:
    module = parse(
        "HloModule m\nf { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }\n"
        "ENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[4] negate(x)\n"
        "  b = f32[4] negate(a)\n  c = f32[4] call(b), to_apply=f\n"
        "  d = f32[4] call(c), to_apply=f\n  ROOT r = f32[4] negate(d)\n}\n"
    )
    found = overlay(page_data(module), "live memory (estimate)")
    assert found["values"][1] == [16, 32, 48, 32, 16, 32]
    assert found["peak"] == {
        "at": [1, 2], "bytes": 48, "count": 3, "values": [1, 0, 16, 1, 1, 16, 1, 2, 16],
    }  # fmt: skip


def test_a_real_module_has_all_overlays() -> None:
    document = page_data(parse((MODELS / "jax" / "attention.opt.hlo").read_text()))
    assert [one["name"] for one in document["overlays"]] == [
        "bytes", "output bytes", "flops", "intensity", "live memory", "buffer", "source scope",
    ]  # fmt: skip
