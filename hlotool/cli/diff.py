"""`hlotool diff`: what is added, removed and changed between two modules."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from hlotool.analysis.differences import (
    Change,
    ComputationDifferences,
    ModuleDifferences,
    module_differences,
)
from hlotool.cli.arguments import ArgumentParser, add_inputs, add_json, add_verify
from hlotool.cli.inputs import STDIN, shown_name
from hlotool.cli.modules import read_file
from hlotool.cli.outputs import (
    STDOUT,
    check_apart,
    check_writable,
    encode,
    print_bytes,
    print_text,
    write_file,
)
from hlotool.cli.rendering import printable
from hlotool.cli.report import GOOD, WRONG, Report, coloured
from hlotool.errors import UsageError
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.text.instruction_printer import InstructionPrinter
from hlotool.text.print_options import PrintOptions

OPERANDS = "OLD NEW"
EXAMPLES = """\
  hlotool diff before.hlo after.hlo            what did a pass or a change of the model do?
  hlotool diff --json before.hlo after.hlo     the same for a program
  hlotool diff --html -o d.html before.hlo after.hlo    both graphs side by side, in one page
  hlotool diff --quiet a.hlo b.hlo.pb          only the exit code: 0 equal, 1 different
"""

_OPTIONS = PrintOptions(metadata=False, backend_config=False)
_PAGE = "diff.html"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    add_inputs(parser)
    add_verify(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing, end with 0 or 1")
    add_json(parser, "the differences as one object of JSON")
    parser.add_argument(
        "--html", action="store_true",
        help="write a page with both graphs side by side, which needs no network",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="OUT.html",
        help=f"where to write the page (default: {_PAGE}); - is standard output",
    )  # fmt: skip


def run(arguments: Namespace, report: Report) -> int:
    """Compares two modules; returns 0 for the same graph and 1 for another."""
    if len(arguments.files) != 2:
        raise UsageError(f"two modules are wanted, {len(arguments.files)} given")
    if arguments.files.count(STDIN) > 1:
        raise UsageError("standard input, -, is given twice")
    if arguments.split_input_file:
        raise UsageError("--split-input-file makes no sense here: there are two files")
    page = _page_path(arguments)
    old, new = (_read(path, arguments, report) for path in arguments.files)
    differences = module_differences(old, new)
    if page:
        _write_page(differences, old, new, arguments.files, page)
    if arguments.json:
        names = dict(zip(("old", "new"), arguments.files, strict=True))
        print_text(json.dumps(names | _as_json(differences, old, new), indent=1) + "\n")
    elif not arguments.quiet and page != STDOUT:
        _print(differences, old, new, arguments.files)
    return GOOD if differences.is_equal else WRONG


def _page_path(arguments: Namespace) -> str:
    """Returns where to write a page, nothing where none is asked for."""
    if not arguments.html:
        if arguments.output is not None:
            raise UsageError("-o says where to write a page: add --html")
        return ""
    path = _PAGE if arguments.output is None else str(arguments.output)
    if path == STDOUT and arguments.json:
        raise UsageError("--json and the page both want standard output: name a file with -o")
    check_writable(path)
    check_apart([path], arguments.files)
    return path


def _write_page(
    differences: ModuleDifferences, old: Module, new: Module, files: list[str], path: str
) -> None:
    from hlotool.graph.difference_data import difference_document
    from hlotool.graph.html import page

    names = [shown_name(name) for name in files]
    short = [os.path.basename(name) for name in names]
    titles = short if short[0] != short[1] else names
    made = encode(page(difference_document(old, new, differences, titles)))
    if path == STDOUT:
        print_bytes(made)
    else:
        write_file(path, made)


def _read(path: str, arguments: Namespace, report: Report) -> Module:
    (unread,) = read_file(path, arguments.format)
    module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
    report.warnings(module, unread.name)
    return module


def _print(differences: ModuleDifferences, old: Module, new: Module, files: list[str]) -> None:
    names = " and ".join(printable(name) for name in files)
    if differences.is_equal:
        print_text(f"{names} are the same graph\n")
        return
    removed, added, changed = differences.counts
    print_text(f"{names} differ: {removed} removed, {added} added, {changed} changed\n")
    for line in _lines(differences, old, new):
        # Marks begin lines, also those of details below a changed instruction.
        shown = coloured(printable(line), line.lstrip()[:1], sys.stdout)
        print_bytes(encode(shown + "\n"))


def _lines(differences: ModuleDifferences, old: Module, new: Module) -> Iterator[str]:
    before, after = (InstructionPrinter(module, _OPTIONS) for module in (old, new))
    for words in differences.header:
        yield f"~ header: {words}"
    for computation in differences.removed:
        yield f"- computation {computation.name}, {_size(computation)}"
    for computation in differences.added:
        yield f"+ computation {computation.name}, {_size(computation)}"
    for one in differences.computations:
        yield ""
        yield _title(one)
        for instruction in one.removed:
            yield f"  - {before.line(instruction)}"
        for instruction in one.added:
            yield f"  + {after.line(instruction)}"
        for change in one.changed:
            yield f"  ~ {after.line(change.new)}"
            yield from (f"      {words}" for words in change.differences)


def _size(computation: Computation) -> str:
    count = len(computation.instructions)
    return f"{count} instruction{'' if count == 1 else 's'}"


def _title(one: ComputationDifferences) -> str:
    module = one.old.parent
    entry = "ENTRY " if module is not None and module.entry is one.old else ""
    renamed = "" if one.old.name == one.new.name else f", now {one.new.name}"
    return f"{entry}computation {one.old.name}{renamed}"


def _as_json(differences: ModuleDifferences, old: Module, new: Module) -> dict[str, Any]:
    before, after = (InstructionPrinter(module, _OPTIONS) for module in (old, new))

    def placed(instruction: Instruction, printer: InstructionPrinter) -> dict[str, Any]:
        location = instruction.location
        line = None if location is None else location.line
        return {"name": instruction.name, "text": printer.line(instruction), "line": line}

    def changed(change: Change) -> dict[str, Any]:
        return {
            "old": placed(change.old, before),
            "new": placed(change.new, after),
            "differences": list(change.differences),
        }

    return {
        "equal": differences.is_equal,
        "header": list(differences.header),
        "computations": [
            {
                "old": one.old.name,
                "new": one.new.name,
                "removed": [placed(instruction, before) for instruction in one.removed],
                "added": [placed(instruction, after) for instruction in one.added],
                "changed": [changed(change) for change in one.changed],
            }
            for one in differences.computations
        ],
        "removed_computations": [computation.name for computation in differences.removed],
        "added_computations": [computation.name for computation in differences.added],
    }
