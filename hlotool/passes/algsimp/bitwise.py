"""Identities of and, or, xor, not and shifts, of integers and truth values alike."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import (
    And,
    Compare,
    Or,
    ShiftLeft,
    ShiftRightArithmetic,
    ShiftRightLogical,
    Xor,
)
from hlotool.ops.unary import Not
from hlotool.passes.algsimp.comparison import opposite
from hlotool.passes.algsimp.constants import (
    all_bits,
    full_like,
    has_all_bits,
    integer_of,
    is_any_zero,
    number_of,
)
from hlotool.passes.algsimp.ranges import range_of
from hlotool.passes.algsimp.regular import RegularPatternSet, type_of
from hlotool.rewriting.builder import Builder

patterns = RegularPatternSet("bitwise")


@patterns.rewrites(And, Or)
def bits_of_equals(instruction: Instruction, _: Builder) -> Instruction | None:
    """x & x -> x, as of or"""
    x, y = instruction.operands
    return x if x is y else None


@patterns.rewrites(Xor)
def xor_of_equals(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ x -> 0"""
    x, y = instruction.operands
    return full_like(0, x, build) if x is y else None


@patterns.rewrites(And)
def and_with_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x & 0 -> 0"""
    _x, constant = instruction.operands
    return constant if is_any_zero(constant) else None


@patterns.rewrites(And)
def and_with_all_bits(instruction: Instruction, _: Builder) -> Instruction | None:
    """x & ~0 -> x, also with fewer bits where x has no others"""
    x, constant = instruction.operands
    if has_all_bits(constant):
        return x
    mask = integer_of(constant)
    if mask is None or mask <= 0 or mask & (mask + 1):
        return None
    found = range_of(x)
    return x if found.low >= 0 and found.high <= mask else None


@patterns.rewrites(Or, Xor)
def or_with_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x | 0 -> x, as of xor"""
    x, constant = instruction.operands
    return x if is_any_zero(constant) else None


@patterns.rewrites(Or)
def or_with_all_bits(instruction: Instruction, _: Builder) -> Instruction | None:
    """x | ~0 -> ~0"""
    _x, constant = instruction.operands
    return constant if has_all_bits(constant) else None


@patterns.rewrites(Xor)
def xor_with_all_bits(instruction: Instruction, build: Builder) -> Instruction | None:
    """x ^ ~0 -> ~x"""
    x, constant = instruction.operands
    return build.add(Not(), x) if has_all_bits(constant) else None


@patterns.rewrites(Not)
def not_twice(instruction: Instruction, _: Builder) -> Instruction | None:
    """~~x -> x"""
    match instruction.operands:
        case [Instruction(op=Not(), operands=[x])]:
            return x
    return None


@patterns.rewrites(And, Or, Xor)
def bits_with_complement(instruction: Instruction, build: Builder) -> Instruction | None:
    """x & ~x -> 0, x | ~x -> ~0, x ^ ~x -> ~0"""
    match instruction.operands:
        case [x, Instruction(op=Not(), operands=[y])] | [
            Instruction(op=Not(), operands=[y]),
            x,
        ] if x is y:
            bits = 0 if isinstance(instruction.op, And) else all_bits(type_of(x))
            return full_like(bits, x, build)
    return None


@patterns.rewrites(Xor)
def xor_of_complements(instruction: Instruction, build: Builder) -> Instruction | None:
    """~x ^ ~y -> x ^ y"""
    match instruction.operands:
        case [Instruction(op=Not(), operands=[x]), Instruction(op=Not(), operands=[y])]:
            return build.add(Xor(), x, y)
    return None


@patterns.rewrites(And, Or)
def de_morgan(instruction: Instruction, build: Builder) -> Instruction | None:
    """~x & ~y -> ~(x | y), and the other way around"""
    match instruction.operands:
        case [
            Instruction(op=Not(), operands=[x]) as one,
            Instruction(op=Not(), operands=[y]) as other,
        ] if one is not other and len(one.users) == len(other.users) == 1:
            inside = Or() if isinstance(instruction.op, And) else And()
            return build.add(Not(), build.add(inside, x, y))
    return None


@patterns.rewrites(And, Or)
def bits_again(instruction: Instruction, _: Builder) -> Instruction | None:
    """(x & y) & y -> x & y, as of or"""
    for inner, other in (instruction.operands, instruction.operands[::-1]):
        if type(inner.op) is type(instruction.op) and other in inner.operands:
            return inner
    return None


