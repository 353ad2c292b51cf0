"""Ops that change how numbers are held: their type, their bits, their precision; indices."""

from __future__ import annotations

import math

from hlotool.codegen.elements.elementwise import elementwise
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.indexing.index import index_of
from hlotool.codegen.indexing.index_values import lane_values
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.math.number import Number
from hlotool.codegen.numbers.conversion import converted, resized, saturated
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.patterns import bits_of, of_bits
from hlotool.codegen.numbers.precision import reduced
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import S32, S64, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.conversion import BitcastConvert, Convert, ReducePrecision, StochasticConvert
from hlotool.ops.source import Iota


@elementwise(Convert)
def _convert(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    return converted(function, operands[0], element_type_of(instruction))


@element_rule(BitcastConvert)
def _bitcast_convert(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    function = emitter.function
    old = element_type_of(instruction.operands[0])
    new = element_type_of(instruction)
    if old is new:
        return emitter.operand(instruction, 0, index)
    if old.bits == new.bits:
        bits = bits_of(function, emitter.operand(instruction, 0, index))
        return of_bits(function, new, bits)
    if old.bits < new.bits:
        return of_bits(function, new, _joined(emitter, instruction, index))
    # The last index numbers the pieces, the lowest bits first.
    whole = bits_of(function, emitter.operand(instruction, 0, index[:-1]))
    moved = lane_values(function, index[-1] * new.bits, emitter.lanes)
    moved = resized(function, moved, whole.type, signed=False)
    return of_bits(function, new, function.binary("lshr", whole, moved))


def _joined(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Value:
    """Writes the bits of all pieces of an element."""
    function = emitter.function
    old = element_type_of(instruction.operands[0])
    new = element_type_of(instruction)
    lane = f"i{max(8, new.bits)}"
    whole = constant(lane, 0)
    for number in range(new.bits // old.bits):
        piece = emitter.operand(instruction, 0, (*index, index_of(number)))
        bits = resized(function, _own_bits(function, old, piece), lane, signed=False)
        moved = function.binary("shl", bits, constant(lane, number * old.bits))
        whole = function.binary("or", whole, moved)
    return whole


def _own_bits(function: FunctionWriter, element_type: ElementType, element: Element) -> Value:
    return function.cast("trunc", bits_of(function, element), f"i{element_type.bits}")


@elementwise(ReducePrecision)
def _reduce_precision(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    op = instruction.op
    assert isinstance(op, ReducePrecision)
    found = reduced(function, operands[0], op.exponent_bits, op.mantissa_bits)
    return converted(function, found, element_type_of(instruction))


@elementwise(StochasticConvert)
def _stochastic_convert(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    """Writes floats as integers: a fraction above the random bits moves away from zero."""
    value, random = operands
    to_type = element_type_of(instruction)
    if not to_type.is_integer:
        raise NotCompiled(f"stochastic-convert to {to_type.name}, which is not defined")
    number = Number(function, function.cast("fpext", value.value, "double"))
    size = number.size()
    whole = size.cut()
    share = (size - whole) * 2.0**value.type.bits
    threshold = function.intrinsic("fptoui.sat", share.value, lane="i64")
    bits = resized(function, random.value, "i64", signed=False)
    is_moved = function.compare("ult", bits, threshold)
    one, zero = constant("double", 1), constant("double", 0)
    moved = whole + Number(function, function.select(is_moved, one, zero))
    signed = (size < math.inf).choose(moved, whole).with_sign(number)
    return Element(to_type, (saturated(function, signed.value, to_type),))


@element_rule(Iota)
def _iota(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Iota)
    counted = index[op.iota_dimension]
    value = lane_values(emitter.function, counted, emitter.lanes)
    element_type = S64
    if counted.low >= 0 and counted.high < 1 << 31:
        value, element_type = emitter.function.cast("trunc", value, "i32"), S32
    found = Element(element_type, (value,))
    return converted(emitter.function, found, element_type_of(instruction))
