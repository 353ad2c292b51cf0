"""A progress bar for work over many files, where somebody sees it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 2.0


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


def _shown(items: list[T], done: int, what: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=len(items), completed=done)
        for item in items[done:]:
            yield item
            bar.advance(task)
