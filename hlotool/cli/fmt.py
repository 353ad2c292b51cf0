"""`hlotool fmt`: formats HLO files in place, or tells which ones are not formatted."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from difflib import unified_diff

from hlotool.analysis.fingerprint import fingerprint
from hlotool.cli.arguments import ArgumentParser, add_reading, add_split
from hlotool.cli.comments import Comments
from hlotool.cli.inputs import (
    SEPARATOR,
    STDIN,
    decode,
    expand,
    is_empty,
    read_bytes,
    shown_name,
    split_text,
)
from hlotool.cli.outputs import encode, print_error, print_text, write_file
from hlotool.cli.progress import progress
from hlotool.cli.rendering import printable
from hlotool.cli.report import GOOD, WRONG, Report
from hlotool.errors import HloError
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS, PrintOptions
from hlotool.text.printer import print_module

OPERANDS = "FILE ..."
EXAMPLES = """\
  hlotool fmt module.hlo              format a file in place
  hlotool fmt --check .               list the .hlo files below here that are not formatted
  hlotool fmt --diff module.hlo       show what would change, and change nothing
  hlotool fmt - < in.hlo > out.hlo    format standard input to standard output
"""

STYLES = ("default", "short-parsable", "long")
"""The presets that keep the names of instructions, by which comments find their places."""

ROUNDS = 8
"""How often a module is printed and read at most until its order stays."""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="an HLO text, - for standard input; of a folder, the .hlo files in it",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; list what would change and exit 1"
    )
    parser.add_argument(
        "--diff", action="store_true", help="change nothing; show what would change and exit 1"
    )
    parser.add_argument(
        "--print-as", choices=STYLES, default="default", help="how to print (default: default)"
    )
    add_split(parser)
    add_reading(parser)


def run(arguments: Namespace, report: Report) -> int:
    """Formats each file; returns 1 where one is wrong or, if only asked, would change."""
    changed = 0
    for path in progress(expand(arguments.files, (".hlo",)), "formatting"):
        with report.errors_of(shown_name(path)):
            changed += _format_file(path, arguments)
    return WRONG if changed and (arguments.check or arguments.diff) else GOOD


def _format_file(path: str, arguments: Namespace) -> bool:
    """Formats one file and returns whether it was not formatted before."""
    data = read_bytes(path)
    name = shown_name(path)
    old = decode(data, name)
    new = _formatted(old, name, arguments)
    if "\r\n" in old[: old.find("\n") + 1]:
        new = new.replace("\n", "\r\n")
    changed = encode(new) != data
    if arguments.diff and changed:
        print_text(_difference(old, new, name))
    if arguments.check and changed:
        print_text(f"{printable(name)}\n")
    if arguments.check or arguments.diff:
        return changed
    if path == STDIN:
        print_text(new)
    elif changed:
        write_file(path, encode(new))
        print_error(f"formatted {printable(name)}\n")
    return changed


def _formatted(text: str, name: str, arguments: Namespace) -> str:
    parts = split_text(text, name, keep_empty=True) if arguments.split_input_file else [text]
    # A part of nothing but comments is there for its comments.
    made = [
        part.strip() + "\n" if len(parts) > 1 and is_empty(part) else
        _format_module(part, name, arguments)
        for part in parts
    ]  # fmt: skip
    return f"\n{SEPARATOR}\n\n".join(made)


def _format_module(text: str, name: str, arguments: Namespace) -> str:
    module = parse(text, name, lenient=arguments.lenient)
    # Whatever the style leaves out by default: a file must not lose its constants.
    options = replace(PRESETS[arguments.print_as], large_constants=LargeConstants.EXACT)
    printed = _settled(module, options, lenient=arguments.lenient)
    if fingerprint(printed) != fingerprint(module):
        raise HloError(
            f"formatting as {arguments.print_as} would change what the module means;"
            " the file is left as it is"
        )
    return Comments(module).put_into(printed)


def _settled(module: Module, options: PrintOptions, *, lenient: bool) -> Module:
    """Returns the module read from its own print, and printing the same again.

    The order in which a module prints follows from the order in which it was read, so that it
    may take a second round until it stays.
    """
    text = print_module(module, options)
    for _ in range(ROUNDS):
        printed = parse(text, "<formatted>", lenient=lenient)
        again = print_module(printed, options)
        if again == text:
            return printed
        text = again
    raise HloError(f"the order of the print still changes after {ROUNDS} rounds")


def _difference(old: str, new: str, name: str) -> str:
    lines = unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name} (formatted)"
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