@patterns.rewrites(And, Or)
def bits_absorbed(instruction: Instruction, _: Builder) -> Instruction | None:
    """x & (x | y) -> x, as of or with and"""
    for x, inner in (instruction.operands, instruction.operands[::-1]):
        is_opposite = isinstance(inner.op, (And, Or)) and type(inner.op) is not type(instruction.op)
        if is_opposite and x in inner.operands:
            return x
    return None


@patterns.rewrites(Xor)
def xor_again(instruction: Instruction, _: Builder) -> Instruction | None:
    """(x ^ y) ^ y -> x"""
    for inner, other in (instruction.operands, instruction.operands[::-1]):
        match inner:
            case Instruction(op=Xor(), operands=[x, y]) if other is y or other is x:
                return x if other is y else y
    return None


@patterns.rewrites(Not)
def not_of_comparison(instruction: Instruction, build: Builder) -> Instruction | None:
    """not(x < y) -> x >= y, where there is no NaN that would make both false"""
    match instruction.operands:
        case [Instruction(op=Compare() as op, operands=[x, y])]:
            turned = opposite(op, x)
            return None if turned is None else build.add(turned, x, y)
    return None


@patterns.rewrites(ShiftLeft, ShiftRightArithmetic, ShiftRightLogical)
def shift_by_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x << 0 -> x, as of every shift"""
    x, amount = instruction.operands
    return x if is_any_zero(amount) else None


@patterns.rewrites(ShiftLeft, ShiftRightArithmetic, ShiftRightLogical)
def shift_of_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """0 << x -> 0, as of every shift"""
    constant, _x = instruction.operands
    return constant if is_any_zero(constant) else None


@patterns.rewrites(ShiftLeft, ShiftRightLogical)
def shift_out(instruction: Instruction, build: Builder) -> Instruction | None:
    """x << c -> 0, for a c of the width or more, as of the logical shift to the right"""
    x, constant = instruction.operands
    amount = _amount_of(constant)
    return None if amount is None or amount < type_of(x).bits else full_like(0, x, build)


@patterns.rewrites(ShiftRightArithmetic)
def shift_all_but_sign(instruction: Instruction, build: Builder) -> Instruction | None:
    """x >> c -> x >> width - 1, for a c of the width or more"""
    x, constant = instruction.operands
    amount = _amount_of(constant)
    last = type_of(x).bits - 1
    if amount is None or amount <= last:
        return None
    return build.add(ShiftRightArithmetic(), x, full_like(last, x, build))


@patterns.rewrites(ShiftLeft, ShiftRightArithmetic, ShiftRightLogical)
def shift_twice(instruction: Instruction, build: Builder) -> Instruction | None:
    """(x << c) << d -> x << (c + d), as of every shift in one direction"""
    match instruction:
        case Instruction(
            op=outer, operands=[Instruction(op=inner, operands=[x, first]), second]
        ) if type(inner) is type(outer):
            one, other = _amount_of(first), _amount_of(second)
            bits = type_of(x).bits
            if one is None or other is None or one >= bits or other >= bits:
                return None
            amount = one + other
            if amount >= bits and not isinstance(outer, ShiftRightArithmetic):
                return full_like(0, x, build)
            amount = min(amount, bits - 1)
            return build.add(outer, x, full_like(amount, x, build))
    return None


@patterns.rewrites(ShiftLeft, ShiftRightLogical)
def shift_there_and_back(instruction: Instruction, build: Builder) -> Instruction | None:
    """(x << c) >> c -> x & mask, as of the logical shifts the other way around"""
    match instruction:
        case Instruction(
            op=outer, operands=[Instruction(op=inner, operands=[x, first]) as shifted, second]
        ) if (
            isinstance(inner, (ShiftLeft, ShiftRightLogical, ShiftRightArithmetic))
            and isinstance(inner, ShiftLeft) is not isinstance(outer, ShiftLeft)
            and len(shifted.users) == 1
        ):
            amount, bits = _amount_of(first), type_of(x).bits
            if amount is None or amount >= bits or number_of(first) != number_of(second):
                return None
            every = (1 << bits) - 1
            mask = every >> amount if isinstance(inner, ShiftLeft) else every >> amount << amount
            return build.add(And(), x, full_like(_as_signed(mask, x), x, build))
    return None


def _amount_of(constant: Instruction) -> int | None:
    """Returns by how many bits is shifted: the number counts as unsigned."""
    amount = integer_of(constant)
    return None if amount is None else amount % (1 << type_of(constant).bits)


def _as_signed(pattern: int, x: Instruction) -> int:
    element_type = type_of(x)
    half = 1 << (element_type.bits - 1)
    is_negative = element_type.is_signed and pattern & half
    return pattern - 2 * half if is_negative else pattern
