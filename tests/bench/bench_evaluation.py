"""Seconds and megabytes that the evaluation of real modules takes.

Run with `pytest --bench tests/bench/bench_evaluation.py`; times are medians of five. Memory is
the most that the evaluation holds at once beyond module and arguments, by tracemalloc.
"""

from __future__ import annotations

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hlotool.evaluation.elided import fill_elided_constants
from hlotool.evaluation.generation.arguments import generated_arguments
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.frame import Value
from hlotool.ir.module import Module
from hlotool.text.parser import parse

NAMES = (
    "jax/gpt_forward.hlo",
    "jax/gpt_train_step.opt.hlo",
    "jax/lstm.hlo",
    "tf/keras_mobilenetv2.hlo",
    "tf/keras_resnet50.hlo",
    "tf/keras_inceptionv3.hlo",
)


def median_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_megabytes(module: Module, arguments: Sequence[Value]) -> float:
    tracemalloc.start()
    evaluate_module(module, arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


@pytest.mark.bench
@pytest.mark.parametrize("name", NAMES)
def test_evaluation(name: str, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = corpus / name
    if not path.is_file():
        pytest.skip("the module is not in this corpus")
    module = parse(path.read_text(), path.name)
    fill_elided_constants(module, 0)
    arguments = generated_arguments(module, 0).values
    ours = median_seconds(lambda: evaluate_module(module, arguments))
    memory = peak_megabytes(module, arguments)
    with capsys.disabled():
        sys.stdout.write(f"\n{name:32} {ours:7.3f} s  {memory:7.1f} MB")
    assert ours > 0
