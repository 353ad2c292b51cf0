"""Calls and maps that become what they call, and computations of one caller each."""

from collections import Counter

import numpy as np
import pytest

from hlotool.ir.sharding import ArraySharding
from hlotool.passes.cleaning.computation_deduplicator import ComputationDeduplicator
from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier
from hlotool.passes.control.call_inliner import CallInliner
from hlotool.passes.control.flatten_call_graph import FlattenCallGraph
from hlotool.passes.control.map_inline import MapInline
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed

NESTED = """HloModule m
inner { x = f32[2] parameter(0)
 ROOT r = f32[2] custom-call(x), custom_call_target="Sharding", backend_config="kept" }
outer { x = f32[2] parameter(0)
 y = f32[2] call(x), to_apply=inner
 ROOT r = f32[2] add(x, y) }
id { ROOT x = f32[2] parameter(0) }
ENTRY e { x = f32[2] parameter(0)
 a = f32[2] call(x), to_apply=outer
 b = f32[2] call(a), to_apply=outer
 ROOT c = f32[2] call(b), to_apply=id }
"""


def doubling(levels: int) -> str:
    """Returns a module whose calls double at every level."""
    lines = ["HloModule m", "level0 { x = f32[] parameter(0)", " ROOT r = f32[] negate(x) }"]
    for level in range(1, levels + 1):
        lines += [
            f"level{level} {{ x = f32[] parameter(0)",
            f" a = f32[] call(x), to_apply=level{level - 1}",
            f" ROOT r = f32[] call(a), to_apply=level{level - 1} }}",
        ]
    lines += [
        "ENTRY e { x = f32[] parameter(0)",
        f" ROOT r = f32[] call(x), to_apply=level{levels} }}",
    ]
    return "\n".join(lines)


def test_calls_become_what_they_call() -> None:
    module = passed(NESTED, CallInliner())
    assert opcodes(module) == ["custom-call", "add", "custom-call", "add"]
    assert len(module.computations) == 1
    call = module.entry.instructions[1]
    assert call.annotations.backend_config == "kept"


def test_calls_that_must_not_be_inlined_stay() -> None:
    text = NESTED.replace(
        "to_apply=id }", 'to_apply=id, frontend_attributes={inlineable="false"} }'
    )
    assert opcodes(passed(text, CallInliner()))[-1] == "call"


def test_what_ran_before_a_call_runs_before_its_body() -> None:
    text = """HloModule m
f { k = token[] parameter(0)
 x = f32[] parameter(1)
 ROOT o = token[] outfeed(x, k), outfeed_shape=f32[] }
ENTRY e { x = f32[] parameter(0)
 k = token[] after-all()
 n = f32[] negate(x)
 c = token[] call(k, x), to_apply=f, control-predecessors={n}
 m = f32[] exponential(x), control-predecessors={c}
 ROOT t = (f32[], f32[]) tuple(n, m) }
"""
    module = passed(text, CallInliner())
    order = opcodes(module)
    assert order.index("negate") < order.index("outfeed") < order.index("exponential")
    feed = next(one for one in module.entry.instructions if one.opcode == "outfeed")
    assert [one.opcode for one in feed.control_predecessors] == ["negate"]
    assert [one.opcode for one in feed.control_successors] == ["exponential"]


def test_layouts_of_parameters_are_kept() -> None:
    text = """HloModule m
f { x = f32[2,3]{0,1} parameter(0)
 ROOT r = f32[6]{0} bitcast(x) }
ENTRY e { x = f32[2,3]{1,0} parameter(0)
 ROOT r = f32[6]{0} call(x), to_apply=f }
"""
    assert opcodes(passed(text, CallInliner())) == ["copy", "bitcast"]


def test_calls_that_double_end() -> None:
    module = parse(doubling(30))
    journal = Journal("call-inliner")
    assert CallInliner(max_copied=500).run(module, journal)
    assert sum(1 for _ in module.instructions()) < 50_000
    assert journal.notes
    assert opcodes(passed(doubling(6), CallInliner())) == ["negate"] * 64
    assert not CallInliner(max_copied=500).run(module, journal)


def test_each_caller_gets_a_computation_of_its_own() -> None:
    module = passed(NESTED, FlattenCallGraph())
    calls = Counter(called for one in module.instructions() for called in one.calls)
    assert set(calls.values()) == {1}
    assert len(module.computations) == 6
    assert opcodes(passed(NESTED, FlattenCallGraph())) == ["call", "call", "call"]


def test_copies_become_one_again() -> None:
    module = passed(NESTED, FlattenCallGraph())
    assert ComputationDeduplicator().run(module, Journal("computation-deduplicator"))
    assert len(module.computations) == 4


