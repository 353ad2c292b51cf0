"""Memory of temporaries and results: blocks that are used again, so that their pages are there."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from functools import lru_cache

from hlotool.runtime.native import native

LEAST_POOLED_BYTES = 16 << 10
"""Results that are smaller lie in numpy's own memory."""
_ALIGNMENT = 64
_CLASSES_OF_AN_OCTAVE = 8
_MOST_IDLE_BYTES = 2 << 30
_PART_OF_MEMORY = 8
"""Idle results take no more than this part of the machine's memory."""


class BlocksTable(ctypes.Structure):
    """Blocks of one size, as the shared code sees them."""

    _fields_ = (
        ("lock", ctypes.c_int64),
        ("first", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
        ("budget", ctypes.c_void_p),
    )


class Temporaries:
    """The memory of the temporaries of one module: a block for each call that is going on.

    Blocks stay until this object is gone.
    """

    def __init__(self, size: int) -> None:
        self.bytes = size
        self.table = BlocksTable(0, None, -(-size // _ALIGNMENT) * _ALIGNMENT, None)
        self._finalizer = weakref.finalize(self, _free, self.table)
        # At the end of the process other threads may still be at work in them.
        self._finalizer.atexit = False

    @property
    def address(self) -> int | None:
        """Where the shared code finds the blocks; `None` where no memory is needed."""
        return ctypes.addressof(self.table) if self.bytes else None


class _Results:
    """The blocks of results by their sizes, which all modules share."""

    def __init__(self) -> None:
        self._budget = ctypes.c_int64(_idle_bytes())
        self._tables: dict[int, BlocksTable] = {}
        self._lock = threading.Lock()

    def of_size(self, size: int) -> BlocksTable:
        rounded = rounded_size(size)
        with self._lock:
            found = self._tables.get(rounded)
            if found is None:
                found = BlocksTable(0, None, rounded, ctypes.addressof(self._budget))
                self._tables[rounded] = found
            return found

    def free(self) -> None:
        with self._lock:
            for table in self._tables.values():
                _free(table)

    @property
    def idle_bytes(self) -> int:
        return _idle_bytes() - self._budget.value


@lru_cache(maxsize=1)
def _results() -> _Results:
    found = _Results()
    # Results outlive this module when the process ends.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(found))
    return found


def result_blocks(size: int) -> int | None:
    """Returns the address of the blocks for a result of so many bytes; `None` for small ones."""
    if size < LEAST_POOLED_BYTES:
        return None
    return ctypes.addressof(_results().of_size(size))


def strided_result_blocks(size: int) -> int:
    """Returns the same for results whose dimensions lie in another order: numpy makes none."""
    return ctypes.addressof(_results().of_size(max(size, 1)))


def free_memory() -> None:
    """Gives back to the system what results of compiled modules have left behind."""
    _results().free()


def idle_bytes() -> int:
    """Returns how many bytes results have left behind for others."""
    return _results().idle_bytes


def rounded_size(size: int) -> int:
    """Returns the size of the blocks for so many bytes: at most an eighth more, or 64 bytes."""
    step = max(_ALIGNMENT, (1 << (size - 1).bit_length()) // (2 * _CLASSES_OF_AN_OCTAVE))
    return -(-size // step) * step


def _idle_bytes() -> int:
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return _MOST_IDLE_BYTES // _PART_OF_MEMORY
    return min(_MOST_IDLE_BYTES, whole // _PART_OF_MEMORY)


def _free(table: BlocksTable) -> None:
    # The interpreter is held, so that no copy of the process is made in the middle.
    function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(native().address("hlotool_free_blocks"))
    function(ctypes.addressof(table))
