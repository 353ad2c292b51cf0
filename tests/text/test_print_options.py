"""What each print option changes, one by one."""

from __future__ import annotations

from dataclasses import fields, replace
from difflib import ndiff
from typing import Any

import pytest

from hlotool.ir.op import LargeConstants
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS, PrintOptions, Subcomputations
from hlotool.text.printer import print_module

LAYOUT = "entry_computation_layout={(f32[2]{0}, f32[2]{0})->f32[2]{0}}"
ANNOTATIONS = 'metadata={op_name="d" stack_frame_id=1}, backend_config={"b":1}'
TEXT = f"""HloModule m, is_scheduled=true, {LAYOUT}

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}


%f.2 (x.1: f32[2]) -> f32[2] {{
  %x.1 = f32[2]{{0}} parameter(0), parameter_replication={{true}}
  ROOT %n = f32[2]{{0}} negate(%x.1), sharding={{replicated metadata={{op_name="s"}}}}
}}, execution_thread="side"

ENTRY %e (p: f32[2], q: f32[2]) -> f32[2] {{
  %p = f32[2]{{0}} parameter(0)
  %q = f32[2]{{0}} parameter(1)
  %k = s32[11]{{0}} constant({{...}})
  %c = f32[2]{{0}} custom-call(%p, %q, %p, %q, %p, /*index=5*/%q), custom_call_target="t"
  %r = f32[2]{{0}} all-reduce(%c), replica_groups=[1,2]<=[2], to_apply=%f.2
  ROOT %d = f32[2]{{0}} call(%r), to_apply=%f.2, control-predecessors={{%k}}, {ANNOTATIONS}
}}

"""
SOURCE = TEXT.replace("{...}", "{0,1,2,3,4,5,6,7,8,9,10}")


def changed(**changes: Any) -> dict[str, str]:
    """Returns the lines that options change, each with what becomes of it."""
    printed = print_module(parse(SOURCE), replace(PrintOptions(), **changes))
    lines = [line for line in ndiff(TEXT.splitlines(), printed.splitlines()) if line[0] in "-+"]
    found: dict[str, str] = {}
    gone: list[str] = []
    for line in lines:
        if line[0] == "-":
            gone.append(line[2:].strip())
            found[gone[-1]] = ""
        elif gone:
            found[gone.pop(0)] = line[2:].strip()
        else:
            found[f"+{line[2:].strip()}"] = ""
    return found


def printed(**changes: Any) -> str:
    return print_module(parse(SOURCE), replace(PrintOptions(), **changes))


def test_the_default_prints_the_text_itself() -> None:
    assert printed() == TEXT


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"program_shape": False}, "ENTRY %e (p: f32[2], q: f32[2]) -> f32[2] {", "ENTRY %e {"),
        ({"operand_shapes": True}, "negate(%x.1)", "negate(f32[2]{0} %x.1)"),
        ({"operand_names": False}, "call(%r)", "call()"),
        ({"result_shape": False}, "%p = f32[2]{0} parameter", "%p = parameter"),
        ({"layouts": False}, "%p = f32[2]{0} parameter", "%p = f32[2] parameter"),
        ({"operand_marks": False}, "%p, /*index=5*/%q)", "%p, %q)"),
        ({"compact_operands": True}, "%p, %q, %p, /*index=5*/%q)", "%p, %q, ...(+2))"),
        ({"control_predecessors": False}, ", control-predecessors={%k}", ""),
        ({"backend_config": False}, ', backend_config={"b":1}', ""),
        ({"metadata": False}, ', metadata={op_name="d" stack_frame_id=1}', ""),
        ({"metadata": False}, '{replicated metadata={op_name="s"}}', "{replicated}"),
        ({"attributes": False}, ', custom_call_target="t"', ""),
        ({"attributes": False}, ", replica_groups=[1,2]<=[2]", ""),
        ({"listed_groups": True}, "replica_groups=[1,2]<=[2]", "replica_groups={{0,1}}"),
        (
            {"large_constants": LargeConstants.PRINTED},
            "constant({...})",
            "constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})",
        ),
        ({"subcomputations": Subcomputations.OFF}, "call(%r), to_apply=%f.2", "call(%r)"),
        ({"ids": False}, "HloModule m, ", "HloModule , "),
        ({"ids": False}, "%f.2 (x.1: f32[2])", "%(x: f32[2])"),
        ({"ids": False}, ', execution_thread="side"', ""),
        ({"ids": False}, "negate(%x.1)", "negate(%x)"),
        ({"ids": False}, ", parameter_replication={true}", ""),
        (
            {"canonical_names": True},
            "ROOT %n = f32[2]{0} negate(%x.1)",
            "ROOT tmp_1 = f32[2]{0} negate(tmp_0)",
        ),
    ],
)
def test_an_option_changes(changes: dict[str, Any], before: str, after: str) -> None:
    assert before in TEXT
    text = printed(**changes)
    assert before not in text
    assert after in text


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"percent": False}, 10),
        ({"layouts": False}, 8),
        ({"operand_marks": False}, 1),
        ({"listed_groups": True}, 1),
        ({"control_predecessors": False}, 1),
        ({"attributes": False}, 3),
        ({"indent": 1}, 13),
    ],
)
def test_an_option_changes_nothing_else(changes: dict[str, Any], lines: int) -> None:
    assert len(changed(**changes)) == lines


