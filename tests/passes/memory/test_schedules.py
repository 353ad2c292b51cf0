"""Passes that give a module a schedule or take away what orders it."""

import pytest

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.analysis.dataflow import Dataflow
from hlotool.ir.module import Module
from hlotool.passes.memory.control_dep_remover import ControlDepRemover
from hlotool.passes.memory.copy_insertion import CopyInsertion
from hlotool.passes.memory.hlo_descheduler import HloDescheduler
from hlotool.passes.memory.hlo_memory_scheduler import HloMemoryScheduler
from hlotool.passes.memory.hlo_trivial_scheduler import HloTrivialScheduler
from hlotool.passes.memory.reading_first import Overwrite, reading_first
from hlotool.passes.memory.scheduling import MemoryModel, order_for_memory
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from tests.passes.checking import passed

SCHEDULED = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[2] parameter(0)
  b = f32[2] negate(x)
  a = f32[2] abs(x)
  ROOT t = (f32[2], f32[2]) tuple(a, b)
}
"""
WIDE = """HloModule m
ENTRY e {
  x = f32[1000] parameter(0)
  zero = f32[] constant(0)
  a = f32[1000] negate(x)
  b = f32[1000] exponential(x)
  c = f32[1000] sine(x)
  sa = f32[] reduce(a, zero), dimensions={0}, to_apply=add
  sb = f32[] reduce(b, zero), dimensions={0}, to_apply=add
  sc = f32[] reduce(c, zero), dimensions={0}, to_apply=add
  s = f32[] add(sa, sb)
  ROOT r = f32[] add(s, sc)
}
"""
ADD = """
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
"""


def with_add(text: str) -> str:
    head, entry = text.split("\n", 1)
    return f"{head}{ADD}{entry}"


def names(module: Module) -> list[str]:
    return [instruction.name for instruction in module.entry.instructions]


def test_a_schedule_is_dropped() -> None:
    assert not passed(SCHEDULED, HloDescheduler()).is_scheduled


def test_a_plain_schedule_is_the_order_of_the_text_that_prints() -> None:
    module = passed(SCHEDULED.replace(", is_scheduled=true", ""), HloTrivialScheduler())
    assert module.is_scheduled
    assert names(module) == ["x", "a", "b", "t"]


def test_a_module_that_is_scheduled_keeps_its_schedule() -> None:
    module = passed(SCHEDULED, HloTrivialScheduler())
    assert names(module) == ["x", "b", "a", "t"]


def test_bodies_of_fusions_are_not_scheduled() -> None:
    module = passed(
        """HloModule m
f {
  p = f32[2] parameter(0)
  n = f32[2] negate(p)
  a = f32[2] abs(p)
  ROOT s = f32[2] add(a, n)
}
ENTRY e {
  x = f32[2] parameter(0)
  ROOT r = f32[2] fusion(x), kind=kLoop, calls=f
}
""",
        HloTrivialScheduler(),
    )
    fused = module.computations[0]
    assert [instruction.name for instruction in fused.instructions] == ["p", "n", "a", "s"]


@pytest.mark.parametrize("scheduler", [HloTrivialScheduler(), HloMemoryScheduler()])
def test_side_effects_stay_in_order(scheduler: HloTrivialScheduler | HloMemoryScheduler) -> None:
    module = passed(
        """HloModule m
ENTRY e {
  low = f32[] constant(0)
  high = f32[] constant(1)
  first = f32[300] rng(low, high), distribution=rng_uniform
  second = f32[3] rng(low, high), distribution=rng_uniform
  ROOT t = (f32[3], f32[300]) tuple(second, first)
}
""",
        scheduler,
    )
    order = names(module)
    assert order.index("first") < order.index("second")


def test_no_fuel_no_schedule() -> None:
    for one in (HloTrivialScheduler(), HloMemoryScheduler()):
        module = parse(with_add(WIDE))
        assert not one.run(module, Journal(one.name, Fuel({one.name: 0})))
        assert not module.is_scheduled


def test_control_edges_go_and_the_schedule_stays() -> None:
    module = passed(
        """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[2] parameter(0)
  b = f32[2] negate(x)
  a = f32[2] abs(x), control-predecessors={b}
  ROOT t = (f32[2], f32[2]) tuple(a, b)
}
""",
        ControlDepRemover(),
    )
    assert module.is_scheduled
    assert not any(one.control_predecessors for one in module.instructions())
    assert names(module) == ["x", "b", "a", "t"]


def peak(module: Module) -> int:
    classes = BufferClasses(Dataflow(module), in_order=True)
    return MemoryModel(module.entry, classes, {}).peak(module.entry.instructions)


def test_large_values_are_used_up_one_after_the_other() -> None:
    before = peak(parse(with_add(WIDE)))
    module = passed(with_add(WIDE), HloMemoryScheduler())
    assert before == 3 * 4000 + 4
    assert peak(module) <= 4000 + 3 * 4
    temporaries = [one for one in buffer_assignment(module).allocations if one.is_temporary]
    assert sum(one.size for one in temporaries) <= 4096 + 3 * 64


def test_a_schedule_that_takes_more_memory_gets_better() -> None:
    text = with_add(WIDE).replace("HloModule m", "HloModule m, is_scheduled=true")
    assert peak(passed(text, HloMemoryScheduler())) <= 4000 + 3 * 4


def test_control_edges_bind_the_order() -> None:
    text = with_add(WIDE).replace(
        "sa = f32[] reduce(a, zero), dimensions={0}, to_apply=add",
        "sa = f32[] reduce(a, zero), dimensions={0}, to_apply=add, control-predecessors={c}",
    )
    order = names(passed(text, HloMemoryScheduler()))
    assert order.index("c") < order.index("sa")


def test_an_order_that_copies_count_on_is_kept() -> None:
    # The update writes over `big` where it stands; the read of it must stay in front.
    text = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[1000] parameter(0)
  zero = s32[] constant(0)
  one = f32[1] constant({1})
  big = f32[1000] negate(x)
  wide = f32[5000] pad(big, f32[] constant(0)), padding=0_4000
  part = f32[1] slice(wide), slice={[0:1]}
  new = f32[1000] dynamic-update-slice(big, one, zero)
  ROOT t = (f32[1000], f32[1]) tuple(new, part)
}
""".replace("pad(big, f32[] constant(0))", "pad(big, nothing)").replace(
        "  one =", "  nothing = f32[] constant(0)\n  one ="
    )
    module = passed(text, HloMemoryScheduler())
    order = names(module)
    assert order.index("wide") < order.index("new")


