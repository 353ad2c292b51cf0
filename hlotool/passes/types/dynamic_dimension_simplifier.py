"""Taking sizes of dynamic dimensions from where they were set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import UNBOUNDED
from hlotool.ops.elementwise import Binary
from hlotool.ops.indexing import GetDimensionSize, SetDimensionSize
from hlotool.ops.shape_changing import Transpose
from hlotool.ops.source import Constant
from hlotool.ops.unary import Copy, Unary
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("dynamic-dimension-simplifier")


@patterns.rewrites(GetDimensionSize)
def size_of_static_dimension(instruction: Instruction, builder: Builder) -> Instruction | None:
    """get-dimension-size(x: f32[3], 0) -> 3"""
    match instruction:
        case Instruction(op=GetDimensionSize(dimensions=dimension), operands=[operand]):
            shape = array_shape(operand)
            if not shape.is_dynamic(dimension):
                return builder.constant(shape.dimensions[dimension], S32)
    return None


@patterns.rewrites(SetDimensionSize)
def size_set_to_all(instruction: Instruction, _: Builder) -> Instruction | None:
    """set-dimension-size(x: f32[3], 3, 0) -> x, where the result is declared static"""
    match instruction:
        case Instruction(
            op=SetDimensionSize(dimensions=dimension),
            operands=[x, Instruction(op=Constant(literal=size))],
        ):
            shape = array_shape(x)
            is_all = shape.is_static and size.is_all(shape.dimensions[dimension])
            return x if is_all and instruction.shape == shape else None
    return None


@patterns.rewrites(GetDimensionSize)
def size_that_was_set(instruction: Instruction, _: Builder) -> Instruction | None:
    """get-dimension-size(set-dimension-size(x, n, 0), 0) -> n"""
    match instruction:
        case Instruction(
            op=GetDimensionSize(dimensions=asked),
            operands=[Instruction(op=SetDimensionSize(dimensions=given), operands=[_, size])],
        ) if asked == given:
            return size
    return None


@patterns.rewrites(GetDimensionSize)
def size_of_another_dimension(instruction: Instruction, builder: Builder) -> Instruction | None:
    """get-dimension-size(set-dimension-size(x, n, 1), 0) -> get-dimension-size(x, 0)"""
    match instruction:
        case Instruction(
            op=GetDimensionSize(dimensions=asked),
            operands=[Instruction(op=SetDimensionSize(dimensions=given), operands=[whole, _])],
        ) if asked != given:
            return builder.add(GetDimensionSize(asked), whole)
    return None


@patterns.rewrites(GetDimensionSize)
def size_of_new_values(instruction: Instruction, builder: Builder) -> Instruction | None:
    """get-dimension-size(negate(x), 0) -> get-dimension-size(x, 0)"""
    (operand,) = instruction.operands
    op = instruction.op
    assert isinstance(op, GetDimensionSize)
    if not isinstance(operand.op, (Binary, Copy, Unary)):
        return None
    for source in operand.operands:
        if array_shape(source).is_dynamic(op.dimensions):
            return builder.add(op, source)
    return None


@patterns.rewrites(GetDimensionSize)
def size_of_transposed(instruction: Instruction, builder: Builder) -> Instruction | None:
    """get-dimension-size(transpose(x, {1,0}), 0) -> get-dimension-size(x, 1)"""
    match instruction:
        case Instruction(
            op=GetDimensionSize(dimensions=asked),
            operands=[Instruction(op=Transpose(dimensions=dimensions), operands=[operand])],
        ):
            return builder.add(GetDimensionSize(dimensions[asked]), operand)
    return None


@patterns.rewrites(SetDimensionSize)
def size_set_as_it_is(instruction: Instruction, _: Builder) -> Instruction | None:
    """set-dimension-size(x, get-dimension-size(x, 0), 0) -> x"""
    match instruction:
        case Instruction(
            op=SetDimensionSize(dimensions=given),
            operands=[
                whole,
                Instruction(op=GetDimensionSize(dimensions=asked), operands=[measured]),
            ],
        ) if asked == given and measured is whole:
            # Of a static dimension the users may count on its being dynamic.
            return whole if whole.shape == instruction.shape else None
    return None


@patterns.rewrites(SetDimensionSize)
def size_set_twice(instruction: Instruction, _: Builder) -> Instruction | None:
    """set-dimension-size(set-dimension-size(x, n, 0), n, 0) -> set-dimension-size(x, n, 0)"""
    match instruction:
        case Instruction(
            op=SetDimensionSize(dimensions=last),
            operands=[
                Instruction(op=SetDimensionSize(dimensions=first), operands=[_, before]) as inner,
                size,
            ],
        ) if first == last and before is size:
            return inner if UNBOUNDED not in array_shape(inner).dimensions else None
    return None


@dataclass(frozen=True)
class DynamicDimensionSimplifier(PatternPass):
    """Takes sizes of dynamic dimensions from where they were set, or from the bounds."""

    name: ClassVar[str] = "dynamic-dimension-simplifier"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
