"""Shapes, ops and attribute values of one text, each distinct text read once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lark.lexer import Token

from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import Shape
from hlotool.text.forms_attribute import FormError, offset
from hlotool.text.literal_reader import read_literal, read_typed_literal
from hlotool.text.op_reader import (
    Attribute,
    OpEntry,
    allowed_attributes,
    as_read,
    attributes_by_name,
    read_op,
    unknown_attribute,
)
from hlotool.text.opaque import opaque_class
from hlotool.text.simple_forms import PLAIN, plain_shape

if TYPE_CHECKING:
    from hlotool.text.reader import Reader

LONGEST_KEY = 200
"""Longer payloads are not kept as keys: a large constant hardly comes twice."""
MOST_KEPT = 1 << 17
"""How many texts are kept from one module to the next."""

UNSHARED_RULES = frozenset(["names", "computation_reference", "computation_references"])
"""Rules whose values hold places in their text, or computations, which are new ones each time."""

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*"'


def _braces(depth: int) -> str:
    inside = f"{_STRING}|{_braces(depth - 1)}" if depth > 1 else _STRING
    return rf'\{{[^{{}}"]*+(?:(?:{inside})[^{{}}"]*+)*\}}'


_ATTRIBUTE = re.compile(
    rf", ([a-z_-]++)=({_braces(4)}|{_STRING}"
    r"|\[[0-9,]*+\]<=\[[0-9,]*+\](?:T\([0-9,]*+\))?"
    r'|[^"{}\[\](), ]++(?:\[[0-9,<=?]*+\](?:\{[0-9:][^{}]*+\})?)?)'
)
"""An attribute of a coarse match: the match has seen that the text is a list of them."""


class SharedValues:
    """What texts meant that were read before; a dump folder has the same ones in every file."""

    __slots__ = ("ops", "payload_ops", "shapes", "values")

    def __init__(self) -> None:
        self.shapes: dict[str, Shape] = {}
        self.values: dict[tuple[str, str], Any] = {}
        self.ops: dict[str, OpEntry] = {}
        self.payload_ops: dict[tuple[str, str, str, Shape | None], OpEntry] = {}

    def clear(self) -> None:
        """Forgets everything."""
        for kept in (self.shapes, self.values, self.ops, self.payload_ops):
            kept.clear()

    def trim(self) -> None:
        """Forgets everything when it has become much."""
        kept = len(self.shapes) + len(self.values) + len(self.ops) + len(self.payload_ops)
        if kept > MOST_KEPT:
            self.clear()


class ValueCache:
    """Reads values of one text; equal texts share the value, which must be immutable.

    `ops` has the ops by opcode and attributes as they stand in the text; it begins empty, since
    called computations are those of this text.
    """

    def __init__(self, text: str, reader: Reader, *, is_lenient: bool) -> None:
        self.text = text
        self.reader = reader
        self.is_lenient = is_lenient
        self.ops: dict[str, OpEntry] = {}
        self._likes: dict[str, OpEntry] = {}
        self._shared = reader.shared_values
        self._shared.trim()
        self.shapes = self._shared.shapes
        self._values = self._shared.values

    def shape(self, text: str, start: int) -> Shape:
        """Returns the shape that stands as `text` at offset `start`."""
        shape = self.shapes.get(text)
        if shape is None:
            shape = plain_shape(text)
            if shape is None:
                shape = self.reader.read("shape", self.text, start, start + len(text))
            self.shapes[text] = shape
        return shape

    def value(self, rule: str, token: Token) -> Any:
        """Returns what a rule makes of a value token."""
        key = (rule, str(token))
        if key in self._values:
            return self._values[key]
        plain = PLAIN.get(rule)
        if plain is not None and (value := plain(key[1])) is not None:
            self._values[key] = value
            return value
        assert token.end_pos is not None
        if rule == "typed_literal":
            return read_typed_literal(self.text, offset(token), token.end_pos, self._shape_in)
        found = self.reader.read(rule, self.text, offset(token), token.end_pos)
        if rule not in UNSHARED_RULES:
            self._values[key] = found
        return found

    def _shape_in(self, text: str) -> Shape:
        found: Shape = self.reader.read("shape", text, 0, len(text))
        return found

    def matched_op(
        self, opcode: Token, payload: Token, attributes: str, start: int, shape: Shape | None
    ) -> OpEntry:
        """Returns the op of a coarse match whose attributes begin at offset `start`.

        `payload` is what the parentheses hold; it counts only where that is no operands.
        """
        op_class = OPCODES[str(opcode)]
        if op_class.payload is not None:
            return self._matched_payload_op(opcode, payload, attributes, start, shape)
        key = opcode + attributes
        entry = self._shared.ops.get(key)
        if entry is None:
            entry = self.op(opcode, self.matched_attributes(attributes, start))
            if not entry.references and not entry.unknown:
                self._shared.ops[key] = entry
        if entry.is_shareable:
            self.ops[key] = entry
        return entry

    def known_payload_op(
        self, opcode: str, payload: str, attributes: str, shape: Shape | None
    ) -> OpEntry | None:
        """Returns the op that was read before from the same texts, if there is one."""
        return self._shared.payload_ops.get((opcode, payload, attributes, shape))

    def _matched_payload_op(
        self, opcode: Token, payload: Token, attributes: str, start: int, shape: Shape | None
    ) -> OpEntry:
        like = self._likes.get(opcode + attributes)
        if like is None:
            own = self.matched_attributes(attributes, start)
            entry = self.payload_op(opcode, payload, own, shape)
            self._likes[opcode + attributes] = entry
        else:
            # Only what the parentheses hold is another one.
            op = like.op
            changed = {op.fields[0].name: self._payload(type(op), opcode, payload, shape)}
            entry = like._replace(op=op.replace(**changed))
        if len(payload) < LONGEST_KEY and not entry.unknown:
            self._shared.payload_ops[str(opcode), str(payload), attributes, shape] = entry
        return entry

    def matched_attributes(self, text: str, start: int) -> list[Attribute]:
        """Returns the attributes of a coarse match, whose text begins at offset `start`."""
        found = []
        for match in _ATTRIBUTE.finditer(text):
            name, value = match.groups()
            value_at = start + match.start(2)
            found.append(
                (
                    Token("ATTRNAME", name, start + match.start(1)),
                    Token("VALUE", value, value_at, end_pos=value_at + len(value)),
                )
            )
        return found

    def payload_op(
        self, opcode: Token, payload: Token, attributes: Sequence[Attribute], shape: Shape | None
    ) -> OpEntry:
        """Returns the op whose parentheses hold `payload`."""
        value = self._payload(OPCODES[str(opcode)], opcode, payload, shape)
        return self.op(opcode, attributes, value)

    def _payload(
        self, op_class: type[Op], opcode: Token, payload: Token, shape: Shape | None
    ) -> Any:
        assert op_class.payload is not None
        if not op_class.payload_needs_shape:
            return self.value(op_class.payload.rule, payload)
        if shape is None:
            raise FormError(f"{opcode}: a shape is needed in front", offset(opcode))
        assert payload.end_pos is not None
        return read_literal(self.text, offset(payload), payload.end_pos, shape)

    def op(self, opcode: Token, attributes: Sequence[Attribute], payload: Any = None) -> OpEntry:
        """Returns the op of attributes as read; raises `FormError` at what it cannot be."""
        op_class = OPCODES.get(str(opcode))
        if op_class is None:
            assert self.is_lenient, "the builder refuses unknown opcodes when it meets them"
            return OpEntry(opaque_class(str(opcode))(), (), as_read(attributes))
        given = attributes_by_name(attributes)
        entry = read_op(op_class, payload, given, self.value, opcode)
        if given and not self.is_lenient:
            unknown, _ = next(iter(given.values()))
            raise unknown_attribute(unknown, str(opcode), allowed_attributes(op_class))
        return entry._replace(unknown=as_read(list(given.values()))) if given else entry
