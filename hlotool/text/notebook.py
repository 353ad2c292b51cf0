"""What a notebook shows of a module in words: what it takes and yields, its text to unfold."""

from __future__ import annotations

from collections import Counter
from html import escape

from hlotool.ir.module import Module
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module

MOST_CHARACTERS = 200_000
"""The most of a module's text that is put into a page."""
_MOST_OPCODES = 8
_CELL = 'style="text-align:left"'
_TEXT = 'style="max-height:32em;overflow:auto;text-align:left;white-space:pre"'


def module_html(module: Module) -> str:
    """Returns HTML of its own, without scripts: a table of the module and its text, folded.

    Whatever a module holds is escaped.
    """
    text = print_module(module, PRESETS["default"])
    left = len(text) - MOST_CHARACTERS
    end = f"\n... {left} more characters" if left > 0 else ""
    rows = "".join(
        f"<tr><th {_CELL}>{escape(name)}</th><td {_CELL}><code>{escape(value)}</code></td></tr>"
        for name, value in _facts(module)
    )
    return (
        f"<div><strong>HloModule {escape(module.name)}</strong><table>{rows}</table>"
        f"<details><summary>text</summary>"
        f"<pre {_TEXT}>{escape(text[:MOST_CHARACTERS] + end)}</pre></details></div>"
    )


def _facts(module: Module) -> list[tuple[str, str]]:
    entry = module.entry
    facts = [
        (f"parameter {number}", f"{parameter.name}: {parameter.shape.text}")
        for number, parameter in enumerate(entry.parameters)
    ]
    counts = Counter(instruction.opcode for instruction in module.instructions())
    most = ", ".join(f"{count} {opcode}" for opcode, count in counts.most_common(_MOST_OPCODES))
    more = len(counts) - _MOST_OPCODES
    return [
        *facts,
        ("result", entry.root.shape.text),
        ("computations", str(len(module.computations))),
        ("instructions", f"{counts.total()}: {most}{f' and {more} others' if more > 0 else ''}"),
    ]
