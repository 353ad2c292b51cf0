"""Parts of work for threads."""

import json
from pathlib import Path

import pytest

from hlotool.ir.instruction import Instruction
from hlotool.passes.memory.cpu_parallel_task_assigner import CpuParallelTaskAssigner
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, passed

LAYER = (
    Path(__file__).parents[3]
    / "testdata/models/dump/module_0000.jit_layer.cpu_after_optimizations.txt"
)


def partitions(instruction: Instruction) -> list[str]:
    config = instruction.annotations.backend_config
    found: list[str] = json.loads(config).get("outer_dimension_partitions", []) if config else []
    return found


def of_one(line: str, size: str, most: int = 8) -> list[str]:
    text = f"HloModule m\nENTRY e {{\n  x = {size} parameter(0)\n  ROOT r = {size} {line}\n}}\n"
    module = parse(text)
    changed_by(module, CpuParallelTaskAssigner(max_parallelism=most))
    return partitions(module.entry.root)


def test_of_a_layer_only_the_dear_fusion_is_parted_as_the_reference_does() -> None:
    module = parse(LAYER.read_text(encoding="utf-8"))
    for instruction in module.entry.instructions:
        config = instruction.annotations.backend_config
        if '"2"' in config:
            instruction.annotations = instruction.annotations.replace(backend_config="")
    assert CpuParallelTaskAssigner(max_parallelism=2).run(module, Journal("c"))
    found = {one.name: partitions(one) for one in module.entry.instructions if partitions(one)}
    assert found == {"multiply_multiply_fusion": ["2"]}


def test_small_work_is_done_by_one_thread() -> None:
    assert of_one("tanh(x)", "f32[8,8]") == []


@pytest.mark.parametrize(
    ("size", "most", "counts"),
    [
        ("f32[1000,1000]", 8, ["3"]),  # memory is what it waits for
        ("f32[1000,1000]", 4, ["2"]),
        ("f32[2,1000000]", 16, ["2", "2"]),
        ("f32[1,1000,1000]", 8, ["1", "3"]),
        ("f32[1000,1000]{0,1}", 8, ["3"]),
        ("f32[1000,1000]", 1, []),
    ],
)
def test_outer_dimensions_are_cut(size: str, most: int, counts: list[str]) -> None:
    assert of_one("negate(x)", size, most) == counts


def test_work_that_cannot_be_parted_is_not() -> None:
    assert of_one("bitcast(x)", "f32[1000,1000]") == []
    assert of_one("copy(x)", "f32[1000,1000]") == []


def test_what_the_configuration_says_already_stays() -> None:
    line = "negate(x), backend_config={{}}"
    for config, kept in (
        ('{"outer_dimension_partitions":["5"]}', '{"outer_dimension_partitions":["5"]}'),
        ('"of another backend"', "of another backend"),
        ('{"a":1}', '{"outer_dimension_partitions":["3"],"a":1}'),
    ):
        module = passed(
            "HloModule m\nENTRY e {\n  x = f32[1000,1000] parameter(0)\n"
            f"  ROOT r = f32[1000,1000] {line.replace('{{}}', config)}\n}}\n",
            CpuParallelTaskAssigner(),
        )
        assert module.entry.root.annotations.backend_config == kept
