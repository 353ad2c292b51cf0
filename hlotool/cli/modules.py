"""Modules from files and to files, in every format."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hlotool.analysis.verifier import verify
from hlotool.cli.arguments import FORMATS
from hlotool.cli.inputs import decode, expand, read_bytes, shown_name, split_text
from hlotool.cli.outputs import encode
from hlotool.cli.progress import progress
from hlotool.cli.report import Report
from hlotool.errors import VerificationErrors
from hlotool.proto.given import given_module, is_given
from hlotool.proto.packed import SUFFIX, is_packed, unpacked
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS, PrintOptions
from hlotool.text.printer import print_module

if TYPE_CHECKING:
    from hlotool.ir.module import Module

MODULE_SUFFIXES = (".hlo", ".hlo.pb", "before_optimizations.txt", "after_optimizations.txt")
"""What is read of a folder; other text in .txt files and protos in .pb files may be anything."""


class Unread:
    """A module that is still what a file holds: text, or the bytes of a proto."""

    __slots__ = ("content", "format", "name")

    def __init__(self, content: str | bytes, name: str, module_format: str) -> None:
        self.content = content
        self.name = name
        self.format = module_format

    def read(self, *, lenient: bool, verified: bool) -> Module:
        """Returns the module; raises `HloError`, `VerificationErrors` too if asked to verify."""
        if self.format == "hlo":
            assert isinstance(self.content, str), "HLO text is decoded"
            module = parse(self.content, self.name, lenient=lenient)
        else:
            module = _read_proto(self.content, self.name)
        errors = verify(module) if verified else []
        if errors:
            raise VerificationErrors(errors)
        return module


def load(path: str | os.PathLike[str] | bytes, *, lenient: bool = False) -> Module:
    """Returns the module in a file: a proto if it is named .pb or .pbtxt, else text.

    In the place of a path, bytes are a serialized proto; a module or computation of jaxlib is
    taken too. Raises `HloError` for what is no module. What can be read is not verified.
    """
    if is_given(path):
        return given_module(path)
    assert not isinstance(path, bytes)
    name = os.fspath(path)
    (unread,) = read_file(name)
    return unread.read(lenient=lenient, verified=False)


def inputs(arguments: Namespace, report: Report, *, folders: bool) -> Iterator[Unread]:
    """Yields the modules in the files of a command; reports files that cannot be read."""
    paths = expand(arguments.files, MODULE_SUFFIXES if folders else ())
    for path in progress(paths, "reading"):
        with report.errors_of(shown_name(path)):
            yield from read_file(path, arguments.format, split=arguments.split_input_file)


def read_file(path: str, module_format: str | None = None, *, split: bool = False) -> list[Unread]:
    """Returns the modules in a file: one, or those of a text that is to be split."""
    data = read_bytes(path)
    name = shown_name(path)
    if is_packed(data):
        data = unpacked(data)
    named = format_of(path.removesuffix(SUFFIX))
    found = FORMATS[module_format] if module_format else named or "hlo"
    if found == "pb":
        return [Unread(data, name, found)]
    text = decode(data, name)
    parts = split_text(text, name) if split else [text]
    return [Unread(part, name, found) for part in parts]


def format_of(path: str) -> str | None:
    """Returns the format that a file name speaks of, `None` where it speaks of none."""
    return FORMATS.get(os.path.splitext(path)[1].removeprefix(".").lower())


def written(module: Module, module_format: str, options: PrintOptions = PRESETS["long"]) -> bytes:
    """Returns a module as bytes of a format; `options` are for text."""
    if module_format == "hlo":
        return encode(print_module(module, options))
    from hlotool.proto import text_form, writer

    data = writer.write_module(module)
    return data if module_format == "pb" else encode(text_form.print_proto(data))


def _read_proto(content: str | bytes, name: str) -> Module:
    from hlotool.proto import reader, text_form

    data = text_form.parse_proto(content, name) if isinstance(content, str) else content
    return reader.read_module(data)
