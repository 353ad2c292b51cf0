"""Parts of numbers that are real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.unary import Imag, Real
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("real_imag_expander")


@patterns.rewrites(Real)
def real_of_real(instruction: Instruction, _: Builder) -> Instruction | None:
    """real(x) -> x, where x is not complex"""
    (operand,) = instruction.operands
    return None if array_shape(operand).element_type.is_complex else operand


@patterns.rewrites(Imag)
def imaginary_of_real(instruction: Instruction, build: Builder) -> Instruction | None:
    """imag(x) -> 0, where x is not complex"""
    (operand,) = instruction.operands
    shape = array_shape(operand)
    if shape.element_type.is_complex or not shape.is_static:
        return None
    return build.full(0, array_shape(instruction))


@dataclass(frozen=True)
class RealImagExpander(PatternPass):
    """Drops the taking of parts of numbers that are real."""

    name: ClassVar[str] = "real_imag_expander"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
