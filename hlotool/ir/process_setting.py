"""Settings of the whole process that hold for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class ProcessSetting(Generic[T]):
    """A setting that blocks change, also at once; what held before holds again behind the last."""

    def __init__(self, read: Callable[[], T], write: Callable[[T], object]) -> None:
        self._read = read
        self._write = write
        self._lock = Lock()
        self._count = 0
        self._before: T

    @contextmanager
    def changed(self, change: Callable[[T], T]) -> Iterator[None]:
        """Holds while the setting is what `change` makes of what held before all blocks."""
        with self._lock:
            if self._count == 0:
                self._before = self._read()
                self._write(change(self._before))
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if self._count == 0:
                    self._write(self._before)
