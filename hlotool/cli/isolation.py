"""`run-hlo --isolate`: each instruction of a module as a module of its own."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hlotool.cli.mismatch_tables import show_mismatch
from hlotool.cli.outputs import print_text
from hlotool.cli.progress import progress
from hlotool.cli.rendering import printable
from hlotool.cli.run_inputs import made_arguments
from hlotool.cli.runs import Outcome, Runs, Status
from hlotool.cli.tables import fitted_table, print_drawn, terminal_columns
from hlotool.debugging.isolate import Isolated, isolated_instructions
from hlotool.errors import HloError, counted

if TYPE_CHECKING:
    from rich.table import Table

    from hlotool.ir.module import Module

SKIPPED, FAILED = "skipped", "error"
_ORDER = (Status.DIFFER.value, FAILED, SKIPPED, Status.AGREE.value, Status.RAN.value)
"""The outcomes, those first that want to be looked at."""


@dataclass(frozen=True, slots=True)
class _Row:
    isolated: Isolated
    status: str
    words: str = ""
    outcome: Outcome | None = None


def run_isolated(module: Module, name: str, runs: Runs) -> None:
    """Runs each instruction alone and prints a table of outcomes, the worst first."""
    runs.fill(module, name)
    found = isolated_instructions(module)
    watched = progress(found, f"isolating {module.name}", output_shows_it=False)
    rows = [_row(isolated, runs) for isolated in watched]
    rows.sort(key=lambda row: _ORDER.index(row.status))
    if runs.arguments.json:
        for row in rows:
            print_text(json.dumps(_fields(row, module, name)) + "\n")
        return
    for row in rows:
        if row.status == Status.DIFFER.value and row.outcome is not None:
            print_text(f"{printable(_cells(row)[2])}\n")
            for comparison in row.outcome.comparisons:
                if not comparison.agrees:
                    show_mismatch(comparison)
            print_text("\n")
    if not rows:
        runs.report.note("there is no instruction to run alone", name)
    elif not runs.arguments.quiet:
        print_text(f"{printable(name)} by instruction\n")
        print_drawn(_table(rows))
        print_text(_tally(rows))


def _row(isolated: Isolated, runs: Runs) -> _Row:
    alone = isolated.module
    if alone is None:
        return _Row(isolated, SKIPPED, isolated.reason)
    settings = runs.settings(alone)
    try:
        made = made_arguments(alone, settings.seed, runs.arguments)
        devices = settings.replicas * settings.partitions
        outcome = runs.outcome(alone, [made.values] * devices, settings)
    except HloError as error:
        runs.report.count(error)
        return _Row(isolated, FAILED, error.message)
    runs.count(alone, outcome)
    return _Row(isolated, outcome.status.value, "; ".join(made.notes), outcome)


def _fields(row: _Row, module: Module, name: str) -> dict[str, object]:
    location = row.isolated.instruction.location
    comparisons = row.outcome.comparisons if row.outcome is not None else ()
    return {
        "file": name,
        "module": module.name,
        "instruction": row.isolated.instruction.name,
        "opcode": row.isolated.instruction.opcode,
        "line": None if location is None else location.line,
        "copies": [copy.name for copy in row.isolated.copies],
        "status": row.status,
        "message": row.words,
        "comparisons": [comparison.as_json() for comparison in comparisons],
    }


def _table(rows: list[_Row]) -> Table:
    titles = ("outcome", "line", "instruction", "shape", "copies", "remark")
    return fitted_table(
        titles,
        [[printable(cell) for cell in _cells(row)] for row in rows],
        ("instruction", "shape", "remark"),
        columns=terminal_columns(),
        goes_first=("copies", "shape", "line"),
    )


def _cells(row: _Row) -> list[str]:
    instruction = row.isolated.instruction
    location = instruction.location
    return [
        row.status,
        "" if location is None else str(location.line),
        f"{instruction.name} = {instruction.opcode}",
        instruction.shape.plain_text,
        str(len(row.isolated.copies) or ""),
        row.words,
    ]


def _tally(rows: list[_Row]) -> str:
    counts = Counter(row.status for row in rows)
    tally = ", ".join(f"{counts[status]} {status}" for status in _ORDER if counts[status])
    instructions = counted(len(rows), "instruction")
    return f"{instructions}: {tally}\n"
