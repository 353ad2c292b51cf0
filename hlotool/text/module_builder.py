"""Builds a module while its text is read: header, computations, entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lark.lexer import Token

from hlotool.errors import Location, ParseError
from hlotool.ir.computation import Computation
from hlotool.ir.header import ModuleHeader
from hlotool.ir.module import Module
from hlotool.text.computation_fields import ComputationFields
from hlotool.text.forms_attribute import FormError, offset
from hlotool.text.instruction_builder import InstructionBuilder
from hlotool.text.op_reader import (
    Attribute,
    as_read,
    attributes_by_name,
    read_fields,
    unknown_attribute,
)
from hlotool.text.scope import Scope, check_name

if TYPE_CHECKING:
    from hlotool.errors import Source
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.shape import Shape
    from hlotool.text.reader import Reader

_FRAME = re.compile(r"[ {]stack_frame_id=([0-9]{1,18})[ }]")


class ModuleBuilder(InstructionBuilder):
    """Receives what the reader matched, in text order, and makes the module of it.

    Whatever is wrong raises `FormError` with the offset in the text.
    """

    def __init__(self, source: Source, reader: Reader, *, is_lenient: bool) -> None:
        super().__init__(source, reader, is_lenient=is_lenient)
        self._name: str | None = None
        self._offset = 0
        self._header = ModuleHeader()
        self._entry: Computation | None = None

    def begin_module(self, name: Token, attributes: Sequence[Attribute]) -> None:
        """Takes the header."""
        self._name = str(name)
        self._offset = offset(name)
        self._header = self._read_record(ModuleHeader, attributes, "HloModule")

    def _read_record(self, record: type[Any], attributes: Sequence[Attribute], owner: str) -> Any:
        given = attributes_by_name(attributes)
        values = read_fields(record.readable, given, self.values.value)
        if given and not self.values.is_lenient:
            unknown, _ = next(iter(given.values()))
            raise unknown_attribute(unknown, owner, list(record.readable))
        return record(**values, unknown=as_read(list(given.values())))

    def begin_computation(self, name: Token, result: Shape | None, *, is_entry: bool) -> None:
        """Opens a computation; its instructions follow."""
        self._begin(str(name), offset(name), result, is_entry=is_entry)

    def begin_matched_computation(self, match: re.Match[str]) -> None:
        """Opens a computation from a coarse match."""
        entry, name, result = match.groups()
        shape = None if result is None else self.values.shape(result, match.start(3))
        self._begin(name, match.start(2), shape, is_entry=entry is not None)

    def _begin(self, name: str, start: int, result: Shape | None, *, is_entry: bool) -> None:
        check_name(name, start)
        if name in self.computations:
            raise FormError(f"computation {name} already exists", start)
        if is_entry and self._entry is not None:
            raise FormError("a module has one ENTRY; this is the second", start)
        self.scopes.append(Scope(name, start, result, is_entry=is_entry))

    def begin_inline_computation(self, brace: Token) -> None:
        """Opens a computation that stands in place of a name."""
        self.scopes.append(Scope("_", offset(brace)))

    def end_inline_computation(self) -> Computation:
        """Closes an inline computation and returns it."""
        return self._finish(self.scopes.pop())

    def end_computation(self, attributes: Sequence[Attribute]) -> None:
        """Closes the open computation."""
        fields = self._read_record(ComputationFields, attributes, "a computation")
        scope = self.scopes.pop()
        computation = self._finish(scope)
        computation.execution_thread = fields.execution_thread
        computation.unknown = fields.unknown
        self.computations[scope.name] = computation
        if scope.is_entry:
            self._entry = computation

    def _finish(self, scope: Scope) -> Computation:
        root = scope.root or scope.instructions[-1]
        if scope.result is not None and not root.shape.compatible(scope.result):
            raise FormError(
                f"computation {scope.name} declares the result {scope.result.plain_text},"
                f" its root {root.name} has {root.shape.plain_text}",
                scope.offset,
            )
        return self.adopt(scope.name, scope.instructions, root, scope.offset)

    def read(self, rule: str) -> Module:
        """Returns the module that a rule makes of the whole text."""
        self.reader.build(self, rule, self.source.text)
        return self._module()

    def _keep_used_frames(self) -> None:
        """Leaves the stack frames that metadata points to, numbered in the order of use."""
        instructions = [i for computation in self.finished for i in computation.instructions]
        if self.stack_tables is None:
            self.numbers = {}
        else:
            self.stack_tables = self.stack_tables.used_by(_frames(instructions))
            self.numbers = self.stack_tables.numbers_in_text
        for instruction in instructions:
            if instruction.annotation_text is None:
                instruction.annotations = self._renumbered(instruction.annotations)

    def _module(self) -> Module:
        self._keep_used_frames()
        entry = self._entry or self.finished[-1]
        name = f"module_{entry.name}" if self._name is None else self._name
        module = Module(
            name, self.finished, entry, self._header, self.stack_tables, source=self.source
        )
        if module.header.entry_computation_layout is None:
            module.header = module.header.replace(entry_computation_layout=entry.program_shape)
        module.offset = self._offset
        module.warnings = tuple(
            ParseError(warning.message, Location(self.source, warning.offset))
            for warning in self.warnings
        )
        return module


def _frames(instructions: Iterable[Instruction]) -> Iterator[int]:
    """Yields the numbers of stack frames, as the text has them, in the order of use."""
    for instruction in instructions:
        text = instruction.annotation_text
        if text is None:
            yield instruction.annotations.metadata.stack_frame_id
        elif "stack_frame_id=" in text and (match := _FRAME.search(text)):
            yield int(match[1])
