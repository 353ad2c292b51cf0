"""What moves into loops and out of them, and loops that are written out."""

import time

import numpy as np
import pytest

from hlotool.ir.module import Module
from hlotool.passes.control.while_loop_constant_sinking import WhileLoopConstantSinking
from hlotool.passes.control.while_loop_invariant_code_motion import WhileLoopInvariantCodeMotion
from hlotool.passes.control.while_loop_trip_count_annotator import WhileLoopTripCountAnnotator
from hlotool.passes.control.while_loop_unroller import WhileLoopUnroller
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed
from tests.passes.control.loops_to_move import loop_text


def inside(module: Module) -> list[str]:
    """Returns the opcodes of the body of the loop of the entry."""
    (loop,) = (one for one in module.entry.instructions if one.opcode == "while")
    return [one.opcode for one in loop.calls[1].instructions]


def test_what_no_round_changes_is_computed_before() -> None:
    text = loop_text(
        "  a = f32[2] exponential(u)\n"
        "  b = f32[2] negate(a)\n"
        "  c = f32[2] add(x, b)\n"
        "  y = f32[2] multiply(c, a)"
    )
    module = passed(text, WhileLoopInvariantCodeMotion())
    assert {"exponential", "negate"}.isdisjoint(inside(module))
    assert {"exponential", "negate"} <= set(opcodes(module))
    # The result is a tuple of what it was before.
    assert len(list(module.entry.root.shape.leaves())) == 3


def test_cheap_things_move_only_with_others() -> None:
    text = loop_text(
        "  k = f32[] constant(3)\n"
        "  b = f32[2] broadcast(k), dimensions={}\n"
        "  r = f32[2] reverse(u), dimensions={0}\n"
        "  y = f32[2] add(x, r)"
    )
    assert "reverse" in inside(passed(text, WhileLoopInvariantCodeMotion()))
    moved = text.replace("add(x, r)", "add(x, m)").replace(
        "  y = ", "  m = f32[2] multiply(r, b)\n  y = "
    )
    module = passed(moved, WhileLoopInvariantCodeMotion())
    assert {"reverse", "multiply", "broadcast"} <= set(opcodes(module))
    assert "multiply" not in inside(module)


def test_cheap_things_stay_where_they_are_fused() -> None:
    text = loop_text("  r = f32[2] fusion(u), kind=kLoop, calls=turned\n  y = f32[2] add(x, r)")
    body = "turned {\n  p = f32[2] parameter(0)\n  ROOT v = f32[2] OPCODE(p)\n}\n"
    cheap = body.replace("OPCODE(p)", "reverse(p), dimensions={0}")
    costly = body.replace("OPCODE", "exponential")
    for computation, stays in ((cheap, True), (costly, False)):
        module = passed(
            text.replace("cond {", f"{computation}cond {{", 1), WhileLoopInvariantCodeMotion()
        )
        assert ("fusion" in inside(module)) is stays


def test_what_moves_out_of_an_inner_loop_goes_on() -> None:
    text = """HloModule m
icond { s = (s32[], f32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(2)
 ROOT r = pred[] compare(i, n), direction=LT }
ibody { s = (s32[], f32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[] get-tuple-element(s), index=1
 u = f32[] get-tuple-element(s), index=2
 one = s32[] constant(1)
 i2 = s32[] add(i, one)
 v = f32[] tanh(u)
 y = f32[] add(x, v)
 ROOT t = (s32[], f32[], f32[]) tuple(i2, y, u) }
cond { s = (s32[], f32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(3)
 ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[] get-tuple-element(s), index=1
 u = f32[] get-tuple-element(s), index=2
 one = s32[] constant(1)
 i2 = s32[] add(i, one)
 z = s32[] constant(0)
 t = (s32[], f32[], f32[]) tuple(z, x, u)
 w = (s32[], f32[], f32[]) while(t), condition=icond, body=ibody
 y = f32[] get-tuple-element(w), index=1
 ROOT r = (s32[], f32[], f32[]) tuple(i2, y, u) }
ENTRY e { x = f32[] parameter(0)
 u = f32[] parameter(1)
 z = s32[] constant(0)
 t = (s32[], f32[], f32[]) tuple(z, x, u)
 ROOT w = (s32[], f32[], f32[]) while(t), condition=cond, body=body }
"""
    module = passed(text, WhileLoopInvariantCodeMotion())
    assert "tanh" in opcodes(module)
    assert "tanh" not in inside(module)


