"""Prints the instructions of a computation, one line each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hlotool.ir.annotations import NO_ANNOTATIONS
from hlotool.ir.computation import MAIN_THREAD
from hlotool.ir.metadata import DEFAULT_ACCURACY, write_result_accuracy
from hlotool.ir.order import instruction_order
from hlotool.ir.replica_groups import REPLICA_GROUPS, listed_groups
from hlotool.ir.shape import join_marked
from hlotool.ir.strings import quote
from hlotool.ops.asynchronous import AsyncStart
from hlotool.text.annotation_reader import CONTROL_PREDECESSORS
from hlotool.text.async_sugar import RESULT_ACCURACY, STAGES, Starts, sugared_opcode
from hlotool.text.print_options import PrintOptions, Subcomputations

if TYPE_CHECKING:
    from hlotool.ir.annotations import Annotations
    from hlotool.ir.computation import Computation
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module
    from hlotool.ir.op import Op

INDENT = "  "
BEFORE_PREDECESSORS = frozenset(["sharding", "frontend_attributes"])
"""The annotations that print before control predecessors."""
ASYNC_OPS = tuple(STAGES.values())
SHOWN_OPERANDS = 4
"""How many operands the compact form shows."""
_FIELD = r'(?:{}="[ !#-&(-\[\]-~]++" ?+)?'
_NUMBER = r"(?:{}=[1-9][0-9]*+ ?+)?"
_CANONICAL_METADATA = re.compile(
    r", metadata=\{(?=op_|source_file=)"
    + "".join(_FIELD.format(n) for n in ("op_type", "op_name", "source_file"))
    + "".join(
        _NUMBER.format(n)
        for n in ("source_line", "source_end_line", "source_column", "source_end_column")
    )
    + r"(?:stack_frame_id=([1-9][0-9]*+))?(?<! )\}"
)
"""Metadata that would print as it stands; the group is the stack frame, which must exist."""


class InstructionPrinter:
    """Prints instructions of one module; what ops and shapes print is kept."""

    def __init__(self, module: Module, options: PrintOptions) -> None:
        self.module = module
        self.options = options
        self._op_texts: dict[Op, tuple[str, str]] = {}
        tables = module.stack_tables
        self._frames = {} if tables is None else tables.numbers_in_text
        self._percent = "%" if options.percent else ""
        self._canonical: dict[Instruction, str] = {}
        self._async_starts: Starts = {}
        shown = {
            "metadata": options.metadata,
            "backend_config": options.backend_config,
            CONTROL_PREDECESSORS: options.control_predecessors,
        }
        self._hidden = {name for name, is_shown in shown.items() if not is_shown}

    def lines(
        self, computation: Computation, margin: str, *, in_text_order: bool = False
    ) -> list[str]:
        """Returns the lines of a computation's body, each behind `margin`."""
        order = computation.instructions if in_text_order else instruction_order(computation)
        if self.options.canonical_names:
            self._canonical |= {
                instruction: f"tmp_{number}" for number, instruction in enumerate(order)
            }
        return [f"{margin}{self.line(instruction, margin)}" for instruction in order]

    def line(self, instruction: Instruction, margin: str = "") -> str:
        """Returns the text of an instruction; bodies written out in it stand behind `margin`."""
        shape = ""
        if self.options.result_shape:
            shown = instruction.shape
            shape = (shown.text if self.options.layouts else shown.plain_text) + " "
        mark = "ROOT " if instruction.is_root else ""
        return f"{mark}{self._name(instruction)} = {shape}{self._call(instruction, margin)}"

    def _name(self, instruction: Instruction) -> str:
        if self._canonical:
            return self._canonical[instruction]
        return self.own_name(instruction)

    def own_name(self, named: Instruction | Computation) -> str:
        """Returns the name that the module has; without ids, its part in front of a dot."""
        name = named.name if self.options.ids else named.name.partition(".")[0]
        return self._percent + name

    def _call(self, instruction: Instruction, margin: str) -> str:
        """Returns opcode, operands, attributes and annotations."""
        op = instruction.op
        if op.payload is not None:
            inside = op.payload_text(self.options.large_constants)
        else:
            inside = self._operands(instruction)
        if isinstance(op, ASYNC_OPS):
            return self._async_call(instruction, inside, margin)
        before, after = self._op_text(op)
        calls = self._calls(instruction, margin) if instruction.calls else ""
        return f"{op.opcode}({inside}){before}{calls}{after}{self._annotations(instruction)}"

    def _async_call(self, instruction: Instruction, inside: str, margin: str) -> str:
        opcode = sugared_opcode(instruction, self._async_starts)
        before, after = self._op_text(instruction.op)
        calls = self._calls(instruction, margin) if instruction.calls else ""
        # A later step may repeat the computation in its text; it shows nothing of it.
        if opcode is not None and isinstance(instruction.op, AsyncStart):
            root = instruction.calls[0].root
            root_before, root_after = self._op_text(root.op)
            root_calls = self._calls(root, margin) if root.calls else ""
            # In full the text also has the wrapped computation, behind what sugar shows of it.
            wrapped = calls if self.options.subcomputations is Subcomputations.BODIES else ""
            # The thread stands in front of what sugar shows of the root, aliasing behind it.
            whole = before
            before, _ = self._op_text(instruction.op.replace(output_to_operand_aliasing=()))
            aliasing = whole.removeprefix(before)
            calls = root_before + _accuracy(root) + root_calls + root_after + aliasing + wrapped
        return f"{opcode or instruction.opcode}({inside}){before}{calls}{after}" + (
            self._annotations(instruction)
        )

    def _op_text(self, op: Op) -> tuple[str, str]:
        found = self._op_texts.get(op)
        options = self.options
        # Without ids, parameters show nothing but their number.
        is_bare = not options.attributes or (not options.ids and op.parameter_number is not None)
        if found is None and is_bare:
            found = self._op_texts[op] = "", ""
        elif found is None:
            shown = _with_listed_groups(op) if options.listed_groups else op
            before = "".join(f", {name}={text}" for name, text in shown.written())
            after = "".join(f", {name}={text}" for name, text in shown.written(after_calls=True))
            found = self._op_texts[op] = before, after
        return found

    def _operands(self, instruction: Instruction) -> str:
        options = self.options
        is_plain = options.operand_names and options.ids and not options.operand_shapes
        if is_plain and not self._canonical:
            percent = self._percent
            parts = [percent + operand.name for operand in instruction.operands]
        else:
            parts = [self._operand(operand) for operand in instruction.operands]
        if options.compact_operands and len(parts) > SHOWN_OPERANDS:
            hidden = len(parts) - SHOWN_OPERANDS
            return f"{', '.join(parts[:SHOWN_OPERANDS])}, ...(+{hidden})"
        return join_marked(parts) if options.operand_marks else ", ".join(parts)

    def _operand(self, operand: Instruction) -> str:
        parts = []
        if self.options.operand_shapes:
            shape = operand.shape
            parts.append(shape.text if self.options.layouts else shape.plain_text)
        if self.options.operand_names or self._canonical:
            parts.append(self._name(operand))
        return " ".join(parts)

    def _calls(self, instruction: Instruction, margin: str) -> str:
        mode = self.options.subcomputations
        if mode is Subcomputations.OFF:
            return ""
        roles = instruction.op.printed_roles([operand.shape for operand in instruction.operands])
        texts = []
        rest = list(instruction.calls)
        for role in roles:
            if not rest:
                break
            taken = rest if role.many else rest[:1]
            rest = rest[len(taken) :]
            name = role.name_of_body if mode is Subcomputations.BODIES else role.name
            texts.append(f", {name}={self._called(taken, margin, is_list=role.many)}")
        return "".join(texts)

    def _called(self, called: Sequence[Computation], margin: str, *, is_list: bool) -> str:
        if self.options.subcomputations is Subcomputations.NAMES:
            names = ", ".join(map(self.own_name, called))
            return f"{{{names}}}" if is_list else names
        bodies = [self._body(computation, margin) for computation in called]
        return "{\n" + ",\n".join(bodies) + "\n}" if is_list else "\n" + bodies[0]

    def _body(self, computation: Computation, margin: str) -> str:
        outer, self._canonical = self._canonical, {}
        lines = [margin + self.opening(computation), *self.lines(computation, margin + INDENT)]
        self._canonical = outer
        return "\n".join([*lines, margin + self.closing(computation)])

    def opening(self, computation: Computation) -> str:
        """Returns the signature of a computation, if it is shown, and the opening brace."""
        if not self.options.program_shape:
            return "{"
        parameters = (
            f"{self.own_name(parameter).removeprefix('%')}: {parameter.shape.plain_text}"
            for parameter in computation.parameters
        )
        return f"({', '.join(parameters)}) -> {computation.root.shape.plain_text} {{"

    def closing(self, computation: Computation) -> str:
        """Returns the closing brace of a computation, and its thread behind it."""
        thread = computation.execution_thread
        is_shown = thread != MAIN_THREAD and self.options.ids
        tail = f", execution_thread={quote(thread)}" if is_shown else ""
        return f"}}{tail}{computation.unknown}"

    def _annotations(self, instruction: Instruction) -> str:
        options = self.options
        text = instruction.annotation_text
        if text is not None and (match := _CANONICAL_METADATA.fullmatch(text)):
            frame = match[1]
            number = None if frame is None else self._frames.get(int(frame))
            if not options.metadata:
                return ""
            if frame is None:
                return text
            if number is not None:
                return f"{text[: match.start(1)]}{number}{text[match.end(1) :]}"
        annotations = instruction.annotations
        if annotations is NO_ANNOTATIONS and not instruction.control_predecessors:
            return ""
        texts = []
        for name, value in self._written(annotations, instruction):
            if name in self._hidden:
                continue
            if name == "sharding" and not options.metadata and annotations.sharding is not None:
                texts.append(f", sharding={annotations.sharding.without_metadata().text}")
            else:
                texts.append(f", {name}={value}")
        return "".join(texts) + annotations.unknown

    def _written(
        self, annotations: Annotations, instruction: Instruction
    ) -> Iterator[tuple[str, str]]:
        """Yields annotations in print order, control predecessors in their place among them."""
        predecessors = instruction.control_predecessors
        for name, value in annotations.written():
            if predecessors and name not in BEFORE_PREDECESSORS:
                yield CONTROL_PREDECESSORS, self._predecessors(instruction)
                predecessors = ()
            yield name, value
        if predecessors:
            yield CONTROL_PREDECESSORS, self._predecessors(instruction)

    def _predecessors(self, instruction: Instruction) -> str:
        return "{" + ", ".join(map(self.own_name, instruction.control_predecessors)) + "}"


def _accuracy(instruction: Instruction) -> str:
    accuracy = instruction.annotations.result_accuracy
    if accuracy == DEFAULT_ACCURACY:
        return ""
    return f", {RESULT_ACCURACY}={write_result_accuracy(accuracy)}"


def _with_listed_groups(op: Op) -> Op:
    groups = {
        field.name: listed_groups(getattr(op, field.name))
        for field in op.fields
        if field.kind is REPLICA_GROUPS
    }
    return op.replace(**groups) if groups else op
