"""Seeing that an array has one known number everywhere, also where a broadcast spreads it."""

from __future__ import annotations

from functools import cache
from math import copysign, isnan

import numpy as np

from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.frame import Frame
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal, Value
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.numerics.widths import integer_limits
from hlotool.ops.shape_changing import Broadcast, Reshape, Transpose
from hlotool.ops.source import Constant
from hlotool.passes.algsimp.regular import type_of
from hlotool.rewriting.builder import Builder, array_shape

_MOST_STEPS = 4
"""Through how many instructions a constant is looked for: each is looked through once a user."""

_SPREADING = (Broadcast, Reshape, Transpose)
KNOWN = (Constant, *_SPREADING)
"""The ops of what may have one known number everywhere, for patterns that need such operands."""


def source_of(instruction: Instruction) -> Instruction:
    """Returns what broadcasts, reshapes and transposes take their elements from."""
    for _ in range(_MOST_STEPS):
        if not isinstance(instruction.op, _SPREADING):
            break
        instruction = instruction.operands[0]
    return instruction


def is_constant(instruction: Instruction) -> bool:
    """Whether the elements are those of a constant."""
    return isinstance(source_of(instruction).op, Constant)


def number_of(instruction: Instruction) -> Literal | None:
    """Returns the scalar that every element equals, where it is known."""
    op = source_of(instruction).op
    if not isinstance(op, Constant) or op.literal.elided:
        return None
    return splat(op.literal)


def splat(literal: Literal) -> Literal | None:
    """Returns the scalar that every element of a literal equals bit for bit."""
    shape = literal.shape
    if not isinstance(shape, ArrayShape) or not literal.data or literal.elided:
        return None
    if shape.is_scalar:
        return literal
    width = shape.element_type.storage_bytes
    first, count = literal.data[:width], len(literal.data) // width
    # Most arrays that are not all the same differ in their last element already.
    if literal.data[-width:] != first or (count > 2 and literal.data != first * count):
        return None
    return Literal(ArrayShape(shape.element_type), first)


def are_equal(one: Instruction, other: Instruction) -> bool:
    """Whether two arrays of one shape are one, or have the same number everywhere."""
    if one is other:
        return True
    number = number_of(one)
    return number is not None and number == number_of(other)


def value_of(instruction: Instruction) -> Value | None:
    """Returns the number that every element equals, where it is known."""
    number = number_of(instruction)
    return None if number is None else number.scalar()


def integer_of(instruction: Instruction) -> int | None:
    """Returns the integer that every element equals, where it is known."""
    if not type_of(instruction).is_integer:
        return None
    number = value_of(instruction)
    return number if isinstance(number, int) else None


@cache
def has_negative_zero(element_type: ElementType) -> bool:
    """Whether 0 has a sign that can be negative."""
    form = element_type.component.float_format
    return form is not None and Literal.from_array(-0.0, element_type.component).data[-1] != 0


def _is_negative_zero(value: Value) -> bool:
    if isinstance(value, complex):
        return _is_negative_zero(value.real) and _is_negative_zero(value.imag)
    return isinstance(value, float) and value == 0 and copysign(1, value) < 0


def is_any_zero(instruction: Instruction) -> bool:
    """Whether all elements are 0 or -0."""
    value = value_of(instruction)
    return value is not None and value == 0


def is_zero(instruction: Instruction) -> bool:
    """Whether all elements are 0 of positive sign."""
    value = value_of(instruction)
    if isinstance(value, complex):
        return not any(part or copysign(1, part) < 0 for part in (value.real, value.imag))
    return value is not None and value == 0 and not _is_negative_zero(value)


def is_negative_zero(instruction: Instruction) -> bool:
    """Whether all elements are -0; of complex numbers both parts."""
    value = value_of(instruction)
    return value is not None and _is_negative_zero(value)


def is_one(instruction: Instruction) -> bool:
    """Whether all elements are 1, or true."""
    value = value_of(instruction)
    return value is not None and value == 1


def is_minus_one(instruction: Instruction) -> bool:
    """Whether all elements are -1; of unsigned integers the greatest, which wraps like it."""
    element_type = type_of(instruction)
    if element_type.is_integer:
        return has_all_bits(instruction)
    value = value_of(instruction)
    return value is not None and value == -1


def has_all_bits(instruction: Instruction) -> bool:
    """Whether all elements are true, or integers with every bit set."""
    value = value_of(instruction)
    element_type = type_of(instruction)
    return value is not None and not isinstance(value, complex) and value == all_bits(element_type)


def all_bits(element_type: ElementType) -> int:
    """Returns the integer with every bit set, as the type spells it; 1 for pred."""
    if element_type.kind is Kind.PRED:
        return 1
    return -1 if element_type.is_signed else integer_limits(element_type)[1]


def is_number(instruction: Instruction) -> bool:
    """Whether all elements are one known number that is not NaN."""
    value = value_of(instruction)
    return value is not None and not isinstance(value, complex) and not isnan(value)


def power_of_two(value: int) -> int | None:
    """Returns the exponent of a positive power of two."""
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def computed(op: Op, element_type: ElementType, *numbers: Literal) -> Literal:
    """Returns what an elementwise op makes of scalars, in a type."""
    operands = tuple(Instruction("", number.shape, Constant(number)) for number in numbers)
    instruction = Instruction("", ArrayShape(element_type), op, operands)
    frame = Frame(instruction, (), LoneDevice(0, 0))
    with np.errstate(all="ignore"):
        value = op.evaluate([number.array() for number in numbers], frame)
    return Literal.from_array(value, element_type)


def folded(op: Op, build: Builder, *constants: Instruction) -> Instruction:
    """Returns what an op makes of arrays of one known number each, in the shape of the first.

    The result has the type of the last one.
    """
    numbers = [number for constant in constants if (number := number_of(constant)) is not None]
    assert len(numbers) == len(constants), "arrays of known numbers are folded"
    made = computed(op, type_of(constants[-1]), *numbers)
    return filled(made, array_shape(constants[0]), build)


def filled(number: Literal, shape: ArrayShape, build: Builder) -> Instruction:
    """Returns an array of one number everywhere; the shape gives the dimensions and layout."""
    constant = build.literal(number)
    return build.broadcast(constant, (), shape.with_element_type(number.element_type))


def full_like(value: Value, like: Instruction, build: Builder) -> Instruction:
    """Returns an array of a number, with the type and dimensions of another array."""
    shape = array_shape(like)
    return filled(Literal.from_array(value, shape.element_type), shape, build)
