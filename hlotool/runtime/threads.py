"""How many threads take part in the work of a module."""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache

from hlotool.errors import UsageError
from hlotool.runtime.cores import usable_cores
from hlotool.runtime.native import native

VARIABLE = "HLOTOOL_THREADS"
_MOST = 1024


def thread_count(wanted: int | None = None) -> int:
    """Returns how many threads to use: as wanted, as HLOTOOL_THREADS says, or one a usable core.

    Raises `UsageError` for what is no number of threads.
    """
    if wanted is not None:
        return _checked(wanted, "threads")
    named = os.environ.get(VARIABLE)
    if not named:
        return min(_MOST, usable_cores())
    return _checked(int(named) if named.isdecimal() else named, VARIABLE)


def _checked(count: object, what: str) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST:
        raise UsageError(f"{what} is {count!r}, a number from 1 to {_MOST} is wanted")
    return count


def running_workers() -> int:
    """Returns how many threads beside the callers have been started."""
    count: int = ctypes.CFUNCTYPE(ctypes.c_int64)(native().address("hlotool_workers"))()
    return count


@lru_cache(maxsize=1)
def watch_forks() -> None:
    """Sees to it that children of this process start threads of their own."""
    forget = ctypes.CFUNCTYPE(None)(native().address("hlotool_forget_workers"))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)
