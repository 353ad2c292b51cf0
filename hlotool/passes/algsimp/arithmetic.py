"""Identities of sums, differences and negations."""

from __future__ import annotations

from itertools import product

from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ops.elementwise import Add, And, Maximum, Minimum, Multiply, Or, Subtract, Xor
from hlotool.ops.unary import Negate
from hlotool.passes.algsimp.constants import (
    KNOWN,
    folded,
    full_like,
    has_negative_zero,
    is_any_zero,
    is_constant,
    is_negative_zero,
    is_zero,
    number_of,
)
from hlotool.passes.algsimp.regular import (
    FAST_MATH,
    NO_NANS,
    NO_SIGNED_ZEROS,
    RegularPatternSet,
    is_bits,
    is_inexact,
    is_integral,
    type_of,
)
from hlotool.rewriting.builder import Builder

patterns = RegularPatternSet("arithmetic")


@patterns.rewrites(Add, Multiply, Maximum, Minimum, And, Or, Xor, over=KNOWN)
def constant_on_the_right(instruction: Instruction, build: Builder) -> Instruction | None:
    """c + x -> x + c, as of every commutative op"""
    constant, x = instruction.operands
    if not is_constant(constant) or is_constant(x) or type_of(x).is_complex:
        return None
    return build.add(instruction.op, x, constant)


@patterns.rewrites(Add, over=KNOWN)
def add_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x + 0 -> x, of numbers without a negative zero"""
    x, constant = instruction.operands
    return x if is_zero(constant) and not has_negative_zero(type_of(x)) else None


@patterns.rewrites(Add, over=KNOWN)
def add_negative_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x + -0.0 -> x"""
    x, constant = instruction.operands
    return x if is_negative_zero(constant) else None


@patterns.rewrites(Add, over=KNOWN, assumes=NO_SIGNED_ZEROS)
def add_any_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x + 0.0 -> x"""
    x, constant = instruction.operands
    return x if is_any_zero(constant) else None


@patterns.rewrites(Subtract, over=KNOWN)
def subtract_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x - 0 -> x"""
    x, constant = instruction.operands
    return x if is_zero(constant) else None


