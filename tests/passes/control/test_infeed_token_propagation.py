import numpy as np

from hlotool.analysis.verifier import verify
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.module import Module
from hlotool.passes.control.infeed_token_propagation import InfeedTokenPropagation
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, passed

LOOP = """HloModule m
cond { s = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(3)
 ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[] get-tuple-element(s), index=1
 k = token[] after-all()
 o = token[] outfeed(x, k), outfeed_shape=f32[]
 l = token[] after-all()
 f = (f32[], token[]) infeed(l)
 y = f32[] get-tuple-element(f), index=0
 one = s32[] constant(1)
 i2 = s32[] add(i, one)
 ROOT t = (s32[], f32[]) tuple(i2, y) }
ENTRY e { z = s32[] constant(0)
 x = f32[] parameter(0)
 t = (s32[], f32[]) tuple(z, x)
 ROOT w = (s32[], f32[]) while(t), condition=cond, body=body }
"""

BRANCH = """HloModule m
f { s = (f32[], f32[]) parameter(0)
 x = f32[] get-tuple-element(s), index=0
 k = token[] after-all()
 o = token[] outfeed(x, k), outfeed_shape=f32[]
 ROOT t = (f32[]) tuple(x) }
g { s = (f32[], f32[]) parameter(0)
 x = f32[] get-tuple-element(s), index=1
 ROOT t = (f32[]) tuple(x) }
cond { s = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(3)
 ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[] get-tuple-element(s), index=1
 p = (f32[], f32[]) tuple(x, x)
 c = (f32[]) conditional(i, p, p), branch_computations={f, g}
 y = f32[] get-tuple-element(c), index=0
 one = s32[] constant(1)
 i2 = s32[] add(i, one)
 ROOT t = (s32[], f32[]) tuple(i2, y) }
ENTRY e { z = s32[] constant(0)
 x = f32[] parameter(0)
 t = (s32[], f32[]) tuple(z, x)
 w = (s32[], f32[]) while(t), condition=cond, body=body
 ROOT r = f32[] get-tuple-element(w), index=1 }
"""


def waits(module: Module) -> dict[str, list[str]]:
    """Returns the opcodes that make the tokens that feeds wait for."""
    return {
        one.opcode: [one.operands[-1].opcode]
        for one in module.instructions()
        if one.opcode in {"infeed", "outfeed"}
    }


def test_tokens_go_through_the_state_of_loops() -> None:
    module = parse(LOOP)
    assert changed_by(module, InfeedTokenPropagation())
    assert waits(module) == {"infeed": ["get-tuple-element"], "outfeed": ["get-tuple-element"]}
    loop = next(one for one in module.entry.instructions if one.opcode == "while")
    assert loop.shape.plain_text == "(s32[], f32[], token[], token[])"
    assert module.entry.root.shape.plain_text == "(s32[], f32[])"
    ends = loop.calls[1].root.operands[2:]
    assert sorted(one.opcode for one in ends) == ["get-tuple-element", "outfeed"]
    device = LoneDevice(infeed=[np.float32(n) for n in (4, 5, 6)])
    result = evaluate_module(module, [np.asarray(np.float32(1))], device)
    assert [int(result[0]), float(result[1])] == [3, 6.0]
    assert [float(value) for value in device.outfed] == [1, 4, 5]


def test_tokens_go_through_branches_and_then_loops() -> None:
    module = passed(BRANCH, InfeedTokenPropagation())
    assert waits(module) == {"outfeed": ["get-tuple-element"]}
    assert any(one.opcode == "after-all" for one in module.entry.instructions)
    nested = [one for computation in module.computations[:-1] for one in computation.instructions]
    assert all(one.opcode != "after-all" for one in nested)
    assert verify(module) == []


def test_tokens_in_order_already_stay() -> None:
    text = LOOP.replace(" l = token[] after-all()\n", "").replace("infeed(l)", "infeed(o)")
    assert not changed_by(parse(text), InfeedTokenPropagation())


def test_what_cannot_be_handed_up_is_named() -> None:
    text = BRANCH.replace("c = (f32[]) conditional(i, p, p), branch_computations={f, g}",
                          "c = (f32[]) call(p), to_apply=f").replace(
        "g { s = (f32[], f32[]) parameter(0)\n x = f32[] get-tuple-element(s), index=1\n"
        " ROOT t = (f32[]) tuple(x) }\n", "")  # fmt: skip
    journal = Journal("infeed-token-propagation")
    assert not changed_by(parse(text), InfeedTokenPropagation(), journal)
    assert [note.instruction for note in journal.notes] == ["o"]
