import time

import numpy as np
import pytest

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import TupleShape
from hlotool.passes.control.simplify_while_loops import SimplifyWhileLoops
from hlotool.passes.control.while_loop_constant_sinking import WhileLoopConstantSinking
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed

LOOP = """HloModule m
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
cond {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({rounds})
  ROOT r = pred[] compare(i, n), direction=LT
}}
body {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
{body}
}}
ENTRY e {{
  z = s32[] constant(0)
{entry}
}}
"""


def loop_text(state: str, body: str, entry: str, rounds: int = 4) -> str:
    return LOOP.format(state=state, body=body, entry=entry, rounds=rounds)


def loop_in(module: Module) -> Instruction:
    """Returns the only loop of a module."""
    (loop,) = (one for one in module.instructions() if one.opcode == "while")
    return loop


def state_of(module: Module) -> list[str]:
    """Returns the shapes of the elements of the only loop's state."""
    shape = loop_in(module).shape
    assert isinstance(shape, TupleShape)
    return [element.plain_text for element in shape.elements]


def test_a_loop_that_runs_never_is_its_operand() -> None:
    text = loop_text(
        "(s32[], f32[2])",
        "  x = f32[2] get-tuple-element(s), index=1\n"
        "  y = f32[2] add(x, x)\n"
        "  ROOT t = (s32[], f32[2]) tuple(i2, y)",
        "  x = f32[2] parameter(0)\n"
        "  t = (s32[], f32[2]) tuple(z, x)\n"
        "  ROOT w = (s32[], f32[2]) while(t), condition=cond, body=body",
        rounds=0,
    )
    module = passed(text, SimplifyWhileLoops())
    assert opcodes(module) == ["constant", "tuple"]
    assert len(module.computations) == 1


def test_a_loop_that_runs_once_is_its_body() -> None:
    text = loop_text(
        "(s32[], f32[2])",
        "  x = f32[2] get-tuple-element(s), index=1\n"
        "  y = f32[2] multiply(x, x)\n"
        "  ROOT t = (s32[], f32[2]) tuple(i2, y)",
        "  x = f32[2] parameter(0)\n"
        "  t = (s32[], f32[2]) tuple(z, x)\n"
        "  w = (s32[], f32[2]) while(t), condition=cond, body=body\n"
        "  ROOT r = f32[2] get-tuple-element(w), index=1",
        rounds=1,
    )
    module = passed(text, SimplifyWhileLoops())
    assert "while" not in opcodes(module)
    assert "multiply" in opcodes(module)


def test_effects_of_a_condition_keep_a_loop() -> None:
    text = """HloModule m
cond {
  s = (s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  k = token[] get-tuple-element(s), index=1
  o = token[] outfeed(i, k), outfeed_shape=s32[]
  n = s32[] constant(0)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  k = token[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
  ROOT t = (s32[], token[]) tuple(i2, k)
}
ENTRY e {
  z = s32[] constant(0)
  k = token[] after-all()
  t = (s32[], token[]) tuple(z, k)
  w = (s32[], token[]) while(t), condition=cond, body=body
  ROOT r = s32[] get-tuple-element(w), index=0
}
"""
    module = passed(text, SimplifyWhileLoops())
    assert "while" in opcodes(module)


def test_dead_elements_go_with_all_that_only_they_need() -> None:
    text = loop_text(
        "(s32[], f32[2], f32[2], f32[2])",
        "  x = f32[2] get-tuple-element(s), index=1\n"
        "  u = f32[2] get-tuple-element(s), index=2\n"
        "  v = f32[2] get-tuple-element(s), index=3\n"
        "  y = f32[2] multiply(x, x)\n"
        "  p = f32[2] add(u, v)\n"
        "  q = f32[2] subtract(v, x)\n"
        "  ROOT t = (s32[], f32[2], f32[2], f32[2]) tuple(i2, y, p, q)",
        "  x = f32[2] parameter(0)\n"
        "  t = (s32[], f32[2], f32[2], f32[2]) tuple(z, x, x, x)\n"
        "  w = (s32[], f32[2], f32[2], f32[2]) while(t), condition=cond, body=body\n"
        "  ROOT r = f32[2] get-tuple-element(w), index=1",
    )
    module = passed(text, SimplifyWhileLoops())
    assert state_of(module) == ["s32[]", "f32[2]"]
    assert {one.opcode for one in module.instructions()}.isdisjoint({"subtract"})


