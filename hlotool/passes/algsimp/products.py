"""Identities of products, quotients and remainders."""

from __future__ import annotations

from math import frexp

from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import (
    Add,
    Divide,
    Multiply,
    Power,
)
from hlotool.ops.unary import Abs, Exponential, Negate, Rsqrt, Sign, Sqrt
from hlotool.passes.algsimp.constants import (
    KNOWN,
    computed,
    filled,
    folded,
    full_like,
    is_any_zero,
    is_constant,
    is_minus_one,
    is_one,
    is_zero,
    number_of,
)
from hlotool.passes.algsimp.regular import (
    FAST_MATH,
    NO_NANS,
    RegularPatternSet,
    is_bits,
    is_float,
    is_inexact,
    is_integral,
    is_pred,
    type_of,
)
from hlotool.rewriting.builder import Builder, array_shape

patterns = RegularPatternSet("products")


@patterns.rewrites(Multiply, over=KNOWN)
def multiply_by_one(instruction: Instruction, _: Builder) -> Instruction | None:
    """x * 1 -> x, of real numbers"""
    x, constant = instruction.operands
    return x if is_one(constant) and not type_of(x).is_complex else None


@patterns.rewrites(Multiply, over=KNOWN, assumes=NO_NANS)
def multiply_complex_by_one(instruction: Instruction, _: Builder) -> Instruction | None:
    """x * 1 -> x, of complex numbers"""
    x, constant = instruction.operands
    if is_one(x):
        return constant
    return x if is_one(constant) else None


@patterns.rewrites(Multiply, over=KNOWN)
def multiply_by_zero(instruction: Instruction, _: Builder) -> Instruction | None:
    """x * 0 -> 0, of integers and pred"""
    x, constant = instruction.operands
    return constant if is_bits(x) and is_zero(constant) else None


@patterns.rewrites(Multiply, over=KNOWN, assumes=NO_NANS)
def multiply_by_zero_inexact(instruction: Instruction, build: Builder) -> Instruction | None:
    """x * 0.0 -> 0.0"""
    x, constant = instruction.operands
    return full_like(0, x, build) if is_any_zero(constant) else None


@patterns.rewrites(Multiply, over=KNOWN)
def multiply_by_minus_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """x * -1 -> -x, of real numbers"""
    x, constant = instruction.operands
    if is_pred(x) or type_of(x).is_complex or not is_minus_one(constant):
        return None
    return build.add(Negate(), x)


@patterns.rewrites(Multiply, over=(Negate,))
def multiply_negated(instruction: Instruction, build: Builder) -> Instruction | None:
    """-x * -y -> x * y"""
    match instruction.operands:
        case [
            Instruction(op=Negate(), operands=[x]),
            Instruction(op=Negate(), operands=[y]),
        ]:
            return build.add(Multiply(), x, y)
    return None


@patterns.rewrites(Divide, over=(Negate,))
def divide_negated(instruction: Instruction, build: Builder) -> Instruction | None:
    """-x / -y -> x / y, of floats"""
    match instruction.operands:
        case [
            Instruction(op=Negate(), operands=[x]),
            Instruction(op=Negate(), operands=[y]),
        ] if is_float(x):
            return build.add(Divide(), x, y)
    return None


@patterns.rewrites(Multiply, Divide, over=(Negate,))
def negate_constant_instead(instruction: Instruction, build: Builder) -> Instruction | None:
    """-x * c -> x * -c, as of quotients of floats"""
    match instruction:
        case Instruction(op=op, operands=[Instruction(op=Negate(), operands=[x]), constant]) if (
            number_of(constant) is not None and _takes_sign(op, x)
        ):
            return build.add(op, x, folded(Negate(), build, constant))
    return None


@patterns.rewrites(Negate, over=(Multiply, Divide))
def negate_constant_inside(instruction: Instruction, build: Builder) -> Instruction | None:
    """-(x * c) -> x * -c, as of quotients of floats"""
    match instruction.operands:
        case [Instruction(op=Multiply() | Divide() as op, operands=[x, constant]) as inner] if (
            number_of(constant) is not None and len(inner.users) == 1 and _takes_sign(op, x)
        ):
            return build.add(op, x, folded(Negate(), build, constant))
    return None


