"""Reads HLO text: the entry points, and errors of the reading as `ParseError` with a place."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.errors import HloError, Location, ParseError, Source
from hlotool.ir.annotations import Annotations
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.ir.shape import Shape
from hlotool.text.expectations import describe
from hlotool.text.forms_attribute import FormError
from hlotool.text.lexer import ScanError
from hlotool.text.literal_reader import LiteralError
from hlotool.text.module_builder import ModuleBuilder
from hlotool.text.print_options import PrintOptions
from hlotool.text.printer import print_module
from hlotool.text.reader import reader
from hlotool.text.single_instruction import SingleInstructionBuilder

ORIGINS = "<origin_recovery_table>"
"""What errors call the text of a module inside the header of another."""
_INNER = PrintOptions(large_constants=LargeConstants.PRINTED)
_SKIP = r"(?:\s|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|//[^\r\n]*+)*+"
_MODULE = re.compile(rf"{_SKIP}HloModule(?![\w.-])")
_COMPUTATIONS = re.compile(
    rf"{_SKIP}(?:ENTRY(?![\w.-])|%?[A-Za-z_][\w.-]*+{_SKIP}(?:\{{|\([^()=]*+\){_SKIP}->))"
)
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
    with _located(source), _without_collection():
        if _MODULE.match(text):
            rule = "module"
        elif _COMPUTATIONS.match(text):
            rule = "computations"
        else:
            rule = "single_instruction"
        kind = SingleInstructionBuilder if rule == "single_instruction" else ModuleBuilder
        builder = kind(source, reader(), is_lenient=lenient)
        module = builder.read(rule)
        module.annotation_reader = _located_reader(builder)
        _read_recovery_modules(module, is_lenient=lenient)
        return module


def _located_reader(builder: ModuleBuilder) -> Callable[[str, Instruction], Annotations]:
    # Most annotations are read long after the text was, when something asks for them.
    def read(text: str, instruction: Instruction) -> Annotations:
        with _located(builder.source):
            return builder.read_annotation_text(text, instruction)

    return read


def _read_recovery_modules(module: Module, *, is_lenient: bool) -> None:
    """Gives the modules inside the header the text that the printer has for them."""
    table = module.header.origin_recovery_table
    if not any(entry.module for entry in table):
        return
    read = [
        replace(entry, module=print_module(parse(entry.module, ORIGINS, lenient=is_lenient), _INNER))
        if entry.module else entry
        for entry in table
    ]  # fmt: skip
    module.header = module.header.replace(origin_recovery_table=tuple(read))


def parse_shape(text: str, name: str = "<shape>") -> Shape:
    """Returns the shape of a text such as `f32[2,3]{1,0}`; raises `ParseError`."""
    source = Source(text, name)
    _check_characters(source)
    with _located(source):
        found: Shape = reader().read("shape", text, 0, len(text))
        return found


def _check_characters(source: Source) -> None:
    nul = source.text.find("\0")
    if nul >= 0:
        raise ParseError("a NUL byte is no HLO text", Location(source, nul))
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
def _located(source: Source) -> Iterator[None]:
    try:
        yield
    except (FormError, ScanError, LiteralError) as error:
        raise ParseError(str(error), Location(source, error.offset)) from None
    except UnexpectedInput as error:
        raise _unexpected(error, source) from None
    except RecursionError:
        raise ParseError("computations nest too deeply in one another") from None


def _unexpected(error: UnexpectedInput, source: Source) -> HloError:
    if isinstance(error, UnexpectedCharacters):
        found = repr(source.text[error.pos_in_stream])
        expected, start = error.allowed, error.pos_in_stream
    else:
        assert isinstance(error, UnexpectedToken)
        token = error.token
        is_end = token.type == "$END"
        start = len(source.text.rstrip()) if is_end else token.start_pos
        found = "the end of the text" if is_end else repr(str(token)[:40])
        expected = error.expected
    return ParseError(f"{describe(expected)} expected, found {found}", Location(source, start))
