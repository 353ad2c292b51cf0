"""`hlotool cache`: shows and clears the compiled modules that are kept on disk."""

from __future__ import annotations

import json
import time
from argparse import Namespace

from hlotool.cli.arguments import ArgumentParser, add_json
from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.report import Report
from hlotool.cli.units import byte_text
from hlotool.errors import counted
from hlotool.runtime.cache import FOLDER_VARIABLE, SHARED, SIZE_VARIABLE, CodeCache, user_cache

OPERANDS = "[clear]"
EXAMPLES = """\
  hlotool cache                    how much is kept, and where
  hlotool cache --json
  hlotool cache clear              remove it
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.description = (
        f"{parser.description} The variables {FOLDER_VARIABLE} and {SIZE_VARIABLE} say where"
        " they are kept, and how many bytes at most (as in 500M)."
    )
    parser.add_argument(
        "action", nargs="?", choices=("show", "clear"), default="show",
        help="show what is kept (the default), or clear it",
    )  # fmt: skip
    add_json(parser, "a line of JSON: folder, limit, files, bytes, and of clear how many removed")


def run(arguments: Namespace, report: Report) -> int:
    """Shows or clears the cache."""
    cache = user_cache()
    if arguments.action == "clear":
        count = cache.clear()
        if arguments.json:
            print_text(json.dumps({"folder": str(cache.folder), "removed": count}) + "\n")
        else:
            print_text(
                f"{counted(count, 'compiled module')} removed from {printable(str(cache.folder))}\n"
            )
        return report.exit_code
    _show(cache, as_json=arguments.json)
    return report.exit_code


def _show(cache: CodeCache, *, as_json: bool) -> None:
    entries = cache.entries()
    total = sum(entry.size for entry in entries)
    if as_json:
        shown = {
            "folder": str(cache.folder), "limit": cache.limit, "files": len(entries),
            "bytes": total, "fault": cache.fault(),
        }  # fmt: skip
        print_text(json.dumps(shown) + "\n")
        return
    lines = [f"{printable(str(cache.folder))}\n"]
    shared = sum(entry.path.name.startswith(SHARED) for entry in entries)
    also = " and code that modules share" if shared else ""
    modules = counted(len(entries) - shared, "compiled module")
    lines.append(f"{modules}{also}, {byte_text(total)} of at most {byte_text(cache.limit)}")
    if entries:
        stamps = [time.strftime("%Y-%m-%d %H:%M", time.localtime(e.used)) for e in entries]
        lines.append(f"\nused last {stamps[0]}, longest not used {stamps[-1]}")
    fault = cache.fault()
    if fault:
        lines.append(f"\nnothing is kept: {fault}")
    print_text("".join(lines) + "\n")