def _takes_sign(op: Multiply | Divide | object, x: Instruction) -> bool:
    return is_float(x) or (isinstance(op, Multiply) and is_integral(x))


@patterns.rewrites(Multiply, over=(Convert,))
def multiply_by_flag(instruction: Instruction, build: Builder) -> Instruction | None:
    """convert(flag) * x -> select(flag, x, 0), of integers"""
    for one, x in (instruction.operands, instruction.operands[::-1]):
        match one:
            case Instruction(op=Convert(), operands=[flag]) if is_pred(flag) and is_integral(x):
                return build.select(flag, x, full_like(0, x, build))
    return None


@patterns.rewrites(Multiply, over=(Sign,))
def multiply_sign_and_size(instruction: Instruction, _: Builder) -> Instruction | None:
    """sign(x) * abs(x) -> x, of real numbers"""
    match instruction.operands:
        case [Instruction(op=Sign(), operands=[x]), Instruction(op=Abs(), operands=[y])] | [
            Instruction(op=Abs(), operands=[x]),
            Instruction(op=Sign(), operands=[y]),
        ] if x is y and not type_of(x).is_complex:
            return x
    return None


@patterns.rewrites(Multiply, over=(Abs,))
def square_of_size(instruction: Instruction, build: Builder) -> Instruction | None:
    """abs(x) * abs(x) -> x * x, of real numbers"""
    match instruction.operands:
        case [Instruction(op=Abs(), operands=[x]), Instruction(op=Abs(), operands=[y])] if (
            x is y and not type_of(x).is_complex
        ):
            return build.add(Multiply(), x, x)
    return None


@patterns.rewrites(Multiply, over=(Sqrt,), assumes=FAST_MATH)
def square_of_root(instruction: Instruction, _: Builder) -> Instruction | None:
    """sqrt(x) * sqrt(x) -> x"""
    match instruction.operands:
        case [Instruction(op=Sqrt(), operands=[x]), Instruction(op=Sqrt(), operands=[y])] if x is y:
            return x
    return None


@patterns.rewrites(Multiply, over=(Rsqrt,), assumes=FAST_MATH)
def square_of_reciprocal_root(instruction: Instruction, build: Builder) -> Instruction | None:
    """rsqrt(x) * rsqrt(x) -> 1 / x"""
    match instruction.operands:
        case [Instruction(op=Rsqrt(), operands=[x]), Instruction(op=Rsqrt(), operands=[y])] if (
            x is y
        ):
            return build.add(Divide(), full_like(1, x, build), x)
    return None


@patterns.rewrites(Multiply, over=(Exponential,), assumes=FAST_MATH)
def multiply_exponentials(instruction: Instruction, build: Builder) -> Instruction | None:
    """exp(x) * exp(y) -> exp(x + y)"""
    match instruction.operands:
        case [
            Instruction(op=Exponential(), operands=[x]),
            Instruction(op=Exponential(), operands=[y]),
        ]:
            return build.add(Exponential(), build.add(Add(), x, y))
    return None


@patterns.rewrites(Multiply, over=(Divide,), assumes=FAST_MATH)
def multiply_by_reciprocal(instruction: Instruction, build: Builder) -> Instruction | None:
    """x * (1 / y) -> x / y"""
    match instruction.operands:
        case [x, Instruction(op=Divide(), operands=[one, y])] if is_inexact(x) and is_one(one):
            return build.add(Divide(), x, y)
        case [Instruction(op=Divide(), operands=[one, y]), x] if is_inexact(x) and is_one(one):
            return build.add(Divide(), x, y)
    return None


@patterns.rewrites(Divide, over=KNOWN)
def divide_by_one(instruction: Instruction, _: Builder) -> Instruction | None:
    """x / 1 -> x, of real numbers"""
    x, constant = instruction.operands
    return x if is_one(constant) and not type_of(x).is_complex else None


@patterns.rewrites(Divide, assumes=NO_NANS)
def divide_complex_by_one(instruction: Instruction, _: Builder) -> Instruction | None:
    """x / 1 -> x, of complex numbers"""
    x, constant = instruction.operands
    return x if is_one(constant) else None


