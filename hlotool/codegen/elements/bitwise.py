"""Bits of integers and of pred: logic, shifts, counts."""

from __future__ import annotations

from hlotool.codegen.elements.elementwise import INTEGERS, Operands, formula
from hlotool.codegen.llvm.value import Value, constant
from hlotool.ir.element_type import Kind
from hlotool.ir.op import Op
from hlotool.ops.elementwise import And, Or, ShiftLeft, ShiftRightArithmetic, ShiftRightLogical, Xor
from hlotool.ops.unary import CountLeadingZeros, Not, Popcnt

_LOGIC: dict[type[Op], str] = {And: "and", Or: "or", Xor: "xor"}
_SHIFTS: dict[type[Op], str] = {ShiftLeft: "shl", ShiftRightLogical: "lshr"}


@formula(And, Or, Xor, kinds=[*INTEGERS, Kind.PRED])
def _logic(given: Operands) -> Value:
    return given.binary(_LOGIC[type(given.op)])


@formula(Not, kinds=[*INTEGERS, Kind.PRED])
def _inverse(given: Operands) -> Value:
    (value,) = given.values
    return given.function.binary("xor", value, constant(value.type, -1))


@formula(ShiftLeft, ShiftRightLogical, kinds=INTEGERS)
def _shifted(given: Operands) -> Value:
    """Writes 0 where bits are moved by the width or more; amounts are unsigned."""
    moved = given.binary(_SHIFTS[type(given.op)])
    return given.function.select(_is_inside(given), moved, constant(moved.type, 0))


@formula(ShiftRightArithmetic, kinds=INTEGERS)
def _shifted_signed(given: Operands) -> Value:
    """Writes copies of the highest bit where bits are moved by the width or more."""
    function, (value, amount) = given.function, given.values
    most = constant(amount.type, given.type.bits - 1)
    bounded = function.select(_is_inside(given), amount, most)
    return function.binary("ashr", value, bounded)


def _is_inside(given: Operands) -> Value:
    """Writes whether the amount is less than the width."""
    amount = given.values[1]
    most = constant(amount.type, given.type.bits - 1)
    return given.function.compare("ule", amount, most)


@formula(Popcnt, kinds=INTEGERS)
def _set_bits(given: Operands) -> Value:
    return given.function.intrinsic("ctpop", *given.values)


@formula(CountLeadingZeros, kinds=INTEGERS)
def _leading_zeros(given: Operands) -> Value:
    return given.function.bit_count("ctlz", *given.values)