def test_what_is_called_for_each_element_stays_shared() -> None:
    text = """HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[3] parameter(0)
 z = f32[] constant(0)
 a = f32[] reduce(x, z), dimensions={0}, to_apply=add
 b = f32[] reduce(x, z), dimensions={0}, to_apply=add
 ROOT t = (f32[], f32[]) tuple(a, b) }
"""
    module = passed(text, FlattenCallGraph())
    assert len(module.computations) == 2
    same = [one.calls for one in module.entry.instructions if one.opcode == "reduce"]
    assert same[0] == same[1]


def test_a_call_graph_that_doubles_stays() -> None:
    module = parse(doubling(30))
    journal = Journal("flatten-call-graph")
    assert not FlattenCallGraph().run(module, journal)
    assert "instructions" in journal.notes[0].words


MAP = """HloModule m
f {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
{body} }}
ENTRY e {{ x = f32[2,3] parameter(0)
 y = f32[2,3] parameter(1)
 ROOT m = {shape} map(x, y), dimensions={{0,1}}, to_apply=f }}
"""


@pytest.mark.parametrize(
    ("body", "shape", "left"),
    [
        (" ROOT r = f32[] add(a, b)", "f32[2,3]", ["add"]),
        (" ROOT r = f32[] parameter(2)", "f32[2,3]", []),
        (" c = f32[] constant(2)\n ROOT r = f32[] multiply(a, c)", "f32[2,3]", None),
        (" ROOT c = f32[] constant(2)", "f32[2,3]", ["constant", "broadcast"]),
        (
            " p = pred[] compare(a, b), direction=LT\n ROOT r = f32[] select(p, b, a)",
            "f32[2,3]",
            ["compare", "select"],
        ),
        (" ROOT r = s8[] convert(b)", "s8[2,3]", ["convert"]),
    ],
)
def test_maps_become_ops_on_arrays(body: str, shape: str, left: list[str] | None) -> None:
    text = MAP.format(body=body, shape=shape)
    if "parameter(2)" in body:
        text = text.replace(body, "").replace(" b = f32[]", " ROOT b = f32[]")
    found = opcodes(passed(text, MapInline()))
    assert "map" not in found
    assert left is None or found == left


def test_maps_of_other_functions_stay() -> None:
    body = " t = (f32[], f32[]) tuple(a, b)\n ROOT r = f32[] get-tuple-element(t), index=1"
    assert opcodes(passed(MAP.format(body=body, shape="f32[2,3]"), MapInline())) == ["map"]


def test_tuples_in_tuples_are_seen_through() -> None:
    text = """HloModule m
ENTRY e { p = (f32[], (f32[], s32[])) parameter(0)
 a = f32[] get-tuple-element(p), index=0
 q = (f32[], s32[]) get-tuple-element(p), index=1
 b = f32[] get-tuple-element(q), index=0
 c = s32[] get-tuple-element(q), index=1
 r = (f32[], s32[]) tuple(b, c)
 s = (f32[], (f32[], s32[])) tuple(a, r)
 u = (f32[], s32[]) get-tuple-element(s), index=1
 v = s32[] get-tuple-element(u), index=1
 ROOT t = ((f32[], (f32[], s32[])), s32[]) tuple(s, v) }
"""
    value = (np.float32(1), (np.float32(2), np.int32(3)))
    given = (np.asarray(value[0]), (np.asarray(value[1][0]), np.asarray(value[1][1])))
    module = passed(text, TupleSimplifier(), given)
    assert opcodes(module) == ["get-tuple-element", "get-tuple-element", "tuple"]


def test_calls_that_a_backend_runs_in_its_own_way_stay() -> None:
    text = """HloModule m
f {
  x = f32[4] parameter(0)
  a = f32[4] abs(x)
  ROOT n = f32[4] negate(a)
}
g {
  x = f32[4] parameter(0)
  ROOT c = f32[4] call(x), to_apply=f
}
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) async-start(p), calls=g
  d = f32[4] async-done(s)
  q = f32[4] call(p), to_apply=f, backend_config={"outer_dimension_partitions":["2"]}
  r = f32[4] call(p), to_apply=f
  ROOT t = (f32[4], f32[4], f32[4]) tuple(d, q, r)
}
"""
    module = passed(text, CallInliner())
    assert opcodes(module) == ["async-start", "async-done", "call", "abs", "negate", "tuple"]
    assert [one.opcode for one in module.instructions()].count("call") == 2


def test_the_root_takes_over_the_sharding_of_the_call() -> None:
    text = """HloModule m
f {
  x = f32[4] parameter(0)
  ROOT n = f32[4] negate(x)
}
g {
  x = f32[4] parameter(0)
  ROOT n = f32[4] abs(x), sharding={replicated}
}
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] call(x), to_apply=f, sharding={maximal device=0}
  ROOT b = f32[4] call(a), to_apply=g, sharding={maximal device=0}
}
"""
    module = passed(text, CallInliner())
    x, negated, size = module.entry.instructions
    assert x.annotations.sharding is None
    assert negated.annotations.sharding == parse(text).entry.instructions[1].annotations.sharding
    assert size.annotations.sharding == ArraySharding("replicated")
