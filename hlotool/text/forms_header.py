"""Plain values of what headers say: what the rules of header.lark yield."""

from __future__ import annotations

import re
from typing import Any

from lark.lexer import Token

from hlotool.ir.metadata import INT_32
from hlotool.ir.shape import ProgramShape
from hlotool.ir.stack_tables import FileLocation, StackFrame, StackTables
from hlotool.text.forms_attribute import Children, FormError, integer, offset, present, unquoted

LOCATION_PARTS = ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column")
FRAME_PARTS = ("file_location_id", "parent_frame_id")


_PART = re.compile(r"([a-z_]+)=([0-9]+)")


class HeaderForms:
    """Callbacks for aliases, donors, program shapes and stack tables."""

    def input_output_alias(self, c: Children) -> tuple[Any, ...]:
        return tuple(present(c))

    def input_output(self, c: Children) -> tuple[Any, ...]:
        output, parameter, index, kind = c
        alias = (output, integer(parameter), index)
        return alias if kind is None else (*alias, str(kind))

    def buffer_donor(self, c: Children) -> tuple[Any, ...]:
        return tuple(present(c))

    def donor(self, c: Children) -> tuple[int, tuple[int, ...]]:
        parameter, index = c
        return integer(parameter), index

    def program_shape(self, c: Children) -> ProgramShape:
        *parameters, _, result = c
        return ProgramShape(present(parameters), result)

    def origin_recovery_table(self, c: Children) -> tuple[Any, ...]:
        return tuple(c)

    def recovery(self, c: Children) -> tuple[Any, ...]:
        old, new, module = c
        if module is None:
            return old, new, ""
        text = unquoted(module)
        if not text.strip():
            raise FormError("the recovery module is empty", offset(module))
        return old, new, text

    def origin_array(self, c: Children) -> tuple[str, tuple[int, ...]]:
        name, *index = c
        return "" if name is None else unquoted(name), present(index)[0] if present(index) else ()

    def stack_tables(self, c: Children) -> StackTables:
        sections: dict[str, list[Any]] = {}
        for child in c:
            if isinstance(child, Token):
                entries = sections[child.type] = []
            else:
                entries.append(child)
        frames = [_parts(entry, FRAME_PARTS) for entry in sections["STACK_FRAMES"]]
        return StackTables(
            sections["FILE_NAMES"],
            sections["FUNCTION_NAMES"],
            [FileLocation(*_parts(e, LOCATION_PARTS)) for e in sections["FILE_LOCATIONS"]],
            # The text shows one more than the number of the caller.
            [StackFrame(location, parent - 1) for location, parent in frames],
        )

    def table_name(self, c: Children) -> str:
        return unquoted(c[1])

    def table_entry(self, c: Children) -> tuple[Token, dict[str, int]]:
        number, *parts = c
        if parts and isinstance(parts[0], Token):
            parts = [(name, int(value)) for name, value in _PART.findall(parts[0])]
        return number, dict(parts)

    def table_part(self, c: Children) -> tuple[str, int]:
        name, value = c
        number = integer(value)
        if number not in INT_32:
            raise FormError(f"{name}{number} does not fit 32 bits", offset(value))
        return str(name[:-1]), number


def _parts(entry: tuple[Token, dict[str, int]], names: tuple[str, ...]) -> list[int]:
    number, parts = entry
    if set(parts) != set(names):
        raise FormError(f"the parts must be {', '.join(names)}", offset(number))
    return [parts[name] for name in names]
