"""Attributes of module headers: texts as the reference prints them, faults."""

from __future__ import annotations

import pytest

from hlotool.ir.header import Alias, BufferDonor, ModuleHeader, Recovery
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.ir.texts import header, header_fault, shown_header

UNCHANGED = [
    "is_scheduled=true",
    "input_output_alias={ {0}: (0, {}, must-alias), {1}: (2, {1,0}, may-alias) }",
    "input_output_alias={ {}: (0, {}, may-alias) }",
    "buffer_donor={ (0, {}), (2, {0}), (2, {1,0}) }",
    "alias_passthrough_params=true",
    "entry_computation_layout={(f32[8]{0})->f32[8]{0}}",
    "entry_computation_layout={()->()}",
    "entry_computation_layout={(f32[8]{0:T(8)S(1)}, (s32[2,3]{0,1}, pred[]))->token[]}",
    "entry_computation_layout={(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[], s8[])->s8[]}",
    "allow_spmd_sharding_propagation_to_parameters={true,false}",
    "allow_spmd_sharding_propagation_to_parameters={false,false}",
    "allow_spmd_sharding_propagation_to_output={true}",
    "replica_count=4",
    "num_partitions=8",
    'frontend_attributes={a="x",b={"z":1}}',
    'origin_recovery_table={\n  {"x"} : {"y" {1,2}}\n}\n',
]
"""Texts that print as they stand."""

NORMALISED = [
    ("is_scheduled=false", ""),
    ("input_output_alias={}", ""),
    ("input_output_alias={{1}: (0, {}),{0}:(1,{ })}",
     "input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}, may-alias) }"),
    ("buffer_donor={}", ""),
    ("buffer_donor={(2,{1}),(2,{0}),(0,{}),(0,{})}",
     "buffer_donor={ (0, {}), (2, {0}), (2, {1}) }"),
    ("alias_passthrough_params=false", ""),
    ("entry_computation_layout={ ( f32[2,3] ) -> f32[2,3]{0,1} }",
     "entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}"),
    ("allow_spmd_sharding_propagation_to_parameters=true",
     "allow_spmd_sharding_propagation_to_parameters={true}"),
    ("allow_spmd_sharding_propagation_to_parameters=false", ""),
    ("allow_spmd_sharding_propagation_to_parameters={}", ""),
    ("allow_spmd_sharding_propagation_to_output={false}", ""),
    ("replica_count=1", ""),
    ("num_partitions=1", ""),
    ("frontend_attributes={}", ""),
    ("origin_recovery_table={}", ""),
    ('origin_recovery_table={{"z"}:{"y"} {"a" {0}}:{"y"}}',
     'origin_recovery_table={\n  {"a" {0}} : {"y"}\n  {"z"} : {"y"}\n}\n'),
]  # fmt: skip
"""Texts, each with the one it prints as."""

FAULTS = [
    ("input_output_alias={{0}: (0, {}), {0}: (1, {})}", "an output is aliased twice"),
    ("input_output_alias={{0}: (0, {}, foo)}", "foo is neither may-alias nor must-alias"),
    ("input_output_alias={{0}: 0}", "found '0'"),
    ("input_output_alias={{0}: (0)}", "found ')'"),
    ("input_output_alias={{0}: (0, {}) {1}: (1, {})}", "found '{'"),
    ("buffer_donor={(0)}", "found ')'"),
    ("entry_computation_layout={(f32[8])}", "found '}'"),
    ("replica_count=x", "found 'x'"),
    ("is_scheduled=1", "found '1'"),
    ("is_scheduled=true, is_scheduled=true", "is_scheduled is given twice"),
    ("num_partition=2", "num_partition"),
    ("sharding={replicated}", "sharding"),
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_normal_texts_print_as_they_stand(text: str) -> None:
    assert shown_header(text) == text


@pytest.mark.parametrize(("text", "normal"), NORMALISED)
def test_other_texts_print_in_the_normal_form(text: str, normal: str) -> None:
    assert shown_header(text) == normal


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults_say_what_is_wrong(text: str, message: str) -> None:
    assert message in header_fault(text)


def test_attributes_print_in_one_order() -> None:
    texts = [text for text in UNCHANGED if "origin" not in text]
    chosen = {text.partition("=")[0]: text for text in texts}
    assert list(chosen) == [n for n in ModuleHeader.readable if n != "origin_recovery_table"]
    assert shown_header(", ".join(reversed(chosen.values()))) == ", ".join(chosen.values())


def test_attributes_are_typed_values() -> None:
    found = header(
        "input_output_alias={{1}: (2, {1}, must-alias)}, buffer_donor={(0, {3})},"
        " replica_count=2, num_partitions=4, is_scheduled=true"
    )
    assert found == ModuleHeader(
        is_scheduled=True,
        input_output_alias=(Alias((1,), 2, (1,), "must-alias"),),
        buffer_donor=(BufferDonor(0, (3,)),),
        replica_count=2,
        num_partitions=4,
    )


RECOVERED = """\
HloModule m, origin_recovery_table={
  {"x" {0}} : {"y"},
  "
    HloModule k, entry_computation_layout={(f32[])->f32[]}

    ENTRY %e (a: f32[]) -> f32[] {
      ROOT %a = f32[] parameter(0)
    }


  "
  {"z"} : {"x"}
}
"""
REST = "\n\nENTRY e { ROOT p = f32[8] parameter(0) }"


def test_a_recovery_table_may_hold_modules() -> None:
    module = parse(RECOVERED + REST)
    old, identity = module.header.origin_recovery_table
    assert identity == Recovery(("z", ()), ("x", ()))
    assert (old.old, old.new) == (("x", (0,)), ("y", ()))
    assert parse(old.module).entry.root.name == "a"
    shown = print_module(module).replace(
        ", entry_computation_layout={(f32[8]{0})->f32[8]{0}}", "", 1
    )
    assert shown.startswith(RECOVERED)


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a'b", "é"])
def test_any_name_in_a_recovery_table_reads_back(name: str) -> None:
    table = (Recovery((name, ()), (name, (1,))),)
    text = dict(ModuleHeader(origin_recovery_table=table).written())["origin_recovery_table"]
    assert header(f"origin_recovery_table={text}").origin_recovery_table == table
