"""Equal modules, and the first difference of others."""

from __future__ import annotations

import re

import pytest

from hlotool.analysis.isomorphism import equal_modules
from hlotool.text.parser import parse

TEXT = """HloModule m, is_scheduled=true, replica_count=2

FileNames
1 "a.py"
2 "b.py"
FunctionNames
1 "f"
FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}
2 {file_name_id=2 function_name_id=1 line=4 end_line=4 column=1 end_column=9}
StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

f { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }
g { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }, execution_thread="side"
ENTRY e {
  p = f32[2] parameter(0), metadata={op_name="p" stack_frame_id=2}
  q = f32[2] parameter(1), sharding={manual}
  a = f32[2] call(p), to_apply=f
  c = f32[2] call(p), to_apply=g
  b = f32[2] transpose(q), dimensions={0}
  ROOT r = f32[2] add(a, b), control-predecessors={q}
  s = f32[2] subtract(a, b)
}
"""
STARTED = """w { x = f32[2] parameter(0) ROOT n = f32[2] negate(x), metadata={op_name="inner"} }
ENTRY e {
  p = f32[2] parameter(0)
  s = ((f32[2]), f32[2], u32[]) async-start(p), calls=w
  ROOT d = f32[2] async-done(s), calls=w
}
"""


@pytest.mark.parametrize("text", [TEXT, STARTED])
def test_a_module_equals_itself(text: str) -> None:
    assert equal_modules(parse(text), parse(text)) is None


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("HloModule m", "HloModule n", "module name: m and n"),
        ("replica_count=2", "replica_count=3", "header: replica_count: 2 and 3"),
        ("ENTRY e", "ENTRY h", "entry: e and h"),
        ("f {", "h {", "computation name: f and h"),
        ("g {", "h {", "computation name: g and h"),
        ('"side"', '"other"', "computation g: thread: side and other"),
        ('"b.py"', '"c.py"', "stack tables differ"),
        (
            "b = f32[2] trans",
            "b = f32[<=2] trans",
            "instruction b: shape: f32[2]{0} and f32[<=2]{0}",
        ),
        ('"p" stack', '"q" stack', "instruction p: metadata: "),
        ("{manual}", "{replicated}", "instruction q: sharding: "),
        ("call(p)", "call(q)", "instruction a: operands: p and q"),
        ("to_apply=f", "to_apply=g", "instruction a: calls f and g"),
        (
            "transpose(q), dimensions={0}",
            "negate(q)",
            "instruction b: op: ('transpose', (0,)) and ",
        ),
        ("add(a, b)", "add(b, a)", "instruction r: operands: a, b and b, a"),
        (", control-predecessors={q}", "", "instruction r: control-predecessors: q and "),
        ("  s = f32[2] subtract(a, b)\n", "", "computation e: number of instructions: 7 and 6"),
        (
            "ROOT r = f32[2] add(a, b), control-predecessors={q}\n",
            "r = f32[2] add(a, b), control-predecessors={q}\n",
            "computation e: root r is not s",
        ),
        ("b = f32[2] transpose(q)", "d = f32[2] transpose(q)", "instruction name: b and d"),
    ],
)
def test_a_difference_is_found(old: str, new: str, difference: str) -> None:
    assert old in TEXT
    changed = TEXT.replace(old, new, 1)
    if " name: " in difference:
        # What is named is called by its new name.
        name, other = old.split(maxsplit=1)[0], new.split(maxsplit=1)[0]
        changed = re.sub(rf"(=|, ){name}\b(?! =)", rf"\1{other}", changed)
    found = equal_modules(parse(TEXT), parse(changed))
    assert found is not None
    assert found.startswith(difference)


def test_an_additional_computation_is_found() -> None:
    more = parse(TEXT + "late { ROOT x = f32[] parameter(0) }")
    assert equal_modules(parse(TEXT), more) == "computation late stands on one side only"
    assert equal_modules(more, parse(TEXT)) == "computation late stands on one side only"


def test_numbers_of_stack_frames_do_not_count() -> None:
    swapped = (
        TEXT.replace('1 "a.py"\n2 "b.py"', '1 "b.py"\n2 "a.py"')
        .replace(
            "file_name_id=1 function_name_id=1 line=3", "file_name_id=2 function_name_id=1 line=3"
        )
        .replace(
            "file_name_id=2 function_name_id=1 line=4", "file_name_id=1 function_name_id=1 line=4"
        )
    )
    assert swapped != TEXT
    assert equal_modules(parse(TEXT), parse(swapped)) is None


def test_metadata_that_does_not_print_does_not_count() -> None:
    hidden = TEXT.replace("add(a, b)", "add(a, b), metadata={source_line=3}")
    assert equal_modules(parse(TEXT), parse(hidden)) is None


def test_of_what_a_start_wraps_only_what_it_computes_counts() -> None:
    sugared = """ENTRY e {
      p = f32[2] parameter(0)
      s = ((f32[2]), f32[2], u32[]) negate-start(p)
      ROOT d = f32[2] negate-done(s)
    }"""
    assert equal_modules(parse(STARTED), parse(sugared)) is None
    other = sugared.replace("negate", "abs")
    found = equal_modules(parse(STARTED), parse(other))
    assert found == "instruction n: op: ('negate',) and ('abs',)"


def test_the_value_of_a_constant_counts() -> None:
    text = "ENTRY e { ROOT c = f32[] constant(1) }"
    found = equal_modules(parse(text), parse(text.replace("constant(1)", "constant(2)")))
    assert found is not None
    assert found.startswith("instruction c: op: ")
