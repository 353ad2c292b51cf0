"""Less memory for more work."""

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import Dataflow
from hlotool.ir.module import Module
from hlotool.passes.memory.rematerialization import Rematerialization
from hlotool.passes.memory.scheduling import MemoryModel
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed

TEXT = """HloModule m, is_scheduled=true
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
ENTRY e {
  x = f32[1000] parameter(0)
  zero = f32[] constant(0)
  a = f32[1000] negate(x)
  sa = f32[] reduce(a, zero), dimensions={0}, to_apply=add
  b = f32[1000] sort(x), dimensions={0}, to_apply=less
  c = f32[1000] multiply(b, b)
  sc = f32[] reduce(c, zero), dimensions={0}, to_apply=add
  d = f32[1000] exponential(a)
  sd = f32[] reduce(d, zero), dimensions={0}, to_apply=add
  s = f32[] add(sa, sc)
  ROOT r = f32[] add(s, sd)
}
""".replace(
    "ENTRY",
    "less {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
    "  ROOT r = pred[] compare(p, q), direction=LT\n}\nENTRY",
)


def peak(module: Module) -> int:
    classes = BufferClasses(Dataflow(module), in_order=True)
    return MemoryModel(module.entry, classes, {}).peak(module.entry.instructions)


def test_a_cheap_value_is_computed_again_behind_the_peak() -> None:
    assert peak(parse(TEXT)) == 12_004
    module = passed(TEXT, Rematerialization(memory_limit=9000))
    assert opcodes(module).count("negate") == 2
    assert peak(module) == 8008
    order = [one.opcode for one in module.entry.instructions]
    assert order[order.index("exponential") - 1] == "negate"


def test_below_the_limit_and_without_one_nothing_changes() -> None:
    for limit in (0, 12_004):
        assert opcodes(passed(TEXT, Rematerialization(memory_limit=limit))).count("negate") == 1


def test_what_needs_an_operand_longer_or_costs_much_is_kept() -> None:
    # The operand of `a` is gone by the time of its later use.
    gone = TEXT.replace(
        "a = f32[1000] negate(x)", "o = f32[1000] sine(x)\n  a = f32[1000] negate(o)"
    )
    assert opcodes(passed(gone, Rematerialization(memory_limit=9000))).count("negate") == 1
    dear = TEXT.replace("negate(x)", "sort(x), dimensions={0}, to_apply=less")
    assert opcodes(passed(dear, Rematerialization(memory_limit=9000))).count("sort") == 2


def test_a_limit_that_is_not_reached_is_noted() -> None:
    journal = Journal("rematerialization")
    assert Rematerialization(memory_limit=10).run(parse(TEXT), journal)
    assert "10 are the limit" in journal.notes[-1].words


def test_a_module_without_a_schedule_is_left_alone() -> None:
    journal = Journal("rematerialization")
    module = parse(TEXT.replace(", is_scheduled=true", ""))
    assert not Rematerialization(memory_limit=10).run(module, journal)
    assert "not scheduled" in journal.notes[0].words


def test_a_value_that_is_used_behind_the_peak_alone_moves_there() -> None:
    moved = TEXT.replace("reduce(a, zero)", "reduce(x, zero)")
    assert peak(parse(moved)) == 12_004
    module = passed(moved, Rematerialization(memory_limit=9000))
    assert opcodes(module).count("negate") == 1
    assert peak(module) == 8008
