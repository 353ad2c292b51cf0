from hlotool.analysis.verifier import verify
from hlotool.debugging.isolate import isolated_instructions
from hlotool.text.parser import parse
from tests.conftest import MODELS

LOOP = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

again {
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  most = s32[] constant(3)
  ROOT less = pred[] compare(i, most), direction=LT
}

step {
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[4] add(x, x)
  ROOT both = (s32[], f32[4]) tuple(next, y)
}

ENTRY main {
  p = f32[4] parameter(0)
  q = f32[4] add(p, p)
  zero = s32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, q)
  end = (s32[], f32[4]) while(start), condition=again, body=step
  x = f32[4] get-tuple-element(end), index=1
  init = f32[] constant(0)
  ROOT sum = f32[] reduce(x, init), dimensions={0}, to_apply=add
}
"""


def test_each_instruction_stands_alone_and_equal_ones_once() -> None:
    found = {one.instruction.name: one for one in isolated_instructions(parse(LOOP))}
    assert set(found) == {"less", "next", "y", "sum"}
    assert [copy.name for copy in found["y"].copies] == ["q"]


def test_operand_used_twice_is_one_parameter_and_constants_stay() -> None:
    found = {one.instruction.name: one for one in isolated_instructions(parse(LOOP))}
    doubled, counted = found["y"].module, found["next"].module
    assert doubled is not None
    assert counted is not None
    assert len(doubled.entry.parameters) == 1
    assert [i.opcode for i in counted.entry.instructions] == ["parameter", "constant", "add"]


def test_reducer_goes_along_and_the_original_keeps_its_own() -> None:
    module = parse(LOOP)
    found = {one.instruction.name: one for one in isolated_instructions(module)}
    alone = found["sum"].module
    assert alone is not None
    assert verify(alone) == []
    assert [computation.name for computation in alone.computations] == ["add", "main"]
    assert verify(module) == []
    assert all(computation.parent is module for computation in module.computations)


def test_location_is_that_of_the_original() -> None:
    found = {one.instruction.name: one for one in isolated_instructions(parse(LOOP, "loop.hlo"))}
    alone = found["sum"].module
    assert alone is not None
    assert str(alone.entry.root.location) == str(found["sum"].instruction.location)


def test_halves_of_pairs_and_tokens_do_not_stand_alone() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n"
        "  x = f32[4] parameter(0)\n"
        "  s = (f32[4], f32[4], u32[]) copy-start(x)\n"
        "  d = f32[4] copy-done(s)\n"
        "  t = token[] after-all()\n"
        "  ROOT r = (f32[4], token[]) tuple(d, t)\n}"
    )
    reasons = {one.instruction.name: one.reason for one in isolated_instructions(module)}
    assert reasons == {
        "s": "it is one half of a pair",
        "d": "it is one half of a pair",
        "t": "it is ordered by tokens",
    }


def test_instructions_of_a_real_module_verify() -> None:
    path = MODELS / "jax" / "attention.opt.hlo"
    modules = [one.module for one in isolated_instructions(parse(path.read_text()))]
    assert modules
    assert all(module is None or verify(module) == [] for module in modules)
