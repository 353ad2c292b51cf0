"""`hlotool graph`: shows a module as a page, a picture, a dot file or a tree."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.cli.arguments import (
    FORMATS,
    ArgumentParser,
    add_json,
    add_output,
    add_reading,
    add_verify,
    natural,
    positive,
)
from hlotool.cli.inputs import decode, read_bytes, shown_name
from hlotool.cli.modules import read_file
from hlotool.cli.outputs import (
    STDOUT,
    check_apart,
    check_writable,
    encode,
    print_bytes,
    write_file,
)
from hlotool.cli.report import Report
from hlotool.errors import ParseError, UsageError, counted
from hlotool.graph.selection import DEEPEST, RADIUS, Choice

if TYPE_CHECKING:
    from hlotool.graph.overlays import Datum
    from hlotool.ir.module import Module

OPERANDS = "FILE [-o OUT]"
EXAMPLES = """\
  hlotool graph module.hlo -o module.html        a page to look around in
  hlotool graph module.hlo                       a tree on the terminal
  hlotool graph module.hlo -o module.svg         a picture, drawn by Graphviz
  hlotool graph module.hlo --around=dot.3 --radius=4 -o dot.png
  hlotool graph module.hlo --all-paths p0 root --format=dot
  hlotool graph module.hlo --overlay=times.json -o module.html
