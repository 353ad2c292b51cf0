"""Convolutions of truth values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import F16, PRED
from hlotool.ir.instruction import Instruction
from hlotool.ops.convolution import Convolution
from hlotool.passes.expanders.expander import Expander
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class ConvolutionPredExpander(Expander):
    """Writes convolutions of truth values as convolutions of f16, and asks what is not zero."""

    name: ClassVar[str] = "convolution-pred-expander"
    is_exact: ClassVar[bool] = True

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a convolution of truth values."""
        if not isinstance(instruction.op, Convolution):
            return False
        arrays = (*instruction.operands, instruction)
        return all(array_shape(one).element_type is PRED for one in arrays)

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """convolution(x, y) -> convert(convolution(convert(x), convert(y)))"""
        x, y = (build.convert(operand, F16) for operand in instruction.operands)
        product = Term(build, build.add(instruction.op, x, y))
        # A sum of ones is infinite at the most, which is not zero either.
        return product.converted(PRED).instruction
