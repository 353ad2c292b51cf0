"""The passes on custom calls that only say something about their operand."""

import pytest

from hlotool.passes.collectives.memory_placement import ConvertMemoryPlacement
from hlotool.passes.collectives.sharding_remover import ShardingRemover
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import changed_by, opcodes, passed


def _call(target: str, more: str = "", result: str = "f32[4]") -> str:
    return f"""HloModule m
ENTRY e {{
  x = f32[4] parameter(0)
  c = {result} custom-call(x), custom_call_target="{target}"{more}
  ROOT n = {result} negate(c)
}}
"""


@pytest.mark.parametrize("target", ["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"])
def test_calls_that_only_carry_a_sharding_go(target: str) -> None:
    text = _call(target, ", sharding={replicated}")
    assert opcodes(passed(text, ShardingRemover())) == ["negate"]


def test_side_effects_that_only_keep_a_call_do_not_keep_it() -> None:
    text = _call("xla.sdy.FuncResultSharding", ", custom_call_has_side_effect=true")
    assert opcodes(passed(text, ShardingRemover())) == ["negate"]


def test_calls_that_change_the_shape_stay() -> None:
    text = _call("SPMDFullToShardShape", ", sharding={devices=[2]0,1}", "f32[2]")
    module = parse(text)
    assert not changed_by(module, ShardingRemover())
    assert opcodes(module) == ["custom-call", "negate"]
    assert opcodes(passed(_call("Pin"), ShardingRemover())) == ["custom-call", "negate"]


@pytest.mark.parametrize(
    ("placement", "target"),
    [("pinned_host", "MoveToHost"), ("unpinned_host", "MoveToHost"), ("device", "MoveToDevice")],
)
def test_requests_for_a_memory_are_spelled_as_moves(placement: str, target: str) -> None:
    attributes = f'frontend_attributes={{_xla_buffer_placement="{placement}",other="1"}}'
    text = _call("annotate_device_placement", f", custom_call_has_side_effect=true, {attributes}")
    module = passed(text, ConvertMemoryPlacement())
    shown = print_module(module)
    assert f'custom_call_target="{target}"' in shown
    assert "_xla_buffer_placement" not in shown
    assert 'other="1"' in shown
    assert "side_effect" not in shown


def test_other_requests_stay() -> None:
    text = _call(
        "annotate_device_placement", ', frontend_attributes={_xla_buffer_placement="moon"}'
    )
    assert not ConvertMemoryPlacement().run(parse(text), Journal())
