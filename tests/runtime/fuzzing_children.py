"""Runs modules made at random in processes of their own, and goes on where one has ended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[2]


def faults_of(generator: str, first: int, count: int, length: int) -> dict[int, str]:
    """Returns what was wrong with modules, by their seeds."""
    found: dict[int, str] = {}
    seed = first
    while seed < first + count:
        seed = _run(found, generator, seed, first + count - seed, length)
    return found


def _run(found: dict[int, str], generator: str, first: int, count: int, length: int) -> int:
    """Runs one process; returns the seed to go on with."""
    numbers = map(str, (first, count, length))
    command = [sys.executable, "-m", "tests.runtime.fuzzing", generator, *numbers]
    current = first
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        said = []
        for line in child.stdout:
            report = _report(line)
            if report is None:
                said.append(line)
                continue
            current = report["seed"]
            if "wrong" in report:
                found[current] = report["wrong"]
    if child.returncode == 0:
        return first + count
    found[current] = f"the process ended with {child.returncode}: {''.join(said)[-600:]}"
    return current + 1


def _report(line: str) -> dict[str, Any] | None:
    """Returns what a line tells of a seed; other lines are what LLVM or Python say at the end."""
    return cast("dict[str, Any]", json.loads(line)) if line.startswith('{"seed"') else None