@patterns.rewrites(Subtract, over=KNOWN, assumes=NO_SIGNED_ZEROS)
def subtract_any_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x - -0.0 -> x"""
    x, constant = instruction.operands
    return x if is_any_zero(constant) else None


@patterns.rewrites(Subtract)
def subtract_itself(instruction: Instruction, build: Builder) -> Instruction | None:
    """x - x -> 0, of integers"""
    x, y = instruction.operands
    return full_like(0, x, build) if x is y and is_integral(x) else None


@patterns.rewrites(Subtract, assumes=NO_NANS)
def subtract_itself_inexact(instruction: Instruction, build: Builder) -> Instruction | None:
    """x - x -> 0.0, of floats"""
    x, y = instruction.operands
    return full_like(0, x, build) if x is y else None


@patterns.rewrites(Subtract, over=KNOWN)
def subtract_from_zero(instruction: Instruction, build: Builder) -> Instruction | None:
    """-0.0 - x -> -x, 0 - x -> -x of numbers without a negative zero"""
    constant, x = instruction.operands
    is_right = is_negative_zero if has_negative_zero(type_of(x)) else is_zero
    return build.add(Negate(), x) if is_right(constant) else None


@patterns.rewrites(Subtract, over=KNOWN, assumes=NO_SIGNED_ZEROS)
def subtract_from_any_zero(instruction: Instruction, build: Builder) -> Instruction | None:
    """0.0 - x -> -x"""
    constant, x = instruction.operands
    return build.add(Negate(), x) if is_any_zero(constant) else None


@patterns.rewrites(Subtract, over=KNOWN)
def subtract_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """x - c -> x + -c"""
    x, constant = instruction.operands
    if is_constant(x) or number_of(constant) is None:
        return None
    return build.add(Add(), x, folded(Negate(), build, constant))


@patterns.rewrites(Add, over=(Negate,))
def add_negated(instruction: Instruction, build: Builder) -> Instruction | None:
    """x + -y -> x - y"""
    match instruction.operands:
        case [x, Instruction(op=Negate(), operands=[y])] | [
            Instruction(op=Negate(), operands=[y]), x,
        ]:  # fmt: skip
            return build.add(Subtract(), x, y)
    return None


@patterns.rewrites(Subtract, over=(Negate,))
def subtract_negated(instruction: Instruction, build: Builder) -> Instruction | None:
    """x - -y -> x + y"""
    match instruction.operands:
        case [x, Instruction(op=Negate(), operands=[y])]:
            return build.add(Add(), x, y)
    return None


@patterns.rewrites(Negate, over=(Negate,))
def negate_twice(instruction: Instruction, _: Builder) -> Instruction | None:
    """-(-x) -> x"""
    match instruction.operands:
        case [Instruction(op=Negate(), operands=[x])]:
            return x
    return None


@patterns.rewrites(Negate, over=(Subtract,))
def negate_difference(instruction: Instruction, build: Builder) -> Instruction | None:
    """-(x - y) -> y - x, of integers"""
    match instruction.operands:
        case [Instruction(op=Subtract(), operands=[x, y])] if is_integral(x):
            return build.add(Subtract(), y, x)
    return None


@patterns.rewrites(Negate, over=(Subtract,), assumes=NO_SIGNED_ZEROS)
def negate_difference_inexact(instruction: Instruction, build: Builder) -> Instruction | None:
    """-(x - y) -> y - x, of floats"""
    match instruction.operands:
        case [Instruction(op=Subtract(), operands=[x, y])]:
            return build.add(Subtract(), y, x)
    return None


@patterns.rewrites(Negate, over=(Add,))
def negate_sum_with_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """-(x + c) -> -c - x, of integers"""
    match instruction.operands:
        case [Instruction(op=Add(), operands=[x, constant])] if (
            is_integral(x) and number_of(constant) is not None
        ):
            return build.add(Subtract(), folded(Negate(), build, constant), x)
    return None


@patterns.rewrites(Add, Multiply, And, Or, Xor, over=(Add, Multiply, And, Or, Xor))
def join_constants(instruction: Instruction, build: Builder) -> Instruction | None:
    """(x + c) + d -> x + (c + d), of integers, as of every associative op"""
    match instruction:
        case Instruction(
            op=outer, operands=[Instruction(op=inner, operands=[x, constant]), other]
        ) if type(inner) is type(outer) and is_bits(x):
            return _joined(outer, x, constant, other, build)
    return None


@patterns.rewrites(Add, Multiply, over=(Add, Multiply), assumes=FAST_MATH)
def join_constants_inexact(instruction: Instruction, build: Builder) -> Instruction | None:
    """(x * c) * d -> x * (c * d), of floats, as of sums"""
    match instruction:
        case Instruction(
            op=outer, operands=[Instruction(op=inner, operands=[x, constant]), other]
        ) if type(inner) is type(outer) and is_inexact(x):
            return _joined(outer, x, constant, other, build)
    return None


def _joined(
    op: Op, x: Instruction, constant: Instruction, other: Instruction, build: Builder
) -> Instruction | None:
    if number_of(constant) is None or number_of(other) is None or is_constant(x):
        return None
    return build.add(op, x, folded(op, build, constant, other))


@patterns.rewrites(Add, over=(Subtract,))
def add_to_difference_from_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """(c - x) + d -> (c + d) - x, of integers"""
    match instruction.operands:
        case [Instruction(op=Subtract(), operands=[constant, x]), other] if (
            is_integral(x) and number_of(constant) is not None and number_of(other) is not None
        ):
            return build.add(Subtract(), folded(Add(), build, constant, other), x)
    return None


@patterns.rewrites(Subtract, over=(Add,))
def subtract_sum_with_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """c - (x + d) -> (c - d) - x, of integers"""
    match instruction.operands:
        case [constant, Instruction(op=Add(), operands=[x, other])] if (
            is_integral(x) and number_of(constant) is not None and number_of(other) is not None
        ):
            return build.add(Subtract(), folded(Subtract(), build, constant, other), x)
    return None


@patterns.rewrites(Subtract, over=(Subtract,))
def subtract_difference_from_constant(
    instruction: Instruction, build: Builder
) -> Instruction | None:
    """c - (d - x) -> x + (c - d), of integers"""
    match instruction.operands:
        case [constant, Instruction(op=Subtract(), operands=[other, x])] if (
            is_integral(x) and number_of(constant) is not None and number_of(other) is not None
        ):
            return build.add(Add(), x, folded(Subtract(), build, constant, other))
    return None


@patterns.rewrites(Subtract, over=(Add,))
def subtract_what_was_added(instruction: Instruction, _: Builder) -> Instruction | None:
    """(x + y) - y -> x, of integers"""
    match instruction.operands:
        case [Instruction(op=Add(), operands=[x, y]), subtrahend] if is_integral(subtrahend):
            if subtrahend is y:
                return x
            return y if subtrahend is x else None
    return None


@patterns.rewrites(Add, over=(Subtract,))
def add_what_was_subtracted(instruction: Instruction, _: Builder) -> Instruction | None:
    """(x - y) + y -> x, of integers"""
    match instruction.operands:
        case [Instruction(op=Subtract(), operands=[x, y]), other] if other is y and is_integral(y):
            return x
        case [other, Instruction(op=Subtract(), operands=[x, y])] if other is y and is_integral(y):
            return x
    return None


@patterns.rewrites(Subtract, over=(Add, Subtract))
def subtract_from_part(instruction: Instruction, build: Builder) -> Instruction | None:
    """x - (x + y) -> -y, of integers"""
    match instruction.operands:
        case [x, Instruction(op=Add(), operands=[one, other])] if is_integral(x):
            if x is one:
                return build.add(Negate(), other)
            return build.add(Negate(), one) if x is other else None
        case [Instruction(op=Subtract(), operands=[x, y]), minuend] if minuend is x and is_integral(
            x
        ):
            return build.add(Negate(), y)
    return None


@patterns.rewrites(Add, over=(Multiply,))
def factor_out(instruction: Instruction, build: Builder) -> Instruction | None:
    """x * y + x * z -> x * (y + z), of integers"""
    match instruction.operands:
        case [
            Instruction(op=Multiply(), operands=[x, y]) as one,
            Instruction(op=Multiply(), operands=[z, w]) as other,
        ] if is_integral(x) and one is not other and len(one.users) == len(other.users) == 1:
            for (shared, left), (again, right) in product([(x, y), (y, x)], [(z, w), (w, z)]):
                if shared is again:
                    return build.add(Multiply(), shared, build.add(Add(), left, right))
    return None
