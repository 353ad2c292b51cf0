"""A progress bar for work over many files, where somebody sees it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from hlotool.cli.rendering import printable

if TYPE_CHECKING:
    from rich.status import Status

    from hlotool.ir.frame import Observer, Value
    from hlotool.ir.instruction import Instruction

T = TypeVar("T")
PATIENCE_SECONDS = 2.0
_SECONDS_BETWEEN = 0.2


def progress(items: Iterable[T], what: str) -> Iterator[T]:
    """Yields the items, and shows how far it is once that has taken two seconds.

    Nothing is shown where standard error is no terminal, or where the output goes to the same
    terminal and shows the progress itself.
    """
    listed = list(items)
    if len(listed) == 1 or not sys.stderr.isatty() or sys.stdout.isatty():
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

    Nothing is shown, and there is no observer, where standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    watch = _Watch(what)
    try:
        yield watch
    finally:
        watch.end()


class _Watch:
    """An observer of a run that has a line on the terminal once that has taken two seconds."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._count = 0
        self._shown_at = time.monotonic() + PATIENCE_SECONDS
        self._status: Status | None = None

    def __call__(self, instruction: Instruction, _value: Value) -> None:
        self._count += 1
        now = time.monotonic()
        if now < self._shown_at:
            return
        self._shown_at = now + _SECONDS_BETWEEN
        said = printable(f"{self._what}: {self._count:,} instructions, at {instruction.name}")
        if self._status is None:
            self._status = _started_status()
        from rich.markup import escape

        self._status.update(escape(said))

    def end(self) -> None:
        """Takes the line away."""
        if self._status is not None:
            self._status.stop()


def _started_status() -> Status:
    from rich.console import Console

    status = Console(stderr=True).status("")
    status.start()
    return status


def _shown(items: list[T], done: int, what: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=len(items), completed=done)
        for item in items[done:]:
            yield item
            bar.advance(task)
