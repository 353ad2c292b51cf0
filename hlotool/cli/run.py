"""`hlotool run`, also called `run-hlo`: runs modules and compares what they yield."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from hlotool.cli.arguments import ArgumentParser
from hlotool.cli.compiled_runs import explain_compilation, measure
from hlotool.cli.isolation import run_isolated
from hlotool.cli.modules import Unread, inputs
from hlotool.cli.report import Report
from hlotool.cli.run_arguments import add_run_arguments, check_run_arguments
from hlotool.cli.run_reports import show_outcome
from hlotool.cli.runs import Runs
from hlotool.errors import HloError

OPERANDS = "FILE ..."
EXAMPLES = """\
  run-hlo module.hlo                               run on generated inputs, show the results
  run-hlo module.hlo --inputs in.npz --outputs out.npz
  run-hlo module.hlo --inputs in.npz --expected out.npz
  run-hlo module.hlo --platform=cpu                compile, run, compare with the interpreter
  run-hlo module.hlo --platform=cpu --bench --threads=2
  run-hlo module.hlo --reference-platform=xla      compare with XLA on generated inputs
  run-hlo a.hlo b.hlo --reference-platform=xla --iterations=10
  run-hlo module.hlo --isolate --reference-platform=xla
  run-hlo spmd.hlo --num-partitions=8              on eight devices, in one process
  run-hlo --json dumps --reference-platform=xla    a line of JSON for each run
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_run_arguments(parser)


def run(arguments: Namespace, report: Report) -> int:
    """Runs each module; returns 1 where results differ or a module is wrong."""
    check_run_arguments(arguments)
    with Runs(arguments, report) as runs:
        for unread in inputs(arguments, report, folders=True):
            with report.errors_of(unread.name), _options_named():
                _run(unread, arguments, report, runs)
        runs.finish()
    return report.exit_code


@contextmanager
def _options_named() -> Iterator[None]:
    """Lets what errors say of arguments of functions name options."""
    try:
        yield
    except HloError as error:
        error.notes = tuple(note.replace("max_steps", "--max-steps") for note in error.notes)
        raise


def _run(unread: Unread, arguments: Namespace, report: Report, runs: Runs) -> None:
    module = unread.read(lenient=arguments.lenient, verified=True)
    report.warnings(module, unread.name)
    if arguments.isolate:
        run_isolated(module, unread.name, runs)
        return
    if arguments.explain_compile:
        runs.fill(module, unread.name)
        explain_compilation(runs.cpu, module, unread.name, as_json=arguments.json)
    if arguments.bench is not None:
        measure(runs, module, unread)
        return
    for iteration, outcome in enumerate(runs.run_module(module, unread)):
        show_outcome(arguments, module, unread.name, iteration, outcome)