def test_an_element_that_a_live_one_needs_later_is_live() -> None:
    # u goes into x a round later, v into u.
    text = loop_text(
        "(s32[], f32[], f32[], f32[])",
        "  x = f32[] get-tuple-element(s), index=1\n"
        "  u = f32[] get-tuple-element(s), index=2\n"
        "  v = f32[] get-tuple-element(s), index=3\n"
        "  v2 = f32[] add(v, v)\n"
        "  ROOT t = (s32[], f32[], f32[], f32[]) tuple(i2, u, v, v2)",
        "  x = f32[] parameter(0)\n"
        "  y = f32[] parameter(1)\n"
        "  q = f32[] parameter(2)\n"
        "  t = (s32[], f32[], f32[], f32[]) tuple(z, x, y, q)\n"
        "  w = (s32[], f32[], f32[], f32[]) while(t), condition=cond, body=body\n"
        "  ROOT r = f32[] get-tuple-element(w), index=1",
    )
    module = passed(text, SimplifyWhileLoops(), np.float32(1), np.float32(2), np.float32(3))
    assert len(state_of(module)) == 4


def test_elements_that_stay_are_handed_around() -> None:
    text = loop_text(
        "(s32[], f32[2], f32[2])",
        "  x = f32[2] get-tuple-element(s), index=1\n"
        "  u = f32[2] get-tuple-element(s), index=2\n"
        "  y = f32[2] multiply(x, x)\n"
        "  ROOT t = (s32[], f32[2], f32[2]) tuple(i2, y, u)",
        "  x = f32[2] parameter(0)\n"
        "  u = f32[2] parameter(1)\n"
        "  t = (s32[], f32[2], f32[2]) tuple(z, x, u)\n"
        "  ROOT w = (s32[], f32[2], f32[2]) while(t), condition=cond, body=body",
    )
    module = passed(text, SimplifyWhileLoops())
    assert state_of(module) == ["s32[]", "f32[2]"]
    assert module.entry.root.operands[2] is module.entry.parameters[1]


def test_a_loop_goes_with_its_last_user() -> None:
    text = loop_text(
        "(s32[], f32[2])",
        "  x = f32[2] get-tuple-element(s), index=1\n  ROOT t = (s32[], f32[2]) tuple(i2, x)",
        "  x = f32[2] parameter(0)\n"
        "  t = (s32[], f32[2]) tuple(z, x)\n"
        "  w = (s32[], f32[2]) while(t), condition=cond, body=body\n"
        "  ROOT r = f32[2] get-tuple-element(w), index=1",
    )
    assert "while" not in opcodes(passed(text, SimplifyWhileLoops()))


def test_constants_are_taken_in_and_bounds_found_by_them() -> None:
    text = """HloModule m
cond {
  s = (s32[], s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = f32[] get-tuple-element(s), index=2
  f = f32[] convert(n)
  y = f32[] add(x, f)
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
  same = s32[] constant(5)
  ROOT t = (s32[], s32[], f32[]) tuple(i2, same, y)
}
ENTRY e {
  z = s32[] constant(0)
  n = s32[] constant(5)
  x = f32[] parameter(0)
  t = (s32[], s32[], f32[]) tuple(z, n, x)
  ROOT w = (s32[], s32[], f32[]) while(t), condition=cond, body=body
}
"""
    module = passed(text, SimplifyWhileLoops())
    assert state_of(module) == ["s32[]", "f32[]"]