@patterns.rewrites(Divide)
def divide_by_minus_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / -1 -> -x, of floats and signed integers"""
    x, constant = instruction.operands
    if not (is_float(x) or type_of(x).is_signed) or not is_minus_one(constant):
        return None
    return build.add(Negate(), x)


@patterns.rewrites(Divide, assumes=NO_NANS)
def divide_by_itself(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / x -> 1, of floats"""
    x, y = instruction.operands
    return full_like(1, x, build) if x is y and is_inexact(x) else None


@patterns.rewrites(Divide, assumes=NO_NANS)
def divide_zero(instruction: Instruction, build: Builder) -> Instruction | None:
    """0.0 / x -> 0.0"""
    constant, x = instruction.operands
    if is_inexact(x) and is_any_zero(constant) and not is_constant(x):
        return full_like(0, x, build)
    return None


@patterns.rewrites(Divide)
def divide_by_power_of_two(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / 4.0 -> x * 0.25, as for every power of two with an exact reciprocal"""
    x, constant = instruction.operands
    number = number_of(constant) if is_float(x) else None
    if number is None or is_constant(x) or not _has_exact_reciprocal(number):
        return None
    return build.add(Multiply(), x, _reciprocal(number, instruction, build))


@patterns.rewrites(Divide, assumes=FAST_MATH)
def divide_by_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / c -> x * (1 / c), of floats"""
    x, constant = instruction.operands
    number = number_of(constant) if is_float(x) else None
    if number is None or is_constant(x) or not _is_normal(number):
        return None
    return build.add(Multiply(), x, _reciprocal(number, instruction, build))


def _reciprocal(number: Literal, like: Instruction, build: Builder) -> Instruction:
    element_type = number.element_type
    one = Literal.from_array(1, element_type)
    return filled(computed(Divide(), element_type, one, number), array_shape(like), build)


def _has_exact_reciprocal(number: Literal) -> bool:
    """Whether both are normal numbers, which no machine takes for 0."""
    value = number.scalar()
    assert isinstance(value, float)
    if abs(frexp(value)[0]) != 0.5 or not _is_normal(number):
        return False
    element_type = number.element_type
    one = Literal.from_array(1, element_type)
    return _is_normal(computed(Divide(), element_type, one, number))


def _is_normal(number: Literal) -> bool:
    value = number.scalar()
    form = number.element_type.float_format
    assert isinstance(value, float)
    assert form is not None
    return abs(value) >= 2.0 ** (1 - form.bias) and abs(value) != float("inf")


@patterns.rewrites(Divide, assumes=FAST_MATH)
def reciprocal_of_root(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / sqrt(y) -> x * rsqrt(y)"""
    match instruction.operands:
        case [x, Instruction(op=Sqrt(), operands=[y])]:
            return build.add(Multiply(), x, build.add(Rsqrt(), y))
        case [x, Instruction(op=Rsqrt(), operands=[y])]:
            return build.add(Multiply(), x, build.add(Sqrt(), y))
    return None


@patterns.rewrites(Divide, assumes=FAST_MATH)
def divide_by_exponential(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / exp(y) -> x * exp(-y)"""
    match instruction.operands:
        case [x, Instruction(op=Exponential(), operands=[y])]:
            return build.add(Multiply(), x, build.add(Exponential(), build.add(Negate(), y)))
    return None


@patterns.rewrites(Divide, assumes=FAST_MATH)
def divide_by_power(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / y ^ z -> x * y ^ -z, of floats"""
    match instruction.operands:
        case [x, Instruction(op=Power(), operands=[y, z])] if is_inexact(x):
            return build.add(Multiply(), x, build.add(Power(), y, build.add(Negate(), z)))
    return None


@patterns.rewrites(Divide, assumes=FAST_MATH)
def divide_quotient(instruction: Instruction, build: Builder) -> Instruction | None:
    """(x / y) / z -> x / (y * z), of floats"""
    match instruction.operands:
        case [Instruction(op=Divide(), operands=[x, y]), z] if is_inexact(x):
            return build.add(Divide(), x, build.add(Multiply(), y, z))
    return None


@patterns.rewrites(Divide, assumes=FAST_MATH)
def divide_by_quotient(instruction: Instruction, build: Builder) -> Instruction | None:
    """x / (y / z) -> (x * z) / y, of floats"""
    match instruction.operands:
        case [x, Instruction(op=Divide(), operands=[y, z])] if is_inexact(x):
            return build.add(Divide(), build.add(Multiply(), x, z), y)
    return None
