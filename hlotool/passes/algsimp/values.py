"""What is known of values before a module runs: constants, and arrays of one value."""

from __future__ import annotations

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.lazy import numpy as np
from hlotool.ir.literal import Literal
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.reducers import Combination, recognized
from hlotool.ops.elementwise import Add, And, Maximum, Minimum, Multiply, Or, Xor
from hlotool.ops.shape_changing import Broadcast, Reshape
from hlotool.ops.source import Constant
from hlotool.passes.algsimp.constants import number_of
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import are_static

_IDEMPOTENT = (And, Maximum, Minimum, Or)
"""Ops that yield a value when both operands have it."""


def literal_of(instruction: Instruction) -> Literal | None:
    """Returns the value of a constant array, unless the text has left it out."""
    match instruction:
        case Instruction(op=Constant(literal=Literal(elided=False) as literal), shape=shape) if (
            isinstance(shape, ArrayShape) and shape.is_static
        ):
            return literal
    return None


def scalar_of(instruction: Instruction) -> Instruction | None:
    """Returns the scalar that an array has everywhere because it is broadcast; a scalar itself."""
    if not are_static(instruction):
        return None
    if array_shape(instruction).is_scalar:
        return instruction
    match instruction:
        case Instruction(op=Broadcast() | Reshape(), operands=[scalar]) if array_shape(
            scalar
        ).is_scalar:
            return scalar
    return None


def is_same(one: Instruction, other: Instruction) -> bool:
    """Whether two arrays have the same bits, as far as is seen: one instruction, or constants."""
    if one is other:
        return True
    first, second = literal_of(one), literal_of(other)
    if first is None or second is None:
        return False
    return first.shape.compatible(second.shape) and first.data == second.data


def is_same_scalar(one: Instruction, other: Instruction) -> bool:
    """Whether all elements of two arrays are one value, the same bits in both."""
    first, second = scalar_of(one), scalar_of(other)
    if first is not None and first is second:
        return True
    number, again = number_of(one), number_of(other)
    return number is not None and number == again


def only_scalar(instruction: Instruction, build: Builder) -> Instruction | None:
    """Returns the scalar that an array has everywhere, as far as is seen."""
    found = scalar_of(instruction)
    if found is not None:
        return found
    number = number_of(instruction)
    return None if number is None else build.literal(number)


def is_zero(instruction: Instruction) -> bool:
    """Whether all elements are known to be 0, of floats the one or the other."""
    literal = number_of(instruction)
    return literal is not None and literal.is_all(0)


def combination_of(reducer: Computation) -> Combination | None:
    """Returns what a reducer of one accumulator does, where one op on one type does it."""
    components = recognized(reducer)
    if components is None or len(components) != 1 or reducer.root.shape.is_tuple:
        return None
    (component,) = components
    if not isinstance(component, Combination):
        return None
    shapes = [parameter.shape for parameter in reducer.parameters]
    is_one_type = all(shape == ArrayShape(component.element_type) for shape in shapes)
    return component if is_one_type else None


def is_idempotent(combination: Combination) -> bool:
    """Whether a value combined with itself stays as it is."""
    return combination.op in _IDEMPOTENT or (
        combination.element_type.name == "pred" and combination.op in {Add, Multiply}
    )


def is_exact(combination: Combination) -> bool:
    """Whether the result is the same in whatever order elements are combined."""
    element_type = combination.element_type
    rounds = element_type.is_float or element_type.is_complex
    return not (rounds and combination.op in {Add, Multiply})


def is_neutral(combination: Combination, instruction: Instruction) -> bool:
    """Whether combining with this value is known to change nothing."""
    literal = number_of(instruction)
    if literal is None or literal.element_type is not combination.element_type:
        return False
    wanted = _neutral(combination.op, literal.element_type)
    return wanted is not None and wanted.data == literal.data


def _neutral(op: type[Op], element_type: ElementType) -> Literal | None:
    if element_type.name == "pred":
        return Literal.from_array(op in {And, Minimum, Multiply}, element_type)
    if element_type.is_float or element_type.is_complex:
        return _neutral_number(op, element_type)
    if op is Multiply:
        return Literal.from_array(1, element_type)
    if op in {Add, Or, Xor}:
        return Literal.from_array(0, element_type)
    ones = (1 << element_type.bits) - 1
    if op is And:
        return _of_bits(ones, element_type)
    top = 1 << (element_type.bits - 1)
    least, greatest = (top, top - 1) if element_type.is_signed else (0, ones)
    return _of_bits(least if op is Maximum else greatest, element_type)


def _neutral_number(op: type[Op], element_type: ElementType) -> Literal | None:
    # Only -0 leaves -0 as it is, and a type may lack it, as it may lack infinities.
    form = element_type.component.float_format
    assert form is not None
    if op is Multiply and element_type.is_float:
        return Literal.from_array(1, element_type)
    if not form.has_sign or not form.has_infinity:
        return None
    numbers: dict[type[Op], float] = {Add: -0.0, Maximum: -np.inf, Minimum: np.inf}
    found = numbers.get(op)
    if found is None or (element_type.is_complex and op is not Add):
        return None
    number = complex(found, found) if element_type.is_complex else found
    return Literal.from_array(number, element_type)


def _of_bits(bits: int, element_type: ElementType) -> Literal:
    data = bits.to_bytes(element_type.storage_bytes, "little")
    return Literal(ArrayShape(element_type), data)


def zeros(build: Builder, shape: ArrayShape) -> Instruction:
    """Returns an array of zeros, row-major."""
    return build.full(0, shape.with_default_layout())
