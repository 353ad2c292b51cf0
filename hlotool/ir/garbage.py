"""Fewer searches for garbage while a large graph is made or changed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from hlotool.ir.process_setting import ProcessSetting

_OBJECTS = 100_000
"""How many more objects than before there are when garbage is searched for."""
_threshold = ProcessSetting(gc.get_threshold, lambda threshold: gc.set_threshold(*threshold))


@contextmanager
def rare_collection() -> Iterator[None]:
    """Lets Python search for garbage only after many objects were made; blocks may overlap.

    It does so every 700 objects, otherwise, and now and then walks through the whole graph.
    """
    with _threshold.changed(lambda before: (_OBJECTS, *before[1:])):
        yield