def test_equal_counters_become_one() -> None:
    text = loop_text(
        "(s32[], s32[], f32[])",
        "  j = s32[] get-tuple-element(s), index=1\n"
        "  x = f32[] get-tuple-element(s), index=2\n"
        "  f = f32[] convert(j)\n"
        "  y = f32[] add(x, f)\n"
        "  uno = s32[] constant(1)\n"
        "  j2 = s32[] add(uno, j)\n"
        "  ROOT t = (s32[], s32[], f32[]) tuple(i2, j2, y)",
        "  q = s32[] constant(0)\n"
        "  x = f32[] parameter(0)\n"
        "  t = (s32[], s32[], f32[]) tuple(z, q, x)\n"
        "  ROOT w = (s32[], s32[], f32[]) while(t), condition=cond, body=body",
    )
    module = passed(text, SimplifyWhileLoops())
    assert state_of(module) == ["s32[]", "f32[]"]


@pytest.mark.parametrize("step", ["subtract(j, uno)", "subtract(uno, j)", "multiply(j, uno)"])
def test_other_counters_stay(step: str) -> None:
    text = loop_text(
        "(s32[], s32[])",
        "  j = s32[] get-tuple-element(s), index=1\n"
        "  uno = s32[] constant(1)\n"
        f"  j2 = s32[] {step}\n"
        "  ROOT t = (s32[], s32[]) tuple(i2, j2)",
        "  t = (s32[], s32[]) tuple(z, z)\n"
        "  ROOT w = (s32[], s32[]) while(t), condition=cond, body=body",
    )
    module = passed(text, SimplifyWhileLoops())
    assert len(state_of(module)) == 2


def test_a_shared_body_is_copied_before_it_changes() -> None:
    text = loop_text(
        "(s32[], f32[2], f32[2])",
        "  x = f32[2] get-tuple-element(s), index=1\n"
        "  u = f32[2] get-tuple-element(s), index=2\n"
        "  y = f32[2] multiply(x, x)\n"
        "  v = f32[2] add(u, u)\n"
        "  ROOT t = (s32[], f32[2], f32[2]) tuple(i2, y, v)",
        "  x = f32[2] parameter(0)\n"
        "  t = (s32[], f32[2], f32[2]) tuple(z, x, x)\n"
        "  w = (s32[], f32[2], f32[2]) while(t), condition=cond, body=body\n"
        "  w2 = (s32[], f32[2], f32[2]) while(w), condition=cond, body=body\n"
        "  w3 = (s32[], f32[2], f32[2]) while(t), condition=cond, body=body\n"
        "  a = f32[2] get-tuple-element(w2), index=1\n"
        "  b = f32[2] get-tuple-element(w3), index=2\n"
        "  ROOT r = (f32[2], f32[2]) tuple(a, b)",
    )
    module = passed(text, SimplifyWhileLoops())
    loops = [one for one in module.entry.instructions if one.opcode == "while"]
    assert [len(list(one.shape.leaves())) for one in loops] == [2, 2, 2]


def test_effects_and_tokens_stay() -> None:
    text = loop_text(
        "(s32[], token[], f32[2], f32[2])",
        "  k = token[] get-tuple-element(s), index=1\n"
        "  x = f32[2] get-tuple-element(s), index=2\n"
        "  u = f32[2] get-tuple-element(s), index=3\n"
        "  o = token[] outfeed(x, k), outfeed_shape=f32[2]\n"
        "  y = f32[2] add(x, x)\n"
        "  v = f32[2] add(u, u)\n"
        "  ROOT t = (s32[], token[], f32[2], f32[2]) tuple(i2, o, y, v)",
        "  x = f32[2] parameter(0)\n"
        "  k = token[] after-all()\n"
        "  t = (s32[], token[], f32[2], f32[2]) tuple(z, k, x, x)\n"
        "  w = (s32[], token[], f32[2], f32[2]) while(t), condition=cond, body=body\n"
        "  ROOT r = s32[] get-tuple-element(w), index=0",
    )
    module = passed(text, SimplifyWhileLoops())
    assert state_of(module) == ["s32[]", "token[]", "f32[2]"]
    assert any(one.opcode == "outfeed" for one in module.instructions())


