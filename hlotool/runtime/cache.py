"""Compiled modules on disk, so that a second start of the same module compiles nothing.

A file is named after a hash of all that its content depends on, and begins with a hash of the
content: what is damaged, cut off or of somebody else is not there, and is written anew. Files are
written aside and renamed, so that several processes can share the folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hlotool.errors import UsageError

FOLDER_VARIABLE = "HLOTOOL_CACHE_DIR"
SIZE_VARIABLE = "HLOTOOL_CACHE_SIZE"
DEFAULT_BYTES = 1 << 30
SHARED = "shared-"
"""How names begin of code that all modules share."""
_SUFFIX = ".hlocode"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"([0-9]{1,18}) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MAGIC = b"hlotool code 1\n"
_DIGEST_BYTES = 32
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class Entry:
    """A file of the cache. `used` is when it was last read or written, in seconds of the epoch."""

    path: Path
    size: int
    used: float


class CodeCache:
    """The files of one folder; `limit` bounds the bytes of all of them together."""

    def __init__(self, folder: Path, limit: int = DEFAULT_BYTES) -> None:
        self.folder = folder
        self.limit = limit

    def read(self, key: str) -> bytes | None:
        """Returns what was written under a key, `None` where that is missing or damaged."""
        path = self._path(key)
        try:
            if not self._is_ours():
                return None
            data = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST_BYTES
        content = data[start:]
        if data[:start] != _MAGIC + _digest(key, content):
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def write(self, key: str, content: bytes, *, shrink: bool = True) -> None:
        """Writes a file, and removes those that were not used for longest where it is too much.

        The latter is left to the next one without `shrink`. A cache that cannot be written to is
        as good as none: nothing is raised.
        """
        if len(content) > self.limit:
            # What was written before it, without a look at the limit, may be too much.
            self._shrink()
            return
        aside = self.folder / f".{os.getpid()}.{threading.get_ident():x}.{time.time_ns():x}.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self._is_ours():
                return
            try:
                aside.write_bytes(_MAGIC + _digest(key, content) + content)
                aside.replace(self._path(key))
            finally:
                aside.unlink(missing_ok=True)
        except OSError:
            return
        if shrink:
            self._shrink()

    def entries(self) -> list[Entry]:
        """Returns the files, those that were used last first."""
        return sorted(self._files(), key=lambda entry: -entry.used)

    def fault(self) -> str:
        """Returns why nothing can be kept in the folder; empty where it can."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self._is_ours():
                return "others than this user may write to the folder"
        except OSError as error:
            return f"the folder cannot be used: {error.strerror}"
        return "" if os.access(self.folder, os.W_OK | os.X_OK) else "the folder is read-only"

    def clear(self) -> int:
        """Removes all files, and returns how many there were; raises `UsageError`."""
        count = 0
        for entry in self.entries():
            try:
                entry.path.unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(f"cannot remove {entry.path}: {error.strerror}") from None
            count += 1
        return count

    def _files(self) -> Iterator[Entry]:
        with suppress(OSError):
            for path in self.folder.glob(f"*{_SUFFIX}"):
                # Another process may remove it at any moment.
                with suppress(OSError):
                    found = path.stat()
                    yield Entry(path, found.st_size, found.st_mtime)

    def _shrink(self) -> None:
        entries = self.entries()
        total = 0
        for entry in entries:
            total += entry.size
            if total > self.limit:
                with suppress(OSError):
                    entry.path.unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        # Code is loaded from here: nobody else may be able to put it there.
        found = self.folder.stat()
        return found.st_uid == os.getuid() and not found.st_mode & _OTHERS

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"


def user_cache() -> CodeCache:
    """Returns the cache of this user; variables name another folder and size in bytes.

    Raises `UsageError` for a size that is no number.
    """
    size = os.environ.get(SIZE_VARIABLE, "")
    return CodeCache(_user_folder(), _bytes(size) if size else DEFAULT_BYTES)


def _bytes(size: str) -> int:
    found = _SIZE.fullmatch(size)
    if found is None:
        raise UsageError(
            f"{SIZE_VARIABLE} is {size!r}, a number of bytes is wanted", notes=("or 500M, 2G",)
        )
    return int(found[1]) * _UNITS[found[2].upper()]


def _user_folder() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hlotool"


@lru_cache(maxsize=1)
def state_of_files() -> str:
    """Returns a text that is another one where a file of the program is another one.

    While the program is worked on, its version says nothing of what it makes.
    """
    root = Path(__file__).parents[1]
    files = sorted(root.rglob("*.py"))
    states = ((file.relative_to(root), file.stat()) for file in files)
    return "\n".join(f"{name} {state.st_size} {state.st_mtime_ns}" for name, state in states)


def _digest(key: str, content: bytes) -> bytes:
    """Returns a hash of what a file holds and of its name: none is taken for another one."""
    return hashlib.sha256(key.encode() + b"\0" + content).digest()


def key_of(*parts: str) -> str:
    """Returns a name for what depends on these texts and on nothing else."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()
