"""What a kernel computes: an instruction, or the instructions of a fusion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.control_flow import Fusion
from hlotool.ops.tuples import GetTupleElement, Tuple


@dataclass(frozen=True)
class Body:
    """The work of one kernel. Inputs and outputs are arrays in memory, in the order of `places`.

    A fused computation has its parameters as inputs, a lone instruction its operands.
    """

    instruction: Instruction
    inputs: tuple[tuple[Instruction, int, tuple[int, ...]], ...]
    """What is loaded: the instruction that stands for it, which operand it is, which part."""
    outputs: tuple[tuple[Instruction, tuple[int, ...]], ...]
    """What is stored: the instruction that yields it, and which part of the result it is."""

    @cached_property
    def members(self) -> tuple[Instruction, ...]:
        """The instructions that are computed, operands before users; inputs are not among them."""
        if not isinstance(self.instruction.op, Fusion):
            return (self.instruction,)
        loaded = {one for one, _, _ in self.inputs}
        within = self.instruction.calls[0].instructions
        return tuple(one for one in within if one not in loaded)

    @cached_property
    def users(self) -> dict[Instruction, tuple[Instruction, ...]]:
        """The members that use each instruction of the body."""
        found: dict[Instruction, list[Instruction]] = {}
        for member in self.members:
            for operand in dict.fromkeys(member.operands):
                found.setdefault(operand, []).append(member)
        return {one: tuple(users) for one, users in found.items()}


def body_of(instruction: Instruction) -> Body:
    """Returns what the kernel of an instruction computes; `NotCompiled` where it is no kernel's."""
    if not isinstance(instruction.op, Fusion):
        inputs = {
            operand: (number, index)
            for number, operand in enumerate(instruction.operands)
            for index, leaf in operand.shape.leaves()
            if isinstance(leaf, ArrayShape)
        }
        return Body(
            instruction,
            tuple((one, number, index) for one, (number, index) in inputs.items()),
            tuple((instruction, index) for index in _arrays(instruction.shape)),
        )
    computation = instruction.calls[0]
    loaded = []
    for parameter in computation.parameters:
        number = parameter.op.parameter_number
        assert number is not None
        if parameter.shape.is_tuple:
            loaded += [(one, number, index) for one, index in _parts(parameter, ())]
        else:
            loaded.append((parameter, number, ()))
    return Body(instruction, tuple(loaded), tuple(_results(computation.root, ())))


def _parts(whole: Instruction, index: tuple[int, ...]) -> list[tuple[Instruction, tuple[int, ...]]]:
    found = []
    for user in whole.users:
        if not isinstance(user.op, GetTupleElement):
            raise NotCompiled(f"{user.opcode} of a tuple inside a kernel")
        part = (*index, user.op.index)
        found += _parts(user, part) if user.shape.is_tuple else [(user, part)]
    return found


def _results(
    root: Instruction, index: tuple[int, ...]
) -> list[tuple[Instruction, tuple[int, ...]]]:
    if isinstance(root.op, Tuple):
        found = []
        for number, operand in enumerate(root.operands):
            found += _results(operand, (*index, number))
        return found
    return [(root, (*index, *part)) for part in _arrays(root.shape)]


def _arrays(shape: Shape) -> list[tuple[int, ...]]:
    return [index for index, leaf in shape.leaves() if isinstance(leaf, ArrayShape)]
