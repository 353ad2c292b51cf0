"""Common subexpression elimination."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.effects import SideEffects
from hlotool.analysis.equal_computations import (
    EqualComputations,
    meaning_of_annotations,
    meaning_of_op,
)
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import ArrayShape
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart
from hlotool.ops.control_flow import Domain, OptBarrier
from hlotool.ops.elementwise import Add, And, Maximum, Minimum, Mulhi, Multiply, Or, Xor
from hlotool.ops.host import CopyDone, CopyStart
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal

_KEPT_APART = (AsyncStart, AsyncContinuation, CopyStart, CopyDone, Domain, OptBarrier)
"""Steps that come in pairs, and what is there to keep values apart."""
_COMMUTATIVE = (Add, Multiply, Mulhi, And, Or, Xor)
_COMMUTATIVE_BUT_FOR_ZEROS = (Maximum, Minimum)
"""Of 0 and -0 the operand that comes first may win."""


@dataclass(frozen=True)
class CommonSubexpressionElimination(Pass):
    """Shares one instruction between the users of several that compute the same."""

    name: ClassVar[str] = "cse"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Merges instructions of equal ops, shapes, operands and called computations."""
        fused = fused_computations(module)
        numbering, effects = EqualComputations(), SideEffects()
        changed = False
        for computation in module.computations:
            if computation not in fused:
                changed |= _merged(computation, numbering, effects, journal)
        if changed:
            module.drop_unreachable()
            module.settle()
        return changed


def _merged(
    computation: Computation, numbering: EqualComputations, effects: SideEffects, journal: Journal
) -> bool:
    """Merges the instructions of a computation, those that it calls being merged already."""
    first: dict[Hashable, Instruction] = {}
    replaced: dict[Instruction, Instruction] = {}
    for instruction in computation.instructions:
        operands = instruction.operands
        if any(map(replaced.__contains__, operands)):
            # All operands change at once: tuples may have tens of thousands of them.
            instruction.operands = [replaced.get(operand, operand) for operand in operands]
        if not _may_be_shared(instruction, effects):
            continue
        found = first.setdefault(_key(instruction, numbering), instruction)
        if found is not instruction and journal.hit(instruction.opcode):
            replaced[instruction] = found
    computation.root = replaced.get(computation.root, computation.root)
    for instruction in reversed(replaced):
        computation.remove(instruction)
    computation.settle()
    return bool(replaced)


def _may_be_shared(instruction: Instruction, effects: SideEffects) -> bool:
    return (
        instruction.op.parameter_number is None
        and not isinstance(instruction.op, _KEPT_APART)
        and not instruction.has_control_edges
        and not effects.of(instruction)
    )


def _key(instruction: Instruction, numbering: EqualComputations) -> Hashable:
    """Returns what two instructions with the same value have in common."""
    operands = instruction.operands
    # Instructions are equal only to themselves, so their addresses will do for an order.
    given = sorted(map(id, operands)) if _is_commutative(instruction) else map(id, operands)
    return (
        meaning_of_op(instruction),
        instruction.shape.text,
        meaning_of_annotations(instruction),
        tuple(given),
        numbering.of_calls(instruction),
    )


def _is_commutative(instruction: Instruction) -> bool:
    if isinstance(instruction.op, _COMMUTATIVE_BUT_FOR_ZEROS):
        shape = instruction.shape
        return not (isinstance(shape, ArrayShape) and shape.element_type.is_float)
    return isinstance(instruction.op, _COMMUTATIVE)
