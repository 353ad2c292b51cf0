"""Takes a module apart: each instruction becomes a module of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hlotool.analysis.fingerprint import fingerprint
from hlotool.ir.cloning import cloned_computations, cloned_instruction, computation_of
from hlotool.ir.computation import Computation
from hlotool.ir.header import ModuleHeader
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import Shape, TupleShape
from hlotool.ops.control_flow import Call, Conditional, While
from hlotool.ops.source import Constant, Parameter
from hlotool.ops.tuples import GetTupleElement, Tuple

_PLAIN = (Parameter, Constant, Tuple, GetTupleElement)
"""What computes nothing that could go wrong."""
_CONTROL = (Call, Conditional, While)
"""What runs computations, which are taken apart themselves."""


class Isolated:
    """An instruction as the root of a module of its own.

    `module` is `None` where it cannot stand alone: `reason` says why. `copies` are the other
    instructions of which the module would be the same but for names.
    """

    __slots__ = ("copies", "instruction", "module", "reason")

    def __init__(self, instruction: Instruction, module: Module | None, reason: str = "") -> None:
        self.instruction = instruction
        self.module = module
        self.reason = reason
        self.copies: list[Instruction] = []


def isolated_instructions(module: Module) -> list[Isolated]:
    """Returns what each instruction does alone, equal ones once, in text order.

    Instructions of the entry and of what loops, calls and branches run are taken; fusions,
    reducers and comparators are parts of the instruction that calls them. Operands become
    parameters, but for constants, which stay.
    """
    found: dict[str, Isolated] = {}
    for instruction in _instructions(module):
        made = _isolated(instruction, module)
        key = instruction.name if made.module is None else fingerprint(made.module)
        if key in found:
            found[key].copies.append(instruction)
        else:
            found[key] = made
    return list(found.values())


def _instructions(module: Module) -> Iterator[Instruction]:
    reached = {module.entry}
    # Callers stand after what they call, so one walk backwards reaches everything.
    for computation in reversed(module.computations):
        if computation in reached:
            for instruction in computation.instructions:
                if isinstance(instruction.op, _CONTROL):
                    reached.update(instruction.calls)
    for computation in module.computations:
        if computation in reached:
            for instruction in computation.instructions:
                if not isinstance(instruction.op, _PLAIN + _CONTROL):
                    yield instruction


def _isolated(instruction: Instruction, module: Module) -> Isolated:
    reason = _reason_to_skip(instruction)
    if reason:
        return Isolated(instruction, None, reason)
    clones = cloned_computations(instruction.calls)
    entry = _entry(instruction, clones)
    name = f"{module.name}.{instruction.name}"
    # Scheduling and layouts of the entry were those of the whole module.
    header = ModuleHeader(
        replica_count=module.header.replica_count, num_partitions=module.header.num_partitions
    )
    made = Module(
        name, [*clones.values(), entry], entry, header, module.stack_tables, module.source
    )
    return Isolated(instruction, made)


def _entry(instruction: Instruction, clones: dict[Computation, Computation]) -> Computation:
    instructions: list[Instruction] = []
    made: dict[Instruction, Instruction] = {}
    count = 0
    for operand in dict.fromkeys(instruction.operands):
        if isinstance(operand.op, Constant):
            made[operand] = cloned_instruction(operand, (), clones)
        else:
            made[operand] = Instruction(operand.name, operand.shape, Parameter(count))
            count += 1
        instructions.append(made[operand])
    operands = [made[operand] for operand in instruction.operands]
    root = cloned_instruction(instruction, operands, clones)
    root.offset = instruction.offset
    names = {called.name for called in clones}
    name = "main"
    while name in names:
        name += "_"
    return computation_of(name, [*instructions, root], root)


def _reason_to_skip(instruction: Instruction) -> str:
    shapes = [operand.shape for operand in instruction.operands]
    if _holds_token([instruction.shape, *shapes]):
        return "it is ordered by tokens"
    # A name that ends so is the reference's mark of a pair.
    if instruction.opcode.endswith(("-start", "-done", "-update")):
        return "it is one half of a pair"
    return ""


def _holds_token(shapes: Sequence[Shape]) -> bool:
    return any(
        _holds_token(shape.elements) if isinstance(shape, TupleShape) else not shape.is_array
        for shape in shapes
    )
