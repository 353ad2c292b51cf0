"""The part of a page's data that is about passes: `docs/viewer_data.md` says what each entry is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hlotool.analysis.line_diff import line_edits
from hlotool.graph.html import page
from hlotool.graph.numbering import Strings, differences
from hlotool.graph.page_states import PageStates
from hlotool.ir.garbage import rare_collection
from hlotool.passes.history import PassChange, PassHistory
from hlotool.rewriting.journal import Decision


@rare_collection()
def passes_document(history: PassHistory) -> dict[str, Any]:
    """Returns the document of a page over the passes of one run, which has a state at least."""
    states = PageStates(history.states.modules)
    last = history.changes[-1].after if history.changes else 0
    return {
        **states.entries(last),
        **pass_entries(history, states),
        "titles": _titles(history),
    }


def passes_page(history: PassHistory) -> str:
    """Returns a page over the passes of one run, which has a state at least."""
    return page(passes_document(history))


def decisions_page(history: PassHistory) -> str | None:
    """Returns a page that begins with the first fusion decision, `None` where there is none."""
    deciding = history.only(lambda change: bool(change.decisions))
    if not deciding.changes:
        return None
    document = passes_document(deciding)
    title = f"{document['title']}: fusion decisions"
    return page({**document, "title": title, "begin": "decisions"})


def _titles(history: PassHistory) -> list[str]:
    """Returns what each state is called: by the pass that made it first."""
    made_by: dict[int, str] = {}
    for change in history.changes:
        if change.is_changed:
            made_by.setdefault(change.after, f"after {change.name}")
    return [
        made_by.get(number, "before the passes") for number in range(len(history.states.modules))
    ]


def pass_entries(history: PassHistory, states: PageStates) -> dict[str, Any]:
    """Returns the entries `passes` and `decisions`; `states` are those of the history."""
    strings = states.strings
    passes: list[dict[str, Any]] = []
    decisions: list[dict[str, Any]] = []
    edits: dict[tuple[int, int], list[int]] = {}
    for change in history.changes:
        pair = change.before, change.after
        if pair not in edits:
            edits[pair] = _edits(*(states.texts[number] for number in pair))
        first = len(decisions)
        decisions += (
            _decision(one, change.before, len(passes), strings) for one in change.decisions
        )
        passes.append(
            {**_pass(change, strings), "edits": edits[pair], "decisions": [first, len(decisions)]}
        )
    return {"passes": passes, "decisions": decisions}


def _pass(change: PassChange, strings: Strings) -> dict[str, Any]:
    seconds = change.seconds
    return {
        "name": strings(change.name),
        "pipeline": strings.optional(change.pipeline),
        "before": change.before,
        "after": change.after,
        "milliseconds": None if seconds is None else round(1000 * seconds, 3),
        "changed": int(not change.is_same_graph),
        "alone": int(change.is_alone),
        "instructions": change.instructions,
        "counts": [change.removed, change.added, change.changed],
        "removed": differences(strings(name) for name in change.comparison.removed),
        "added": differences(strings(name) for name in change.comparison.added),
        "altered": _altered(change, strings),
    }


def _altered(change: PassChange, strings: Strings) -> list[int]:
    triples = [[strings(text) for text in three] for three in change.comparison.changed]
    return [
        number - other
        for before, after in pairwise([[0, 0, 0], *triples])
        for other, number in zip(before, after, strict=True)
    ]


def _decision(one: Decision, module: int, number: int, strings: Strings) -> dict[str, Any]:
    return {
        "pass": number,
        "producer": strings(one.producer),
        "consumer": strings(one.consumer),
        "kind": "fused" if one.is_fused else "not fused",
        "reason": strings.optional(one.reason),
        "saved": one.bytes_saved,
        "module": module,
    }


def _edits(before: str, after: str) -> list[int]:
    if before == after:
        return []
    found: list[int] = []
    line = 0
    for kind, start, end, first, last in line_edits(before.split("\n"), after.split("\n")):
        if kind != "equal":
            found += (start - line, end - start, last - first)
            line = end
    return found
