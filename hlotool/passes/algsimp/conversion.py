"""Identities of conversions between element types."""

from __future__ import annotations

import numpy as np

from hlotool.analysis.lossless import holds_all
from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape
from hlotool.ops.conversion import BitcastConvert, Convert, ReducePrecision
from hlotool.ops.elementwise import And
from hlotool.ops.source import Constant, Iota
from hlotool.passes.algsimp.constants import integer_of, splat
from hlotool.passes.algsimp.regular import RegularPatternSet, type_of
from hlotool.rewriting.builder import Builder, array_shape

patterns = RegularPatternSet("conversion")


@patterns.rewrites(Convert)
def convert_to_same(instruction: Instruction, _: Builder) -> Instruction | None:
    """convert(x) -> x, to the type that it has"""
    (x,) = instruction.operands
    return x if type_of(x) is type_of(instruction) else None


@patterns.rewrites(Convert, over=(Convert,))
def convert_twice(instruction: Instruction, build: Builder) -> Instruction | None:
    """convert(convert(x)) -> convert(x), where the first conversion loses nothing of the result"""
    match instruction.operands:
        case [Instruction(op=Convert(), operands=[x])]:
            inner, outer = type_of(instruction.operands[0]), type_of(instruction)
            if not _is_direct(type_of(x), inner, outer):
                return None
            return build.convert(x, outer)
    return None


def _is_direct(first: ElementType, middle: ElementType, last: ElementType) -> bool:
    """Whether a conversion from `first` to `last` yields what the detour by `middle` does."""
    if first.is_integer and middle.is_integer and last.is_integer and last.bits <= middle.bits:
        # Only low bits are kept, or bits that say nothing are put before them.
        return last.bits <= first.bits or holds_all(middle, first)
    if not holds_all(middle, first):
        return False
    # Integers that do not fit lose high bits, floats stop at the limits.
    saturates = (middle.is_float or middle.is_complex) and last.is_integer
    return not (saturates and first.is_integer) or holds_all(last, first)


@patterns.rewrites(Convert, over=(And,))
def convert_masked(instruction: Instruction, build: Builder) -> Instruction | None:
    """convert(x & c) -> convert(x), of integers, where c has every bit that is kept"""
    match instruction.operands:
        case [Instruction(op=And(), operands=[x, constant])]:
            mask, wanted = integer_of(constant), type_of(instruction)
            if mask is None or not wanted.is_integer or wanted.bits > type_of(x).bits:
                return None
            kept = (1 << wanted.bits) - 1
            return build.convert(x, wanted) if mask & kept == kept else None
    return None


@patterns.rewrites(Convert, over=(Iota,))
def convert_iota(instruction: Instruction, build: Builder) -> Instruction | None:
    """convert(iota) -> iota, of the other type, where both have every number"""
    match instruction.operands:
        case [Instruction(op=Iota(iota_dimension=dimension) as op) as iota]:
            size = array_shape(iota).dimensions[dimension]
            wanted = type_of(instruction)
            if wanted.kind is Kind.PRED or not (
                _counts(type_of(iota), size) and _counts(wanted, size)
            ):
                return None
            return build.add(op, shape=instruction.shape)
    return None


def _counts(element_type: ElementType, size: int) -> bool:
    """Whether a type has all numbers from 0 to `size - 1`."""
    if element_type.is_integer:
        return size <= 1 << (element_type.bits - element_type.is_signed)
    form = element_type.component.float_format
    return form is not None and size <= 1 << min(form.mantissa_bits + 1, form.bias)


@patterns.rewrites(BitcastConvert)
def bitcast_to_same(instruction: Instruction, _: Builder) -> Instruction | None:
    """bitcast-convert(x) -> x, to the type that it has"""
    (x,) = instruction.operands
    return x if type_of(x) is type_of(instruction) else None


@patterns.rewrites(BitcastConvert)
def bitcast_twice(instruction: Instruction, build: Builder) -> Instruction | None:
    """bitcast-convert(bitcast-convert(x)) -> bitcast-convert(x), of one width; back to x -> x"""
    match instruction.operands:
        case [Instruction(op=BitcastConvert(), operands=[x]) as inner]:
            if Kind.PRED in {type_of(one).kind for one in (x, inner, instruction)}:
                return None
            if x.shape.compatible(instruction.shape):
                return x
            widths = {type_of(one).bits for one in (x, inner, instruction)}
            if len(widths) == 1:
                return build.add(BitcastConvert(), x, shape=instruction.shape)
    return None


@patterns.rewrites(ReducePrecision)
def reduce_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """reduce-precision(x) -> x, to as many bits as the type has"""
    match instruction:
        case Instruction(op=ReducePrecision(exponent_bits=e, mantissa_bits=m), operands=[x]):
            form = type_of(x).float_format
            if form is not None and e >= form.exponent_bits and m >= form.mantissa_bits:
                return x
    return None


@patterns.rewrites(ReducePrecision)
def reduce_twice(instruction: Instruction, _: Builder) -> Instruction | None:
    """reduce-precision(reduce-precision(x)) -> reduce-precision(x), of the least bits"""
    match instruction:
        case Instruction(
            op=ReducePrecision(exponent_bits=e, mantissa_bits=m),
            operands=[
                Instruction(op=ReducePrecision(exponent_bits=inner_e, mantissa_bits=inner_m))
            ],
        ) if e >= inner_e and m >= inner_m:
            return instruction.operands[0]
    return None


@patterns.rewrites(Constant)
def spread_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """constant({c, c, ...}) -> broadcast(constant(c))"""
    match instruction:
        case Instruction(op=Constant(literal=literal), shape=ArrayShape() as shape):
            number = splat(literal) if shape.rank and shape.element_count > 1 else None
            if number is not None:
                return build.broadcast(build.literal(number), (), shape)
    return None


@patterns.rewrites(Constant)
def count_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """constant({0, 1, 2, ...}) -> iota"""
    match instruction:
        case Instruction(op=Constant(literal=literal), shape=ArrayShape() as shape) if (
            shape.rank == 1 and shape.element_count > 1 and not literal.elided
        ):
            element_type = shape.element_type
            if element_type.kind is Kind.PRED or not _is_counting(literal, element_type):
                return None
            return build.iota(0, shape)
    return None


def _is_counting(literal: Literal, element_type: ElementType) -> bool:
    width = element_type.storage_bytes
    count = len(literal.data) // width
    # No number is -0.
    if any(literal.data[:width]) or not _counts(element_type, count):
        return False
    array = literal.array()
    return bool((array == np.arange(count).astype(array.dtype)).all())
