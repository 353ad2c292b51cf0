"""Many modules under XLA, one after the other in one process: a start costs more than a run."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlotool.errors import HloError
from hlotool.evaluation.values import arrays_of
from hlotool.evaluation.xla.live_sizes import live_results, with_live_sizes
from hlotool.evaluation.xla.portable import portable
from hlotool.evaluation.xla.reference import value_of
from hlotool.ir.frame import Array, Value
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.text.print_options import PrintOptions
from hlotool.text.printer import print_module
from tests.conftest import ROOT

CRASHED = "XLA crashed"
WHOLE = PrintOptions(metadata=False, large_constants=LargeConstants.EXACT)
TEXT_REFUSED = "not portable"


@dataclass(frozen=True, slots=True)
class Job:
    """A module, and several sets of arguments for each of the devices."""

    module: Module
    arguments: list[list[list[Value]]]
    replicas: int = 1
    partitions: int = 1

    @property
    def devices(self) -> int:
        """How many devices the module runs on."""
        return self.replicas * self.partitions


@dataclass(frozen=True, slots=True)
class Answer:
    """The values of each device for each set of arguments, or why there are none."""

    results: list[list[Value]]
    refusal: str = ""


def run_jobs(jobs: list[Job]) -> list[Answer]:
    """Returns the answer to each job; a crash is the answer to the job that caused it."""
    answers: dict[int, Answer] = {}
    waiting: dict[int, Any] = {}
    for number, job in enumerate(jobs):
        try:
            given = with_live_sizes(portable(job.module, job.replicas, job.partitions))
        except HloError as error:
            answers[number] = Answer([], f"{TEXT_REFUSED}: {error.message}")
            continue
        sets = [[arrays_of(values) for values in devices] for devices in job.arguments]
        tokens = [not leaf.is_array for _, leaf in given.entry.root.shape.leaves()]
        waiting[number] = (number, print_module(given, WHOLE), job.devices, tokens, sets)
    while waiting:
        found = _asked(list(waiting.values()))
        for number, (results, refusal) in found.items():
            answers[number] = _answer(jobs[number], results, refusal)
            del waiting[number]
    return [answers[number] for number in range(len(jobs))]


def _answer(job: Job, results: list[list[list[Array]]], refusal: str) -> Answer:
    if refusal:
        return Answer([], refusal)
    shape = job.module.entry.root.shape
    try:
        return Answer(
            [
                [value_of(live_results(arrays, shape), shape) for arrays in devices]
                for devices in results
            ]
        )
    except HloError as error:
        return Answer([], error.message)


def _asked(waiting: list[Any]) -> dict[int, tuple[Any, str]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "jobs").write_bytes(pickle.dumps(waiting))
        child = subprocess.run(
            [sys.executable, "-m", "tests.oracle.xla_jobs", name],
            cwd=ROOT, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        found, begun = _read(folder / "answers")
    if begun is None:
        raise RuntimeError(f"XLA does not start: {child.stderr[-2000:]}")
    if begun not in found:
        lines = [line for line in child.stderr.splitlines() if line.strip()]
        said = next((line for line in lines if "Check failed" in line or line[:1] == "F"), "")
        found[begun] = [], f"{CRASHED}: {said or lines[-1:]}"
    return found


def _read(path: Path) -> tuple[dict[int, tuple[Any, str]], int | None]:
    found: dict[int, tuple[Any, str]] = {}
    begun = None
    if path.exists():
        with path.open("rb") as stream:
            while True:
                try:
                    kind, number, *rest = pickle.load(stream)  # noqa: S301  # our own child's
                except (EOFError, pickle.UnpicklingError):
                    break
                begun = number
                if kind == "ended":
                    found[number] = (rest[0], rest[1])
    return found, begun
