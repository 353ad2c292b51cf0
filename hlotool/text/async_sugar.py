"""Async sugar in both directions: `negate-start(x)` for a start that wraps one instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lark.lexer import Token

from hlotool.ir.instruction import Instruction
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import TupleShape
from hlotool.ops.asynchronous import AsyncDone, AsyncStart, AsyncUpdate
from hlotool.ops.source import Parameter
from hlotool.text.annotation_reader import read_annotations
from hlotool.text.forms_attribute import FormError, offset
from hlotool.text.op_reader import Attribute, OpEntry, attributes_by_name, read_fields

if TYPE_CHECKING:
    from hlotool.ir.computation import Computation
    from hlotool.ir.module import Module
    from hlotool.ir.shape import Shape
    from hlotool.text.instruction_builder import InstructionBuilder

STAGES: dict[str, type[Op]] = {
    "start": AsyncStart, "update": AsyncUpdate, "done": AsyncDone,
}  # fmt: skip
_ALIASING = "output_to_operand_aliasing"
WRAPPED_COMPUTATION = "async_wrapped"
WRAPPED_PARAMETER = "async_param"
RESULT_ACCURACY = "result_accuracy"
ROOT_ANNOTATIONS = frozenset(
    ["frontend_attributes", "statistics", RESULT_ACCURACY, "metadata", "backend_config"]
)
"""The annotations of a start that the wrapped instruction has too; the accuracy is its alone."""


Starts = dict[Instruction, Instruction | None]
"""The start of the chain that an async instruction stands in."""


class Sugar(NamedTuple):
    """A sugared opcode: what is wrapped, and the stage of the async chain."""

    base: str
    stage: str


def split(opcode: str) -> Sugar | None:
    """Returns the parts of a sugared opcode; `None` for any other opcode."""
    if opcode in OPCODES:
        return None
    base, _, stage = opcode.rpartition("-")
    return Sugar(base, stage) if stage in STAGES and _can_be_wrapped(base) else None


def _can_be_wrapped(opcode: str) -> bool:
    op = OPCODES.get(opcode)
    return op is not None and op.payload is None and not issubclass(op, tuple(STAGES.values()))


def read_entry(
    builder: InstructionBuilder,
    sugar: Sugar,
    opcode: Token,
    shape: Shape | None,
    operands: Sequence[Instruction],
    own: Sequence[Attribute],
    annotations: dict[str, Attribute],
) -> OpEntry:
    """Returns the async op that sugar stands for; a start gets a computation made for it."""
    stage = STAGES[sugar.stage]
    if stage is not AsyncStart:
        _check_chain(sugar, opcode, operands, builder.async_starts)
        return builder.values.op(Token("OPCODE", stage.opcode, opcode.start_pos), own)
    # What both have is the wrapped instruction's.
    for_start = AsyncStart.readable.keys() - OPCODES[sugar.base].readable.keys()
    outer = [attribute for attribute in own if str(attribute[0]) in for_start]
    inner = [attribute for attribute in own if str(attribute[0]) not in for_start]
    elements = shape.elements if isinstance(shape, TupleShape) else ()
    if len(elements) < 2:
        raise FormError(
            f"{opcode}: the shape must be ((operands), result, contexts)", offset(opcode)
        )
    entry = builder.values.op(Token("OPCODE", sugar.base, opcode.start_pos), inner)
    parameters = [
        Instruction(_numbered(WRAPPED_PARAMETER, number), operand.shape, Parameter(number))
        for number, operand in enumerate(operands)
    ]
    root = builder.make(sugar.base, offset(opcode), elements[1], entry, tuple(parameters))
    shared = {name: given for name, given in annotations.items() if name in ROOT_ANNOTATIONS}
    root.annotations = read_annotations(shared, root.shape, builder.values.value)
    annotations.pop(RESULT_ACCURACY, None)
    wrapped = builder.adopt(WRAPPED_COMPUTATION, [*parameters, root], root, offset(opcode))
    fields = read_fields(AsyncStart.readable, attributes_by_name(outer), builder.values.value)
    return OpEntry(AsyncStart(**fields), (wrapped,), unknown=entry.unknown)


def _numbered(name: str, number: int) -> str:
    return f"{name}.{number}" if number else name


def _check_chain(
    sugar: Sugar, opcode: Token, operands: Sequence[Instruction], starts: Starts
) -> None:
    started = start_of(operands[0], starts) if len(operands) == 1 else None
    if started is None:
        raise FormError(f"{opcode}: the operand is no started {sugar.base}", offset(opcode))
    wrapped = started.calls[0].root.opcode
    if wrapped != sugar.base:
        raise FormError(f"{opcode}: the operand starts {wrapped}", offset(opcode))


def start_of(instruction: Instruction, starts: Starts) -> Instruction | None:
    """Returns the start of the async chain that an instruction stands in, if it is in one.

    `starts` keeps what was found, or a long chain would be walked for each instruction of it.
    """
    passed = []
    while isinstance(instruction.op, AsyncUpdate | AsyncDone) and instruction.operands:
        passed.append(instruction)
        if instruction in starts:
            break
        instruction = instruction.operands[0]
    start = starts.get(instruction)
    if start is None and isinstance(instruction.op, AsyncStart):
        start = instruction
    starts.update(dict.fromkeys(passed, start))
    return start


def sugared_opcode(instruction: Instruction, starts: Starts) -> str | None:
    """Returns the opcode that sugar writes for an async instruction, `None` for the plain form.

    The wrapped computation must be one instruction on its parameters in order, with nothing
    that sugar has no place for: any other would be read back as something else.
    """
    stage = next((s for s, op in STAGES.items() if isinstance(instruction.op, op)), None)
    start = None if stage is None else start_of(instruction, starts)
    if start is None or not start.calls:
        return None
    base = start.calls[0].root.opcode
    # A spelling that is an opcode of its own would be read as that.
    is_taken = any(f"{base}-{other}" in OPCODES for other in STAGES)
    return f"{base}-{stage}" if not is_taken and _is_one_instruction(start) else None


def _is_one_instruction(start: Instruction) -> bool:
    wrapped = start.calls[0]
    root = wrapped.root
    if len(wrapped.instructions) != len(wrapped.parameters) + 1:
        return False
    if root.operands != wrapped.parameters or not _can_be_wrapped(root.opcode):
        return False
    # Sugar has one place for the two.
    if _ALIASING in root.op.readable and getattr(start.op, _ALIASING):
        return False
    noted = root.annotations.frontend_attributes
    return root.annotations.sharding is None and (
        not noted or noted == start.annotations.frontend_attributes
    )


def hidden_computations(module: Module) -> set[Computation]:
    """Returns the computations that sugar stands for, so that the text does not show them."""
    hidden: set[Computation] = set()
    shown: set[Computation] = set()
    for instruction in module.instructions():
        if isinstance(instruction.op, AsyncStart) and sugared_opcode(instruction, {}) is not None:
            hidden.update(instruction.calls)
        elif not isinstance(instruction.op, AsyncUpdate | AsyncDone):
            shown.update(instruction.calls)
    return hidden - shown


def set_thread(start: Instruction, threads: dict[Computation, str]) -> None:
    """Gives the computation of a start, and what it calls, the thread that the start names.

    `threads` keeps what was given, so that no computation is visited again for the same.
    """
    if not isinstance(start.op, AsyncStart):
        return
    thread = start.op.async_execution_thread
    waiting = list(start.calls)
    while waiting:
        computation = waiting.pop()
        if threads.get(computation) == thread:
            continue
        computation.execution_thread = threads[computation] = thread
        waiting += [called for i in computation.instructions for called in i.calls]