"""

_SUFFIXES = {
    "html": "html", "htm": "html", "dot": "dot", "gv": "dot", "svg": "svg", "png": "png",
    "pdf": "pdf", "txt": "text",
}  # fmt: skip
"""The formats by how file names end."""
OUTPUT_FORMATS = ("html", "dot", "svg", "png", "pdf", "text")
_BINARY = ("png", "pdf")
_MOST_NODES = {"dot": 5_000, "svg": 400, "png": 400, "pdf": 400, "text": 2_000}
"""How many boxes or lines there are if nothing else is asked for; Graphviz is slow on more."""
_MOST_SHOWN = 5


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("file", metavar="FILE", help="a module, - for standard input")
    add_output(parser)
    parser.add_argument(
        "--format", choices=OUTPUT_FORMATS, metavar="FORMAT",
        help=f"{', '.join(OUTPUT_FORMATS)} (default: by the name of OUT, else text)",
    )  # fmt: skip
    parser.add_argument(
        "--from", dest="input_format", choices=FORMATS, metavar="FORMAT",
        help="hlo, pb, pbtxt (default: by the name of FILE, else hlo)",
    )  # fmt: skip
    parser.add_argument(
        "--overlay", action="append", default=[], metavar="DATA.json",
        help="numbers or words by the names of instructions, to colour a page with",
    )  # fmt: skip
    _add_choice(parser)
    add_reading(parser)
    add_verify(parser)
    add_json(parser, "one object: computations, and their nodes with shapes, costs, operands, ...")


def _add_choice(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what is shown, in all formats but html")
    group.add_argument("--computation", metavar="NAME", help="this one (default: the entry)")
    group.add_argument("--around", metavar="NAME", help="what is near this instruction")
    group.add_argument(
        "--radius", type=natural, metavar="N",
        help=f"how many steps from --around, over operands and users (default: {RADIUS})",
    )  # fmt: skip
    group.add_argument(
        "--all-paths", nargs=2, metavar=("FROM", "TO"), help="what lies between two instructions"
    )
    group.add_argument(
        "--top-level", action="store_true", help="leave fusions, loops, branches and calls closed"
    )
    group.add_argument(
        "--max-nodes", type=positive, metavar="N",
        help="close and then leave out what is more (default: dot 5000, pictures 400, text 2000)",
    )  # fmt: skip
    group.add_argument(
        "--color-by", choices=("category", "sharding"), default="category",
        help="what the colours of pictures mean (default: category, of the opcode)",
    )  # fmt: skip


def run(arguments: Namespace, report: Report) -> int:
    """Shows the module; returns 1 where it is wrong."""
    made_format = _format(arguments)
    choice = _choice(arguments, made_format)
    _check_options(arguments, made_format, choice)
    given = _overlays(arguments.overlay)
    with report.errors_of(shown_name(arguments.file)):
        (unread,) = read_file(arguments.file, arguments.input_format)
        module = unread.read(lenient=arguments.lenient, verified=arguments.verify)
        report.warnings(module, unread.name)
        if made_format == "html":
            _write_page(module, given, arguments.output, report)
        elif made_format == "json":
            from hlotool.graph.model_json import module_json

            _write(arguments.output, encode(json.dumps(module_json(module, choice)) + "\n"))
        else:
            _write_picture(module, choice, made_format, arguments, report)
    return report.exit_code


def _format(arguments: Namespace) -> str:
    """Returns the format of the output: json, or one of `OUTPUT_FORMATS`."""
    if arguments.json:
        return "json"
    if arguments.format is not None:
        return str(arguments.format)
    if arguments.output == STDOUT:
        return "text"
    suffix = os.path.splitext(arguments.output)[1].removeprefix(".").lower()
    found = _SUFFIXES.get(suffix)
    if found is None:
        raise UsageError(
            f"the name of {arguments.output} speaks of no format",
            notes=(f"give --format: {', '.join(OUTPUT_FORMATS)}",),
        )
    return found


def _choice(arguments: Namespace, made_format: str) -> Choice:
    return Choice(
        computation=arguments.computation,
        around=arguments.around,
        radius=RADIUS if arguments.radius is None else arguments.radius,
        paths=None if arguments.all_paths is None else tuple(arguments.all_paths),
        top_level=arguments.top_level,
        most_nodes=arguments.max_nodes or _MOST_NODES.get(made_format),
    )


def _check_options(arguments: Namespace, made_format: str, choice: Choice) -> None:
    """Raises `UsageError` for options that do not go together, and for what cannot be written."""
    if choice.around is not None and choice.paths is not None:
        raise UsageError("--around and --all-paths are given: a picture shows one of them")
    if arguments.radius is not None and choice.around is None:
        raise UsageError("--radius is given without --around")
    chooses = choice.is_part or choice.top_level or arguments.max_nodes is not None
    if made_format == "html" and (chooses or arguments.color_by != "category"):
        raise UsageError(
            "a page holds the whole module: what is shown of it is chosen in the page",
            notes=("press ? in it for search, neighbourhood, paths and overlays",),
        )
    if arguments.overlay and made_format != "html":
        raise UsageError("--overlay is for pages: --format=html")
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    if made_format in _BINARY and arguments.output == STDOUT and is_terminal:
        raise UsageError(f"{made_format} is binary: name a file for it with -o")
    check_writable(arguments.output)
    check_apart([arguments.output], [arguments.file, *arguments.overlay])


def _overlays(files: Sequence[str]) -> dict[str, dict[str, Datum]]:
    found: dict[str, dict[str, Datum]] = {}
    for path in files:
        from hlotool.graph.given_overlays import read_overlays

        name = os.path.splitext(os.path.basename(path))[0]
        for title, data in read_overlays(_text_of(path), shown_name(path), name).items():
            given = found.setdefault(title, {})
            twice = min(data.keys() & given.keys(), default=None)
            if twice is not None:
                raise UsageError(f"two files of --overlay say what {title} is of {twice}")
            given.update(data)
    return found


def _text_of(path: str) -> str:
    try:
        return decode(read_bytes(path), shown_name(path))
    except ParseError as error:
        # A file of options is no module that could be wrong.
        raise UsageError(f"{shown_name(path)}: {error.message}") from None


def _write_page(
    module: Module, given: dict[str, dict[str, Datum]], path: str, report: Report
) -> None:
    from hlotool.graph.given_overlays import unknown_names
    from hlotool.graph.html import module_page

    unknown = unknown_names(given, module)
    if unknown:
        shown = ", ".join(unknown[:_MOST_SHOWN]) + (", ..." if len(unknown) > _MOST_SHOWN else "")
        of = "is" if len(unknown) == 1 else "are"
        report.note(f"{counted(len(unknown), 'name')} {of} of no instruction: {shown}", "--overlay")
    _write(path, encode(module_page(module, given)))


def _write_picture(
    module: Module, choice: Choice, made_format: str, arguments: Namespace, report: Report
) -> None:
    from hlotool.graph.model import ModuleGraph
    from hlotool.graph.selection import selected, too_deep

    graph = ModuleGraph(module)
    selection = selected(graph, choice)
    if selection.left_out:
        report.note(
            f"not shown: {counted(selection.left_out, 'instruction', ',')}; --max-nodes shows more,"
            " --around fewer, and a page (-o module.html) all of them",
            shown_name(arguments.file),
        )
    closed = [] if choice.top_level else too_deep(graph, selection)
    if closed:
        report.note(
            f"closed: what is more than {DEEPEST} bodies deep, such as {closed[0]};"
            f" --computation={closed[0]} shows it",
            shown_name(arguments.file),
        )
    if made_format == "text":
        from hlotool.cli.graph_tree import print_tree

        print_tree(graph, selection, choice, arguments.output)
        return
    from hlotool.graph.colours import colours
    from hlotool.graph.dot import graph_dot
    from hlotool.graph.rendering import rendered

    dot = graph_dot(graph, selection, choice, colours(graph, arguments.color_by), module.name)
    _write(arguments.output, encode(dot) if made_format == "dot" else rendered(dot, made_format))


def _write(path: str, data: bytes) -> None:
    if path == STDOUT:
        print_bytes(data)
    else:
        write_file(path, data)
