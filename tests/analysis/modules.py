"""Modules built by hand, in few words."""

from __future__ import annotations

from hlotool.errors import HloError
from hlotool.ir.computation import Computation
from hlotool.ir.header import ModuleHeader
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import Shape
from hlotool.ops.source import Parameter
from tests.ops.shapes import F32, F32_2, PRED


def parameter(name: str, number: int = 0, shape: Shape = F32_2) -> Instruction:
    """Returns a parameter instruction."""
    return Instruction(name, shape, Parameter(number))


def make(name: str, op: Op | str, *operands: Instruction, shape: Shape = F32_2) -> Instruction:
    """Returns an instruction; an opcode stands for its op without attributes."""
    made = OPCODES[op]() if isinstance(op, str) else op
    return Instruction(name, shape, made, operands)


def call(
    name: str, op: Op, operand: Instruction, *computations: Computation, shape: Shape = F32_2
) -> Instruction:
    """Returns an instruction that calls computations on one operand."""
    return Instruction(name, shape, op, (operand,), computations)


def computation(
    name: str, *instructions: Instruction, root: Instruction | None = None
) -> Computation:
    """Returns a computation whose root is the last instruction unless one is given."""
    made = Computation(name, list(instructions), root or instructions[-1])
    found = [i for i in instructions if i.op.parameter_number is not None]
    made.parameters = tuple(sorted(found, key=lambda i: i.op.parameter_number or 0))
    return made


def negation(name: str) -> Computation:
    """Returns a computation that negates its parameter, an `f32[2]`."""
    x = parameter(f"{name}.x")
    return computation(name, x, make(f"{name}.y", "negate", x))


def condition(name: str) -> Computation:
    """Returns a computation from `f32[2]` to `pred[]`."""
    x = parameter(f"{name}.x")
    flag = make(f"{name}.flag", "partition-id", shape=F32)
    return computation(name, x, flag, make(f"{name}.holds", "is-finite", flag, shape=PRED))


def module(*computations: Computation, header: ModuleHeader | None = None) -> Module:
    """Returns a module whose entry is the last computation."""
    return Module("m", list(computations), computations[-1], header)


def messages(errors: list[HloError]) -> list[str]:
    """Returns the messages of errors, in their order."""
    return [error.message for error in errors]
