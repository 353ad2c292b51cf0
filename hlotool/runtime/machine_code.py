"""From text of LLVM IR to object files, while more text is being written."""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Self

import llvmlite

from hlotool.codegen.kernels.kernel import Callee
from hlotool.codegen.program.kernel_texts import Parts
from hlotool.codegen.target import Target
from hlotool.ir.process_setting import ProcessSetting
from hlotool.runtime.cache import SHARED, CodeCache, key_of, state_of_files
from hlotool.runtime.compilers import MOST_AT_ONCE, compiled_code
from hlotool.runtime.llvm import Passes, passes_for

_MUCH_TEXT = 1 << 16
"""Parts are joined until there is so much text: each module costs LLVM a millisecond."""
_LITTLE_TEXT = 1 << 10
"""The same while a thread has nothing else to do."""
_SWITCH_SECONDS = 0.0005
"""How long a thread waits for Python while another one runs, usually ten times as much. LLVM's
threads need it between calls, and would wait longer than they work."""
_switch_interval = ProcessSetting(sys.getswitchinterval, sys.setswitchinterval)


class SharedCode:
    """Machine code of functions that many programs call: a library on disk, which grows."""

    def __init__(self, cache: CodeCache, target: Target) -> None:
        self._cache = cache
        self._target = target
        named = target.triple, target.cpu, target.features, llvmlite.__version__
        self._made_by = key_of(repr(named), state_of_files())

    def find(self, callee: Callee) -> bytes | None:
        """Returns the object file of a function, where it was made before."""
        return self._cache.read(self._key(callee))

    def made(self, callee: Callee, text: str) -> bytes:
        """Returns the object file of a function, which is kept, from its text."""
        code = compiled_code(text, self._target, passes_for(text))
        self._cache.write(self._key(callee), code, shrink=False)
        return code

    def _key(self, callee: Callee) -> str:
        return SHARED + key_of(callee.name, self._made_by)


class CodeMaker(Parts):
    """Compiles the parts of a program in threads of its own, in which LLVM needs no Python.

    Shared functions are read from the cache and written to it, if there is one.
    """

    def __init__(self, target: Target, cache: CodeCache | None = None) -> None:
        self._target = target
        self._shared = None if cache is None else SharedCode(cache, target)
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "hlotool-llvm")
        self._codes: list[bytes] = []
        self._made: list[Future[bytes]] = []
        self._waiting: dict[Passes, list[str]] = {}
        """What is not compiled yet, by the passes that it wants: not by what it comes to lie with,
        which is a matter of time."""
        self._held = ExitStack()

    def __enter__(self) -> Self:
        quick = _switch_interval.changed(lambda before: min(before, _SWITCH_SECONDS))
        self._held.enter_context(quick)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()
        self._threads.shutdown(cancel_futures=True)

    def add(self, text: str) -> None:
        """Takes a part, which is a module of LLVM IR."""
        passes = passes_for(text)
        texts = self._waiting.setdefault(passes, [])
        texts.append(text)
        enough = _LITTLE_TEXT if self._has_idle_thread() else _MUCH_TEXT
        if sum(map(len, texts)) >= enough:
            self._submit(passes)

    def add_rare(self, text: str) -> None:
        """Takes a part in which little time is spent."""
        self._made.append(
            self._threads.submit(compiled_code, text, self._target, (), is_quick=True)
        )

    def add_shared(self, callee: Callee) -> None:
        """Takes a function that other programs may have as well."""
        code = None if self._shared is None else self._shared.find(callee)
        if code is not None:
            self._codes.append(code)
            return
        text = "\n".join((*sorted(callee.declarations), callee.text))
        if self._shared is None:
            self.add(text)
        else:
            self._made.append(self._threads.submit(self._shared.made, callee, text))

    def codes(self) -> tuple[bytes, ...]:
        """Returns the object files of all parts; raises what went wrong."""
        for passes in list(self._waiting):
            self._submit(passes)
        return (*self._codes, *(made.result() for made in self._made))

    def _has_idle_thread(self) -> bool:
        # A thread alone has to share the processor with what writes the parts.
        working = sum(not made.done() for made in self._made)
        return working < MOST_AT_ONCE > 1

    def _submit(self, passes: Passes) -> None:
        text = joined(self._waiting.pop(passes))
        self._made.append(self._threads.submit(compiled_code, text, self._target, passes))


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
