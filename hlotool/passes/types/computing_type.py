"""Letting ops compute in another floating-point type, with conversions around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hlotool.errors import UsageError
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import unfused_computations
from hlotool.ir.shape import ArrayShape
from hlotool.ops.contraction import Dot
from hlotool.ops.conversion import BitcastConvert, Convert, StochasticConvert
from hlotool.ops.convolution import Convolution
from hlotool.ops.elementwise import Elementwise, Select
from hlotool.passes.types.contractions import has_plain_numbers
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace

_TYPE_MATTERS = (BitcastConvert, Convert, StochasticConvert)
"""What these yield depends on the type of the operand, and not on its numbers alone."""


def float_type(name: str, pass_name: str) -> ElementType:
    """Returns a floating-point type by its name; raises `UsageError` where there is none."""
    found = ELEMENT_TYPES.get(name)
    if found is None or not found.is_float:
        raise UsageError(f"{pass_name}: {name} is no floating-point type")
    return found


def computes_numbers(instruction: Instruction) -> bool:
    """Whether an op makes new numbers of numbers, and could do so in another type."""
    op = instruction.op
    if isinstance(op, (Dot, Convolution)):
        return has_plain_numbers(instruction)
    return isinstance(op, Elementwise) and not isinstance(op, (*_TYPE_MATTERS, Select))


@dataclass
class _Computing:
    """Conversions of one computation, each made once."""

    computation: Computation
    given: ElementType
    wanted: ElementType
    _converted: dict[Instruction, Instruction] = field(default_factory=dict)

    def change(self, instruction: Instruction) -> None:
        """Puts an op of the wanted type, converted back, in the place of an instruction."""
        builder = Builder(self.computation, instruction)
        operands = [self._operand(operand, builder) for operand in instruction.operands]
        shape = instruction.shape
        assert isinstance(shape, ArrayShape)
        if shape.element_type is not self.given:
            made = builder.add(instruction.op, *operands, shape=shape)
        else:
            wide = shape.with_element_type(self.wanted)
            computed = builder.add(instruction.op, *operands, shape=wide)
            made = builder.convert(computed, self.given)
        replace(instruction, made, builder)

    def _operand(self, operand: Instruction, builder: Builder) -> Instruction:
        if not _has_type(operand, self.given):
            return operand
        found = self._converted.get(operand)
        if found is None:
            found = builder.convert(operand, self.wanted)
            self._converted[operand] = found
        return found


def _has_type(instruction: Instruction, element_type: ElementType) -> bool:
    shape = instruction.shape
    return isinstance(shape, ArrayShape) and shape.element_type is element_type


def compute_in(
    module: Module,
    journal: Journal,
    given: ElementType,
    wanted: ElementType,
    concerns: Callable[[Instruction], bool],
) -> bool:
    """Lets the ops that `concerns` names compute in `wanted` where they have operands of `given`.

    Results are converted back, so that each op rounds as before. Returns whether there were any.
    """
    changed = False
    for computation in unfused_computations(module):
        computing = _Computing(computation, given, wanted)
        for instruction in list(computation.instructions):
            if instruction.parent is None or not concerns(instruction):
                continue
            has_given = any(_has_type(operand, given) for operand in instruction.operands)
            if has_given and journal.hit("compute_in_other_type"):
                computing.change(instruction)
                changed = True
    if changed:
        module.settle()
    return changed
