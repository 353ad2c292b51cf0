"""Row-major arrays, but for what others decide."""

import numpy as np
import pytest

from hlotool.ir.module import Module
from hlotool.passes.memory.layout_assignment import LayoutAssignment
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import opcodes, passed

COLUMNS = """HloModule m
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  n = f32[2,3]{0,1} negate(x)
  ROOT r = f32[2,3]{0,1} sine(n)
}
"""


def layouts(module: Module) -> dict[str, str]:
    return {one.name: one.shape.text.partition("{")[2][:-1] for one in module.entry.instructions}


def test_inputs_and_results_keep_their_layouts_and_all_between_is_row_major() -> None:
    module = passed(COLUMNS, LayoutAssignment())
    assert opcodes(module) == ["copy", "negate", "sine", "copy"]
    assert list(layouts(module).values()) == ["0,1", "1,0", "1,0", "1,0", "0,1"]


def test_the_header_decides_over_the_entry() -> None:
    header = "HloModule m, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0}}"
    text = COLUMNS.replace("HloModule m", header).replace("{0,1} ", "{1,0} ")
    module = passed(text, LayoutAssignment())
    assert opcodes(module) == ["copy", "negate", "sine"]
    assert module.entry.parameters[0].shape.text == "f32[2,3]{0,1}"
    assert module.entry.root.shape.text == "f32[2,3]{1,0}"


def test_a_row_major_module_stays() -> None:
    text = COLUMNS.replace("{0,1}", "{1,0}")
    module = parse(text)
    assert not LayoutAssignment().run(module, Journal("layout-assignment"))


def test_an_input_that_is_a_result_is_copied_only_for_another_layout() -> None:
    module = passed(
        "HloModule m\nENTRY e {\n  x = f32[2,3]{0,1} parameter(0)\n"
        "  ROOT t = (f32[2,3]{0,1}, f32[2,3]{1,0}) tuple(x, x)\n}\n",
        LayoutAssignment(),
    )
    assert opcodes(module) == ["copy", "tuple"]


def test_in_a_tuple_that_is_given_each_array_is_copied_where_it_is_used() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  p = (f32[2,3]{0,1}, (s8[4,5]{0,1}, f32[])) parameter(0)
  a = f32[2,3]{0,1} get-tuple-element(p), index=0
  q = (s8[4,5]{0,1}, f32[]) get-tuple-element(p), index=1
  b = s8[4,5]{0,1} get-tuple-element(q), index=0
  n = f32[2,3]{0,1} negate(a)
  o = s8[4,5]{0,1} not(b)
  ROOT t = (f32[2,3]{0,1}, s8[4,5]{0,1}) tuple(n, o)
}
""",
        LayoutAssignment(),
    )
    assert opcodes(module).count("copy") == 4
    assert module.entry.root.shape.text == "(f32[2,3]{0,1}, s8[4,5]{0,1})"


def test_a_bitcast_keeps_the_layouts_that_its_value_hangs_on() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,3]{1,0} parameter(0)
  t = f32[2,3]{0,1} copy(x)
  n = f32[2,3]{0,1} negate(t)
  b = f32[3,2]{1,0} bitcast(n)
  ROOT r = f32[3,2]{1,0} sine(b)
}
""",
        LayoutAssignment(),
        np.arange(6, dtype=np.float32).reshape(2, 3),
    )
    bitcast = next(one for one in module.entry.instructions if one.opcode == "bitcast")
    assert bitcast.operands[0].shape.text == "f32[2,3]{0,1}"


def test_operands_of_a_custom_call_come_in_the_layouts_it_wants() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[2,3]{1,0} parameter(0)
  ROOT c = f32[2,3]{0,1} custom-call(x), custom_call_target="Sharding",
    operand_layout_constraints={f32[2,3]{0,1}}
}
"""
    module = passed(text, LayoutAssignment())
    assert opcodes(module) == ["copy", "custom-call"]
    assert module.entry.root.shape.text == "f32[2,3]{0,1}"


def test_fusions_keep_their_layouts_and_get_operands_in_them() -> None:
    module = passed(
        """HloModule m
f {
  p = f32[2,3]{0,1} parameter(0)
  ROOT n = f32[2,3]{0,1} negate(p)
}
ENTRY e {
  x = f32[2,3]{1,0} parameter(0)
  s = f32[2,3]{0,1} sine(x)
  g = f32[2,3]{0,1} fusion(s), kind=kLoop, calls=f
  ROOT r = f32[2,3]{1,0} cosine(g)
}
""",
        LayoutAssignment(),
    )
    assert opcodes(module) == ["sine", "copy", "fusion", "copy", "cosine"]
    assert module.computations[0].root.shape.text == "f32[2,3]{0,1}"


def test_loops_and_branches_agree_with_their_callers() -> None:
    module = passed(
        """HloModule m
condition {
  s = (s32[], f32[2,3]{0,1}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[2,3]{0,1}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[2,3]{0,1} get-tuple-element(s), index=1
  y = f32[2,3]{0,1} add(x, x)
  ROOT t = (s32[], f32[2,3]{0,1}) tuple(next, y)
}
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[2,3]{0,1}) tuple(zero, x)
  ROOT w = (s32[], f32[2,3]{0,1}) while(init), condition=condition, body=body
}
""",
        LayoutAssignment(),
    )
    loop = next(one for one in module.entry.instructions if one.opcode == "while")
    assert {loop.shape, loop.operands[0].shape} == {loop.calls[1].root.shape}
    assert loop.shape.text == "(s32[], f32[2,3]{1,0})"
    assert module.entry.root.shape.text == "(s32[], f32[2,3]{0,1})"


def test_constants_keep_their_values() -> None:
    module = passed(
        "HloModule m\nENTRY e {\n"
        "  c = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})\n"
        "  ROOT r = f32[2,3]{1,0} negate(c)\n}\n",
        LayoutAssignment(),
    )
    assert opcodes(module) == ["constant", "negate"]


def test_what_else_a_layout_says_stays() -> None:
    text = COLUMNS.replace("n = f32[2,3]{0,1}", "n = f32[2,3]{0,1:S(5)}")
    assert layouts(passed(text, LayoutAssignment()))["n"] == "1,0:S(5)"


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("reshape(x)", "bitcast"),
        ("transpose(x), dimensions={1,0}", "transpose"),
    ],
)
def test_a_reshape_that_moves_no_bytes_may_be_a_bitcast(line: str, becomes: str) -> None:
    text = f"HloModule m\nENTRY e {{\n  x = f32[2,3] parameter(0)\n  ROOT r = f32[3,2] {line}\n}}\n"
    assert opcodes(passed(text, LayoutAssignment(bitcasts=True))) == [becomes]
    assert opcodes(passed(text, LayoutAssignment())) == [line.partition("(")[0]]


def test_a_transpose_of_a_dimension_of_one_may_be_a_bitcast() -> None:
    text = (
        "HloModule m\nENTRY e {\n  x = f32[1,3] parameter(0)\n"
        "  ROOT r = f32[3,1] transpose(x), dimensions={1,0}\n}\n"
    )
    assert opcodes(passed(text, LayoutAssignment(bitcasts=True))) == ["bitcast"]


def test_without_fuel_nothing_changes() -> None:
    module = parse(COLUMNS)
    before = print_module(module)
    journal = Journal("layout-assignment", Fuel({"layout-assignment": 0}))
    assert not LayoutAssignment().run(module, journal)
    assert print_module(module) == before
