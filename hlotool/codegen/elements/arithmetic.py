"""Arithmetic and comparisons of integers and floats."""

from __future__ import annotations

from collections.abc import Mapping

from hlotool.codegen.elements.elementwise import elementwise
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.rounding import rounded
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import (
    Add,
    And,
    Compare,
    Divide,
    Maximum,
    Minimum,
    Multiply,
    Or,
    Select,
    Subtract,
    Xor,
)
from hlotool.ops.unary import Abs, Copy, Negate, Not

_FLOAT = {Add: "fadd", Subtract: "fsub", Multiply: "fmul", Divide: "fdiv"}
_INTEGER = {Add: "add", Subtract: "sub", Multiply: "mul", And: "and", Or: "or", Xor: "xor"}
_OF_PRED = {Add: "or", Multiply: "and", And: "and", Or: "or", Xor: "xor"}


def _computed(
    function: FunctionWriter, element_type: ElementType, opcode: str, values: tuple[Value, ...]
) -> Element:
    value = function.binary(opcode, *values)
    return Element(element_type, (rounded(function, element_type, value),))


def _opcode(instruction: Instruction, element_type: ElementType) -> str:
    tables: Mapping[type, str] = (
        _FLOAT if element_type.is_float else _OF_PRED if element_type is PRED else _INTEGER
    )
    found = tables.get(type(instruction.op))
    if found is None or element_type.is_complex:
        raise NotCompiled(f"{instruction.opcode} of {element_type.name}")
    return found


@elementwise(Add, Subtract, Multiply, Divide, And, Or, Xor)
def _binary(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    element_type = operands[0].type
    opcode = _opcode(instruction, element_type)
    return _computed(function, element_type, opcode, tuple(one.value for one in operands))


@elementwise(Maximum, Minimum)
def _extreme(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    one, other = (operand.value for operand in operands)
    element_type = operands[0].type
    greater = isinstance(instruction.op, Maximum)
    if not element_type.is_float:
        raise NotCompiled(f"{instruction.opcode} of {element_type.name}")
    name = "maximum" if greater else "minimum"
    return Element(element_type, (function.intrinsic(name, one, other),))


_ORDERED = {"EQ": "oeq", "NE": "une", "GE": "oge", "GT": "ogt", "LE": "ole", "LT": "olt"}


@elementwise(Compare)
def _compare(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    op = instruction.op
    assert isinstance(op, Compare)
    element_type = operands[0].type
    one, other = (operand.value for operand in operands)
    if element_type.is_float:
        predicate = _ORDERED[op.direction]
    else:
        order = "s" if element_type.is_signed else "u"
        name = op.direction.lower()
        predicate = name if name in ("eq", "ne") else order + name
    return Element(PRED, (function.compare(predicate, one, other),))


@elementwise(Select)
def _select(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    flag, yes, no = operands
    parts = zip(yes.parts, no.parts, strict=True)
    return Element(yes.type, tuple(function.select(flag.value, one, other) for one, other in parts))


@elementwise(Negate)
def _negate(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    (operand,) = operands
    if operand.type.is_integer:
        zero = constant(operand.value.type, 0)
        return Element(operand.type, (function.binary("sub", zero, operand.value),))
    return Element(operand.type, tuple(function.negative(part) for part in operand.parts))


@elementwise(Abs)
def _abs(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    (operand,) = operands
    if not operand.type.is_float:
        raise NotCompiled(f"abs of {operand.type.name}")
    return Element(operand.type, (function.intrinsic("fabs", operand.value),))


@elementwise(Not)
def _not(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    (operand,) = operands
    ones = constant(operand.value.type, 1 if operand.type is PRED else -1)
    return Element(operand.type, (function.binary("xor", operand.value, ones),))


@elementwise(Copy)
def _copy(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    return operands[0]
