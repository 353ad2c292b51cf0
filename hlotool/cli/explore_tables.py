"""Tables of `hlotool explore`: modules, passes, files, and what passes changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hlotool.analysis.line_diff import unified_lines
from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.report import coloured
from hlotool.cli.tables import print_drawn
from hlotool.cli.units import byte_text
from hlotool.errors import counted
from hlotool.frontends.dump_history import BEGINNING
from hlotool.text.printer import print_module

if TYPE_CHECKING:
    from rich.table import Table

    from hlotool.frontends.dump_directory import DumpDirectory, DumpedModule, DumpFile, Stage
    from hlotool.frontends.dump_history import DumpedHistory
    from hlotool.passes.history import PassChange


def print_index(directory: DumpDirectory) -> None:
    """Prints what is in a directory; each file counts among those shown or those not shown."""
    from rich.text import Text

    shown = [file for file in directory.files if not file.why]
    print_drawn(
        Text(
            f"{printable(directory.path)}: {_count(directory.files)},"
            f" {counted(len(directory.modules), 'module', ',')},"
            f" {counted(len(directory.graphs), 'graph', ',')}",
            "bold",
            overflow="fold",
        )
    )
    for title, module in zip(directory.titles(), directory.modules, strict=True):
        print_drawn(Text(), Text(printable(title), "bold", overflow="fold"), _stages(module))
    parts = {file.path: module.part(file) for module in directory.modules for file in module.files}
    if shown:
        print_drawn(Text(), Text(f"shown: {_count(shown)}", "bold"), _kinds(shown, parts))
    if directory.not_shown:
        title = f"not shown: {_count(directory.not_shown)}; --json names each"
        print_drawn(Text(), Text(title, "bold"), _reasons(directory.not_shown))


def print_changes(
    titles: Sequence[str], histories: Sequence[DumpedHistory], *, is_diff: bool
) -> None:
    """Prints what each pass of each module changed, with `is_diff` also the lines."""
    from rich.text import Text

    for title, history in zip(titles, histories, strict=True):
        print_drawn(Text(printable(title), "bold", overflow="fold"))
        changes = history.passes.changes
        if not changes:
            print_drawn(Text("  no two stages to compare", "dim"))
            continue
        print_drawn(_changes(changes))
        for one in changes if is_diff else ():
            _print_diff(history, one)
        print_drawn(Text())


def _stages(module: DumpedModule) -> Table:
    from rich.text import Text

    table = _table("stage", "size")
    table.columns[1].justify = "right"
    pipeline = ""
    for stage in module.stages:
        own = stage.step.pipeline if stage.step is not None and stage.step.before else ""
        if own and own != pipeline:
            table.add_row(Text(f"  {printable(own)}", "cyan"))
        pipeline = own or pipeline
        indent = "    " if own else "  "
        table.add_row(f"{indent}{printable(_title(stage))}", byte_text(stage.file.size))
    return table


def _title(stage: Stage) -> str:
    if stage.step is None or not stage.step.before:
        return stage.title
    return f"{stage.step.number:04} {stage.step.words}"


def _kinds(files: Sequence[DumpFile], parts: Mapping[str, str]) -> Table:
    table = _table("kind", "files", "size", "such as")
    for column in table.columns[1:3]:
        column.justify = "right"
    by_kind: dict[str, list[DumpFile]] = {}
    for file in files:
        by_kind.setdefault(file.kind, []).append(file)
    for kind, found in by_kind.items():
        size = byte_text(sum(file.size for file in found))
        example = parts.get(found[0].path, found[0].path)
        table.add_row(f"  {kind}", str(len(found)), size, printable(example))
    return table


def _reasons(files: Sequence[DumpFile]) -> Table:
    table = _table("kind", "files", "why")
    table.columns[1].justify = "right"
    by_reason: dict[tuple[str, str], int] = {}
    for file in files:
        by_reason[file.kind, file.why] = by_reason.get((file.kind, file.why), 0) + 1
    for (kind, why), number in by_reason.items():
        table.add_row(f"  {kind}", str(number), printable(why))
    return table


def _changes(changes: Sequence[PassChange]) -> Table:
    from rich.text import Text

    table = _table("pass", "removed", "added", "changed", "instructions", "ms", "fused")
    for column in table.columns[1:]:
        column.justify = "right"
    pipeline = ""
    for one in changes:
        if not one.is_changed and one.name.startswith(BEGINNING):
            continue
        if one.pipeline and one.pipeline != pipeline:
            pipeline = one.pipeline
            table.add_row(Text(f"  {printable(pipeline)}", "cyan"))
        decided = f"{sum(d.is_fused for d in one.decisions)} of {len(one.decisions)}"
        counts = [one.removed, one.added, one.changed]
        others = "" if one.is_alone or not one.is_changed else " and passes before it"
        table.add_row(
            f"    {printable(one.name)}{others}",
            *("" if one.is_same_graph else str(count) for count in counts),
            str(one.instructions),
            "" if one.seconds is None else f"{1000 * one.seconds:.1f}",
            decided if one.decisions else "",
            style="dim" if one.is_same_graph else "",
        )
    return table


def _print_diff(history: DumpedHistory, one: PassChange) -> None:
    if not one.is_changed:
        return
    modules = history.passes.states.modules
    before, after = (print_module(modules[n]).splitlines() for n in (one.before, one.after))
    for line in unified_lines(before, after, f"before {one.name}", f"after {one.name}"):
        print_text(f"{coloured(printable(line), line[:1], sys.stdout)}\n")


def _count(files: Sequence[DumpFile]) -> str:
    size = byte_text(sum(file.size for file in files))
    return f"{counted(len(files), 'file', ',')}, {size}"


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