def test_without_metadata_there_are_no_stack_tables() -> None:
    assert "FileNames" not in printed(metadata=False)


def test_without_percent_there_is_none() -> None:
    assert "%" not in printed(percent=False)


def test_canonical_names_show_where_operand_names_do_not() -> None:
    both = printed(operand_names=False, canonical_names=True)
    assert "negate(tmp_0)" in both
    # Control edges keep the names that the module has.
    assert "control-predecessors={%k}" in both


def test_indent_leaves_empty_lines_and_tables_alone() -> None:
    lines = printed(indent=2).splitlines()
    assert lines[0].startswith("    HloModule m")
    assert [line for line in lines if line.startswith(" ") is False and line] == [
        "FileNames", '1 "a.py"', "FunctionNames", '1 "f"', "FileLocations",
        "1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}",
        "StackFrames", "1 {file_location_id=1 parent_frame_id=1}",
    ]  # fmt: skip
    assert "      %p = f32[2]{0} parameter(0)" in lines
    assert "    }" in lines


def test_bodies_stand_in_place_of_names() -> None:
    text = printed(subcomputations=Subcomputations.BODIES, program_shape=False)
    assert (
        """  ROOT %d = f32[2]{0} call(%r), to_apply=
  {
    %x.1 = f32[2]{0} parameter(0), parameter_replication={true}
    ROOT %n = f32[2]{0} negate(%x.1), sharding={replicated metadata={op_name="s"}}
  }, execution_thread="side", control-predecessors={%k}"""
        in text
    )


def test_bodies_have_signatures_where_computations_have() -> None:
    text = printed(subcomputations=Subcomputations.BODIES)
    assert "to_apply=\n  (x.1: f32[2]) -> f32[2] {\n" in text


def test_a_list_of_bodies_closes_in_the_first_column() -> None:
    text = """f { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
    ENTRY e { p = f32[] parameter(0)
    ROOT c = f32[] custom-call(p), custom_call_target="t", called_computations={f, f} }"""
    options = replace(PRESETS["canonical"], indent=1)
    assert print_module(parse(text), options).endswith(
        """called_computations={
    {
      tmp_0 = f32[] parameter(0)
      ROOT tmp_1 = f32[] negate(f32[] tmp_0)
    },
    {
      tmp_0 = f32[] parameter(0)
      ROOT tmp_1 = f32[] negate(f32[] tmp_0)
    }
}
  }

"""
    )


def test_canonical_computations_keep_the_order_of_the_text() -> None:
    text = """a { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
    b { x = f32[] parameter(0) ROOT n = f32[] abs(x) }
    ENTRY e { p = f32[] parameter(0)
    q = f32[] call(p), to_apply=b
    ROOT r = f32[] call(q), to_apply=a }"""
    module = parse(text)
    heads = ["%b (", "%a (", "ENTRY"]
    assert sorted(heads, key=print_module(module).index) == heads
    in_order = print_module(module, PrintOptions(canonical_computations=True))
    assert sorted(heads, key=in_order.index) == ["%a (", "%b (", "ENTRY"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("{0,0,0,0,0,0,0,0,0,0,0}", "0"),
        ("{1,1,1,1,1,1,1,1,1,1,1}", "1"),
        ("{0,0,0,0,0,0,0,0,0,0,2}", "{...}"),
    ],
)
def test_a_fingerprint_shows_what_is_essential_of_constants(value: str, shown: str) -> None:
    module = parse(f"ENTRY e {{ ROOT c = f32[11] constant({value}) }}")
    assert f"constant({shown})" in print_module(module, PRESETS["fingerprint"])


def test_presets_differ_from_one_another() -> None:
    assert len(set(PRESETS.values())) == len(PRESETS)
    assert {field.name for field in fields(PrintOptions)} >= {"percent", "listed_groups"}
