"""Room for recursion: elements of long chains of instructions are asked for one by another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_MOST_FRAMES = 60_000
"""A few for each instruction of the largest fusion."""

_lock = Lock()
_waiting: list[int] = []
"""The limit to come back to, once for each block that is open."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Lets functions call each other more deeply; blocks of several threads may overlap.

    Calls between functions of Python take no C stack, so only memory limits them.
    """
    with _lock:
        _waiting.append(_waiting[0] if _waiting else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_MOST_FRAMES, sys.getrecursionlimit()))
    try:
        yield
    finally:
        with _lock:
            before = _waiting.pop()
            if not _waiting:
                sys.setrecursionlimit(before)
