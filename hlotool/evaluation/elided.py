"""Values for constants that a text leaves out as `{...}`."""

from __future__ import annotations

import numpy as np

from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.source import Constant


def fill_elided_constants(module: Module, seed: int) -> list[Instruction]:
    """Gives each constant without a value one of small numbers, and returns the constants.

    Floats lie between 1/2 and 3/2, since they may divide or stand under a root; integers are 0
    or 1, since they may be indices. The same seed gives the same numbers.
    """
    filled: list[Instruction] = []
    for instruction in module.instructions():
        op = instruction.op
        if isinstance(op, Constant) and op.literal.has_elision:
            generator = np.random.default_rng([seed, len(filled)])
            instruction.op = op.replace(literal=_filled(op.literal.shape, generator))
            filled.append(instruction)
    return filled


def _filled(shape: Shape, generator: np.random.Generator) -> Literal:
    if isinstance(shape, TupleShape):
        return Literal.of_elements([_filled(element, generator) for element in shape.elements])
    assert isinstance(shape, ArrayShape), "a constant holds arrays"
    return Literal.from_array(_numbers(shape.element_type, shape.dimensions, generator), shape)


def _numbers(
    element_type: ElementType, sizes: tuple[int, ...], generator: np.random.Generator
) -> Array:
    if element_type.is_float or element_type.is_complex:
        return generator.uniform(0.5, 1.5, sizes)
    bits = generator.integers(0, 2, sizes)
    # The one bit of s1 is its sign.
    return -bits if element_type.is_signed and element_type.bits == 1 else bits