def test_inner_loops_come_first_and_nested_tuples_stay_right() -> None:
    text = """HloModule m
icond {
  s = (s32[], (f32[], f32[])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1)
  ROOT r = pred[] compare(i, n), direction=LT
}
ibody {
  s = (s32[], (f32[], f32[])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
  p = (f32[], f32[]) get-tuple-element(s), index=1
  a = f32[] get-tuple-element(p), index=0
  b = f32[] get-tuple-element(p), index=1
  c = f32[] multiply(a, b)
  q = (f32[], f32[]) tuple(c, b)
  ROOT t = (s32[], (f32[], f32[])) tuple(i2, q)
}
cond {
  s = (s32[], (f32[], f32[]), f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], (f32[], f32[]), f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  p = (f32[], f32[]) get-tuple-element(s), index=1
  d = f32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  i2 = s32[] add(i, one)
  z = s32[] constant(0)
  it = (s32[], (f32[], f32[])) tuple(z, p)
  iw = (s32[], (f32[], f32[])) while(it), condition=icond, body=ibody
  q = (f32[], f32[]) get-tuple-element(iw), index=1
  ROOT t = (s32[], (f32[], f32[]), f32[]) tuple(i2, q, d)
}
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  z = s32[] constant(0)
  p = (f32[], f32[]) tuple(x, y)
  t = (s32[], (f32[], f32[]), f32[]) tuple(z, p, x)
  ROOT w = (s32[], (f32[], f32[]), f32[]) while(t), condition=cond, body=body
}
"""
    module = passed(text, SimplifyWhileLoops(), np.float32(1.5), np.float32(-2))
    assert state_of(module) == ["s32[]", "(f32[], f32[])"]


def test_the_configuration_names_the_variable_by_its_new_number() -> None:
    text = loop_text(
        "(s32[], f32[2], f32[2])",
        "  u = f32[2] get-tuple-element(s), index=2\n"
        "  v = f32[2] add(u, u)\n"
        "  x = f32[2] get-tuple-element(s), index=1\n"
        "  y = f32[2] multiply(x, x)\n"
        "  ROOT t = (s32[], f32[2], f32[2]) tuple(i2, y, v)",
        "  x = f32[2] parameter(0)\n"
        "  t = (s32[], f32[2], f32[2]) tuple(z, x, x)\n"
        "  w = (s32[], f32[2], f32[2]) while(t), condition=cond, body=body,"
        ' backend_config={"known_induction_variable":{"tuple_index":"2"}}\n'
        "  ROOT r = f32[2] get-tuple-element(w), index=2",
    )
    module = passed(text, SimplifyWhileLoops())
    config = loop_in(module).annotations.backend_config
    assert config == '{"known_induction_variable":{"tuple_index":"1"}}'


def test_shardings_of_what_is_left_stay() -> None:
    sharding = "{{replicated}, {devices=[2]<=[2]}, {maximal device=1}}"
    text = loop_text(
        "(s32[], f32[2], f32[2])",
        "  u = f32[2] get-tuple-element(s), index=2\n"
        "  x = f32[2] get-tuple-element(s), index=1\n"
        "  y = f32[2] multiply(x, x)\n"
        "  v = f32[2] multiply(u, u)\n"
        f"  ROOT t = (s32[], f32[2], f32[2]) tuple(i2, y, v), sharding={sharding}",
        "  x = f32[2] parameter(0)\n"
        "  t = (s32[], f32[2], f32[2]) tuple(z, x, x)\n"
        "  w = (s32[], f32[2], f32[2]) while(t), condition=cond, body=body,"
        f" sharding={sharding}\n"
        "  ROOT r = f32[2] get-tuple-element(w), index=2",
    )
    module = passed(text, SimplifyWhileLoops())
    for one in (loop_in(module), loop_in(module).calls[1].root):
        found = one.annotations.sharding
        assert found is not None
        assert found.text == "{{replicated}, {maximal device=1}}"


