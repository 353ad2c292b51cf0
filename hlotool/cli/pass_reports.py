"""Tables and lines about passes: lists, times, patterns, fusions, and what they noted."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hlotool.cli.outputs import print_error, print_text
from hlotool.cli.rendering import printable
from hlotool.cli.report import is_colourful
from hlotool.cli.tables import drawn, print_drawn, terminal_columns
from hlotool.errors import EvaluationError
from hlotool.passes.checking import Mismatch
from hlotool.passes.pass_base import Pass, options_of
from hlotool.passes.registry import PASSES
from hlotool.passes.running import Record
from hlotool.rewriting.journal import Decision

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def list_passes(*, as_json: bool) -> None:
    """Prints every pass with what it does and its options."""
    listed = sorted(PASSES, key=lambda one: one.name.lower())
    if as_json:
        print_text(json.dumps([_described(one) for one in listed], indent=1) + "\n")
        return
    print_drawn(*[part for one in listed for part in _listed(one)])


def _listed(one: type[Pass]) -> Iterator[RenderableType]:
    """Yields the name of a pass, and what stands below it: names are too long for a column."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    yield Text(one.name, "bold")
    yield Padding(Text(summary(one)), (0, 0, 0, 2))
    options = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    options.add_column(no_wrap=True)
    options.add_column()
    for known in options_of(one):
        default = f"{known.name}={known.written(known.default)}"
        options.add_row(Text(default, "cyan"), known.explained)
    if options.rows:
        yield Padding(options, (0, 0, 0, 2))


def summary(one: type[Pass]) -> str:
    """Returns what a pass does, in one line."""
    return (one.__doc__ or "").strip().splitlines()[0]


def _described(one: type[Pass]) -> dict[str, object]:
    options = [
        {
            "name": o.name,
            "default": o.default,
            "description": o.words,
            "choices": list(o.choices),
        }
        for o in options_of(one)
    ]
    return {
        "name": one.name, "description": summary(one), "exact": one.is_exact, "options": options,
    }  # fmt: skip


def show_times(records: Sequence[Record], subject: str, *, as_json: bool) -> None:
    """Shows on standard error how long each run of a pass took and what it did."""
    from rich.text import Text

    if as_json:
        _write_json("pass", subject, map(_record_fields, records))
        return
    table = _table("pass", "ms", "changed", "instructions", "rewrites")
    table.columns[1].justify = table.columns[4].justify = "right"
    table.columns[3].no_wrap = True
    pipeline = ""
    for record in records:
        if record.pipeline != pipeline:
            pipeline = record.pipeline
            table.add_row(Text(printable(pipeline), "bold cyan"))
        before, after = record.instructions_before, record.instructions_after
        counts = f"{before}" if before == after else f"{before} -> {after}"
        table.add_row(
            Text(f"  {printable(record.text)}"),
            f"{1000 * record.seconds:.1f}",
            "yes" if record.changed else "",
            counts,
            str(record.journal.hits.total() or ""),
            style="" if record.changed else "dim",
        )
    total = sum(record.seconds for record in records)
    changes = sum(record.changed for record in records)
    table.add_row(
        Text(f"{len(records)} runs of passes", "bold"), f"{1000 * total:.1f}", str(changes)
    )
    _draw_on_errors(table)
    _show_patterns(records)


def _show_patterns(records: Sequence[Record]) -> None:
    """Shows how often each pattern of each pass was applied in the whole run."""
    from rich.text import Text

    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        for pattern, count in record.journal.hits.items():
            counts[record.name, pattern] += count
    if not counts:
        return
    table = _table("pass", "rewrite", "times")
    table.columns[2].justify = "right"
    # Passes come in the order in which they rewrote first, the patterns of each by their number.
    places = {name: place for place, (name, _) in reversed(list(enumerate(counts)))}
    ordered = sorted(counts.items(), key=lambda item: (places[item[0][0]], -item[1]))
    shown = ""
    for (name, pattern), count in ordered:
        table.add_row(Text("" if name == shown else name), printable(pattern), str(count))
        shown = name
    print_error("\n")
    _draw_on_errors(table)


def show_decisions(records: Sequence[Record], subject: str, *, as_json: bool) -> None:
    """Shows on standard error what was fused and what not, and why."""
    from rich.text import Text

    decisions = [(record, one) for record in records for one in record.journal.decisions]
    if as_json:
        _write_json("fusion", subject, (_decision_fields(*pair) for pair in decisions))
        return
    if not decisions:
        print_error(f"{printable(subject)}: no pass had a fusion to decide about\n")
        return
    table = _table("pass", "producer", "consumer", "fused", "why", "bytes saved")
    table.columns[5].justify = "right"
    for record, one in decisions:
        saved = f"{one.bytes_saved:,}" if one.bytes_saved else ""
        fused = Text("yes", "green") if one.is_fused else Text("no", "red")
        table.add_row(
            record.name,
            printable(one.producer),
            printable(one.consumer),
            fused,
            printable(one.reason),
            saved,
        )
    _draw_on_errors(table)


def show_notes(records: Sequence[Record], subject: str, *, as_json: bool) -> None:
    """Shows on standard error what passes noted, each remark once."""
    notes = dict.fromkeys((r.name, note) for r in records for note in r.journal.notes)
    if as_json:
        fields = (
            {"pass": name, "instruction": note.instruction, "note": note.words}
            for name, note in notes
        )
        _write_json("note", subject, fields)
        return
    for name, note in notes:
        place = f" at {note.instruction}" if note.instruction else ""
        print_error(printable(f"{subject}: note: {name}{place}: {note.words}") + "\n")


def mismatch_error(found: Mismatch) -> EvaluationError:
    """Returns the error for a pass that changes results."""
    wrong = [leaf for leaf in found.comparison.leaves if not leaf.agrees]
    notes = []
    for leaf in wrong:
        index = "{" + ",".join(map(str, leaf.index)) + "}"
        differences = leaf.differences
        words = leaf.fault or (
            f"{differences.mismatches} of {differences.elements} elements are out of bounds"
        )
        notes.append(f"result {index} {leaf.shape}: {words}")
    step = found.step
    return EvaluationError(
        f"pass {step.after} of pipeline {step.pipeline} changes results", notes=notes
    )


def _record_fields(record: Record) -> dict[str, object]:
    return {
        "pass": record.text, "pipeline": record.pipeline, "seconds": record.seconds,
        "changed": record.changed, "instructions_before": record.instructions_before,
        "instructions_after": record.instructions_after, "patterns": dict(record.journal.hits),
    }  # fmt: skip


def _decision_fields(record: Record, one: Decision) -> dict[str, object]:
    return {
        "pass": record.name, "producer": one.producer, "consumer": one.consumer,
        "fused": one.is_fused, "reason": one.reason, "bytes_saved": one.bytes_saved,
    }  # fmt: skip


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0, overflow="fold")
    return table


def _draw_on_errors(table: Table) -> None:
    colour = is_colourful(sys.stderr)
    print_error(drawn(table, columns=terminal_columns(), colour=colour))


def _write_json(kind: str, subject: str, items: Iterable[Mapping[str, object]]) -> None:
    for item in items:
        print_error(json.dumps({"kind": kind, "file": subject, **item}) + "\n")
