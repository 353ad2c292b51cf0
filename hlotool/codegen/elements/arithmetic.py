"""Sums, products, signs: arithmetic of integers and floats that differs little between them."""

from __future__ import annotations

from hlotool.codegen.elements.elementwise import INTEGERS, Operands, elementwise, formula
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.ir.element_type import Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ops.elementwise import Add, Divide, Multiply, Subtract
from hlotool.ops.unary import Abs, Copy, Negate, Sign

_FLOAT: dict[type[Op], str] = {Add: "fadd", Subtract: "fsub", Multiply: "fmul", Divide: "fdiv"}
_INTEGER: dict[type[Op], str] = {Add: "add", Subtract: "sub", Multiply: "mul"}
_OF_PRED: dict[type[Op], str] = {Add: "or", Multiply: "and"}


@formula(Add, Subtract, Multiply, Divide, kinds=[Kind.FLOAT])
def _of_floats(given: Operands) -> Value:
    return given.binary(_FLOAT[type(given.op)])


@formula(Add, Subtract, Multiply, kinds=INTEGERS)
def _of_integers(given: Operands) -> Value:
    return given.binary(_INTEGER[type(given.op)])


@formula(Add, Multiply, kinds=[Kind.PRED])
def _of_flags(given: Operands) -> Value:
    return given.binary(_OF_PRED[type(given.op)])


@formula(Negate, kinds=[Kind.FLOAT, Kind.COMPLEX], exact=True)
def _negative(given: Operands) -> tuple[Value, ...]:
    return tuple(given.function.negative(part) for part in given.elements[0])


@formula(Negate, kinds=INTEGERS)
def _negative_integer(given: Operands) -> Value:
    (value,) = given.values
    return given.function.binary("sub", constant(value.type, 0), value)


@formula(Abs, kinds=[Kind.FLOAT], exact=True)
def _size(given: Operands) -> Value:
    return given.function.intrinsic("fabs", *given.values)


@formula(Abs, kinds=[Kind.SIGNED])
def _size_of_integer(given: Operands) -> Value:
    function, (value,) = given.function, given.values
    zero = constant(value.type, 0)
    is_negative = function.compare("slt", value, zero)
    return function.select(is_negative, function.binary("sub", zero, value), value)


@formula(Sign, kinds=[Kind.FLOAT], exact=True)
def _sign(given: Operands) -> Value:
    function, (value,) = given.function, given.values
    zero, one = constant(value.type, 0), constant(value.type, 1)
    signed = function.intrinsic("copysign", one, value)
    # Zeros and NaN are neither more nor less than 0.
    return function.select(function.compare("one", value, zero), signed, value)


@formula(Sign, kinds=[Kind.SIGNED])
def _sign_of_integer(given: Operands) -> Value:
    function, (value,) = given.function, given.values
    is_positive = function.compare("sgt", value, constant(value.type, 0))
    is_negative = function.compare("slt", value, constant(value.type, 0))
    more = function.cast("zext", is_positive, value.type)
    return function.binary("sub", more, function.cast("zext", is_negative, value.type))


@elementwise(Copy)
def _copy(
    function: FunctionWriter, instruction: Instruction, operands: tuple[Element, ...]
) -> Element:
    return operands[0]
