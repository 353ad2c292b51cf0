"""`hlotool compile`: modules as shared objects that C programs call."""

from __future__ import annotations

import json
from argparse import Namespace

from hlotool.cli.arguments import ArgumentParser, add_json, add_reading
from hlotool.cli.code_arguments import add_code_options, target_of
from hlotool.cli.inputs import shown_name
from hlotool.cli.modules import read_file
from hlotool.cli.outputs import (
    STDOUT,
    check_apart,
    check_writable,
    encode,
    print_text,
    write_file,
)
from hlotool.cli.report import Report
from hlotool.errors import UsageError

OPERANDS = "FILE -o OUT"
EXAMPLES = """\
  hlotool compile module.hlo -o module.so --header module.h
  hlotool compile module.hlo -o module.o --name=predict --header predict.h
  hlotool compile module.hlo -o module.o --target=aarch64
  hlotool compile module.hlo -o module.so --linker=clang --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    # More than one is taken, to say what is wrong with that.
    parser.add_argument("file", metavar="FILE", nargs="+", help="a module, - for standard input")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True,
        help="what to write: a shared object if it is named .so, else an object file",
    )  # fmt: skip
    parser.add_argument("--header", metavar="FILE.h", help="also write the C header")
    parser.add_argument(
        "--name", metavar="NAME", help="the C function (default: made of the module's name)"
    )
    parser.add_argument(
        "--linker", metavar="PROGRAM",
        help="the C compiler that makes a shared object (default: cc, gcc or clang; for another"
        " processor as in aarch64-linux-gnu-gcc)",
    )  # fmt: skip
    add_code_options(parser.add_argument_group("code"))
    add_reading(parser)
    add_json(parser, "a line of JSON: function, arguments, results, scratch_bytes, file")


def run(arguments: Namespace, report: Report) -> int:
    """Compiles the module; returns 1 where it is wrong or cannot run without Python."""
    from hlotool.runtime.ahead_of_time import compiled_ahead, found_linker, function_name, linked
    from hlotool.runtime.compilation import check_compilable, prepared
    from hlotool.runtime.constants import check_constants

    _check(arguments)
    target = target_of(arguments)
    is_shared = arguments.output.endswith(".so")
    if is_shared and arguments.linker is None:
        arguments.linker = found_linker(target, arguments.target)
    with report.errors_of(shown_name(arguments.file)):
        (unread,) = read_file(arguments.file)
        module = unread.read(lenient=arguments.lenient, verified=True)
        report.warnings(module, unread.name)
        check_compilable(module)
        check_constants(module)
        name = function_name(module) if arguments.name is None else arguments.name
        made = compiled_ahead(prepared(module), target, name)
        data = linked(made.code, arguments.linker) if is_shared else made.code
        write_file(arguments.output, data)
        if arguments.header:
            write_file(arguments.header, encode(made.header))
        if arguments.json:
            print_text(json.dumps({**made.described, "file": arguments.output}) + "\n")
    return report.exit_code


def _check(arguments: Namespace) -> None:
    if len(arguments.file) > 1:
        raise UsageError(f"compile takes one module, {' and '.join(arguments.file)} are given")
    (arguments.file,) = arguments.file
    outputs = [path for path in (arguments.output, arguments.header) if path is not None]
    for path in outputs:
        if path in ("", STDOUT):
            raise UsageError("compile writes files: name one with -o")
        check_writable(path)
    check_apart(outputs, [arguments.file])
