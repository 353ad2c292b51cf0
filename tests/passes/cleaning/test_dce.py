"""Dead code goes, a unit of fuel for each instruction."""

from hlotool.passes.cleaning.dce import DeadCodeElimination
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed

DEAD = """HloModule m
unused {
  ROOT y = f32[2] parameter(0)
}
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] negate(x)
  b = f32[2] abs(a)
  c = f32[2] negate(b)
  ROOT r = f32[2] cosine(x)
}
"""


def test_what_nothing_uses_goes_with_all_that_only_it_used() -> None:
    module = passed(DEAD, DeadCodeElimination())
    assert opcodes(module) == ["cosine"]
    assert [computation.name for computation in module.computations] == ["e"]


def test_hits_are_counted_by_opcode() -> None:
    journal = Journal("dce")
    assert DeadCodeElimination().run(parse(DEAD), journal)
    assert journal.hits == {"negate": 2, "abs": 1, "computations": 1}


def test_fuel_ends_it() -> None:
    module = parse(DEAD)
    assert DeadCodeElimination().run(module, Journal("dce", Fuel({"dce": 2})))
    assert opcodes(module) == ["negate", "cosine"]
    assert not DeadCodeElimination().run(module, Journal("dce", Fuel({"dce": 0})))
    assert len(module.computations) == 2


def test_what_was_started_for_its_effect_is_ended_too() -> None:
    module = parse(
        """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) custom-call-start(p), custom_call_target="f",
    custom_call_has_side_effect=true
  u = ((f32[4]), f32[4], s32[]) custom-call-update(s)
  d = f32[4] custom-call-done(u)
  ROOT r = f32[4] negate(p)
}
"""
    )
    assert not DeadCodeElimination().run(module, Journal("dce"))
    assert "async-done" in opcodes(module)
