"""Real modules, run in the memory that they are given: with copies, in a schedule."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.evaluation.generation.arguments import generated_arguments
from hlotool.ir.cloning import cloned_module
from hlotool.ir.module import Module
from hlotool.passes.control.flatten_call_graph import FlattenCallGraph
from hlotool.passes.memory.copy_insertion import CopyInsertion
from hlotool.passes.memory.hlo_memory_scheduler import HloMemoryScheduler
from hlotool.passes.memory.latency_hiding_scheduler import LatencyHidingScheduler
from hlotool.passes.memory.layout_assignment import LayoutAssignment
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import leaves, same_values, values_of
from tests.passes.memory.arena import Arena, is_plain

TESTDATA = Path(__file__).parents[3] / "testdata"
PIPELINES = {
    "plain": (FlattenCallGraph(), CopyInsertion()),
    "scheduled": (FlattenCallGraph(), CopyInsertion(), HloMemoryScheduler()),
    "scheduled first": (FlattenCallGraph(), HloMemoryScheduler(), CopyInsertion()),
    "all": (
        FlattenCallGraph(),
        LayoutAssignment(bitcasts=True),
        CopyInsertion(),
        HloMemoryScheduler(),
        LatencyHidingScheduler(),
    ),
}
NAMES = [
    "models/jax/attention.hlo",
    "models/jax/cond_switch.opt.hlo",
    "models/jax/conv_grad.opt.hlo",
    "models/jax/layernorm.opt.hlo",
    "models/jax/mlp_train_step_sgd.hlo",
    "models/jax/scatter_add.hlo",
    "models/jax/sort_multi.hlo",
    "models/jax/while_newton.hlo",
    "models/dump/module_0000.jit_layer.cpu_after_optimizations.txt",
    "ops/async-done.hlo",
    "ops/conditional.hlo",
    "ops/while.hlo",
]


def arguments_of(module: Module) -> list[Any]:
    given = generated_arguments(module, 1).values
    return [np.asarray(value) if not isinstance(value, tuple) else value for value in given]


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", NAMES)
def test_a_run_in_memory_yields_what_evaluation_does(name: str, pipeline: str) -> None:
    module = parse((TESTDATA / name).read_text(encoding="utf-8"))
    assert all(is_plain(one.shape) for one in module.instructions())
    arguments = arguments_of(module)
    expected = values_of(cloned_module(module), arguments)
    for one in PIPELINES[pipeline]:
        one.run(module, Journal(one.name))
    found = Arena(buffer_assignment(module)).run(arguments)
    assert leaves(found)
    # Sums of products hang, in the last bits, on how their operands lie in memory.
    assert same_values(module, [found], expected, exact=False) == []
