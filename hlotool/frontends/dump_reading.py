"""Reads the files of a dump: texts up to a limit, and modules in every format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hlotool.analysis.verifier import verify
from hlotool.errors import HloError, ParseError, UsageError, VerificationErrors
from hlotool.frontends.dump_directory import DumpDirectory, DumpFile
from hlotool.ir.module import Module
from hlotool.proto.packed import LARGEST_MODULE, unpacked
from hlotool.proto.reader import read_module as read_proto
from hlotool.text.parser import parse


@dataclass(frozen=True, slots=True)
class DumpText:
    """The text of a file, or its beginning."""

    text: str
    size: int
    """The bytes of the whole file."""

    @property
    def is_cut(self) -> bool:
        """Whether something is left out."""
        return len(self.text.encode("utf-8", "surrogatepass")) < self.size


def read_text(directory: DumpDirectory, file: DumpFile, limit: int) -> DumpText:
    """Returns the first `limit` bytes of a file as text, up to the end of a line.

    Bytes that are no UTF-8 are shown by their numbers. Raises `UsageError` where it cannot be read.
    """
    data = _bytes(directory, file, limit)
    if len(data) == limit and file.size > limit:
        data = data[: data.rfind(b"\n") + 1] or data
    return DumpText(data.decode("utf-8", "backslashreplace"), file.size)


def whole_text(directory: DumpDirectory, file: DumpFile, limit: int) -> str:
    """Returns the text of a file; raises `UsageError` where it is larger or cannot be read."""
    if file.size > limit:
        raise UsageError(f"larger than {limit >> 20} MiB")
    return read_text(directory, file, limit).text


def module_content(directory: DumpDirectory, file: DumpFile) -> bytes:
    """Returns what a file with a module holds, unpacked; raises `HloError`."""
    if file.size > LARGEST_MODULE:
        raise UsageError(f"larger than {LARGEST_MODULE >> 20} MiB")
    data = _bytes(directory, file, file.size)
    return unpacked(data) if file.path.endswith(".gz") else data


def parsed_module(content: bytes, file: DumpFile) -> Module:
    """Returns the module in what a file holds, verified; raises `HloError` for what is none.

    Opcodes and attributes that are not known are kept as they are: dumps come from compilers that
    may be newer.
    """
    module = read_proto(content) if ".pb" in file.name.format else _parsed(content, file)
    errors = verify(module)
    if errors:
        raise VerificationErrors(errors)
    return module


def _parsed(content: bytes, file: DumpFile) -> Module:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ParseError(f"byte 0x{content[error.start]:02x} is not valid UTF-8") from None
    return parse(text, file.path, lenient=True)


def fault(error: HloError) -> str:
    """Returns why a file cannot be shown, in a line."""
    place = "" if error.location is None else f"{error.location.line}:{error.location.column}: "
    return f"cannot be read: {place}{error.message}"


def _bytes(directory: DumpDirectory, file: DumpFile, limit: int) -> bytes:
    try:
        with Path(directory.path, file.path).open("rb") as opened:
            return opened.read(limit)
    except OSError as error:
        raise UsageError(error.strerror or str(error)) from None
