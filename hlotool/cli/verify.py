"""`hlotool verify`: checks modules against the rules of HLO and prints a verdict on each."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.cli.arguments import ArgumentParser, add_inputs, add_json
from hlotool.cli.modules import inputs
from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import error_fields, printable
from hlotool.cli.report import Report
from hlotool.errors import HloError, VerificationErrors, counted

if TYPE_CHECKING:
    from hlotool.ir.module import Module

OPERANDS = "FILE ..."
EXAMPLES = """\
  hlotool verify module.hlo          check a module
  hlotool verify dumps               check every module in a folder
  hlotool verify --quiet *.hlo       print nothing but errors
  hlotool verify --json *.hlo        a line of JSON for each module, errors in it
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_inputs(parser, folders="the .hlo and .hlo.pb files and texts of modules in a dump")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    add_json(parser, "a line of JSON for each module: file, module, good, errors")


def run(arguments: Namespace, report: Report) -> int:
    """Checks each module; returns 1 where one is wrong."""
    for unread in inputs(arguments, report, folders=True):
        try:
            module = unread.read(lenient=arguments.lenient, verified=True)
            report.warnings(module, unread.name)
        except HloError as error:
            _show_errors(unread.name, error, arguments, report)
        else:
            _show_good(unread.name, module, arguments)
    return report.exit_code


def _show_errors(name: str, error: HloError, arguments: Namespace, report: Report) -> None:
    if not arguments.json:
        report.error(error, name)
        return
    report.count(error)
    errors = error.errors if isinstance(error, VerificationErrors) else (error,)
    _print_json(name, None, [error_fields(one, name) for one in errors])


def _show_good(name: str, module: Module, arguments: Namespace) -> None:
    if arguments.json:
        _print_json(name, module.name, [])
    elif not arguments.quiet:
        instructions = sum(1 for _ in module.instructions())
        print_text(
            f"{printable(name)}: good: module {module.name},"
            f" {counted(len(module.computations), 'computation')},"
            f" {counted(instructions, 'instruction')}\n"
        )


def _print_json(name: str, module: str | None, errors: Sequence[dict[str, object]]) -> None:
    verdict = {"file": name, "module": module, "good": not errors, "errors": errors}
    print_text(json.dumps(verdict) + "\n")
