"""From text of LLVM IR to object files, while more text is being written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Self

import llvmlite.binding as llvm

from hlotool.codegen.target import Target
from hlotool.ir.process_setting import ProcessSetting
from hlotool.runtime.llvm import object_code, optimize, parsed

_LEAST_TEXT = 1 << 16
"""Parts are joined until there is so much text: each module costs LLVM some milliseconds."""
_SWITCH_SECONDS = 0.0005
"""How long a thread waits for Python while another one runs, usually ten times as much. LLVM's
thread needs it between calls, and would wait longer than it works."""
_switch_interval = ProcessSetting(sys.getswitchinterval, sys.setswitchinterval)

Optimize = Callable[[llvm.ModuleRef, Target], None]


def machine_code(text: str, target: Target, *, passes: Optimize = optimize) -> bytes:
    """Returns the object file of LLVM IR; raises `AssertionError` for what it may not call."""
    unit = parsed(text, target)
    passes(unit, target)
    return object_code(unit, target)


class CodeMaker:
    """Compiles the parts of a program in a thread of its own, in which LLVM needs no Python."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._thread = ThreadPoolExecutor(1, "hlotool-llvm")
        self._made: list[Future[bytes]] = []
        self._waiting: list[str] = []
        self._held = ExitStack()

    def __enter__(self) -> Self:
        quick = _switch_interval.changed(lambda before: min(before, _SWITCH_SECONDS))
        self._held.enter_context(quick)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()
        self._thread.shutdown(cancel_futures=True)

    def add(self, text: str) -> None:
        """Takes a part, which is a module of LLVM IR."""
        self._waiting.append(text)
        if sum(map(len, self._waiting)) >= _LEAST_TEXT:
            self._submit_waiting()

    def codes(self) -> tuple[bytes, ...]:
        """Returns the object files of all parts; raises what went wrong."""
        self._submit_waiting()
        return tuple(made.result() for made in self._made)

    def _submit_waiting(self) -> None:
        if self._waiting:
            text = joined(self._waiting)
            self._made.append(self._thread.submit(machine_code, text, self._target))
            self._waiting = []


def joined(texts: list[str]) -> str:
    """Returns modules of LLVM IR as one; what several declare is declared once."""
    heads: dict[str, None] = {}
    bodies = []
    for text in texts:
        lines = text.split("\n")
        count = next((n for n, line in enumerate(lines) if line.startswith("define")), len(lines))
        heads.update(dict.fromkeys(lines[:count]))
        bodies += lines[count:]
    defined = {line.partition("@")[2].partition("(")[0] for line in bodies if line[:6] == "define"}
    kept = [
        line
        for line in heads
        if not line.startswith("declare") or line.partition("@")[2].partition("(")[0] not in defined
    ]
    return "\n".join((*kept, *bodies))
