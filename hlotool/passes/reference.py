"""The reference of passes: `python -m hlotool.passes.reference testdata/passes`."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from hlotool.passes.pass_base import Pass, options_of
from hlotool.passes.pattern_pass import PatternPass
from hlotool.passes.registry import PASSES
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.text.parser import parse
from hlotool.text.print_options import PrintOptions
from hlotool.text.printer import print_module

_HEAD = """\
# Passes

Made from the classes in `hlotool/passes/` by `make reference`; do not edit.

`hlo-opt --passes=a,b{option=value},fix(c,d)` runs passes by these names, which are the reference's
where it has the pass. *Exact* passes only move or drop operations: results stay the same bit for
bit. `hlo-opt --list-passes` lists the same on the terminal. The examples are the files
`testdata/passes/NAME/*.hlo`.
"""
_COMMENT = re.compile(r"^// ?(.*)$", re.MULTILINE)
_LINE = re.compile(r"^// (RUN|CHECK[A-Z-]*|[A-Z-]+):")
_SHOWN = PrintOptions(percent=False, program_shape=False, metadata=False, layouts=False)
_MOST_LINES = 40
"""Longer examples are left to their files."""


def pass_reference(examples: Path) -> str:
    """Returns the reference of all passes as Markdown, with examples of a folder."""
    families: dict[str, list[type[Pass]]] = {}
    for one in PASSES:
        families.setdefault(one.__module__.split(".")[2], []).append(one)
    parts = [_HEAD]
    for family in sorted(families):
        words = inspect.getdoc(sys.modules[f"hlotool.passes.{family}"]) or ""
        parts.append(f"## {family.capitalize()}\n\n{words}\n")
        ordered = sorted(families[family], key=lambda one: one.name.lower())
        parts += [_section(one, examples / one.name) for one in ordered]
    return "\n".join(parts)


def _section(one: type[Pass], folder: Path) -> str:
    exact = " Exact." if one.is_exact else ""
    lines = [f"### `{one.name}`", "", f"{inspect.cleandoc(one.__doc__ or '')}{exact}", ""]
    options = list(options_of(one))
    if options:
        lines += ["| option | default | meaning |", "|---|---|---|"]
        for known in options:
            default = known.written(known.default) or "empty"
            lines.append(f"| `{known.name}` | `{default}` | {known.explained} |")
        lines.append("")
    if issubclass(one, PatternPass):
        lines += [_identities(one.identities), ""]
    example = next(iter(sorted(folder.glob("*.hlo"))), None)
    if example is not None:
        lines += [*_example(one, example.read_text(encoding="utf-8")), ""]
    return "\n".join(lines)


def _identities(patterns: PatternSet) -> str:
    rows = []
    for pattern in patterns:
        assumed = f" (with `{pattern.assumes}`)" if pattern.assumes else ""
        identity = pattern.identity.removesuffix(".")
        rows.append(f"- {pattern.name}: `{identity}`{assumed}")
    return "\n".join(rows)


def _example(one: type[Pass], text: str) -> list[str]:
    """Returns the comment of a golden file, and its module before and after the pass."""
    head = text.partition("HloModule")[0]
    command = re.search(r"// RUN: hlo-opt --passes=(\S+) ", head)
    if command is None or command[1] != one.name:
        return []
    words = " ".join(
        match[1] for match in _COMMENT.finditer(head) if match[1] and not _LINE.match(match[0])
    )
    module = parse(text)
    before = print_module(module, _SHOWN).strip()
    one().run(module, Journal(one.name))
    after = print_module(module, _SHOWN).strip()
    if max(before.count("\n"), after.count("\n")) > _MOST_LINES:
        return [words]
    return [words, "", "```", before, "```", "", "becomes", "", "```", after, "```"]


if __name__ == "__main__":
    sys.stdout.write(pass_reference(Path(sys.argv[1])))
