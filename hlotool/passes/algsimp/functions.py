"""Identities of functions of one operand, and of the parts of complex numbers."""

from __future__ import annotations

from hlotool.ir.element_type import PRED
from hlotool.ir.float_format import decode, largest_bits
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Add, Complex, Divide, Multiply, Power, Subtract
from hlotool.ops.source import Iota
from hlotool.ops.unary import (
    Abs,
    Ceil,
    Cosh,
    Cosine,
    Exponential,
    ExponentialMinusOne,
    Floor,
    Imag,
    IsFinite,
    Log,
    Logistic,
    LogPlusOne,
    Negate,
    Real,
    RoundNearestAfz,
    RoundNearestEven,
    Sign,
    Sqrt,
)
from hlotool.passes.algsimp.constants import filled, is_minus_one, is_one
from hlotool.passes.algsimp.ranges import range_of
from hlotool.passes.algsimp.regular import (
    FAST_MATH,
    RegularPatternSet,
    is_bits,
    is_float,
    is_integral,
    type_of,
)
from hlotool.rewriting.builder import Builder, array_shape

patterns = RegularPatternSet("functions")

_ROUNDINGS = (Ceil, Floor, RoundNearestAfz, RoundNearestEven)
_NEVER_NEGATIVE = (Abs, Exponential, Logistic, Cosh)


@patterns.rewrites(Abs)
def size_of_negated(instruction: Instruction, build: Builder) -> Instruction | None:
    """abs(-x) -> abs(x)"""
    match instruction.operands:
        case [Instruction(op=Negate(), operands=[x])]:
            return build.add(Abs(), x)
    return None


@patterns.rewrites(Abs)
def size_of_positive(instruction: Instruction, _: Builder) -> Instruction | None:
    """abs(x) -> x, of what is never negative"""
    (x,) = instruction.operands
    if is_integral(x):
        return x if range_of(x).low >= 0 else None
    return x if is_float(x) and _is_never_negative(x) else None


def _is_never_negative(x: Instruction) -> bool:
    """Whether floats are positive, 0 or NaN, as is told by the op."""
    match x:
        case Instruction(op=Iota()):
            return True
        case Instruction(op=Multiply(), operands=[one, other]):
            return one is other
        case Instruction(op=Convert(), operands=[operand]):
            return is_bits(operand) and range_of(operand).low >= 0
    return isinstance(x.op, _NEVER_NEGATIVE)


@patterns.rewrites(Sign)
def sign_of_sign(instruction: Instruction, _: Builder) -> Instruction | None:
    """sign(sign(x)) -> sign(x), of real numbers"""
    match instruction.operands:
        case [Instruction(op=Sign()) as inner] if not type_of(inner).is_complex:
            return inner
    return None


@patterns.rewrites(*_ROUNDINGS)
def round_whole(instruction: Instruction, _: Builder) -> Instruction | None:
    """floor(x) -> x, of whole numbers, as of every rounding to whole numbers"""
    match instruction.operands:
        case [Instruction(op=Iota() | Sign()) as x]:
            return x
        case [Instruction(op=Convert(), operands=[operand]) as x] if is_bits(operand):
            return x
        case [x] if isinstance(x.op, _ROUNDINGS):
            return x
    return None


@patterns.rewrites(IsFinite)
def finite_in_spite(instruction: Instruction, build: Builder) -> Instruction | None:
    """is-finite(-x) -> is-finite(x), as of abs and of roundings"""
    match instruction.operands:
        case [Instruction(op=Negate() | Abs(), operands=[x])] if is_float(x):
            return build.add(IsFinite(), x)
        case [Instruction(op=Floor() | Ceil(), operands=[x])]:
            return build.add(IsFinite(), x) if type_of(x).bits >= 32 else None
    return None


@patterns.rewrites(IsFinite)
def finite_integers(instruction: Instruction, build: Builder) -> Instruction | None:
    """is-finite(convert(x)) -> true, of integers in a type with larger numbers"""
    match instruction.operands:
        case [Instruction(op=Convert(), operands=[x]) as converted] if is_bits(x):
            form = type_of(converted).float_format
            if form is not None and 1 << type_of(x).bits < decode(largest_bits(form), form):
                return filled(Literal.from_array(1, PRED), array_shape(instruction), build)
    return None


@patterns.rewrites(Cosine, Cosh)
def even_function(instruction: Instruction, build: Builder) -> Instruction | None:
    """cosine(-x) -> cosine(x), as of cosh and of abs, of floats"""
    match instruction.operands:
        case [Instruction(op=Negate() | Abs(), operands=[x])] if is_float(x):
            return build.add(instruction.op, x)
    return None


