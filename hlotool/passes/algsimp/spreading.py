"""Doing once, on scalars, what would be done on arrays of one number everywhere."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.conversion import BitcastConvert, StochasticConvert
from hlotool.ops.elementwise import Elementwise
from hlotool.passes.algsimp.constants import number_of
from hlotool.passes.algsimp.regular import RegularPatternSet, type_of
from hlotool.rewriting.builder import Builder, array_shape

patterns = RegularPatternSet("spreading")


@patterns.rewrites(Elementwise)
def compute_on_scalars(instruction: Instruction, build: Builder) -> Instruction | None:
    """broadcast(c) + broadcast(d) -> broadcast(c + d), as of every elementwise op"""
    shape = array_shape(instruction)
    if shape.is_scalar or isinstance(instruction.op, (BitcastConvert, StochasticConvert)):
        return None
    numbers = []
    for operand in instruction.operands:
        number = number_of(operand)
        if number is None:
            return None
        numbers.append(number)
    scalars = [build.literal(number) for number in numbers]
    made = build.add(instruction.op, *scalars, shape=ArrayShape(type_of(instruction)))
    return build.broadcast(made, (), shape)
