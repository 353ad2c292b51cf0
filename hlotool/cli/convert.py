"""`hlotool convert`: reads a module in one format and writes it in another."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from hlotool.cli.arguments import FORMATS, ArgumentParser, add_json, add_reading, add_verify
from hlotool.cli.inputs import shown_name
from hlotool.cli.modules import format_of, read_file, written
from hlotool.cli.outputs import (
    STDOUT,
    as_text,
    check_apart,
    check_writable,
    print_bytes,
    print_text,
    write_file,
)
from hlotool.cli.print_arguments import add_print_arguments, print_options
from hlotool.cli.report import Report
from hlotool.errors import UsageError
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants

WITHOUT_A_PLACE = frozenset(
    {
        "alias_passthrough_params", "allow_spmd_sharding_propagation_to_parameters",
        "allow_spmd_sharding_propagation_to_output",
    }
)  # fmt: skip
"""Attributes of the header that protos do not have."""
OPERANDS = "IN [OUT]"
EXAMPLES = """\
  hlotool convert module.hlo.pb module.hlo       make a proto readable
  hlotool convert module.hlo -o module.hlo.pb    make a proto of a text
  hlotool convert dump.pbtxt --to=hlo            to standard output
  hlotool convert - module.pbtxt --from=pb < module.bin
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("input", metavar="IN", help="a module, - for standard input")
    parser.add_argument(
        "output_file", metavar="OUT", nargs="?", help="where to write it, - for standard output"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="the same as the second file")
    formats = ("hlo", "pb", "pbtxt")
    parser.add_argument(
        "--from", dest="input_format", choices=FORMATS, metavar="FORMAT",
        help=f"{', '.join(formats)} (default: by the name of IN, else hlo)",
    )  # fmt: skip
    parser.add_argument(
        "--to", dest="output_format", choices=FORMATS, metavar="FORMAT",
        help=f"{', '.join(formats)} (default: by the name of OUT)",
    )  # fmt: skip
    add_reading(parser)
    add_verify(parser)
    add_json(parser, "errors as lines of JSON: file, line, column, message, notes")
    add_print_arguments(parser)


def run(arguments: Namespace, report: Report) -> int:
    """Writes the module; returns 1 where it is wrong."""
    path = _output_path(arguments)
    module_format = FORMATS.get(arguments.output_format) or format_of(path)
    if module_format is None:
        raise UsageError(
            f"the name of {'standard output' if path == STDOUT else path} speaks of no format",
            notes=("give --to=hlo, --to=pb or --to=pbtxt",),
        )
    check_writable(path)
    check_apart([path], [arguments.input])
    options = print_options(arguments)
    if arguments.print_large_constants is None:
        # Converting is for keeping: what is not asked for must not be lost.
        options = replace(options, large_constants=LargeConstants.EXACT)
    with report.errors_of(shown_name(arguments.input)):
        (unread,) = read_file(arguments.input, arguments.input_format)
        module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
        report.warnings(module, unread.name)
        if module_format != "hlo":
            report.note(_left_out(module), unread.name)
        _write(path, written(module, module_format, options), module_format)
    return report.exit_code


def _left_out(module: Module) -> str:
    """Returns what a proto has no place for, in words; nothing where all is kept."""
    names = [name for name, _ in module.header.written() if name in WITHOUT_A_PLACE]
    return f"a proto has no place for {' and '.join(names)}: left out" if names else ""


def _output_path(arguments: Namespace) -> str:
    first, second = arguments.output_file, arguments.output
    if first is not None and second is not None:
        raise UsageError(f"two outputs are given, {first} and {second}")
    found: str = first or second or STDOUT
    return found


def _write(path: str, data: bytes, module_format: str) -> None:
    if path != STDOUT:
        write_file(path, data)
    elif module_format == "pb":
        print_bytes(data)
    else:
        print_text(as_text(data))
