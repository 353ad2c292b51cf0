"""A progress bar for work over many files, where somebody sees it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING, TypeVar

from hlotool.cli.rendering import printable

if TYPE_CHECKING:
    from rich.status import Status

    from hlotool.ir.frame import Observer, Value
    from hlotool.ir.instruction import Instruction

T = TypeVar("T")
PATIENCE_SECONDS = 2.0
_SECONDS_BETWEEN = 0.2


def progress(items: Iterable[T], what: str, *, output_shows_it: bool = True) -> Iterator[T]:
    """Yields the items, and shows how far it is once that has taken two seconds.

    Nothing is shown where standard error is no terminal, or where the output goes to the same
    terminal and shows the progress itself.
    """
    listed = list(items)
    is_shown_there = output_shows_it and sys.stdout is not None and sys.stdout.isatty()
    if len(listed) == 1 or not _is_watched() or is_shown_there:
        yield from listed
        return
    start = time.monotonic()
    for position, item in enumerate(listed):
        if time.monotonic() - start > PATIENCE_SECONDS:
            yield from _shown(listed, position, what)
            return
        yield item


@contextmanager
def evaluation_progress(what: str) -> Iterator[Observer | None]:
    """Gives a block an observer that shows how many instructions have been evaluated.

    What takes long shows in any case, evaluated or not. Nothing is shown, and there is no
    observer, where standard error is no terminal, or a bar shows the progress already.
    """
    if not _is_watched() or _Watch.bars:
        yield None
        return
    watch = _Watch(what)
    try:
        yield watch
    finally:
        watch.end()


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class _Watch:
    """An observer of a run that has a line on the terminal once that has taken two seconds."""

    bars = 0
    """How many bars are on the terminal, which has room for one display."""

    def __init__(self, what: str) -> None:
        self._what = printable(what)
        self._count = 0
        self._shown_at = time.monotonic() + PATIENCE_SECONDS
        self._status: Status | None = None
        self._lock = Lock()
        # What runs elsewhere is not observed, and shows all the same.
        self._timer = Timer(max(0.0, PATIENCE_SECONDS), self._show, [self._what])
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, instruction: Instruction, _value: Value) -> None:
        self._count += 1
        now = time.monotonic()
        if now >= self._shown_at:
            self._shown_at = now + _SECONDS_BETWEEN
            at = printable(instruction.name)
            self._show(f"{self._what}: {self._count:,} instructions, at {at}")

    def _show(self, said: str) -> None:
        from rich.console import Console
        from rich.markup import escape

        with self._lock:
            if self._status is None:
                self._status = Console(stderr=True).status("")
                self._status.start()
            self._status.update(escape(said))

    def end(self) -> None:
        """Takes the line away."""
        self._timer.cancel()
        # A timer that has gone off already must have shown its line to take it away.
        self._timer.join()
        if self._status is not None:
            self._status.stop()


def _shown(items: list[T], done: int, what: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=len(items), completed=done)
        _Watch.bars += 1
        try:
            for item in items[done:]:
                yield item
                bar.advance(task)
        finally:
            _Watch.bars -= 1
