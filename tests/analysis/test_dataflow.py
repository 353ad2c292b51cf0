"""Where values come from, what shares memory with what, and for how long it is needed."""

import pytest

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import Dataflow, bindings, shared_operand, updated_operand
from hlotool.analysis.liveness import Liveness, LiveRange
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.text.parser import parse

LOOP = """HloModule m
condition {
  s = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  bs = (s32[], f32[2]) parameter(0)
  bi = s32[] get-tuple-element(bs), index=0
  next = s32[] add(bi, bi)
  bx = f32[2] get-tuple-element(bs), index=1
  ROOT bt = (s32[], f32[2]) tuple(next, bx)
}
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] negate(x)
  one = s32[] constant(1)
  first = s32[] negate(one)
  init = (s32[], f32[2]) tuple(first, y)
  w = (s32[], f32[2]) while(init), condition=condition, body=body
  a = s32[] get-tuple-element(w), index=0
  b = f32[2] get-tuple-element(w), index=1
  ROOT t = (s32[], f32[2]) tuple(a, b)
}
"""


def by_name(module: Module) -> dict[str, Instruction]:
    return {instruction.name: instruction for instruction in module.instructions()}


def test_what_a_loop_leaves_as_it_is_comes_from_in_front_of_it() -> None:
    module = parse(LOOP)
    names = by_name(module)
    flow = Dataflow(module)
    assert flow.passes_through(names["w"], (1,))
    assert not flow.passes_through(names["w"], (0,))
    assert flow.origin((names["t"], (1,))) == (names["y"], ())
    assert flow.origin((names["t"], (0,))) == (names["w"], (0,))


def test_uses_are_reads_and_the_end_of_the_computation() -> None:
    module = parse(LOOP)
    names = by_name(module)
    users = [use.user for use in Dataflow(module).uses[names["y"], ()]]
    assert users == [names["w"], None]


def test_a_copy_of_a_value_takes_over_and_gives_back_its_uses() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  n = f32[2] negate(x)\n"
        "  c = f32[2] copy(n)\n  ROOT s = f32[2] sine(c)\n}\n"
    )
    names = by_name(module)
    flow = Dataflow(module)
    undo = flow.merge(names["c"])
    assert flow.origin((names["c"], ())) == (names["n"], ())
    assert [use.user for use in flow.uses[names["n"], ()]] == [names["s"]]
    undo()
    assert flow.origin((names["c"], ())) == (names["c"], ())
    assert [use.user for use in flow.uses[names["n"], ()]] == [names["c"]]


def test_the_state_of_a_loop_is_in_one_place() -> None:
    module = parse(LOOP)
    names = by_name(module)
    classes = BufferClasses(Dataflow(module))
    first = classes.find((names["first"], ()))
    for place in (("init", (0,)), ("w", (0,)), ("a", ()), ("bi", ()), ("next", ()), ("i", ())):
        assert classes.find((names[place[0]], place[1])) == first
    assert classes.find((names["y"], ())) != first


def test_what_is_called_comes_right_before_its_caller() -> None:
    module = parse(LOOP)
    liveness = Liveness(Dataflow(module))
    order = [instruction.name for instruction in liveness.sequence]
    inside = ["s", "i", "n", "r", "bs", "bi", "next", "bx", "bt"]
    start = order.index("s")
    assert order[start : start + len(inside)] == inside
    assert order[start + len(inside)] == "w"
    assert len(order) == len(set(order)) == liveness.end


def test_inputs_live_from_the_start_and_results_to_the_end() -> None:
    module = parse(LOOP)
    names = by_name(module)
    liveness = Liveness(Dataflow(module))
    assert liveness.range_of([(names["x"], ())]) == LiveRange(0, liveness.end)
    assert liveness.range_of([(names["y"], ())]) == LiveRange(1, liveness.end)


@pytest.mark.parametrize(
    ("line", "shared", "updated"),
    [
        ("bitcast(x)", (0, ()), None),
        ("opt-barrier(x)", (0, ()), None),
        ("copy(x)", None, None),
        ("add(x, x)", None, None),
        ("dynamic-update-slice(x, u, i)", None, (0, ())),
        ('custom-call(x), custom_call_target="Sharding"', None, None),
        (
            'custom-call(u, x), custom_call_target="t", output_to_operand_aliasing={{}: (1, {})}',
            None,
            (1, ()),
        ),
    ],
)
def test_results_in_the_memory_of_operands(
    line: str, shared: tuple[int, tuple[()]] | None, updated: tuple[int, tuple[()]] | None
) -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  u = f32[1] parameter(1)\n"
        f"  i = s32[] parameter(2)\n  ROOT r = f32[2] {line}\n}}\n"
    )
    root = module.entry.root
    assert shared_operand(root, ()) == shared
    assert updated_operand(root, ()) == updated


def test_computations_for_elements_are_not_bound_to_callers() -> None:
    module = parse(
        "HloModule m\nadd {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
        "  ROOT s = f32[] add(p, q)\n}\nENTRY e {\n  x = f32[2] parameter(0)\n"
        "  z = f32[] constant(0)\n"
        "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add\n}\n"
    )
    assert bindings(module.entry.root) == ()
    assert Dataflow(module).computations == [module.entry]


def test_a_computation_that_two_call_is_named() -> None:
    module = parse(
        "HloModule m\nf {\n  ROOT p = f32[] parameter(0)\n}\nENTRY e {\n"
        "  x = f32[] parameter(0)\n  a = f32[] call(x), to_apply=f\n"
        "  ROOT b = f32[] call(a), to_apply=f\n}\n"
    )
    assert [computation.name for computation in Dataflow(module).shared] == ["f"]
