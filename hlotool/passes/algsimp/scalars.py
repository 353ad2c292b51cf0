"""Computing scalars that are known, so that the other identities see constants."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ops.conversion import BitcastConvert, StochasticConvert
from hlotool.ops.elementwise import Atan2, Elementwise, Power
from hlotool.ops.unary import Accurate
from hlotool.passes.algsimp.constants import KNOWN, computed, number_of
from hlotool.passes.algsimp.regular import RegularPatternSet, type_of
from hlotool.rewriting.builder import Builder, array_shape

patterns = RegularPatternSet("scalars")

_ROUNDED_BY_MACHINES = (Accurate, Atan2, Power)
"""Functions whose last bits differ between machines: they are left for them to compute."""


@patterns.rewrites(Elementwise, over=KNOWN)
def compute_scalar(instruction: Instruction, build: Builder) -> Instruction | None:
    """c + d -> constant, of scalars, as of every op but roots, powers and the like"""
    op = instruction.op
    if not array_shape(instruction).is_scalar or isinstance(
        op, (*_ROUNDED_BY_MACHINES, BitcastConvert, StochasticConvert)
    ):
        return None
    numbers = []
    for operand in instruction.operands:
        number = number_of(operand)
        if number is None:
            return None
        numbers.append(number)
    return build.literal(computed(op, type_of(instruction), *numbers))
