"""Runs of modules: arguments in, results compared, shown and written."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Self

from hlotool.cli.cpu_session import CpuSession
from hlotool.cli.inputs import read_bytes, shown_name
from hlotool.cli.mismatch_files import save_mismatch
from hlotool.cli.modules import read_file
from hlotool.cli.outputs import (
    FatalUsageError,
    check_apart,
    check_writable,
    print_text,
    write_file,
)
from hlotool.cli.platforms import PLATFORMS, Settings
from hlotool.cli.progress import evaluation_progress
from hlotool.cli.report import WRONG, Report
from hlotool.cli.run_arguments import NO_REFERENCE, OUTPUTS
from hlotool.cli.run_inputs import Inputs
from hlotool.errors import UsageError
from hlotool.evaluation.comparison.compare import Comparison, compare
from hlotool.evaluation.comparison.tolerance import tolerances
from hlotool.evaluation.elided import fill_elided_constants
from hlotool.evaluation.files.argument_files import RESULTS, read_results, write_literals, write_npz
from hlotool.evaluation.interpreter.grid import MOST_DEVICES
from hlotool.evaluation.xla.process import NoXlaError
from hlotool.evaluation.xla.reference import XlaSession

if TYPE_CHECKING:
    from hlotool.cli.modules import Unread
    from hlotool.ir.frame import Value
    from hlotool.ir.module import Module


class Status(Enum):
    """What came of a run."""

    RAN = "ran"
    AGREE = "agree"
    DIFFER = "differ"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run. There is a result and, if compared, a reference for each device."""

    arguments: Sequence[Sequence[Value]]
    results: Sequence[Value]
    references: Sequence[Value]
    comparisons: Sequence[Comparison]
    seconds: float
    is_given: bool = False
    """Whether the arguments were given, not made up."""

    @property
    def status(self) -> Status:
        """Whether results were compared, and if so whether they agree."""
        if not self.comparisons:
            return Status.RAN
        agrees = all(comparison.agrees for comparison in self.comparisons)
        return Status.AGREE if agrees else Status.DIFFER


