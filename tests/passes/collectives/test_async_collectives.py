"""The passes that start collectives and transfers early, or take start and done together."""

import pytest

from hlotool.passes.collectives.async_collective_creator import AsyncCollectiveCreator
from hlotool.passes.collectives.collectives_schedule_linearizer import (
    CollectivesScheduleLinearizer,
)
from hlotool.passes.collectives.convert_async_collectives_to_sync import (
    ConvertAsyncCollectivesToSync,
)
from hlotool.passes.collectives.host_memory_transfer_asyncifier import (
    HostMemoryTransferAsyncifier,
)
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed
from tests.passes.collectives.devices import ALL, on_devices

_BODIES = {
    "all-reduce": f"  ROOT s = f32[8] all-reduce(x), {ALL}, to_apply=add",
    "all-gather": f"  ROOT s = f32[32] all-gather(x), {ALL}, dimensions={{0}}",
    "collective-permute": "  ROOT s = f32[8] collective-permute(x), channel_id=1,"
    " source_target_pairs={{0,1},{1,0}}",
    "reduce-scatter": f"  ROOT s = f32[2] reduce-scatter(x), {ALL}, dimensions={{0}}, to_apply=add",
    "all-to-all": "  ROOT s = f32[8] all-to-all(x), channel_id=1, replica_groups={{0,1}},"
    " dimensions={0}",
    "collective-broadcast": "  ROOT s = f32[8] collective-broadcast(x), channel_id=1,"
    " replica_groups={{1,0}}",
    "two": f"  ROOT s = (f32[8], f32[8]) all-reduce(x, p), {ALL}, to_apply=add",
    "several": f"  ROOT s = (f32[32], f32[32]) all-gather(x, p), {ALL}, dimensions={{0}}",
}


@pytest.mark.parametrize("kind", _BODIES)
def test_collectives_are_started_and_joined_again(kind: str) -> None:
    text = on_devices(_BODIES[kind])
    module = passed(text, AsyncCollectiveCreator())
    start, done = opcodes(module)[-2:]
    assert (start[-6:], done[-5:]) == ("-start", "-done")
    assert ConvertAsyncCollectivesToSync(unscheduled=True).run(module, Journal())
    assert opcodes(module) == opcodes(parse(text))


def test_options_say_which_are_started() -> None:
    text = on_devices(_BODIES["all-reduce"])
    module = passed(text, AsyncCollectiveCreator(all_reduce=False))
    assert opcodes(module)[-1] == "all-reduce"


def test_control_edges_go_to_start_and_done() -> None:
    text = on_devices(
        f"""  a = f32[8] negate(p)
  s = f32[8] all-reduce(x), {ALL}, to_apply=add, control-predecessors={{a}}
  c = f32[8] exponential(p), control-predecessors={{s}}
  ROOT t = (f32[8], f32[8], f32[8]) tuple(a, s, c)"""
    )
    module = passed(text, AsyncCollectiveCreator())
    by_opcode = {one.opcode: one for one in module.entry.instructions}
    before = by_opcode["all-reduce-start"].control_predecessors
    assert [one.opcode for one in before] == ["negate"]
    after = by_opcode["exponential"].control_predecessors
    assert [one.opcode for one in after] == ["all-reduce-done"]


def _scheduled(between: str) -> str:
    text = on_devices(
        f"""  s = f32[8] all-reduce-start(x), {ALL}, to_apply=add
{between}
  d = f32[8] all-reduce-done(s)
  ROOT t = (f32[8], f32[8]) tuple(d, w)"""
    )
    return text.replace("HloModule m,", "HloModule m, is_scheduled=true,")


def test_what_nothing_runs_beside_is_joined() -> None:
    module = passed(_scheduled("  w = f32[8] bitcast(p)"), ConvertAsyncCollectivesToSync())
    assert "all-reduce" in opcodes(module)
    beside = passed(_scheduled("  w = f32[8] negate(p)"), ConvertAsyncCollectivesToSync())
    assert "all-reduce-start" in opcodes(beside)


def test_without_a_schedule_nothing_is_known() -> None:
    text = _scheduled("  w = f32[8] bitcast(p)").replace(" is_scheduled=true,", "")
    assert "all-reduce-start" in opcodes(passed(text, ConvertAsyncCollectivesToSync()))


def test_collectives_get_one_order() -> None:
    text = on_devices(
        f"""  s = f32[8] all-reduce(x), {ALL}, to_apply=add
  g = f32[32] all-gather(p), {ALL.replace("=1,", "=2,")}, dimensions={{0}}
  t = f32[8] all-reduce(s), {ALL.replace("=1,", "=3,")}, to_apply=add
  h = f32[8] slice(g), slice={{[0:8]}}
  u = f32[8] all-reduce(h), {ALL.replace("=1,", "=4,")}, to_apply=add
  v = f32[8] all-reduce(u), {ALL.replace("=1,", "=5,")}, to_apply=add
  ROOT z = (f32[8], f32[8]) tuple(t, v)"""
    )
    module = passed(text, CollectivesScheduleLinearizer())
    edges = {
        one.name: [before.name for before in one.control_predecessors]
        for one in module.entry.instructions
        if one.control_predecessors
    }
    # v waits for u already, as it takes its value.
    assert edges == {"g": ["s"], "t": ["g"], "u": ["t"]}


_TO_HOST = '  c = f32[8]{0:S(5)} custom-call(x), custom_call_target="MoveToHost"'
_COPIED_BACK = "  ROOT d = f32[8]{0} copy(c)"
_SLICED_BACK = """  z = s32[] constant(2)
  ROOT d = f32[3]{0} dynamic-slice(c, z), dynamic_slice_sizes={3}"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("  ROOT c = f32[8]{0:S(5)} copy(x)", ["copy-start", "copy-done"]),
        (f"{_TO_HOST}\n{_COPIED_BACK}", ["custom-call", "copy-start", "copy-done"]),
        ("  ROOT c = f32[8]{0} copy(x)", ["copy"]),
        (
            f"{_TO_HOST}\n{_SLICED_BACK}",
            ["custom-call", "constant", "async-start", "async-done"],
        ),
    ],
)
def test_transfers_to_and_from_the_host_are_started(body: str, found: list[str]) -> None:
    text = f"HloModule m\nENTRY e {{\n  x = f32[8]{{0}} parameter(0)\n{body}\n}}\n"
    module = passed(text, HostMemoryTransferAsyncifier())
    assert sorted(opcodes(module)) == sorted(found)
