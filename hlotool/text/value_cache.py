"""Shapes, ops and attribute values of one text, each distinct text read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lark.lexer import Token

from hlotool.ir.attribute import near_names
from hlotool.ir.op import OPCODES
from hlotool.ir.shape import Shape
from hlotool.text.forms_attribute import FormError, offset
from hlotool.text.literal_reader import read_literal, read_typed_literal
from hlotool.text.opaque import opaque_class
from hlotool.text.op_reader import (
    Attribute,
    OpEntry,
    attributes_by_name,
    read_op,
    unknown_attribute,
)

if TYPE_CHECKING:
    from hlotool.text.reader import Reader

_LONGEST_KEY = 2000
"""Longer payloads are not kept as keys: a large constant hardly comes twice."""


class ValueCache:
    """Reads values of one text; equal texts share the value, which must be immutable."""

    def __init__(self, text: str, reader: Reader, *, is_lenient: bool) -> None:
        self.text = text
        self.reader = reader
        self.is_lenient = is_lenient
        self.shapes: dict[str, Shape] = {}
        self.ops: dict[str, OpEntry] = {}
        self._payload_ops: dict[tuple[str, str, str, Shape | None], OpEntry] = {}
        self._values: dict[tuple[str, str], Any] = {}

    def shape(self, text: str, start: int) -> Shape:
        """Returns the shape that stands as `text` at offset `start`."""
        shape = self.shapes.get(text)
        if shape is None:
            shape = self.shapes[text] = self.reader.read(
                "shape", self.text, start, start + len(text)
            )
        return shape

    def value(self, rule: str, token: Token) -> Any:
        """Returns what a rule makes of a value token."""
        key = (rule, str(token))
        if key in self._values:
            return self._values[key]
        assert token.end_pos is not None
        if rule == "typed_literal":
            return read_typed_literal(self.text, offset(token), token.end_pos, self._shape_in)
        found = self.reader.read(rule, self.text, offset(token), token.end_pos)
        # A computation in place of a name is a new one each time.
        if not rule.startswith("computation_reference"):
            self._values[key] = found
        return found

    def _shape_in(self, text: str) -> Shape:
        found: Shape = self.reader.read("shape", text, 0, len(text))
        return found

    def matched_op(self, opcode: str, attributes: str, opcode_at: int, start: int) -> OpEntry:
        """Returns the op of an attribute text, which begins at offset `start`."""
        token = Token(opcode, opcode, opcode_at)
        own = self.reader.read("attribute_list", self.text, start, start + len(attributes))
        entry = self.op(token, own)
        if entry.is_shareable:
            self.ops[opcode + attributes] = entry
        return entry

    def payload_op(
        self,
        opcode: Token,
        payload: str,
        start: int,
        attributes: Sequence[Attribute] | str,
        shape: Shape | None,
        attributes_at: int = 0,
    ) -> OpEntry:
        """Returns the op whose parentheses hold `payload`, which begins at offset `start`.

        Attributes come as read, or as text that begins at offset `attributes_at`.
        """
        text = attributes if isinstance(attributes, str) else None
        key = (str(opcode), payload, text or "", shape)
        found = self._payload_ops.get(key)
        if found is not None and text is not None:
            return found
        op_class = OPCODES[str(opcode)]
        if op_class.payload_needs_shape and shape is None:
            raise FormError(f"{opcode}: a shape is needed in front", offset(opcode))
        end = start + len(payload)
        if op_class.payload_needs_shape:
            assert shape is not None
            value: Any = read_literal(self.text, start, end, shape)
        else:
            assert op_class.payload is not None
            value = self.reader.read(op_class.payload.rule, self.text, start, end)
        if text is not None:
            attributes = self.reader.read(
                "attribute_list", self.text, attributes_at, attributes_at + len(text)
            )
        assert not isinstance(attributes, str)
        entry = self.op(opcode, attributes, value)
        if text is not None and len(payload) < _LONGEST_KEY:
            self._payload_ops[key] = entry
        return entry

    def op(
        self, opcode: Token, attributes: Sequence[Attribute], payload: Any = None
    ) -> OpEntry:
        """Returns the op of attributes as read; raises `FormError` at what it cannot be."""
        op_class = OPCODES.get(str(opcode))
        if op_class is None:
            if not self.is_lenient:
                raise FormError(
                    f"unknown opcode {opcode}{near_names(str(opcode), list(OPCODES))}",
                    offset(opcode),
                )
            return OpEntry(opaque_class(str(opcode))(), (), _as_read(attributes))
        given = attributes_by_name(attributes)
        op, references = read_op(op_class, payload, given, self.value, opcode)
        if given and not self.is_lenient:
            unknown, _ = next(iter(given.values()))
            allowed = [*op_class.readable, *(role.name for role in op_class.roles)]
            raise unknown_attribute(unknown, str(opcode), allowed)
        return OpEntry(op, references, _as_read(list(given.values())))


def _as_read(attributes: Sequence[Attribute]) -> str:
    return "".join(f", {name}={value}" for name, value in attributes)
