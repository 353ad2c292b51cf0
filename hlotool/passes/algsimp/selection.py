"""Identities of select."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import (
    Add,
    And,
    Binary,
    Compare,
    Complex,
    Divide,
    Maximum,
    Minimum,
    Multiply,
    Or,
    Select,
    Subtract,
)
from hlotool.ops.unary import Abs, Negate, Not
from hlotool.passes.algsimp.constants import (
    are_equal,
    computed,
    filled,
    is_one,
    is_zero,
    number_of,
)
from hlotool.passes.algsimp.regular import (
    NO_NANS,
    RegularPatternSet,
    is_integral,
    is_pred,
    type_of,
)
from hlotool.rewriting.builder import Builder, array_shape

patterns = RegularPatternSet("selection")


def _same_dimensions(one: Instruction, other: Instruction) -> bool:
    """Whether none is a scalar that stands for a whole array."""
    return array_shape(one).dimensions == array_shape(other).dimensions


@patterns.rewrites(Select)
def select_same(instruction: Instruction, _: Builder) -> Instruction | None:
    """select(flag, x, x) -> x"""
    _flag, x, y = instruction.operands
    return x if are_equal(x, y) else None


@patterns.rewrites(Select)
def select_known(instruction: Instruction, _: Builder) -> Instruction | None:
    """select(true, x, y) -> x, select(false, x, y) -> y"""
    flag, x, y = instruction.operands
    if is_one(flag):
        return x
    return y if is_zero(flag) else None


@patterns.rewrites(Select)
def select_by_complement(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(not(flag), x, y) -> select(flag, y, x)"""
    match instruction.operands:
        case [Instruction(op=Not(), operands=[flag]), x, y]:
            return build.select(flag, y, x)
    return None


