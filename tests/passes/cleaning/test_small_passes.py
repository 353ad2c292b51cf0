"""Passes that rename, reorder, mark or check."""

import pytest

from hlotool.errors import VerificationErrors
from hlotool.ops.source import Constant
from hlotool.passes.cleaning.add_original_value import AddOriginalValue
from hlotool.passes.cleaning.hlo_verifier import HloVerifier
from hlotool.passes.cleaning.instruction_hoister import InstructionHoister
from hlotool.passes.cleaning.literal_canonicalizer import LiteralCanonicalizer
from hlotool.passes.cleaning.root_instruction_sinker import RootInstructionSinker
from hlotool.passes.cleaning.sanitize_constant_names import SanitizeConstantNames
from hlotool.passes.control.cse_barrier_expander import CseBarrierExpander
from hlotool.passes.control.dynamic_index_splitter import DynamicIndexSplitter
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import changed_by, opcodes, passed


def test_barriers_go() -> None:
    text = """HloModule m
ENTRY e { x = f32[2] parameter(0)
 y = f32[2] negate(x)
 t = (f32[2], f32[2]) tuple(x, y)
 b = (f32[2], f32[2]) opt-barrier(t)
 ROOT r = f32[2] get-tuple-element(b), index=1 }
"""
    assert opcodes(passed(text, CseBarrierExpander())) == ["negate", "tuple", "get-tuple-element"]


def test_index_vectors_become_scalars() -> None:
    text = """HloModule m
ENTRY e { x = f32[5,7] parameter(0)
 y = f32[2,3] parameter(1)
 v = s32[2] parameter(2)
 a = f32[2,3] dynamic-slice(x, v), dynamic_slice_sizes={2,3}
 b = f32[5,7] dynamic-update-slice(x, y, v)
 ROOT t = (f32[2,3], f32[5,7]) tuple(a, b) }
"""
    module = passed(text, DynamicIndexSplitter())
    for one in module.entry.instructions:
        if one.opcode.startswith("dynamic"):
            assert [index.shape.plain_text for index in one.operands[-2:]] == ["s32[]"] * 2


def test_names_of_constants_have_no_dots() -> None:
    text = """HloModule m
ENTRY e { constant.1 = f32[] constant(1)
 constant_1 = f32[] negate(constant.1)
 a-b = f32[] constant(2)
 a.b = f32[] constant(3)
 ROOT add.3 = f32[] add(a-b, a.b) }
""".replace("a-b", "a.-b")
    module = passed(text, SanitizeConstantNames())
    names = [one.name for one in module.entry.instructions]
    assert "constant_1_1" in names
    assert "add.3" in names
    assert not any("." in one.name for one in module.entry.instructions if one.opcode == "constant")


SCHEDULED = """HloModule m, is_scheduled=true
ENTRY e { x = (f32[2], f32[2]) parameter(0)
 a = f32[2] get-tuple-element(x), index=0
 b = f32[2] negate(a)
 c = f32[2] get-tuple-element(x), index=1
 ROOT d = f32[2] add(b, c)
 k = f32[] constant(1)
 y = f32[2] parameter(1)
 z = f32[2] exponential(y) }
"""


def test_what_takes_no_time_comes_first() -> None:
    module = passed(SCHEDULED, InstructionHoister())
    order = [one.opcode for one in module.entry.instructions]
    assert order[:2] == ["parameter", "parameter"]
    assert order[2:] == [
        "get-tuple-element", "get-tuple-element", "constant", "negate", "add", "exponential",
    ]  # fmt: skip
    only_parameters = passed(SCHEDULED, InstructionHoister(hoist_constants=False))
    assert [one.opcode for one in only_parameters.entry.instructions][-2:] == [
        "constant", "exponential",
    ]  # fmt: skip
    only_constants = passed(SCHEDULED, InstructionHoister(hoist_parameters=False))
    assert [one.opcode for one in only_constants.entry.instructions][:2] == [
        "constant", "parameter",
    ]  # fmt: skip
    unscheduled = SCHEDULED.replace(", is_scheduled=true", "")
    assert not changed_by(parse(unscheduled), InstructionHoister())


def test_the_root_comes_last() -> None:
    module = passed(SCHEDULED, RootInstructionSinker())
    assert module.entry.root is module.entry.instructions[-1]
    assert module.entry.root.opcode == "bitcast"
    joined = SCHEDULED.replace("ROOT d = f32[2] add(b, c)", "ROOT t = (f32[2], f32[2]) tuple(b, c)")
    module = passed(joined, RootInstructionSinker())
    assert module.entry.root is module.entry.instructions[-1]
    assert module.entry.root.opcode == "tuple"
    assert not changed_by(
        parse(SCHEDULED.replace(", is_scheduled=true", "")), RootInstructionSinker()
    )


def test_values_get_their_names() -> None:
    text = """HloModule m
ENTRY e { x = (f32[2], (s32[], f32[])) parameter(0)
 a = f32[2] get-tuple-element(x), index=0
 p = (s32[], f32[]) get-tuple-element(x), index=1
 b = f32[2] negate(a)
 ROOT t = (f32[2], (s32[], f32[])) tuple(b, p) }
"""
    module = parse(text)
    assert changed_by(module, AddOriginalValue())
    shown = print_module(module)
    assert 'origin={{"x" {0}}}' in shown
    assert 'origin={({"x" {1,0}}, {"x" {1,1}})}' in shown
    assert 'origin={({"b"}, ({"x" {1,0}}, {"x" {1,1}}))}' in shown


def test_equal_literals_share_memory() -> None:
    values = ", ".join(map(str, range(300)))
    text = f"""HloModule m
ENTRY e {{ a = s32[300] constant({{{values}}})
 b = s32[300] constant({{{values}}})
 ROOT r = s32[300] add(a, b) }}
"""
    module = parse(text)
    before = print_module(module)
    assert not LiteralCanonicalizer().run(module, Journal("literal-canonicalizer"))
    literals = [one.op.literal for one in module.entry.instructions if isinstance(one.op, Constant)]
    assert literals[0] is literals[1]
    assert print_module(module) == before


def test_the_verifier_raises_what_is_wrong() -> None:
    module = parse("HloModule m\nENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[3] negate(x) }")
    with pytest.raises(VerificationErrors):
        HloVerifier().run(module, Journal("hlo-verifier"))
    good = parse("HloModule m\nENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] negate(x) }")
    assert not HloVerifier().run(good, Journal("hlo-verifier"))


def test_what_gets_no_name_takes_no_fuel() -> None:
    module = parse(
        """HloModule m
ENTRY e {
  x = (f32[], f32[]) parameter(0), origin={[synthetic_call]}
  a = f32[] get-tuple-element(x), index=0
  ROOT b = f32[] negate(a)
}
"""
    )
    journal = Journal("add-original-value", Fuel({"add-original-value": 1}))
    assert AddOriginalValue().run(module, journal)
    assert module.entry.root.annotations.origin is not None


def test_the_new_root_has_no_accuracy() -> None:
    text = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[3] parameter(0)
  ROOT y = f32[3] tanh(x), result_accuracy={mode=highest}
  z = f32[3] negate(x)
}
"""
    module = passed(text, RootInstructionSinker())
    assert opcodes(module) == ["tanh", "negate", "bitcast"]
    assert module.entry.root.annotations.result_accuracy.mode == "default"
