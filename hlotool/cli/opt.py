"""`hlotool opt`, also called `hlo-opt`: reads modules, runs passes over them, prints them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable

from hlotool.cli.arguments import ArgumentParser
from hlotool.cli.inputs import SEPARATOR
from hlotool.cli.modules import Unread, format_of, inputs, written
from hlotool.cli.opt_arguments import (
    OF_CODE,
    STAGES,
    add_opt_arguments,
    asks_for_lists,
    asks_for_passes,
    check_opt_arguments,
)
from hlotool.cli.outputs import STDOUT, as_text, check_writable, print_text, write_output
from hlotool.cli.print_arguments import print_options
from hlotool.cli.report import GOOD, Report
from hlotool.cli.xla_flags import environment_flags
from hlotool.errors import UsageError
from hlotool.ir.module import Module

OPERANDS = "FILE ..."
EXAMPLES = """\
  hlo-opt module.hlo --platform=cpu            optimize and fuse for CPUs
  hlo-opt module.hlo --passes='fix(algsimp,cse,dce)' --time-passes
  hlo-opt module.hlo --platform=cpu --print-changed --check-values
  hlo-opt module.hlo --platform=cpu --xla_dump_to=dump --xla_dump_hlo_pass_re='.*'
  hlo-opt module.hlo --platform=cpu --stage=llvm
  hlo-opt module.hlo --platform=cpu --stage=object --target=aarch64 -o module.o
  hlo-opt module.hlo --platform=cpu --stage=html -o module.html
  hlo-opt --list-passes                        all passes with their options
  hlo-opt module.hlo                           check a module and print it
  hlo-opt dump.txt -o module.hlo               write it to a file, complete or not at all
  hlo-opt module.hlo --no-metadata --no-layouts
  hlo-opt module.hlo --print-as=canonical      print without names, to compare two modules
  hlo-opt --split-input-file many.hlo          modules with lines of // ----- between them
  hlo-opt --emit-proto module.hlo              the text form of its proto
  hlo-opt --json module.hlo 2> errors.json     errors as lines of JSON
"""

_SINGLE = {"object": "an object file", "html": "a page"}
"""The stages that cannot stand one behind the other in a file."""
_JOINT = f"{SEPARATOR}\n\n"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_opt_arguments(parser)


def run(arguments: Namespace, report: Report) -> int:
    """Prints each module, changed by passes; to a file only if none is wrong."""
    check_opt_arguments(arguments)
    if asks_for_lists(arguments):
        _print_lists(arguments)
        return GOOD
    _check_output(arguments.output, arguments.stage)
    finish = _finisher(arguments, report)
    joint = "" if arguments.emit_proto else _JOINT
    made: list[str] = []
    count = 0
    for unread in inputs(arguments, report, folders=False):
        with report.errors_of(unread.name):
            module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
            report.warnings(module, unread.name)
            if count and arguments.stage in _SINGLE:
                raise UsageError(
                    f"{_SINGLE[arguments.stage]} holds one module, and there are several"
                )
            text = (joint if count else "") + finish(module, unread)
            count += 1
            # Standard output shows each module as soon as it is there.
            if arguments.output == STDOUT:
                print_text(text)
            else:
                made.append(text)
    if arguments.output != STDOUT and not report.exit_code:
        write_output(arguments.output, "".join(made))
    return report.exit_code


def _finisher(arguments: Namespace, report: Report) -> Callable[[Module, Unread], str]:
    """Returns what makes the text of a module that has been read."""
    if not asks_for_passes(arguments, environment_flags()):
        return lambda module, _: _printed(module, arguments)
    # Passes bring the evaluator and numpy with them, which printing does not need.
    from hlotool.cli.optimizing import Optimizer

    optimizer = Optimizer(arguments, report)
    return lambda module, unread: optimizer.optimized(
        module, unread.name, lambda made: _printed(made, arguments)
    )


def _printed(module: Module, arguments: Namespace) -> str:
    if arguments.stage == "dot":
        from hlotool.graph.dot import module_dot

        return module_dot(module)
    if arguments.stage == "html":
        from hlotool.graph.html import module_page

        return module_page(module)
    if arguments.stage == "buffer-assignment":
        from hlotool.analysis.buffer_assignment import buffer_assignment
        from hlotool.passes.memory.memory_report import buffer_assignment_text

        return buffer_assignment_text(module, buffer_assignment(module))
    if arguments.stage in OF_CODE:
        from hlotool.cli.code_arguments import target_of
        from hlotool.runtime.stages import STAGES as CODE
        from hlotool.runtime.stages import Stages

        return as_text(CODE[arguments.stage](Stages(module, target_of(arguments))))
    module_format = "pbtxt" if arguments.emit_proto else "hlo"
    return as_text(written(module, module_format, print_options(arguments)))


def _print_lists(arguments: Namespace) -> None:
    if arguments.list_stages:
        width = max(map(len, STAGES))
        print_text("".join(f"{name:{width}}  {what}\n" for name, what in STAGES.items()))
    if arguments.list_passes:
        from hlotool.cli.pass_reports import list_passes

        list_passes(as_json=arguments.json)


def _check_output(path: str, stage: str) -> None:
    if format_of(path) == "pb":
        raise UsageError(
            f"opt writes text, and {path} is named as a binary proto",
            notes=("hlotool convert writes protos",),
        )
    check_writable(path)
    if stage == "object" and path == STDOUT and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("an object file is binary: name a file for it with -o")