@patterns.rewrites(Log, assumes=FAST_MATH)
def log_of_exponential(instruction: Instruction, _: Builder) -> Instruction | None:
    """log(exp(x)) -> x, of floats"""
    match instruction.operands:
        case [Instruction(op=Exponential(), operands=[x])] if is_float(x):
            return x
    return None


@patterns.rewrites(Exponential, assumes=FAST_MATH)
def exponential_of_log(instruction: Instruction, _: Builder) -> Instruction | None:
    """exp(log(x)) -> x"""
    match instruction.operands:
        case [Instruction(op=Log(), operands=[x])]:
            return x
    return None


@patterns.rewrites(Log, assumes=FAST_MATH)
def log_of_power(instruction: Instruction, build: Builder) -> Instruction | None:
    """log(x ^ y) -> y * log(x), of floats"""
    match instruction.operands:
        case [Instruction(op=Power(), operands=[x, y])] if is_float(x):
            return build.add(Multiply(), y, build.add(Log(), x))
    return None


@patterns.rewrites(Log, assumes=FAST_MATH)
def log_of_one_more(instruction: Instruction, build: Builder) -> Instruction | None:
    """log(x + 1) -> log-plus-one(x), of floats"""
    match instruction.operands:
        case [Instruction(op=Add(), operands=[x, constant])] if is_float(x) and is_one(constant):
            return build.add(LogPlusOne(), x)
    return None


@patterns.rewrites(Add, Subtract, assumes=FAST_MATH)
def exponential_less_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """exp(x) - 1 -> exponential-minus-one(x), of floats"""
    match instruction.operands:
        case [Instruction(op=Exponential(), operands=[x]) as inner, constant] if (
            is_float(x) and len(inner.users) == 1
        ):
            is_less = is_one if isinstance(instruction.op, Subtract) else is_minus_one
            return build.add(ExponentialMinusOne(), x) if is_less(constant) else None
    return None


@patterns.rewrites(Sqrt, assumes=FAST_MATH)
def root_of_square(instruction: Instruction, build: Builder) -> Instruction | None:
    """sqrt(x * x) -> abs(x), of floats"""
    match instruction.operands:
        case [Instruction(op=Multiply(), operands=[x, y])] if x is y and is_float(x):
            return build.add(Abs(), x)
    return None


@patterns.rewrites(Divide, assumes=FAST_MATH)
def logistic_function(instruction: Instruction, build: Builder) -> Instruction | None:
    """1 / (exp(-x) + 1) -> logistic(x), of floats"""
    match instruction.operands:
        case [
            one,
            Instruction(
                op=Add(),
                operands=[
                    Instruction(
                        op=Exponential(), operands=[Instruction(op=Negate(), operands=[x])]
                    ),
                    other,
                ],
            ),
        ] if is_float(x) and is_one(one) and is_one(other):
            return build.add(Logistic(), x)
    return None


@patterns.rewrites(Real)
def real_part(instruction: Instruction, _: Builder) -> Instruction | None:
    """real(complex(x, y)) -> x, real(x) -> x, of real numbers"""
    (x,) = instruction.operands
    if is_float(x):
        return x
    match x:
        case Instruction(op=Complex(), operands=[real, _imaginary]):
            return real
        case Instruction(op=Convert(), operands=[real]) if type_of(real) is type_of(instruction):
            return real
    return None


@patterns.rewrites(Imag)
def imaginary_part(instruction: Instruction, build: Builder) -> Instruction | None:
    """imag(complex(x, y)) -> y, imag(x) -> 0, of real numbers"""
    (x,) = instruction.operands
    match x:
        case Instruction(op=Complex(), operands=[_real, imaginary]):
            return imaginary
        case Instruction(op=Convert(), operands=[real]) if not type_of(real).is_complex:
            x = real
    if type_of(x).is_complex:
        return None
    zero = Literal.from_array(0, type_of(instruction))
    return filled(zero, array_shape(instruction), build)


@patterns.rewrites(Complex)
def both_parts(instruction: Instruction, _: Builder) -> Instruction | None:
    """complex(real(x), imag(x)) -> x"""
    match instruction.operands:
        case [Instruction(op=Real(), operands=[x]), Instruction(op=Imag(), operands=[y])] if (
            x is y and type_of(x).is_complex
        ):
            return x
    return None


@patterns.rewrites(Negate)
def negate_complex_parts(instruction: Instruction, build: Builder) -> Instruction | None:
    """-complex(-x, -y) -> complex(x, y)"""
    match instruction.operands:
        case [
            Instruction(
                op=Complex(),
                operands=[
                    Instruction(op=Negate(), operands=[x]),
                    Instruction(op=Negate(), operands=[y]),
                ],
            )
        ]:
            return build.add(Complex(), x, y)
    return None
