"""Rounding by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.conversion import StochasticConvert
from hlotool.ops.unary import Floor
from hlotool.passes.expanders.expander import Expander, computing_type
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class StochasticConvertDecomposer(Expander):
    """Writes roundings by chance to integers as comparisons of fractions with the random bits."""

    name: ClassVar[str] = "stochastic_convert_decomposer"
    is_exact: ClassVar[bool] = True

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction rounds to integers; what it means for floats is not defined."""
        is_one = isinstance(instruction.op, StochasticConvert)
        return is_one and array_shape(instruction).element_type.is_integer

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """stochastic-convert(x, r) -> convert(whole part of x, and 1 more where r is less)"""
        x, random = (Term(build, operand) for operand in instruction.operands)
        element_type = x.element_type
        x = x.converted(computing_type(element_type))
        size = abs(x)
        whole = size.changed(Floor())
        # A power of two loses no digits; of infinities the fraction is NaN, which becomes 0.
        share = (size - whole) * 2.0**element_type.bits
        is_moved = random.compared("LT", share.converted(random.element_type))
        moved = is_moved.chosen(whole + 1, whole)
        signed = x.compared("LT", 0).chosen(-moved, moved)
        return signed.converted(array_shape(instruction).element_type).instruction
