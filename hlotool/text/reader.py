"""The callbacks of the grammar: matched text to plain values and calls of the module builder."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from lark import Transformer
from lark.exceptions import UnexpectedInput
from lark.lexer import Token

from hlotool.ir.op import OPCODES
from hlotool.text.diagnosis import explained, explained_missing, explained_single
from hlotool.text.expectations import UnexpectedError, unexpected
from hlotool.text.forms_annotations import AnnotationForms
from hlotool.text.forms_attribute import (
    AttributeForms,
    Children,
    FormError,
    ShapeForms,
    offset,
    present,
)
from hlotool.text.forms_header import HeaderForms
from hlotool.text.forms_sharding import ShardingForms
from hlotool.text.lexer import CoarseFirstLexer
from hlotool.text.op_reader import MissingAttributeError
from hlotool.text.single_instruction import SingleInstructionBuilder
from hlotool.text.table import make_lark
from hlotool.text.value_cache import SharedValues

if TYPE_CHECKING:
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.shape import Shape
    from hlotool.text.module_builder import ModuleBuilder


DEPTH_LIMIT = 40
"""How deep values may nest that are read one inside another, as inline computations are."""


class Span:
    """A part of a text, as lark's lexers want it.

    lark's own `TextSlice` counts the lines in front of it, which takes time in a long text.
    """

    __slots__ = ("end", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end


class ModuleForms:
    """Callbacks for modules, computations and instructions; they feed the module builder."""

    builder: ModuleBuilder

    def result(self, c: Children) -> Token:
        token: Token = c[-1]
        return token

    def attributes(self, c: Children) -> list[tuple[Token, Token]]:
        return c

    def attribute_list(self, c: Children) -> list[tuple[Token, Token]]:
        found: list[tuple[Token, Token]] = c[0]
        return found

    def attribute(self, c: Children) -> tuple[Token, Token]:
        name, value = c
        return name.update(value=name[:-1]), value

    def header(self, c: Children) -> None:
        _, name, attributes = c
        self.builder.begin_module(name, attributes)

    def tables(self, c: Children) -> None:
        self.builder.stack_tables = c[0]

    def OPCODE(self, token: Token) -> Token:
        self.builder.check_opcode(token)
        return token

    def opening(self, c: Children) -> None:
        first = c[0]
        if first is not None and first.type == "COMPUTATION":
            self.builder.begin_matched_computation(first.matches[0])
            return
        entry, name, result = c
        self.builder.begin_computation(name, result, is_entry=entry is not None)

    def signature(self, c: Children) -> Shape:
        shape: Shape = c[-1]
        return shape

    def closing(self, c: Children) -> None:
        self.builder.end_computation(c[-1])

    def inline_opening(self, c: Children) -> None:
        self.builder.begin_inline_computation(c[0])

    def inline_computation(self, c: Children) -> Any:
        return self.builder.end_inline_computation()

    def computation_reference(self, c: Children) -> Any:
        return c[0]

    def computation_references(self, c: Children) -> tuple[Any, ...]:
        return tuple(present(c))

    def INSTRUCTION(self, token: Any) -> None:
        self.builder.add_matches(token.matches)

    def instruction(self, c: Children) -> None:
        root, name, call, attributes = c
        start = offset(name if root is None else root)
        self.builder.add_instruction(name, call, attributes, start, is_root=root is not None)

    def call(self, c: Children) -> tuple[Shape | None, Token, list[Instruction]]:
        shape, opcode, *operands = c
        return shape, opcode, present(operands)

    def call_with_payload(self, c: Children) -> tuple[Shape | None, Token, Token]:
        shape, opcode, payload = c
        return shape, opcode, payload

    def operand(self, c: Children) -> Instruction:
        shape, name = c
        return self.builder.operand(shape, name)

    def nested_operand(self, c: Children) -> Instruction:
        return self.builder.add_nested(c[0])

    def unnamed_operand(self, c: Children) -> Instruction:
        return self.builder.unnamed_operand(c[0])

    def operand_list(self, c: Children) -> list[Instruction]:
        return present(c)

    def single_instruction(self, c: Children) -> None:
        name, call, attributes = c
        assert isinstance(self.builder, SingleInstructionBuilder)
        self.builder.add_single(name, call, attributes)


class Reader(
    ModuleForms, AttributeForms, ShapeForms, ShardingForms, HeaderForms, AnnotationForms,
    Transformer[Any, Any],
):  # fmt: skip
    """All callbacks, with the parser that calls them.

    A reader serves one thread, since its callbacks feed one builder at a time.
    """

    def __init__(self) -> None:
        super().__init__(visit_tokens=True)
        self.shared_values = SharedValues()
        CoarseFirstLexer.payload_opcodes = {n for n, op in OPCODES.items() if op.payload}
        self._lark = make_lark(self)
        self.lexer: Any = self._lark.parser.lexer
        self._depth = 0

    def build(self, builder: ModuleBuilder, rule: str, text: str) -> None:
        """Reads a whole text; the callbacks feed `builder`."""
        self.builder = builder
        self._depth = 0
        self.lexer.last_value = None
        try:
            self.read(rule, text, 0, len(text))
        except UnexpectedError as error:
            if rule == "single_instruction":
                raise explained_single(error) from None
            raise explained(error, text, builder.scopes, self.lexer.last_value) from None
        except MissingAttributeError as error:
            raise explained_missing(error, text, self.position) from None
        finally:
            del self.builder

    def read(self, rule: str, text: str, start: int, end: int) -> Any:
        """Returns what `rule` makes of a part of the text; offsets stay those of the text.

        Raises `FormError` for what the grammar does not take; whatever else a callback raises,
        `position` is then how far the text was read.
        """
        if self._depth > DEPTH_LIMIT:
            raise FormError(f"computations nest deeper than {DEPTH_LIMIT} in one another", start)
        outer = self.lexer.position
        self.lexer.position = start
        self._depth += 1
        try:
            found = self._lark.parse(Span(text, start, end), start=rule)
        except UnexpectedInput as error:
            raise unexpected(error, text, self.lexer.position, end) from None
        finally:
            self._depth -= 1
        self.lexer.position = outer
        return found

    @property
    def position(self) -> int:
        """How far the text that is being read, or that raised, was read."""
        position: int = self.lexer.position
        return position

    @position.setter
    def position(self, offset: int) -> None:
        self.lexer.position = offset


_of_thread = threading.local()


def reader() -> Reader:
    """Returns the reader of this thread; it is made once."""
    found: Reader | None = getattr(_of_thread, "reader", None)
    if found is None:
        found = _of_thread.reader = Reader()
    return found
