"""Cuts the work of kernels in small pieces, so that threads share that of small arrays too."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from hlotool.codegen import kernels
from hlotool.codegen.program import schedule

_NANOSECONDS = 40
_NAMES = ("PIECE_NANOSECONDS", "_PIECE_NANOSECONDS", "TILE_NANOSECONDS")
_THRESHOLD = "_PARALLEL_NANOSECONDS"


@contextmanager
def small_pieces() -> Iterator[None]:
    """Makes what is compiled inside run in parallel, in pieces of some elements each."""
    changed = [*_pieces(), (schedule, _THRESHOLD, 0)]
    kept = [(module, name, getattr(module, name)) for module, name, _ in changed]
    for module, name, value in changed:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


def _pieces() -> list[tuple[ModuleType, str, int]]:
    modules = [
        import_module(one.name)
        for one in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.")
    ]
    return [
        (module, name, _NANOSECONDS)
        for module in modules
        for name in _NAMES
        if name in vars(module)
    ]
