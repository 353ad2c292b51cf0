"""Patterns of elementwise ops, which need not think of mixed types and sizes."""

from __future__ import annotations

from hlotool.ir.element_type import ELEMENT_TYPES, PRED, ElementType, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.rewriting.builder import array_shape
from hlotool.rewriting.patterns import PatternSet

NO_SIGNED_ZEROS = "no-signed-zeros"
"""What a pattern assumes that takes one zero for the other."""
NO_NANS = "no-nans"
"""What a pattern assumes that holds for finite numbers, but for the sign of zero."""
FAST_MATH = "fast-math"
"""What a pattern assumes that holds for real numbers, but rounds or overflows differently."""


def is_regular(instruction: Instruction) -> bool:
    """Whether result and operands are static arrays, the operands of one type beside pred.

    Types without a sign or without NaN have rules of their own for nearly everything.
    """
    shape = instruction.shape
    if not isinstance(shape, ArrayShape) or shape.dynamic:
        return False
    found = PRED
    for operand in instruction.operands:
        shape = operand.shape
        if not isinstance(shape, ArrayShape) or shape.dynamic:
            return False
        element_type = shape.element_type
        if element_type is not found and element_type is not PRED:
            if found is not PRED:
                return False
            found = element_type
    return found in _USUAL


class RegularPatternSet(PatternSet):
    """Patterns that are tried only where an instruction `is_regular`."""

    def __init__(self, name: str) -> None:
        super().__init__(name, condition=is_regular)


def _is_usual(element_type: ElementType) -> bool:
    form = element_type.float_format
    return form is None or (form.has_sign and form.exponent_bits > 3)


_USUAL = frozenset(filter(_is_usual, ELEMENT_TYPES.values()))


def type_of(instruction: Instruction) -> ElementType:
    """Returns the element type of an array."""
    return array_shape(instruction).element_type


def is_integral(instruction: Instruction) -> bool:
    """Whether elements are integers; pred is not."""
    return type_of(instruction).is_integer


def is_bits(instruction: Instruction) -> bool:
    """Whether elements are integers or pred."""
    element_type = type_of(instruction)
    return element_type.is_integer or element_type.kind is Kind.PRED


def is_pred(instruction: Instruction) -> bool:
    """Whether elements are truth values."""
    return type_of(instruction).kind is Kind.PRED


def is_float(instruction: Instruction) -> bool:
    """Whether elements are real floating-point numbers."""
    return type_of(instruction).is_float


def is_inexact(instruction: Instruction) -> bool:
    """Whether elements are floating-point or complex numbers."""
    element_type = type_of(instruction)
    return element_type.is_float or element_type.is_complex
