"""Work between starts and dones."""

from hlotool.ir.module import Module
from hlotool.passes.memory.latency_hiding_scheduler import LatencyHidingScheduler
from tests.passes.checking import passed

TEXT = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  a = f32[8] negate(y)
  b = f32[8] sine(a)
  c = f32[8] add(x, x)
  start = (f32[8], f32[8], u32[]) copy-start(c)
  done = f32[8] copy-done(start)
  d = f32[8] add(done, b)
  f = f32[8] cosine(b)
  ROOT t = (f32[8], f32[8]) tuple(d, f)
}
"""


def names(module: Module) -> list[str]:
    return [one.name for one in module.entry.instructions if one.opcode != "parameter"]


def test_starts_come_early_with_what_they_need_and_dones_late() -> None:
    module = passed(TEXT, LatencyHidingScheduler())
    assert names(module) == ["c", "start", "a", "b", "f", "done", "d", "t"]
    assert module.is_scheduled


def test_control_edges_bind() -> None:
    text = TEXT.replace("copy-start(c)", "copy-start(c), control-predecessors={a}")
    assert names(passed(text, LatencyHidingScheduler())) == [
        "a", "c", "start", "b", "f", "done", "d", "t",
    ]  # fmt: skip


def test_an_order_over_the_limit_is_not_taken() -> None:
    module = passed(TEXT, LatencyHidingScheduler(memory_limit=8))
    assert names(module)[0] == "a"


def test_a_module_without_pairs_stays_as_it_is() -> None:
    text = "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] negate(x)\n}\n"
    assert not passed(text, LatencyHidingScheduler()).is_scheduled
