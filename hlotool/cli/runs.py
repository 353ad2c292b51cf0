"""Runs of modules: arguments in, results shown, compared and written."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hlotool.cli.mismatch_files import save_mismatch
from hlotool.cli.mismatch_tables import mismatch_text
from hlotool.cli.outputs import check_writable, print_text, write_file
from hlotool.cli.platforms import PLATFORMS, Settings
from hlotool.cli.progress import evaluation_progress
from hlotool.cli.rendering import printable
from hlotool.cli.report import WRONG, Report
from hlotool.cli.run_arguments import NO_REFERENCE
from hlotool.cli.run_inputs import Inputs
from hlotool.cli.shown_values import leaves, value_lines
from hlotool.errors import UsageError
from hlotool.evaluation.argument_files import write_npz
from hlotool.evaluation.comparison import Comparison, compare

if TYPE_CHECKING:
    from hlotool.cli.modules import Unread
    from hlotool.ir.frame import Value
    from hlotool.ir.module import Module

RAN, AGREE, DIFFER = "ran", "agree", "differ"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run. There is a result and, if compared, a reference for each device."""

    arguments: Sequence[Sequence[Value]]
    results: Sequence[Value]
    references: Sequence[Value]
    comparisons: Sequence[Comparison]
    seconds: float

    @property
    def status(self) -> str:
        """Whether results were compared, and if so whether they agree."""
        if not self.comparisons:
            return RAN
        return AGREE if all(comparison.agrees for comparison in self.comparisons) else DIFFER


class Runs:
    """Runs modules one after the other with the options of the command, and keeps the tally."""

    def __init__(self, arguments: Namespace, report: Report) -> None:
        self.arguments = arguments
        self.report = report
        self._counts = {RAN: 0, AGREE: 0, DIFFER: 0}
        self._written = False
        for path in self._outputs():
            check_writable(path)

    def run_module(self, module: Module, unread: Unread) -> None:
        """Runs a module as often as asked; shows, compares and writes what it yields."""
        inputs = Inputs(self.arguments, module, unread)
        settings = self.settings(module)
        outcomes = []
        for iteration in range(self.arguments.iterations):
            given = inputs.of_devices(settings, iteration)
            for note in inputs.notes:
                self.report.note(note, unread.name)
            seed = iteration if self.arguments.different_random_seeds else settings.seed
            outcome = self.outcome(module, given, replace(settings, seed=seed))
            self._show(module, unread.name, iteration, outcome)
            outcomes.append(outcome)
        self._write(module, outcomes)

    def finish(self) -> None:
        """Shows the tally of several runs."""
        count = sum(self._counts.values())
        if count < 2 or self.arguments.json or self.arguments.quiet:
            return
        words = ", ".join(f"{number} {status}" for status, number in self._counts.items() if number)
        print_text(f"{count} runs: {words}\n")

    def settings(self, module: Module) -> Settings:
        """Returns on how many devices, and how, a module is to be run."""
        arguments = self.arguments
        return Settings(
            replicas=arguments.num_replicas or module.header.replica_count,
            partitions=arguments.num_partitions or module.header.num_partitions,
            seed=arguments.seed,
            most_iterations=arguments.max_steps,
            timeout=arguments.timeout,
            xla_python=arguments.xla_python,
            xla_options=tuple(arguments.xla_option),
        )

    def outcome(
        self, module: Module, given: Sequence[Sequence[Value]], settings: Settings
    ) -> Outcome:
        """Runs a module once, and once more on the reference; raises `HloError`."""
        start = time.perf_counter()
        results = self._results(self.arguments.platform, module, given, settings)
        seconds = time.perf_counter() - start
        references = self._references(module, given, settings)
        comparisons = [
            compare(
                module, result, reference,
                absolute=self.arguments.abs_error_bound, relative=self.arguments.rel_error_bound,
            )
            for result, reference in zip(results, references, strict=bool(references))
        ]  # fmt: skip
        return Outcome(given, results, references, comparisons, seconds)