def test_the_list_scheduler_yields_every_instruction_once_in_a_legal_order() -> None:
    module = parse(with_add(WIDE))
    model = MemoryModel(module.entry, BufferClasses(Dataflow(module)), {})
    order = order_for_memory(module.entry, model)
    assert sorted(one.name for one in order) == sorted(names(module))
    place = {instruction: number for number, instruction in enumerate(order)}
    assert all(place[o] < place[one] for one in order for o in one.operands)


LOOP = """HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
condition {
  s = (s32[], f32[100], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[100], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[100] get-tuple-element(s), index=1
  turned = f32[100] reverse(x), dimensions={0}
  y = f32[100] multiply(turned, turned)
  t = f32[] get-tuple-element(s), index=2
  zero = f32[] constant(0)
  now = f32[] reduce(READ, zero), dimensions={0}, to_apply=sum
  total = f32[] add(t, now)
  ROOT o = (s32[], f32[100], f32[]) tuple(next, y, total)
}
ENTRY e {
  p = f32[100] parameter(0)
  i = s32[] constant(0)
  t = f32[] constant(0)
  q = f32[100] negate(p)
  s = (s32[], f32[100], f32[]) tuple(i, q, t)
  w = (s32[], f32[100], f32[]) while(s), condition=condition, body=body
  ROOT r = f32[100] get-tuple-element(w), index=1
}
"""


def scheduled_loop(text: str) -> tuple[list[str], list[str], int]:
    """Returns the body's order, what is copied in it, and the bytes of temporaries."""
    module = passed(text, HloMemoryScheduler())
    CopyInsertion().run(module, Journal("copy-insertion"))
    body = next(one for one in module.computations if one.name == "body")
    copied = [one.operands[0].name for one in body.instructions if one.opcode == "copy"]
    temporaries = [one for one in buffer_assignment(module).allocations if one.is_temporary]
    size = sum(one.size for one in temporaries if not one.holds_tables)
    return [one.name for one in body.instructions], copied, size


def test_the_state_of_a_loop_is_read_before_the_next_one_is_written_over_it() -> None:
    order, copied, size = scheduled_loop(LOOP.replace("READ", "x"))
    assert order.index("now") < order.index("y")
    assert copied == []
    # The state lies in the result: there are `turned`, a counter, sums and a flag.
    assert size == 400 + 2 * 16 + 1


def test_what_reads_the_state_and_needs_the_next_one_is_not_waited_for() -> None:
    text = LOOP.replace("READ", "both").replace("  now = ", "  both = f32[100] add(x, y)\n  now = ")
    order, copied, size = scheduled_loop(text)
    assert order.index("y") < order.index("both")
    assert copied == ["y"]
    assert size > 800


def test_an_update_comes_behind_what_reads_the_array_before() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[1000] parameter(0)
  zero = s32[] constant(0)
  one = f32[1] constant({1})
  big = f32[1000] exponential(x)
  new = f32[1000] dynamic-update-slice(big, one, zero)
  part = f32[10] slice(big), slice={[0:10]}
  ROOT t = (f32[1000], f32[10]) tuple(new, part)
}
"""
    module = passed(text, HloMemoryScheduler())
    order = names(module)
    assert order.index("part") < order.index("new")
    assert not CopyInsertion().run(module, Journal("copy-insertion"))


def test_readers_come_first_as_far_as_operands_let_them() -> None:
    module = parse("""HloModule m
ENTRY e {
  x = f32[] parameter(0)
  a = f32[] negate(x)
  b = f32[] negate(a)
  c = f32[] negate(b)
  d = f32[] negate(x)
  ROOT t = (f32[], f32[]) tuple(c, d)
}
""")
    x, a, b, c, d, _ = order = module.entry.instructions
    behind = [one.name for one in reading_first(order, [Overwrite(b, (d,), 4)])]
    assert behind == ["x", "a", "d", "b", "c", "t"]
    # Each of two goes where the other one need not move again.
    found = reading_first(order, [Overwrite(b, (d,), 4), Overwrite(a, (d, x), 4)])
    assert [one.name for one in found] == ["x", "d", "a", "b", "c", "t"]
    assert reading_first(order, [Overwrite(a, (c,), 4)]) == order
    assert reading_first(order, []) == order


def test_dimensions_without_a_bound_are_scheduled_all_the_same() -> None:
    text = "HloModule m\nENTRY e {\n  x = f32[?] parameter(0)\n  ROOT r = f32[?] negate(x)\n}\n"
    module = parse(text)
    assert HloMemoryScheduler().run(module, Journal("hlo-memory-scheduler"))
    assert module.is_scheduled
