"""Fewer searches for garbage while a large graph is made or changed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_OBJECTS = 100_000
"""How many more objects than before there are when garbage is searched for."""
_lock = Lock()
_thresholds: list[tuple[int, int, int]] = []
"""What held when each block was entered that has not ended: first what holds outside of all."""


@contextmanager
def rare_collection() -> Iterator[None]:
    """Lets Python search for garbage only after many objects were made; blocks may overlap.

    It does so every 700 objects, otherwise, and now and then walks through the whole graph.
    """
    with _lock:
        _thresholds.append(gc.get_threshold())
        gc.set_threshold(_OBJECTS, *_thresholds[0][1:])
    try:
        yield
    finally:
        with _lock:
            last = _thresholds.pop()
            if not _thresholds:
                gc.set_threshold(*last)
