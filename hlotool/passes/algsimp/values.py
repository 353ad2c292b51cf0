"""What is known of values before a module runs: constants, and arrays of one value."""

from __future__ import annotations

from hlotool.analysis.combinations import neutral_value
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.reducers import Combination
from hlotool.ops.elementwise import Multiply
from hlotool.ops.shape_changing import Broadcast, Reshape
from hlotool.ops.source import Constant
from hlotool.passes.algsimp.constants import number_of
from hlotool.rewriting.builder import Builder, array_shape


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
    shape = instruction.shape
    if not isinstance(shape, ArrayShape) or shape.dynamic:
        return None
    if shape.is_scalar:
        return instruction
    if isinstance(instruction.op, (Broadcast, Reshape)):
        scalar = instruction.operands[0]
        return scalar if array_shape(scalar).is_scalar else None
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


def is_neutral(combination: Combination, instruction: Instruction) -> bool:
    """Whether combining with this value is known to leave every value's bits as they are."""
    element_type = combination.element_type
    literal = number_of(instruction)
    if literal is None or literal.element_type is not element_type:
        return False
    if combination.op is Multiply and element_type.is_complex:
        # Parts that are infinite become NaN, and zeros may change their sign.
        return False
    wanted = neutral_value(combination)
    return wanted is not None and Literal.from_array(wanted, element_type).data == literal.data


def zeros(build: Builder, shape: ArrayShape) -> Instruction:
    """Returns an array of zeros, row-major."""
    return build.full(0, shape.with_default_layout())
