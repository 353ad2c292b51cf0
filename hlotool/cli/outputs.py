"""What commands write: standard output, and files that are complete or not there."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from hlotool.cli.inputs import reason
from hlotool.cli.rendering import printable_lines
from hlotool.errors import UsageError

STDOUT = "-"
_BINARY = getattr(os, "O_BINARY", 0)
"""The flag that only Windows has, and that keeps it from changing ends of lines."""


class FatalUsageError(UsageError):
    """What no other file would do better with, so that the command ends."""


class StandardOutputError(FatalUsageError):
    """Standard output that takes nothing: no fault of the file that is being worked on."""


def encode(text: str) -> bytes:
    """Returns the bytes of a text; surrogates stand for bytes that are no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def as_text(data: bytes) -> str:
    """Returns the text of which `encode` makes these bytes."""
    return data.decode("utf-8", "surrogateescape")


def write_output(path: str, text: str) -> None:
    """Writes a text to a file, or to standard output for `-`; raises `UsageError`."""
    if path == STDOUT:
        print_text(text)
    else:
        write_file(path, encode(text))


def print_text(text: str) -> None:
    """Writes a text to standard output; on a terminal control characters are escaped."""
    if sys.stdout is not None and sys.stdout.isatty():
        text = printable_lines(text)
    print_bytes(encode(text))


def print_bytes(data: bytes) -> None:
    """Writes bytes to standard output; raises `UsageError` where it takes none."""
    if sys.stdout is None:
        raise StandardOutputError("cannot write standard output: it is closed")
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        # A test may put a text stream in the place of standard output.
        sys.stdout.write(as_text(data))
        return
    with _usable_output():
        sys.stdout.flush()
        binary.write(data)


def print_error(text: str) -> None:
    """Writes a text to standard error; where that takes none, nobody wants to know."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


def flush_output() -> None:
    """Sends what is buffered to standard output; raises `UsageError` where it takes none."""
    if sys.stdout is not None:
        with _usable_output():
            sys.stdout.flush()


def discard_output() -> None:
    """Lets nothing more go to standard output, not even what is buffered."""
    with suppress(OSError):  # what a test puts in its place has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _usable_output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise StandardOutputError(f"cannot write standard output: {reason(error)}") from None


def check_writable(path: str) -> None:
    """Raises `UsageError` where a file cannot be written, before work is done for it."""
    if path == STDOUT:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        code = errno.EISDIR
    elif not os.path.isdir(folder):
        code = errno.ENOENT
    elif not os.access(path if os.path.exists(path) else folder, os.W_OK):
        code = errno.EACCES
    else:
        return
    raise UsageError(f"cannot write {path}: {reason(OSError(code, os.strerror(code)))}")


def check_apart(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Raises `UsageError` where an output would take the place of an input, or of another one."""
    taken = {os.path.realpath(path) for path in inputs}
    for path in outputs:
        target = os.path.realpath(path)
        # A device, such as the one that keeps nothing, takes any number of outputs.
        if path == STDOUT or (os.path.exists(target) and not os.path.isfile(target)):
            continue
        if target in taken:
            raise UsageError(
                f"{path} would be written over what is read, or written beside it",
                notes=("what is read and what is written are to be files of their own",),
            )
        taken.add(target)


def write_file(path: str, data: bytes) -> None:
    """Writes a file aside and then puts it in its place, with the mode of the one it replaces.

    A full disk or an interrupt leaves the old file as it was. A link stays one and its target
    is written; what is no regular file (a pipe, a device) is written to directly. Raises
    `UsageError`.
    """
    check_writable(path)
    try:
        target = os.path.realpath(path)
        old = os.stat(target) if os.path.exists(target) else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            with open(target, "wb") as file:
                file.write(data)
        else:
            _replace(target, data, old)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {reason(error)}") from None


def _replace(target: str, data: bytes, old: os.stat_result | None) -> None:
    folder, name = os.path.split(target)
    # Names are limited in bytes, and a character may take four.
    aside = os.path.join(folder, f".{name[:25]}.{os.getpid()}.{time.time_ns():x}.tmp")
    # The mode is what the user's mask makes of it; tempfile's would be private.
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if old is not None:
            os.chmod(aside, stat.S_IMODE(old.st_mode))
        os.replace(aside, target)
    except BaseException:
        # An interrupt may come when the file is in its place already.
        with suppress(FileNotFoundError):
            os.unlink(aside)
        raise