@patterns.rewrites(Select)
def select_flags(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(flag, true, false) -> flag, select(flag, false, true) -> not(flag)"""
    flag, x, y = instruction.operands
    if not is_pred(x) or not _same_dimensions(flag, x):
        return None
    if is_one(x) and is_zero(y):
        return flag
    return build.add(Not(), flag) if is_zero(x) and is_one(y) else None


@patterns.rewrites(Select)
def select_true_or_false(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(flag, x, false) -> flag & x, and select(flag, true, x) -> flag | x"""
    flag, x, y = instruction.operands
    if not is_pred(x) or not _same_dimensions(flag, x):
        return None
    if is_zero(y):
        return build.add(And(), flag, x)
    if is_one(x):
        return build.add(Or(), flag, y)
    if is_zero(x):
        return build.add(And(), build.add(Not(), flag), y)
    return build.add(Or(), build.add(Not(), flag), x) if is_one(y) else None


@patterns.rewrites(Select)
def select_flag_itself(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(flag, flag, x) -> flag | x, and select(flag, x, flag) -> flag & x"""
    flag, x, y = instruction.operands
    if flag is x:
        return build.add(Or(), flag, y)
    return build.add(And(), flag, x) if flag is y else None


@patterns.rewrites(Select)
def select_one_or_zero(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(flag, 1, 0) -> convert(flag), select(flag, 0, 1) -> convert(not(flag))"""
    flag, x, y = instruction.operands
    if is_pred(x) or not _same_dimensions(flag, x):
        return None
    if is_one(x) and is_zero(y):
        return build.convert(flag, type_of(x))
    if is_zero(x) and is_one(y):
        return build.convert(build.add(Not(), flag), type_of(x))
    return None


@patterns.rewrites(Select)
def select_twice(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(flag, select(flag, x, y), z) -> select(flag, x, z), as of the third operand"""
    match instruction.operands:
        case [flag, Instruction(op=Select(), operands=[again, x, _y]), z] if again is flag:
            return build.select(flag, x, z)
        case [flag, x, Instruction(op=Select(), operands=[again, _y, z])] if again is flag:
            return build.select(flag, x, z)
    return None


@patterns.rewrites(Select)
def select_by_both(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(p, select(q, x, y), y) -> select(p & q, x, y)"""
    match instruction.operands:
        case [p, Instruction(op=Select(), operands=[q, x, y]) as inner, z] if (
            y is z and len(inner.users) == 1 and _same_dimensions(p, q)
        ):
            return build.select(build.add(And(), p, q), x, y)
    return None


@patterns.rewrites(Select)
def select_by_either(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(p, x, select(q, x, y)) -> select(p | q, x, y)"""
    match instruction.operands:
        case [p, x, Instruction(op=Select(), operands=[q, z, y]) as inner] if (
            x is z and len(inner.users) == 1 and _same_dimensions(p, q)
        ):
            return build.select(build.add(Or(), p, q), x, y)
    return None


@patterns.rewrites(Select)
def select_lesser(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(x < y, x, y) -> minimum(x, y), of integers, as of maximum"""
    _flag, x, _y = instruction.operands
    return _extreme(instruction, build) if is_integral(x) else None


@patterns.rewrites(Select, assumes=NO_NANS)
def select_lesser_float(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(x < y, x, y) -> minimum(x, y), of floats, as of maximum"""
    _flag, x, _y = instruction.operands
    return None if type_of(x).is_complex else _extreme(instruction, build)


def _extreme(instruction: Instruction, build: Builder) -> Instruction | None:
    match instruction.operands:
        case [
            Instruction(op=Compare(direction=direction), operands=[one, other]) as flag, x, y,
        ] if _same_dimensions(flag, x):  # fmt: skip
            takes_less = direction in {"LT", "LE"}
            is_straight = are_equal(one, x) and are_equal(other, y)
            if direction in {"EQ", "NE"} or not (is_straight or _is_crossed(one, other, x, y)):
                return None
            return build.add(Minimum() if takes_less is is_straight else Maximum(), x, y)
    return None


def _is_crossed(one: Instruction, other: Instruction, x: Instruction, y: Instruction) -> bool:
    return are_equal(one, y) and are_equal(other, x)


@patterns.rewrites(Select)
def select_by_equality(instruction: Instruction, _: Builder) -> Instruction | None:
    """select(x == y, x, y) -> y, of integers, and select(x != y, x, y) -> x"""
    match instruction.operands:
        case [
            Instruction(
                op=Compare(direction="EQ" | "NE" as direction), operands=[one, other]
            ) as flag,
            x,
            y,
        ] if _same_dimensions(flag, x) and (is_integral(x) or is_pred(x)):
            is_straight = are_equal(one, x) and are_equal(other, y)
            if is_straight or _is_crossed(one, other, x, y):
                return y if direction == "EQ" else x
    return None


@patterns.rewrites(Convert, Negate, Abs, Not, over=(Select,))
def apply_to_selected(instruction: Instruction, build: Builder) -> Instruction | None:
    """convert(select(flag, c, d)) -> select(flag, convert(c), convert(d)), as of exact functions"""
    match instruction.operands:
        case [Instruction(op=Select(), operands=[flag, one, other]) as inner] if (
            len(inner.users) == 1
        ):
            yes, no = number_of(one), number_of(other)
            if yes is None or no is None:
                return None
            shape, element_type = array_shape(inner), type_of(instruction)
            results = (computed(instruction.op, element_type, number) for number in (yes, no))
            return build.select(flag, *(filled(result, shape, build) for result in results))
    return None


@patterns.rewrites(Add, Subtract, Multiply, Divide, Maximum, Minimum, over=(Select,))
def combine_with_selected(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(flag, c, d) + e -> select(flag, c + e, d + e), as of other arithmetic"""
    match instruction:
        case Instruction(
            op=Binary() as op,
            operands=[Instruction(op=Select(), operands=[flag, one, other]) as inner, third],
        ) if len(inner.users) == 1 and not isinstance(op, Complex):
            numbers = number_of(one), number_of(other), number_of(third)
            yes, no, constant = numbers
            if yes is None or no is None or constant is None or type_of(inner).is_complex:
                return None
            shape, element_type = array_shape(inner), type_of(instruction)
            results = (computed(op, element_type, number, constant) for number in (yes, no))
            return build.select(flag, *(filled(result, shape, build) for result in results))
    return None
