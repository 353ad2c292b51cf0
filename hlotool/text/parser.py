"""Reads HLO text: the entry points, and errors of the reading as `ParseError` with a place."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.errors import HloError, Location, ParseError, Source
from hlotool.ir.annotations import Annotations
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.ir.shape import Shape
from hlotool.text.forms_attribute import FormError
from hlotool.text.lexer import ScanError
from hlotool.text.literal_reader import LiteralError
from hlotool.text.module_builder import ModuleBuilder
from hlotool.text.other_languages import explained
from hlotool.text.print_options import PrintOptions
from hlotool.text.printer import print_module
from hlotool.text.reader import reader
from hlotool.text.single_instruction import SingleInstructionBuilder

ORIGINS = "<origin_recovery_table>"
"""What errors call the text of a module inside the header of another."""
_INNER = PrintOptions(large_constants=LargeConstants.PRINTED)
_SKIP = r"(?:[ \t\r\n]|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/|//[^\r\n]*+)*"
_MODULE = re.compile(rf"{_SKIP}HloModule(?![\w.-])")
_COMPUTATIONS = re.compile(
    rf"{_SKIP}(?:ENTRY(?![\w.-])|%?[A-Za-z_][\w.-]*+{_SKIP}(?:\{{|\([^()=]*+\){_SKIP}->))"
)
_SPACE = re.compile(_SKIP)
# Half a surrogate pair, but for those that stand for single bytes.
_UNPAIRED = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_NOTHING = re.compile(rf"{_SKIP}\Z")


def parse(text: str, name: str = "<string>", *, lenient: bool = False) -> Module:
    """Returns the module of an HLO text; raises `ParseError` at the place that is wrong.

    The text is a module with header, computations without one, or a single instruction.
    `name` is what errors call the text. `lenient` keeps unknown opcodes and attributes as they
    are. The module is not verified. Annotations in the form that printers write are read when
    they are asked for, so what is wrong in metadata may raise only then.
    """
    source = Source(text, name)
    _check_characters(source)
    try:
        return _parsed(source, is_lenient=lenient)
    except ParseError as error:
        better = explained(error)
        if better is error:
            raise
        raise better from None


def _parsed(source: Source, *, is_lenient: bool) -> Module:
    text = source.text
    read = reader()
    with _located(source, lambda: read.position), _without_collection():
        if _MODULE.match(text):
            rule = "module"
        elif _COMPUTATIONS.match(text):
            rule = "computations"
        else:
            rule = "single_instruction"
        kind = SingleInstructionBuilder if rule == "single_instruction" else ModuleBuilder
        builder = kind(source, read, is_lenient=is_lenient)
        module = builder.read(rule)
        module.annotation_reader = _located_reader(builder)
        _read_recovery_modules(module, is_lenient=is_lenient)
        return module


def _located_reader(builder: ModuleBuilder) -> Callable[[str, Instruction], Annotations]:
    # Most annotations are read long after the text was, when something asks for them.
    def read(text: str, instruction: Instruction) -> Annotations:
        with _located(builder.source, lambda: instruction.offset):
            return builder.read_annotation_text(text, instruction)

    return read


def _read_recovery_modules(module: Module, *, is_lenient: bool) -> None:
    """Gives the modules inside the header the text that the printer has for them."""
    table = module.header.origin_recovery_table
    if not any(entry.module for entry in table):
        return
    read = []
    for entry in table:
        inner = parse(entry.module, ORIGINS, lenient=is_lenient) if entry.module else None
        read.append(replace(entry, module=print_module(inner, _INNER)) if inner else entry)
    module.header = module.header.replace(origin_recovery_table=tuple(read))


def parse_shape(text: str, name: str = "<shape>") -> Shape:
    """Returns the shape of a text such as `f32[2,3]{1,0}`; raises `ParseError`."""
    source = Source(text, name)
    _check_characters(source)
    read = reader()
    with _located(source, lambda: read.position):
        found: Shape = read.read("shape", text, 0, len(text))
        return found


def _check_characters(source: Source) -> None:
    nul = source.text.find("\0")
    if nul >= 0:
        raise ParseError("a NUL byte is no HLO text", Location(source, nul))
    unpaired = None if source.text.isascii() else _UNPAIRED.search(source.text)
    if unpaired is not None:
        raise ParseError(
            f"U+{ord(unpaired[0]):04X} alone is no character", Location(source, unpaired.start())
        )
    if _NOTHING.match(source.text):
        raise ParseError("the text is empty: no module here", Location(source, 0))


@contextmanager
def _without_collection() -> Iterator[None]:
    # Every instruction made would be visited again and again, and nothing becomes garbage.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _located(source: Source, position: Callable[[], int]) -> Iterator[None]:
    """Turns what the reading raises into `ParseError`, each with a place in the text.

    Whatever raises knows its place or does not; then the place is how far the text was read.
    """
    try:
        yield
    except ParseError:
        raise
    except (FormError, ScanError, LiteralError) as error:
        raise ParseError(error.message, Location(source, error.offset)) from None
    except HloError as error:
        raise ParseError(error.message, _place(source, position()), error.notes) from None
    except RecursionError:
        raise ParseError("this nests too deeply", _place(source, position())) from None
    except MemoryError:
        raise ParseError("no memory is left to read on", _place(source, position())) from None
    except (ValueError, ArithmeticError, LookupError) as error:
        raise ParseError(f"cannot be read: {error}", _place(source, position())) from error


def _place(source: Source, offset: int) -> Location:
    space = _SPACE.match(source.text, offset)
    return Location(source, offset if space is None else space.end())
