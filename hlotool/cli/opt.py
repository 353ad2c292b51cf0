"""`hlotool opt`, also called `hlo-opt`: reads modules, checks them and prints them."""

from __future__ import annotations

from argparse import Namespace

from hlotool.cli.arguments import (
    ArgumentParser,
    add_inputs,
    add_json,
    add_output,
    add_verify,
)
from hlotool.cli.inputs import SEPARATOR
from hlotool.cli.modules import format_of, inputs, written
from hlotool.cli.outputs import STDOUT, as_text, check_writable, print_text, write_output
from hlotool.cli.print_arguments import add_print_arguments, print_options
from hlotool.cli.report import Report
from hlotool.errors import UsageError

OPERANDS = "FILE ..."
EXAMPLES = """\
  hlo-opt module.hlo                           check a module and print it
  hlo-opt dump.txt -o module.hlo               write it to a file, complete or not at all
  hlo-opt module.hlo --no-metadata --no-layouts
  hlo-opt module.hlo --print-as=canonical      print without names, to compare two modules
  hlo-opt --split-input-file many.hlo          modules with lines of // ----- between them
  hlo-opt --emit-proto module.hlo              the text form of its proto
  hlo-opt --json module.hlo 2> errors.json     errors as lines of JSON
"""

_JOINT = f"{SEPARATOR}\n\n"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_inputs(parser)
    add_output(parser)
    add_verify(parser)
    add_json(parser, "errors as lines of JSON: file, line, column, message, notes")
    add_print_arguments(parser)
    parser.add_argument(
        "--emit-proto", action="store_true", help="print the text form of the module's proto"
    )


def run(arguments: Namespace, report: Report) -> int:
    """Prints each module; to a file only if none is wrong."""
    _check_output(arguments.output)
    options = print_options(arguments)
    module_format = "pbtxt" if arguments.emit_proto else "hlo"
    joint = "" if arguments.emit_proto else _JOINT
    made: list[str] = []
    count = 0
    for unread in inputs(arguments, report, folders=False):
        with report.errors_of(unread.name):
            module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
            report.warnings(module, unread.name)
            text = as_text(written(module, module_format, options))
            text = (joint if count else "") + text
            count += 1
            # Standard output shows each module as soon as it is there.
            if arguments.output == STDOUT:
                print_text(text)
            else:
                made.append(text)
    if arguments.output != STDOUT and not report.exit_code:
        write_output(arguments.output, "".join(made))
    return report.exit_code


def _check_output(path: str) -> None:
    if format_of(path) == "pb":
        raise UsageError(
            f"opt writes text, and {path} is named as a binary proto",
            notes=("hlotool convert writes protos",),
        )
    check_writable(path)
