"""Comparisons, and choices that are made by them: select, clamp, the greater and the lesser."""

from __future__ import annotations

from hlotool.codegen.elements.elementwise import (
    INTEGERS,
    Operands,
    common_type,
    elementwise,
    formula,
    same_width,
    settled,
)
from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.conversion import converted
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.orders import greater_float, lesser_float, total_order
from hlotool.codegen.numbers.patterns import selected
from hlotool.ir.element_type import PRED, ElementType, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Clamp, Compare, Maximum, Minimum, Select

_FLOAT_PREDICATES = {
    "EQ": "oeq", "NE": "une", "GE": "oge", "GT": "ogt", "LE": "ole", "LT": "olt",
}  # fmt: skip


@elementwise(Compare)
def _compare(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    op = instruction.op
    assert isinstance(op, Compare)
    common = common_type(instruction.operands)
    if op.type == "TOTALORDER" and common.is_float:
        one, other = (
            total_order(function, converted(function, operand, common)) for operand in operands
        )
        predicate = _integer_predicate(op.direction, signed=True)
        return Element(PRED, (function.compare(predicate, one, other),))
    flags = [
        function.compare(_predicate(op.direction, common), one, other)
        for one, other in zip(*same_width(function, operands), strict=True)
    ]
    whole = flags[0]
    for flag in flags[1:]:
        whole = function.binary("and" if op.direction == "EQ" else "or", whole, flag)
    return Element(PRED, (whole,))


def _predicate(direction: str, element_type: ElementType) -> str:
    if element_type.component.is_float:
        return _FLOAT_PREDICATES[direction]
    return _integer_predicate(direction, signed=element_type.is_signed)


def _integer_predicate(direction: str, *, signed: bool) -> str:
    name = direction.lower()
    return name if name in ("eq", "ne") else ("s" if signed else "u") + name


@elementwise(Select)
def _select(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    declared = element_type_of(instruction)
    flag, *values = operands
    common = common_type(instruction.operands[1:])
    yes, no = (converted(function, value, common) for value in values)
    return converted(function, selected(function, flag.value, yes, no), declared)


@elementwise(Clamp)
def _clamp(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    result = operands[1].type
    low, value, high = (parts[0] for parts in same_width(function, operands))
    kept = _greater(function, result, low, value)
    kept = _lesser(function, result, kept, high)
    exact = all(operand.type is result for operand in operands)
    declared = element_type_of(instruction)
    return settled(function, (kept,), result, declared, exact=exact)


@formula(Maximum, kinds=[*INTEGERS, Kind.FLOAT, Kind.PRED], exact=True)
def _maximum(given: Operands) -> Value:
    return _greater(given.function, given.type, *given.values)


@formula(Minimum, kinds=[*INTEGERS, Kind.FLOAT, Kind.PRED], exact=True)
def _minimum(given: Operands) -> Value:
    return _lesser(given.function, given.type, *given.values)


def _greater(
    function: FunctionWriter, element_type: ElementType, one: Value, other: Value
) -> Value:
    if element_type.is_float:
        return greater_float(function, one, other)
    predicate = _integer_predicate("GT", signed=element_type.is_signed)
    return function.select(function.compare(predicate, one, other), one, other)


def _lesser(function: FunctionWriter, element_type: ElementType, one: Value, other: Value) -> Value:
    if element_type.is_float:
        return lesser_float(function, one, other)
    predicate = _integer_predicate("LT", signed=element_type.is_signed)
    return function.select(function.compare(predicate, one, other), one, other)
