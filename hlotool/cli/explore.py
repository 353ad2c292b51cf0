"""`hlotool explore`: what is in a directory of dumps, as tables, as JSON and as one page."""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace
from collections import Counter
from typing import TYPE_CHECKING, Any

from hlotool.cli.arguments import ArgumentParser, add_json, natural
from hlotool.cli.outputs import STDOUT, check_writable, encode, print_text, write_file
from hlotool.cli.report import Report
from hlotool.errors import UsageError, counted

if TYPE_CHECKING:
    from hlotool.frontends.dump_directory import DumpDirectory
    from hlotool.frontends.dump_history import DumpedHistory, ReadDump

OPERANDS = "DIRECTORY [-o OUT.html]"
EXAMPLES = """\
  hlotool explore dump                    tables of modules, passes and files
  hlotool explore dump -o dump.html       a page over all of it
  hlotool explore dump --changes          what each pass changed, and how long it took
  hlotool explore dump --changes=diff --module=jit_train
  hlotool explore dump --json             the index for a program
"""
_NEXT_STEPS = (
    (
        "hlo-opt module.hlo --platform=cpu --xla_dump_to=DIRECTORY fills a directory, and so do JAX"
        " and TensorFlow with XLA_FLAGS=--xla_dump_to=DIRECTORY"
    ),
    "hlotool graph module.hlo -o module.html shows a module that is no dump",
)
_MEBIBYTE, _KIBIBYTE = 1 << 20, 1 << 10


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument(
        "directory", metavar="DIRECTORY", help="what --xla_dump_to wrote, or TensorFlow"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT.html",
        help="write a page; complete or not at all",
    )  # fmt: skip
    parser.add_argument(
        "--list", action="store_true", help="print tables (the default where no page is written)"
    )
    parser.add_argument(
        "--changes", choices=("counts", "diff"), nargs="?", const="counts", metavar="diff",
        help="read the modules and print what each pass changed; with =diff the lines too",
    )  # fmt: skip
    parser.add_argument(
        "--module", metavar="RE", default="",
        help="only modules whose number and name, as in 'module_0003 jit_f', match this anywhere",
    )  # fmt: skip
    parser.add_argument(
        "--module-limit", type=natural, metavar="MIB",
        help="how much to read of the modules of all stages together (default: 16)",
    )  # fmt: skip
    parser.add_argument(
        "--text-limit", type=natural, metavar="KIB",
        help="how much a page has of each other text (default: 256)",
    )  # fmt: skip
    add_json(parser, "one object: files, modules with their stages, what passes changed")


def run(arguments: Namespace, report: Report) -> int:
    """Shows what is in the directory."""
    from hlotool.frontends.dump_directory import dump_directory

    if arguments.output is not None:
        _check_output(arguments.output)
    found = dump_directory(arguments.directory)
    _check_shown(found)
    directory = _chosen(found, arguments.module)
    known = {file.path for file in directory.not_shown}
    read = _read(directory, arguments)
    histories = read.histories if read is not None and arguments.changes else []
    if arguments.output is not None:
        _write_page(directory, read, arguments)
    for file, words in directory.remarks:
        report.note(words, os.path.join(directory.path, file.path))
    for file in directory.not_shown:
        if file.path not in known:
            report.note(f"not shown: {file.why}", os.path.join(directory.path, file.path))
    if arguments.json:
        print_text(json.dumps(_as_json(directory, histories), indent=1) + "\n")
    elif arguments.changes:
        from hlotool.cli.explore_tables import print_changes

        print_changes(directory.titles(), histories, is_diff=arguments.changes == "diff")
    elif arguments.list or arguments.output is None:
        from hlotool.cli.explore_tables import print_index

        print_index(directory)
    return report.exit_code


def _check_output(path: str) -> None:
    suffix = os.path.splitext(path)[1].lower()
    if path in {"", STDOUT} or suffix not in {"", ".html", ".htm"}:
        raise UsageError("explore writes a page: name a file with -o OUT.html")
    check_writable(path)


