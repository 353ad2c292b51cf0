"""What commands read: files, folders and standard input, as bytes and as text."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterator, Sequence

from hlotool.errors import Location, ParseError, Source, UsageError

STDIN = "-"
STDIN_NAME = "<stdin>"
SEPARATOR = "// -----"
"""The line between the modules of one file."""

_OF_PROTOS = (
    "a serialized proto is read from a file named .pb, or with --format=pb (convert and graph:"
    " --from=pb)"
)
_DASHES = re.compile(r"// ---")
_SEPARATOR_LINE = re.compile(r"^[ \t]*// -----[ \t]*\r?$", re.MULTILINE)
_NOTHING = re.compile(r"(?:\s|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*")


def shown_name(path: str) -> str:
    """Returns the name of an input in messages."""
    return STDIN_NAME if path == STDIN else path


def read_bytes(path: str) -> bytes:
    """Returns what a file, or standard input for `-`, holds; raises `UsageError`."""
    try:
        if path == STDIN:
            return _read_stdin()
        with open(path, "rb") as file:
            return file.read()
    except IsADirectoryError:
        raise UsageError(f"cannot read {path}: it is a folder") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {shown_name(path)}: {reason(error)}") from None


def _read_stdin() -> bytes:
    # A test may put a text stream in the place of standard input.
    if sys.stdin is None:
        raise UsageError("cannot read standard input: it is closed")
    binary = getattr(sys.stdin, "buffer", None)
    return bytes(binary.read()) if binary is not None else sys.stdin.read().encode()


def reason(error: Exception) -> str:
    """Returns what the system says about a fault, in the style of our messages."""
    words = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return words[:1].lower() + words[1:]


def decode(data: bytes, name: str) -> str:
    """Returns the text of UTF-8 bytes; raises a located `ParseError` for what is no text."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        offset = len(data[: error.start].decode())
        fault = f"byte 0x{data[error.start]:02x} is not valid UTF-8"
    else:
        offset = text.find("\0")
        if offset < 0:
            return text
        fault = "NUL byte in the text"
    notes = (_OF_PROTOS,)
    raise ParseError(fault, Location(Source(text, name), offset), notes)


def split_text(text: str, name: str, *, keep_empty: bool = False) -> list[str]:
    """Returns the modules of a text with `// -----` lines between them.

    Each part has as many empty lines before it as make its line numbers those of the whole
    text. Parts of nothing but comments are left out, unless there is no other or `keep_empty`
    is set. Raises `ParseError` for dashes that look like a separator and are none.
    """
    cuts = list(_SEPARATOR_LINE.finditer(text))
    separators = {text.index("//", match.start()) for match in cuts}
    for dashes in _DASHES.finditer(text):
        if dashes.start() not in separators:
            raise ParseError(
                f"a separator must be a line of {SEPARATOR} alone",
                Location(Source(text, name), dashes.start()),
            )
    starts = [0, *(match.end() for match in cuts)]
    ends = [*(match.start() for match in cuts), len(text)]
    parts = []
    line = 0
    for start, end in zip(starts, ends, strict=True):
        part = text[start:end]
        if keep_empty or not is_empty(part):
            parts.append("\n" * line + part)
        line += part.count("\n")
    return parts or [text[starts[0] : ends[0]]]


def is_empty(text: str) -> bool:
    """Whether a text holds nothing but space and comments."""
    return _NOTHING.fullmatch(text) is not None


def expand(paths: Sequence[str], suffixes: tuple[str, ...]) -> Iterator[str]:
    """Yields each path, and in the place of a folder the files in it that end with `suffixes`.

    Raises `UsageError` where standard input is named twice or a folder holds no such file.
    """
    if list(paths).count(STDIN) > 1:
        raise UsageError("standard input, -, is given twice")
    for path in paths:
        if not suffixes or not os.path.isdir(path):
            yield path
            continue
        found = sorted(_below(path, suffixes))
        if not found:
            raise UsageError(f"no file named {' or '.join('*' + s for s in suffixes)} in {path}")
        yield from found


def _below(folder: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.endswith(suffixes) and not name.startswith("."):
                yield os.path.join(parent, name)