@pytest.mark.parametrize(
    "line",
    [
        'a = f32[2] custom-call(u), custom_call_target="f", custom_call_has_side_effect=true',
        "a = f32[2] exponential(x)",
        "a = f32[2] opt-barrier(u)",
        "a = f32[2] all-reduce(u), replica_groups={}, to_apply=sum",
        "a = f32[2] negate(u), control-predecessors={x}",
    ],
)
def test_what_stays_in_a_loop(line: str) -> None:
    text = loop_text(f"  {line}\n  y = f32[2] add(x, a)").replace(
        "cond {",
        "sum { p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q) }\n"
        "cond {",
        1,
    )
    module = parse(text)
    assert not changed_by(module, WhileLoopInvariantCodeMotion())


def test_constants_sink_into_bodies_and_conditions() -> None:
    text = loop_text("  y = f32[2] add(x, u)", given="constant({1, 2})")
    module = passed(text, WhileLoopConstantSinking())
    body = next(one for one in module.entry.instructions if one.opcode == "while").calls[1]
    add = next(one for one in body.instructions if one.shape.is_array and one.opcode == "add"
               and one.shape.plain_text == "f32[2]")  # fmt: skip
    assert add.operands[1].opcode == "constant"
    # What is handed on stays an element.
    assert body.root.operands[2].opcode == "get-tuple-element"


def test_broadcasts_of_constants_sink_unless_told_otherwise() -> None:
    text = loop_text("  y = f32[2] add(x, u)", given="broadcast(k), dimensions={}").replace(
        "ENTRY e {", "ENTRY e {\n  k = f32[] constant(2)"
    )
    assert "broadcast" in inside(passed(text, WhileLoopConstantSinking()))
    without = WhileLoopConstantSinking(sink_broadcasts=False)
    assert "broadcast" not in inside(passed(text, without))


def test_elements_that_change_keep_their_constants_outside() -> None:
    text = loop_text("  y = f32[2] add(x, u)", given="constant({1, 2})")
    text = text.replace("tuple(i2, y, u)", "tuple(i2, y, y)")
    assert not changed_by(parse(text), WhileLoopConstantSinking())


def test_short_loops_are_written_out() -> None:
    text = loop_text("  y = f32[2] multiply(x, u)", rounds=5)
    module = passed(text, WhileLoopUnroller(), np.array([1, -2], np.float32),
                    np.array([3, np.inf], np.float32))  # fmt: skip
    assert opcodes(module).count("multiply") == 5
    assert "while" not in opcodes(module)


def test_long_loops_stay_and_are_named() -> None:
    text = loop_text("  y = f32[2] multiply(x, u)", rounds=5)
    for one in (WhileLoopUnroller(max_trip_count=4), WhileLoopUnroller(max_instructions=20)):
        journal = Journal(one.name)
        assert not changed_by(parse(text), one, journal)
        assert [note.instruction for note in journal.notes] == ["w"]


def test_loops_with_effects_are_not_written_out() -> None:
    text = loop_text("  y = f32[2] rng(a, a), distribution=rng_uniform").replace(
        "  one =", "  a = f32[] constant(1)\n  one ="
    )
    assert not changed_by(parse(text), WhileLoopUnroller())


def test_trip_counts_are_written_as_the_reference_writes_them() -> None:
    text = loop_text("  y = f32[2] multiply(x, u)", rounds=7)
    module = passed(text, WhileLoopTripCountAnnotator())
    assert module.entry.root.annotations.backend_config == (
        '{"dynamic_variables":[],"known_induction_variable":{"tuple_index":"0"},'
        '"known_init_step":{"init":"0","step":"1"},"known_trip_count":{"n":"7"}}'
    )


def test_other_configuration_is_kept() -> None:
    text = loop_text("  y = f32[2] multiply(x, u)", rounds=7).replace(
        "body=body", 'body=body, backend_config={"mine":[1]}'
    )
    module = passed(text, WhileLoopTripCountAnnotator())
    assert module.entry.root.annotations.backend_config.startswith('{"mine":[1],"known_ind')
    odd = text.replace('{"mine":[1]}', '"no json"')
    journal = Journal("while-loop-trip-count-annotator")
    assert not changed_by(parse(odd), WhileLoopTripCountAnnotator(), journal)
    assert [note.instruction for note in journal.notes] == ["w"]


def test_a_large_body_takes_linear_time() -> None:
    lines = [f"  v{n + 1} = f32[2] add(v{n}, a{n})\n  a{n + 1} = f32[2] negate(a{n})"
             for n in range(8000)]  # fmt: skip
    body = "\n".join(
        ["  v0 = f32[2] negate(x)", "  a0 = f32[2] negate(u)", *lines, "  y = f32[2] negate(v8000)"]
    )
    module = parse(loop_text(body))
    start = time.perf_counter()
    assert WhileLoopInvariantCodeMotion().run(module, Journal("licm"))
    assert time.perf_counter() - start < 30
    # Those of x and of the sum stay, and the last of u, which nothing uses.
    assert inside(module).count("negate") == 3
