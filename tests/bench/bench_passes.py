"""Seconds that the pipeline of CPUs takes, and how they grow with the module.

Run with `pytest --bench tests/bench/bench_passes.py`. Times are those of one process on one core,
the best of three for modules under 20,000 instructions and one run above. The exponent is the
slope of a straight line through the logarithms of size and time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hlotool.ir.cloning import cloned_module
from hlotool.ir.header import ModuleHeader
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.source import Parameter
from hlotool.passes.pipelines import platform_pipeline
from hlotool.passes.running import Runner, instruction_count
from hlotool.rewriting.builder import Builder
from hlotool.text.parser import parse

COPIES = (1, 3, 10, 43)
"""The last one makes 100,000 instructions of keras_inceptionv3."""


def side_by_side(module: Module, count: int) -> Module:
    """Returns a module whose entry computes the same `count` times, each of its own parameters."""
    made = cloned_module(module)
    made.header = ModuleHeader()
    entry = made.entry
    build = Builder(entry)
    roots = [entry.root]
    original = list(entry.instructions)
    for _ in range(count - 1):
        copies: dict[Instruction, Instruction] = {}
        for instruction in original:
            copied = instruction.copied([copies[operand] for operand in instruction.operands])
            copied.name = made.instruction_name(instruction.name)
            if instruction in entry.parameters:
                copied.op = Parameter(len(entry.parameters))
                entry.parameters = (*entry.parameters, copied)
            copies[instruction] = entry.add(copied)
        roots.append(copies[entry.root])
    entry.root = build.tuple(*roots)
    made.settle()
    return made


@pytest.mark.bench
def test_time_and_growth(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = corpus / "tf" / "keras_inceptionv3.hlo"
    if not path.is_file():
        pytest.skip("the module is not in this corpus")
    module = parse(path.read_text(), path.name)
    sizes, seconds = [], []
    for count in COPIES:
        whole = side_by_side(module, count)
        size = instruction_count(whole)
        runs = []
        for _ in range(3 if size < 20_000 else 1):
            copy = cloned_module(whole)
            runner = Runner()
            start = time.perf_counter()
            runner.run(platform_pipeline("cpu"), copy)
            runs.append(time.perf_counter() - start)
        sizes.append(size)
        seconds.append(min(runs))
        slowest = sorted(runner.records, key=lambda record: -record.seconds)[:6]
        with capsys.disabled():
            sys.stdout.write(f"\n{size:>8} instructions: {min(runs):8.2f} s\n")
            for record in slowest:
                sys.stdout.write(f"{record.seconds:>20.2f} s  {record.text}\n")
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    with capsys.disabled():
        sys.stdout.write(f"\nexponent of the growth: {exponent:.2f}\n")
    assert len(seconds) == len(COPIES)
