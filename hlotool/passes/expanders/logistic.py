"""The logistic function, written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.unary import Exponential, Logistic
from hlotool.passes.expanders.expander import Expander, computing_type
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class LogisticExpander(Expander):
    """Writes the logistic function as 1 / (1 + exp(-x)).

    Floats narrower than f32 are computed in f32.
    """

    name: ClassVar[str] = "logistic-expander"

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a logistic function."""
        return isinstance(instruction.op, Logistic)

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """logistic(x) -> divide(1, add(1, exponential(negate(x))))"""
        element_type = array_shape(instruction).element_type
        x = Term(build, instruction.operands[0]).converted(computing_type(element_type))
        one = x.full(1)
        result = one / (one + (-x).changed(Exponential()))
        return result.converted(element_type).instruction