class Runs:
    """Runs modules one after the other with the options of the command, and keeps the tally."""

    def __init__(self, arguments: Namespace, report: Report) -> None:
        self.arguments = arguments
        self.report = report
        self._counts = dict.fromkeys(Status, 0)
        self._written_of = ""
        self._xla = XlaSession(arguments.xla_python)
        self.cpu = CpuSession(arguments)
        self._reference: Module | None = None
        for path in self._outputs():
            check_writable(path)
        read = (*arguments.files, arguments.inputs, arguments.expected, arguments.reference_module)
        check_apart(self._outputs(), filter(None, read))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._xla.close()

    def run_module(self, module: Module, unread: Unread) -> Iterator[Outcome]:
        """Runs a module as often as asked, yields what came of it, and writes it at the end."""
        self._check_single(unread.name)
        self.fill(module, unread.name)
        inputs = Inputs(self.arguments, module, unread)
        settings = self.settings(module)
        outcomes = []
        for iteration in range(self.arguments.iterations):
            given = inputs.of_devices(settings, iteration)
            for note in inputs.notes:
                self.report.note(note, unread.name)
            if self.arguments.save_inputs:
                write_file(self.arguments.save_inputs, write_npz(given[0]))
            seed = iteration if self.arguments.different_random_seeds else settings.seed
            outcome = self.outcome(module, given, replace(settings, seed=seed))
            outcome = replace(outcome, is_given=inputs.are_given)
            self.count(module, outcome)
            self._note_causes(outcome, unread.name)
            outcomes.append(outcome)
            yield outcome
        self._write(module, outcomes)

    def _note_causes(self, outcome: Outcome, name: str) -> None:
        """Says why results may differ although nothing is wrong."""
        arguments = self.arguments
        if outcome.status is not Status.DIFFER:
            return
        if arguments.expected and not outcome.is_given:
            self.report.note(
                f"the arguments were made up from seed {arguments.seed},"
                f" --inputs gives those that {arguments.expected} is of",
                name,
            )
        if arguments.fp_mode != "strict":
            self.report.note(
                f"--fp-mode={arguments.fp_mode} takes denormals as zero and rounds products and"
                " sums together, --fp-mode=strict does not",
                name,
            )

    def finish(self) -> None:
        """Shows the tally of several runs."""
        total = sum(self._counts.values())
        arguments = self.arguments
        if total < 2 or arguments.json or arguments.quiet or arguments.isolate:
            return
        counts = [f"{count} {status.value}" for status, count in self._counts.items() if count]
        print_text(f"{total} runs: {', '.join(counts)}\n")

    def settings(self, module: Module) -> Settings:
        """Returns on how many devices, and how, a module is to be run."""
        arguments = self.arguments
        replicas = arguments.num_replicas or module.header.replica_count
        partitions = arguments.num_partitions or module.header.num_partitions
        if replicas * partitions > MOST_DEVICES:
            raise UsageError(
                f"{replicas} replicas of {partitions} partitions are asked for,"
                f" at most {MOST_DEVICES} devices are run in one process"
            )
        return Settings(
            replicas=replicas,
            partitions=partitions,
            seed=arguments.seed,
            most_iterations=arguments.max_steps,
            timeout=arguments.timeout,
            xla=self._xla,
            cpu=self.cpu,
            xla_options=tuple(option.removeprefix("--") for option in arguments.xla_option),
        )

    def outcome(
        self, module: Module, given: Sequence[Sequence[Value]], settings: Settings
    ) -> Outcome:
        """Runs a module once, and once more on the reference; raises `HloError`.

        The time is that of the run alone: it is compiled before.
        """
        if self.arguments.platform == "cpu" and len(given) == 1:
            self.cpu.executable(module)
        start = time.perf_counter()
        results = self._results(self.arguments.platform, module, given, settings)
        seconds = time.perf_counter() - start
        references = self._references(module, given, settings)
        absolute, relative = self.arguments.abs_error_bound, self.arguments.rel_error_bound
        # One walk over the module serves all devices.
        bounds = tolerances(module) if references else None
        comparisons = [
            compare(module, result, reference, absolute=absolute, relative=relative, bounds=bounds)
            for result, reference in zip(results, references, strict=bool(references))
        ]
        return Outcome(given, results, references, comparisons, seconds)

    def _results(
        self, platform: str, module: Module, given: Sequence[Sequence[Value]], settings: Settings
    ) -> list[Value]:
        with evaluation_progress(f"{module.name} on {platform}") as observer:
            try:
                return PLATFORMS[platform](module, given, replace(settings, observer=observer))
            except NoXlaError as error:
                raise FatalUsageError(error.message, notes=error.notes) from None

    def _references(
        self, module: Module, given: Sequence[Sequence[Value]], settings: Settings
    ) -> list[Value]:
        path = self.arguments.expected
        if path:
            return read_results(module, read_bytes(path), shown_name(path), len(given))
        if self.arguments.reference_platform == NO_REFERENCE:
            return []
        other = self._reference_module(module)
        return self._results(self.arguments.reference_platform, other, given, settings)

    def _reference_module(self, module: Module) -> Module:
        path = self.arguments.reference_module
        if not path:
            return module
        if self._reference is None:
            (unread,) = read_file(path)
            self._reference = unread.read(lenient=self.arguments.lenient, verified=True)
            self.fill(self._reference, unread.name)
        ours, theirs = module.entry.root.shape, self._reference.entry.root.shape
        if not ours.compatible(theirs):
            raise UsageError(
                f"{module.name} yields {ours.plain_text},"
                f" {self._reference.name} in {path} yields {theirs.plain_text}"
            )
        return self._reference

    def fill(self, module: Module, name: str) -> None:
        """Gives values to constants that the text leaves out, and says so."""
        filled = fill_elided_constants(module, self.arguments.seed)
        if filled:
            count = f"{len(filled)} constants are" if len(filled) > 1 else "1 constant is"
            left_out = f"{count} left out of the text as {{...}} and made up here"
            kept = "as_hlo_text(print_large_constants=True) of JAX keeps them"
            self.report.note(f"{left_out}, {filled[0].name} first; {kept}", name)

    def count(self, module: Module, outcome: Outcome) -> None:
        """Lets an outcome have its say in tally and exit code; saves what differs, if asked."""
        self._counts[outcome.status] += 1
        if outcome.status is not Status.DIFFER:
            return
        self.report.exit_code = max(self.report.exit_code, WRONG)
        if self.arguments.save_mismatch:
            number = self._counts[Status.DIFFER]
            device = next(n for n, found in enumerate(outcome.comparisons) if not found.agrees)
            stem = save_mismatch(
                self.arguments.save_mismatch, module, number, outcome.arguments[device],
                outcome.results[device], outcome.references[device],
            )  # fmt: skip
            self.report.note("module, inputs and both results are written", f"{stem}.*")

    def _outputs(self) -> list[str]:
        return [path for name in OUTPUTS if (path := getattr(self.arguments, name))]

    def _check_single(self, name: str) -> None:
        if self._outputs() and self._written_of:
            raise UsageError(
                f"the outputs hold what {self._written_of} yields, and {name} is another module"
            )
        self._written_of = name

    def _write(self, module: Module, outcomes: Sequence[Outcome]) -> None:
        arguments = self.arguments
        if arguments.outputs:
            write_file(arguments.outputs, write_npz(outcomes[-1].results, RESULTS))
        if arguments.output_literals_file:
            runs = [
                (run.arguments[0], run.results[0], run.references[0] if run.references else None)
                for run in outcomes
            ]
            has_references = all(run.references for run in outcomes)
            data = write_literals(module, runs, has_references=has_references)
            write_file(arguments.output_literals_file, data)
