"""Builds instructions while their text is read: names become edges, texts shared values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lark.lexer import Token

from hlotool.errors import ShapeError
from hlotool.ir.annotations import NO_ANNOTATIONS, Annotations
from hlotool.ir.attribute import near_names
from hlotool.ir.computation import Computation, ParameterError, parameters_in_order
from hlotool.ir.instruction import Instruction
from hlotool.ir.names import NameUniquer
from hlotool.ir.op import OPCODES, Op
from hlotool.text import async_sugar
from hlotool.text.annotation_reader import (
    CONTROL_PREDECESSORS,
    read_annotations,
    read_control_predecessors,
    split_annotations,
)
from hlotool.text.diagnosis import missing_computation, missing_instruction
from hlotool.text.forms_attribute import FormError, offset
from hlotool.text.op_reader import Attribute, OpEntry
from hlotool.text.scope import Scope
from hlotool.text.value_cache import ValueCache

if TYPE_CHECKING:
    from hlotool.errors import Source
    from hlotool.ir.shape import Shape
    from hlotool.ir.stack_tables import StackTables
    from hlotool.text.reader import Reader

Call = tuple["Shape | None", Token, "list[Instruction] | Token"]
"""What stands right of the `=`: shape, opcode, operands or payload."""

_INDEX_MARK = re.compile(r"/\*index=[0-9]++\*/")
_OPERAND = re.compile(
    r"(?:([a-z][a-z0-9]*+\[[0-9,<=?]*+\](?:\{[0-9:][^{}]*+\})?|"
    r"\([^()]*+(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*\)[^()]*+)*\)) )?%?+([\w.-]++)(, |$)"
)
"""Shape, name and separator of an operand, for lists that have commas inside shapes."""


_READ_LATER = ", metadata="


class InstructionBuilder:
    """Makes the instructions of the computation that is being read, the last of `scopes`."""

    def __init__(self, source: Source, reader: Reader, *, is_lenient: bool) -> None:
        self.source = source
        self.reader = reader
        self.values = ValueCache(source.text, reader, is_lenient=is_lenient)
        self.stack_tables: StackTables | None = None
        self.numbers: dict[int, int] | None = None
        """The stack frames' numbers once all uses are known, by their numbers in the text."""
        self.warnings: list[FormError] = []
        self.scopes: list[Scope] = []
        self.computations: dict[str, Computation] = {}
        self.async_starts: async_sugar.Starts = {}
        self._threads: dict[Computation, str] = {}
        self.finished: list[Computation] = []
        self._instruction_names = NameUniquer()
        self._computation_names = NameUniquer()

    def adopt(
        self, name: str, instructions: list[Instruction], root: Instruction, start: int
    ) -> Computation:
        """Makes a computation of finished instructions and gives all of them unique names."""
        unique = self._instruction_names.unique
        for instruction in instructions:
            instruction.name = unique(instruction.name)
        computation = Computation(
            self._computation_names.unique(name), instructions, root, offset=start
        )
        try:
            computation.parameters = parameters_in_order(instructions)
        except ParameterError as error:
            raise FormError(str(error), error.instruction.offset) from None
        self.finished.append(computation)
        return computation

    # In the form that printers write.

    def add_matches(self, matches: Sequence[re.Match[str]]) -> None:
        """Adds the instructions of coarse matches."""
        scope = self.scopes[-1]
        text = self.source.text
        values, shapes, ops = self.values, self.values.shapes, self.values.ops
        start = matches[0].start()
        try:
            for match in matches:
                root, name, shape_text, opcode, body, attributes, annotations = match.groups()
                start = match.start(2)
                if text[start - 1] == "%":
                    start -= 1
                shape = shapes.get(shape_text)
                if shape is None and shape_text is not None:
                    shape = values.shape(shape_text, match.start(3))
                entry = ops.get(opcode + attributes)
                if entry is None:
                    self._add_unseen(match, start, shape)
                    continue
                operands = self._matched_operands(scope, body, match)
                made = self.make(name, start, shape, entry, operands, annotations or NO_ANNOTATIONS)
                scope.add(made, is_root=root is not None)
        except Exception:
            # What does not know its place has that of the instruction.
            self.reader.position = start
            raise

    def _add_unseen(self, match: re.Match[str], start: int, shape: Shape | None) -> None:
        """Adds an instruction whose opcode and attributes come for the first time."""
        root, name, _, opcode, body, attributes, annotations = match.groups()
        entry = self.values.known_payload_op(opcode, body, attributes, shape)
        if entry is None:
            token = Token("OPCODE", opcode, match.start(4))
            if opcode not in OPCODES:
                self._add_foreign(match, token, start, shape)
                return
            payload = Token("PAYLOAD", body, match.start(5), end_pos=match.end(5))
            entry = self.values.matched_op(token, payload, attributes, match.start(6), shape)
        operands: tuple[Instruction, ...] = ()
        if entry.op.payload is None:
            operands = self._matched_operands(self.scopes[-1], body, match)
        else:
            shape = entry.op.payload_shape or shape
        made = self.make(name, start, shape, entry, operands, annotations or NO_ANNOTATIONS)
        self.scopes[-1].add(made, is_root=root is not None)

    def _add_foreign(
        self, match: re.Match[str], opcode: Token, start: int, shape: Shape | None
    ) -> None:
        """Adds an instruction whose opcode is sugar, or unknown."""
        self.check_opcode(opcode)
        root, name, _, _, body, attributes, annotations = match.groups()
        given = self.values.matched_attributes(attributes + annotations, match.start(6))
        inside = list(self._matched_operands(self.scopes[-1], body, match))
        is_root = root is not None
        token = Token("NAME", name, start)
        self.add_instruction(token, (shape, opcode, inside), given, start, is_root=is_root)

    def _matched_operands(
        self, scope: Scope, body: str, match: re.Match[str]
    ) -> tuple[Instruction, ...]:
        if not body:
            return ()
        if "/" in body:
            body = _INDEX_MARK.sub("", body)
        names = scope.names
        found = []
        try:
            for piece in body.split(", "):
                shape_text, _, name = piece.rpartition(" ")
                operand = names[name[1:] if name[0] == "%" else name]
                if shape_text and self.values.shapes.get(shape_text) is not operand.shape:
                    self._check_operand(shape_text, operand)
                found.append(operand)
        except (KeyError, IndexError):
            return self._listed_operands(scope, body, match)
        return tuple(found)

    def _check_operand(self, shape_text: str, operand: Instruction) -> None:
        # A KeyError sends the list to the grammar, which knows the exact place of what is wrong.
        shape = self.values.shapes.get(shape_text)
        if shape is None or not shape.compatible(operand.shape):
            raise KeyError(shape_text)

    def _listed_operands(
        self, scope: Scope, body: str, match: re.Match[str]
    ) -> tuple[Instruction, ...]:
        found = []
        end = 0
        for piece in _OPERAND.finditer(body):
            shape_text, name, _ = piece.groups()
            operand = scope.names.get(name)
            shape = self.values.shapes.get(shape_text) if shape_text else None
            is_right = shape_text is None or (
                shape is not None and operand is not None and shape.compatible(operand.shape)
            )
            if operand is None or not is_right or piece.start() != end:
                break
            found.append(operand)
            end = piece.end()
        if end == len(body) and found:
            return tuple(found)
        start, stop = match.span(5)
        return tuple(self.reader.read("operand_list", self.source.text, start, stop))

    # Through the grammar's fine rules.

    def check_opcode(self, opcode: Token) -> None:
        """Raises `FormError` for an opcode that there is not."""
        word = str(opcode)
        if word not in OPCODES and async_sugar.split(word) is None and not self.values.is_lenient:
            near = near_names(word, list(OPCODES))
            raise FormError(f"unknown opcode {word}{near}", offset(opcode))

    def operand(self, shape: Shape | None, name: Token) -> Instruction:
        """Returns the instruction that an operand names; its shape must be compatible."""
        found = self.scopes[-1].names.get(str(name))
        if found is None:
            raise missing_instruction(self.source.text, name, self.scopes[-1])
        if shape is not None and not shape.compatible(found.shape):
            raise FormError(
                f"operand {name} has shape {found.shape.plain_text}, not {shape.plain_text}",
                offset(name),
            )
        return found

    def unnamed_operand(self, shape: Shape) -> Instruction:
        """Refuses an operand that is only a shape; overridden where it makes a parameter."""
        raise FormError(
            f"the name of an operand expected behind the shape {shape.plain_text}",
            self.reader.position,
        )

    def add_nested(self, call: Call) -> Instruction:
        """Adds an instruction that stands as an operand, with a name made from its opcode."""
        _, opcode, _ = call
        scope = self.scopes[-1]
        number = scope.nested.get(opcode, 0)
        name = f"{opcode}.anon.{number}" if number else f"{opcode}.anon"
        while name in scope.names:
            number += 1
            name = f"{opcode}.anon.{number}"
        scope.nested[opcode] = number + 1
        return self.add_instruction(Token("NAME", name, opcode.start_pos), call, [], offset(opcode))

    def add_instruction(
        self,
        name: Token,
        call: Call,
        attributes: Sequence[Attribute],
        start: int,
        *,
        is_root: bool = False,
    ) -> Instruction:
        """Adds an instruction of read parts and returns it."""
        try:
            made = self._made(str(name), call, attributes, start)
        except FormError:
            raise
        except Exception:
            # See `add_matches`: the reader is behind the instruction by now.
            self.reader.position = start
            raise
        self.scopes[-1].add(made, is_root=is_root)
        return made

    def _made(
        self, name: str, call: Call, attributes: Sequence[Attribute], start: int
    ) -> Instruction:
        shape, opcode, inside = call
        sugar = async_sugar.split(str(opcode))
        own, given = split_annotations(attributes)
        if sugar is not None:
            assert isinstance(inside, list)
            operands: tuple[Instruction, ...] = tuple(inside)
            entry = async_sugar.read_entry(self, sugar, opcode, shape, operands, own, given)
        elif isinstance(inside, Token):
            entry = self.values.payload_op(opcode, _inside(inside), own, shape)
            shape = entry.op.payload_shape or shape
            operands = ()
        else:
            entry = self.values.op(opcode, own)
            operands = tuple(inside)
        made = self.make(name, start, shape, entry, operands, NO_ANNOTATIONS)
        self._annotate(made, given, entry.unknown)
        return made

    def make(
        self,
        name: str,
        start: int,
        shape: Shape | None,
        entry: OpEntry,
        operands: tuple[Instruction, ...],
        annotations: Annotations | str = NO_ANNOTATIONS,
    ) -> Instruction:
        """Makes an instruction, its shape inferred where the text has none."""
        op = entry.op
        calls = self._resolve(entry.references) if entry.references else ()
        if len(operands) != op.arity:
            _check_arity(op, len(operands), start)
        if shape is None:
            shape = self._infer(op, operands, calls, start)
        if op.adapts:
            op = op.adapted([operand.shape for operand in operands], shape)
        made = Instruction(name, shape, op, operands, calls, annotations, start)
        if calls:
            _check_roles(made, entry)
            async_sugar.set_thread(made, self._threads)
        if entry.unknown or (type(annotations) is str and _is_read_at_once(annotations)):
            made.annotations = NO_ANNOTATIONS
            given = self._attributes_near(annotations, start)
            self._annotate(made, split_annotations(given)[1], entry.unknown)
        return made

    def _attributes_near(self, text: Annotations | str, start: int) -> list[Attribute]:
        if not isinstance(text, str):
            return []
        place = self.source.text.index(text, max(start, 0))
        return self.values.matched_attributes(text, place)

    def _annotate(self, made: Instruction, given: dict[str, Attribute], unknown: str) -> None:
        names = read_control_predecessors(given, self.values.value)
        if names:
            found = (self.operand(None, name) for name in names)
            made.control_predecessors = tuple(dict.fromkeys(found))
        annotations = self._annotations(given, made.shape)
        for dropped in annotations.metadata.dropped:
            self.warnings.append(
                FormError(f"metadata of today has no {dropped}; it is left out", made.offset)
            )
        made.annotations = annotations.replace(unknown=unknown) if unknown else annotations

    def _annotations(self, given: dict[str, Attribute], shape: Shape) -> Annotations:
        annotations = read_annotations(given, shape, self.values.value)
        return self._renumbered(annotations) if self.numbers is not None else annotations

    def _renumbered(self, annotations: Annotations) -> Annotations:
        """Returns annotations whose stack frame has the number it has in the module's tables."""
        number = annotations.metadata.stack_frame_id
        assert self.numbers is not None
        if not number or self.numbers.get(number) == number:
            return annotations
        metadata = annotations.metadata.replace(stack_frame_id=self.numbers.get(number, 0))
        return annotations.replace(metadata=metadata)

    def read_annotation_text(self, text: str, instruction: Instruction) -> Annotations:
        """Returns the annotations of an instruction that was read with them as text."""
        _, given = split_annotations(self._attributes_near(text, instruction.offset))
        return self._annotations(given, instruction.shape)

    def _resolve(self, references: Sequence[Any]) -> tuple[Computation, ...]:
        found = []
        for reference in references:
            if isinstance(reference, Token):
                computation = self.computations.get(str(reference))
                if computation is None:
                    names = self.computations.keys()
                    raise missing_computation(self.source.text, reference, names, self.scopes)
                found.append(computation)
            else:
                found.append(reference)
        return tuple(found)

    def _infer(
        self, op: Op, operands: Sequence[Instruction], calls: Sequence[Computation], start: int
    ) -> Shape:
        if not op.infers_shape:
            raise FormError(f"{op.opcode}: the shape cannot be inferred; write it out", start)
        try:
            return op.infer_shape(
                [operand.shape for operand in operands], [call.program_shape for call in calls]
            )
        except ShapeError as error:
            raise FormError(error.message, start) from None


def _check_roles(made: Instruction, entry: OpEntry) -> None:
    """Raises `FormError` where computations were given in roles that do not fit the operands."""
    wanted = made.op.printed_roles([operand.shape for operand in made.operands])
    if wanted is made.op.roles or not wanted or not entry.roles:
        return
    names = [role.name for role in wanted]
    if list(entry.roles) != names:
        raise FormError(
            f"{made.opcode}: {' and '.join(names)} expected, {' and '.join(entry.roles)} given",
            made.offset,
        )


def _is_read_at_once(annotations: str) -> bool:
    # Faults should show while the text is read, but there is much metadata, hardly ever wrong.
    return CONTROL_PREDECESSORS in annotations or not annotations.startswith(_READ_LATER)


def _inside(payload: Token) -> Token:
    start = offset(payload) + 1
    return Token("PAYLOAD", payload[1:-1], start, end_pos=start + len(payload) - 2)


def _check_arity(op: Op, count: int, start: int) -> None:
    try:
        op.check_arity(count)
    except ShapeError as error:
        raise FormError(error.message, start) from None