def test_a_state_that_is_no_tuple_stays() -> None:
    text = """HloModule m
cond {
  i = s32[] parameter(0)
  b = s32[] constant(40)
  ROOT r = pred[] compare(i, b), direction=LT
}
body {
  i = s32[] parameter(0)
  ROOT r = s32[] multiply(i, i)
}
ENTRY e {
  z = s32[] parameter(0)
  ROOT w = s32[] while(z), condition=cond, body=body
}
"""
    assert opcodes(passed(text, SimplifyWhileLoops(), np.int32(3))) == ["while"]


def test_an_element_that_is_the_root_may_be_merged() -> None:
    text = """HloModule m
cond {
  s = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  n = u32[] constant(9)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (u32[], u32[]) parameter(0)
  two = u32[] constant(2)
  i = u32[] get-tuple-element(s), index=0
  j = u32[] get-tuple-element(s), index=1
  i2 = u32[] add(i, two)
  j2 = u32[] add(j, two)
  ROOT t = (u32[], u32[]) tuple(i2, j2)
}
ENTRY e {
  x = u32[] parameter(0)
  t = (u32[], u32[]) tuple(x, x)
  w = (u32[], u32[]) while(t), condition=cond, body=body
  ROOT j = u32[] get-tuple-element(w), index=1
}
"""
    module = passed(text, SimplifyWhileLoops())
    assert module.entry.root.opcode == "get-tuple-element"
    assert state_of(module) == ["u32[]"]


def test_values_that_the_text_leaves_out_may_differ() -> None:
    text = loop_text(
        "(s32[], f32[4], f32[4], f32[4])",
        "  x = f32[4] constant({...})\n"
        "  y = f32[4] get-tuple-element(s), index=2\n"
        "  z = f32[4] get-tuple-element(s), index=3\n"
        "  ROOT t = (s32[], f32[4], f32[4], f32[4]) tuple(i2, x, y, z)",
        "  x = f32[4] constant({...})\n"
        "  y = f32[4] constant({...})\n"
        "  u = f32[4] constant({...})\n"
        "  t = (s32[], f32[4], f32[4], f32[4]) tuple(z, x, y, u)\n"
        "  ROOT w = (s32[], f32[4], f32[4], f32[4]) while(t), condition=cond, body=body",
    )
    module = parse(text)
    changed_by(module, SimplifyWhileLoops())
    assert "f32[4]" in state_of(module)
    assert len({one for one in module.entry.root.operands if one.opcode == "constant"}) == 2


@pytest.mark.parametrize("one", [SimplifyWhileLoops(), WhileLoopConstantSinking()])
def test_states_of_thousands_of_elements_take_linear_time(one: Pass) -> None:
    count = 3000
    numbers = range(1, count + 1)
    state = "(" + ", ".join(["s32[]", *["f32[2]"] * count]) + ")"
    taken = [f"  e{n} = f32[2] get-tuple-element(s), index={n}" for n in numbers]
    sums = [
        "  a1 = f32[2] sine(e1)",
        *[f"  a{n} = f32[2] add(a{n - 1}, e{n})" for n in numbers[1:]],
    ]
    handed_on = ", ".join(["i2", f"a{count}", *[f"e{n}" for n in numbers[1:]]])
    constants = [f"  k{n} = f32[2] constant({{{n}, 2}})" for n in numbers]
    begun = ", ".join(["z", *[f"k{n}" for n in numbers]])
    loop = f"  w = {state} while(t), condition=cond, body=body"
    after = [f"  g{n} = f32[2] get-tuple-element(w), index={n}" for n in numbers]
    shapes, results = (", ".join(part) for part in (["f32[2]"] * count, [f"g{n}" for n in numbers]))
    text = loop_text(
        state,
        "\n".join([*taken, *sums, f"  ROOT t = {state} tuple({handed_on})"]),
        "\n".join(
            [
                *constants,
                f"  t = {state} tuple({begun})",
                loop,
                *after,
                f"  ROOT r = ({shapes}) tuple({results})",
            ]
        ),
    )
    module = parse(text)
    start = time.perf_counter()
    assert one.run(module, Journal(one.name))
    assert time.perf_counter() - start < 30