def _check_shown(directory: DumpDirectory) -> None:
    """Raises `UsageError` where nothing in the directory can be shown."""
    if len(directory.not_shown) < len(directory.files):
        return
    counts = Counter(file.why for file in directory.files)
    path, whys = directory.path, [f"{counted(n, 'file')}: {why}" for why, n in counts.items()]
    words = f"nothing in {path} can be shown" if whys else f"there is no file in {path}"
    raise UsageError(words, notes=(*whys, *_NEXT_STEPS))


def _chosen(directory: DumpDirectory, expression: str) -> DumpDirectory:
    """Returns the directory with those modules alone that are asked for."""
    if not expression:
        return directory
    try:
        wanted = re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"--module is no regular expression: {error}") from None
    kept = [module for module in directory.modules if wanted.search(module.title)]
    if not kept:
        raise UsageError(
            f"no module of {directory.path} matches --module={expression}",
            notes=(f"hlotool explore {directory.path} lists them",),
        )
    chosen = {file.path for module in kept for file in module.files}
    for file in directory.files:
        if file.path not in chosen:
            file.why = file.why or "not asked for: see --module"
    directory.modules = kept
    return directory


def _module_limit(arguments: Namespace) -> int:
    from hlotool.frontends.dump_history import MODULE_LIMIT

    given = arguments.module_limit
    return MODULE_LIMIT if given is None else given * _MEBIBYTE


def _read(directory: DumpDirectory, arguments: Namespace) -> ReadDump | None:
    """Returns what is in the modules, `None` where only names are asked for."""
    if not arguments.changes and arguments.output is None:
        return None
    from hlotool.frontends.dump_history import ReadDump

    return ReadDump(directory, _module_limit(arguments))


def _write_page(directory: DumpDirectory, read: ReadDump | None, arguments: Namespace) -> None:
    from hlotool.frontends.directory_data import Limits, directory_document
    from hlotool.frontends.directory_texts import TEXT_LIMIT
    from hlotool.graph.html import page

    given = arguments.text_limit
    text = TEXT_LIMIT if given is None else given * _KIBIBYTE
    limits = Limits(_module_limit(arguments), text)
    made = page(directory_document(directory, limits, read))
    write_file(arguments.output, encode(made))


def _as_json(directory: DumpDirectory, histories: list[DumpedHistory]) -> dict[str, Any]:
    changes = [_changes(history) for history in histories]
    titles = directory.titles()
    modules = list(zip(titles, directory.modules, strict=True))
    owners = {file.path: title for title, module in modules for file in module.files}
    return {
        "path": directory.path,
        "modules": [
            {
                "title": title,
                "number": module.number,
                "name": module.name,
                "folder": module.folder,
                "stages": [
                    {
                        "title": stage.title,
                        "file": stage.file.path,
                        "pipeline": stage.step.pipeline if stage.step else None,
                        "after": stage.step.after if stage.step else None,
                        "before": (stage.step.before or None) if stage.step else None,
                    }
                    for stage in module.stages
                ],
                **({"changes": changes[number]} if histories else {}),
            }
            for number, (title, module) in enumerate(modules)
        ],
        "graphs": [file.path for file in directory.graphs],
        "files": [
            {
                "path": file.path,
                "size": file.size,
                "kind": file.kind,
                "module": owners.get(file.path),
                "shown": not file.why,
                "why": file.why or None,
            }
            for file in directory.files
        ],
    }


def _changes(history: DumpedHistory) -> list[dict[str, Any]]:
    return [
        {
            "pass": one.name,
            "pipeline": one.pipeline or None,
            "changed": not one.is_same_graph,
            "alone": one.is_alone,
            "removed": one.removed,
            "added": one.added,
            "altered": one.changed,
            "instructions": one.instructions,
            "seconds": one.seconds,
            "decisions": [
                {
                    "producer": d.producer,
                    "consumer": d.consumer,
                    "fused": d.is_fused,
                    "reason": d.reason,
                }
                for d in one.decisions
            ],
        }
        for one in history.passes.changes
    ]
