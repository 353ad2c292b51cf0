"""From text of LLVM IR to object files, while more text is being written."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

import llvmlite.binding as llvm

from hlotool.codegen.target import Target
from hlotool.runtime.llvm import object_code, optimize, parsed

_LEAST_TEXT = 1 << 16
"""Parts are joined until there is so much text: each module costs LLVM some milliseconds."""

_SWITCH_SECONDS = 0.0005
"""How long a thread waits for Python while another one runs, usually ten times as much."""

Optimize = Callable[[llvm.ModuleRef, Target], None]


def machine_code(text: str, target: Target, *, passes: Optimize = optimize) -> bytes:
    """Returns the object file of LLVM IR; raises `AssertionError` for what it may not call."""
    unit = parsed(text, target)
    passes(unit, target)
    return object_code(unit, target)


class _QuickSwitches:
    """Lets threads wait for Python for a shorter time, as long as anybody asks for it.

    LLVM's thread needs it between calls; it would wait longer than it works.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._before = 0.0

    def begin(self) -> None:
        """Begins to ask for it."""
        with self._lock:
            if self._count == 0:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(min(self._before, _SWITCH_SECONDS))
            self._count += 1

    def end(self) -> None:
        """Ends what one `begin` has begun."""
        with self._lock:
            self._count -= 1
            if self._count == 0:
                sys.setswitchinterval(self._before)


_quick_switches = _QuickSwitches()


class CodeMaker:
    """Compiles the parts of a program in a thread of its own, in which LLVM needs no Python."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._thread = ThreadPoolExecutor(1, "hlotool-llvm")
        self._made: list[Future[bytes]] = []
        self._waiting: list[str] = []

    def __enter__(self) -> Self:
        _quick_switches.begin()
        return self

    def __exit__(self, *_: object) -> None:
        _quick_switches.end()
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
            self._submit(joined(self._waiting))
            self._waiting = []

    def _submit(self, text: str) -> None:
        self._made.append(self._thread.submit(machine_code, text, self._target))


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
