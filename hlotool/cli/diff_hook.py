"""Shows what each pass changed, as a text diff on standard error."""

from __future__ import annotations

import json
import sys

from hlotool.analysis.line_diff import unified_lines
from hlotool.cli.outputs import print_error
from hlotool.cli.rendering import printable, printable_lines
from hlotool.cli.report import coloured
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.passes.running import Hook, Record, Step
from hlotool.text.printer import print_module


class DiffHook(Hook):
    """Writes the name of each pass that changed the module, and with `is_diff` the lines too."""

    def __init__(self, subject: str, *, is_diff: bool, is_json: bool) -> None:
        self._subject = subject
        self._is_diff = is_diff
        self._is_json = is_json
        self._before: list[str] = []

    def started(self, step: Step, module: Module) -> None:  # noqa: ARG002  # a hook's signature
        """Remembers the text of the module as it is at first."""
        if self._is_diff and not self._before:
            self._before = print_module(module).splitlines()

    def after(self, one: Pass, step: Step, module: Module, record: Record) -> None:
        """Shows the change; passes that change nothing are not shown."""
        if not record.changed:
            return
        lines: list[str] = []
        if self._is_diff:
            text = print_module(module).splitlines()
            names = f"before {one.name}", f"after {one.name}"
            lines = list(unified_lines(self._before, text, *names))
            self._before = text
        if self._is_json:
            fields = {
                "kind": "change", "file": self._subject, "pipeline": step.pipeline,
                "pass": one.text, "diff": lines,
            }  # fmt: skip
            print_error(json.dumps(fields) + "\n")
            return
        where = f"changed the module, in {step.pipeline}"
        print_error(printable(f"{self._subject}: {one.text} {where}") + "\n")
        for line in lines:
            print_error(f"{coloured(printable_lines(line), line[:1], sys.stderr)}\n")
