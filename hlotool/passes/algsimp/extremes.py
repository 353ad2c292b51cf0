"""Identities of maximum, minimum and clamp."""

from __future__ import annotations

from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.float_format import decode, infinity_bits, largest_bits
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.op import Op
from hlotool.ops.elementwise import Clamp, Maximum, Minimum
from hlotool.ops.numerics.widths import integer_limits
from hlotool.ops.shape_changing import Broadcast
from hlotool.ops.unary import Abs, Negate
from hlotool.passes.algsimp.constants import (
    KNOWN,
    are_equal,
    computed,
    filled,
    folded,
    is_constant,
    is_number,
    number_of,
    value_of,
)
from hlotool.passes.algsimp.ranges import range_of
from hlotool.passes.algsimp.regular import (
    NO_NANS,
    RegularPatternSet,
    is_bits,
    is_float,
    is_integral,
    type_of,
)
from hlotool.rewriting.builder import Builder, array_shape

patterns = RegularPatternSet("extremes")


def _limits(element_type: ElementType) -> tuple[float, float]:
    """Returns the least and the greatest value of a real type, infinities where it has them."""
    if element_type.kind is Kind.PRED:
        return 0, 1
    form = element_type.float_format
    if form is None:
        return integer_limits(element_type)
    greatest = decode(infinity_bits(form) if form.has_infinity else largest_bits(form), form)
    return -greatest, greatest


def _is_least(constant: Instruction) -> bool:
    return value_of(constant) == _limits(type_of(constant))[0]


def _is_greatest(constant: Instruction) -> bool:
    return value_of(constant) == _limits(type_of(constant))[1]


@patterns.rewrites(Maximum, Minimum)
def extreme_of_equals(instruction: Instruction, _: Builder) -> Instruction | None:
    """maximum(x, x) -> x, as of minimum"""
    x, y = instruction.operands
    return x if x is y else None


@patterns.rewrites(Maximum, over=KNOWN)
def maximum_with_least(instruction: Instruction, _: Builder) -> Instruction | None:
    """maximum(x, -inf) -> x, as with the least value of any type"""
    x, constant = instruction.operands
    return x if _is_least(constant) else None


@patterns.rewrites(Minimum, over=KNOWN)
def minimum_with_greatest(instruction: Instruction, _: Builder) -> Instruction | None:
    """minimum(x, inf) -> x, as with the greatest value of any type"""
    x, constant = instruction.operands
    return x if _is_greatest(constant) else None


@patterns.rewrites(Maximum, Minimum, over=KNOWN)
def extreme_with_limit(instruction: Instruction, _: Builder) -> Instruction | None:
    """maximum(x, c) -> c, for the greatest integer c, as of minimum for the least"""
    _x, constant = instruction.operands
    return constant if is_bits(constant) and _is_limit(instruction.op, constant) else None


@patterns.rewrites(Maximum, Minimum, over=KNOWN, assumes=NO_NANS)
def extreme_with_infinity(instruction: Instruction, _: Builder) -> Instruction | None:
    """maximum(x, inf) -> inf, as of minimum with -inf"""
    _x, constant = instruction.operands
    return constant if _is_limit(instruction.op, constant) else None


def _is_limit(op: Op, constant: Instruction) -> bool:
    return _is_greatest(constant) if isinstance(op, Maximum) else _is_least(constant)


@patterns.rewrites(Maximum, Minimum)
def extreme_by_range(instruction: Instruction, _: Builder) -> Instruction | None:
    """maximum(x, y) -> x, of integers where no x can be less than a y, as of minimum"""
    one, other = instruction.operands
    if not is_integral(one):
        return None
    ours, theirs = range_of(one), range_of(other)
    if isinstance(instruction.op, Minimum):
        one, other = other, one
    if ours.low >= theirs.high:
        return one
    return other if theirs.low >= ours.high else None


@patterns.rewrites(Maximum, Minimum, over=(Maximum, Minimum))
def extreme_again(instruction: Instruction, _: Builder) -> Instruction | None:
    """maximum(maximum(x, y), y) -> maximum(x, y), as of minimum"""
    for inner, other in (instruction.operands, instruction.operands[::-1]):
        if type(inner.op) is type(instruction.op) and any(
            are_equal(other, operand) for operand in inner.operands
        ):
            return inner
    return None


@patterns.rewrites(Maximum, Minimum, over=(Maximum, Minimum))
def extreme_absorbed(instruction: Instruction, _: Builder) -> Instruction | None:
    """maximum(x, minimum(x, y)) -> x, of integers, as of minimum with maximum"""
    for x, inner in (instruction.operands, instruction.operands[::-1]):
        is_opposite = isinstance(inner.op, (Maximum, Minimum)) and (
            type(inner.op) is not type(instruction.op)
        )
        if is_opposite and x in inner.operands and is_bits(x):
            return x
    return None


@patterns.rewrites(Maximum, Minimum, over=(Maximum, Minimum))
def join_bounds(instruction: Instruction, build: Builder) -> Instruction | None:
    """maximum(maximum(x, c), d) -> maximum(x, maximum(c, d)), as of minimum"""
    match instruction:
        case Instruction(
            op=outer, operands=[Instruction(op=inner, operands=[x, constant]), other]
        ) if (
            type(inner) is type(outer)
            and number_of(constant) is not None
            and number_of(other) is not None
            and not is_constant(x)
        ):
            return build.add(outer, x, folded(outer, build, constant, other))
    return None


@patterns.rewrites(Maximum, over=(Negate,))
def maximum_with_negated(instruction: Instruction, build: Builder) -> Instruction | None:
    """maximum(x, -x) -> abs(x), of floats and signed integers"""
    match instruction.operands:
        case [x, Instruction(op=Negate(), operands=[y])] | [
            Instruction(op=Negate(), operands=[y]),
            x,
        ] if x is y and (is_float(x) or type_of(x).is_signed):
            return build.add(Abs(), x)
    return None


@patterns.rewrites(Minimum, over=(Maximum,))
def clamp_from_minimum(instruction: Instruction, build: Builder) -> Instruction | None:
    """minimum(maximum(x, c), d) -> clamp(c, x, d)"""
    match instruction.operands:
        case [Instruction(op=Maximum(), operands=[x, low]) as inner, high] if (
            len(inner.users) == 1 and is_number(low) and is_number(high) and not is_constant(x)
        ):
            return build.add(Clamp(), _scalar(low, build), x, _scalar(high, build), shape=x.shape)
    return None


@patterns.rewrites(Maximum, over=(Minimum,))
def clamp_from_maximum(instruction: Instruction, build: Builder) -> Instruction | None:
    """maximum(minimum(x, d), c) -> clamp(c, x, d), where c <= d"""
    match instruction.operands:
        case [Instruction(op=Minimum(), operands=[x, high]) as inner, low] if (
            len(inner.users) == 1 and _are_ordered(low, high) and not is_constant(x)
        ):
            return build.add(Clamp(), _scalar(low, build), x, _scalar(high, build), shape=x.shape)
    return None


def _are_ordered(low: Instruction, high: Instruction) -> bool:
    """Whether both are known numbers, and the lower one, -0 before 0, comes first."""
    one, other = number_of(low), number_of(high)
    if one is None or other is None or not is_number(low) or not is_number(high):
        return False
    return computed(Maximum(), one.element_type, one, other) == other


def _scalar(constant: Instruction, build: Builder) -> Instruction:
    number = number_of(constant)
    assert number is not None
    return build.literal(number)


@patterns.rewrites(Clamp)
def clamp_with_scalars(instruction: Instruction, build: Builder) -> Instruction | None:
    """clamp(broadcast(c), x, broadcast(d)) -> clamp(c, x, d), of scalars c and d"""
    low, x, high = instruction.operands
    if array_shape(x).is_scalar:
        return None
    match low, high:
        case (
            Instruction(op=Broadcast(dimensions=()), operands=[c]),
            Instruction(op=Broadcast(dimensions=()), operands=[d]),
        ):
            return build.add(Clamp(), c, x, d, shape=instruction.shape)
    return None


@patterns.rewrites(Clamp)
def clamp_by_range(instruction: Instruction, _: Builder) -> Instruction | None:
    """clamp(c, x, d) -> x, of integers that are never less than c or greater than d"""
    low, x, high = instruction.operands
    if not is_integral(x):
        return None
    found = range_of(x)
    is_inside = range_of(low).high <= found.low and found.high <= range_of(high).low
    return x if is_inside else None


@patterns.rewrites(Clamp)
def clamp_without_bounds(instruction: Instruction, _: Builder) -> Instruction | None:
    """clamp(-inf, x, inf) -> x, as with the limits of any type"""
    low, x, high = instruction.operands
    return x if _is_least(low) and _is_greatest(high) else None


@patterns.rewrites(Clamp)
def clamp_with_one_bound(instruction: Instruction, build: Builder) -> Instruction | None:
    """clamp(-inf, x, d) -> minimum(x, d), as of maximum"""
    low, x, high = instruction.operands
    one, other = number_of(low), number_of(high)
    if one is not None and _is_greatest(high) and not _is_least(low):
        return build.add(Maximum(), x, filled(one, array_shape(x), build))
    if other is not None and _is_least(low) and not _is_greatest(high):
        return build.add(Minimum(), x, filled(other, array_shape(x), build))
    return None


@patterns.rewrites(Clamp)
def clamp_to_one_number(instruction: Instruction, build: Builder) -> Instruction | None:
    """clamp(c, x, d) -> d, of integers where c >= d"""
    low, x, high = instruction.operands
    one, other = number_of(low), number_of(high)
    if one is None or other is None or not is_bits(x):
        return None
    if computed(Minimum(), type_of(x), one, other) != other:
        return None
    return filled(other, array_shape(x), build)


@patterns.rewrites(Clamp)
def clamp_twice(instruction: Instruction, build: Builder) -> Instruction | None:
    """clamp(c, clamp(d, x, e), f) -> clamp(clamp(c, d, f), x, clamp(c, e, f))"""
    match instruction.operands:
        case [low, Instruction(op=Clamp(), operands=[least, x, most]), high] if _are_ordered(
            low, high
        ) and _are_ordered(least, most):
            bounds = [_clamped(bound, low, high) for bound in (least, most)]
            one, other = (build.literal(bound) for bound in bounds)
            return build.add(Clamp(), one, x, other, shape=x.shape)
    return None


def _clamped(bound: Instruction, low: Instruction, high: Instruction) -> Literal:
    numbers = [number for one in (low, bound, high) if (number := number_of(one)) is not None]
    return computed(Clamp(), type_of(bound), *numbers)


@patterns.rewrites(Clamp, assumes=NO_NANS)
def clamp_between_equals(instruction: Instruction, build: Builder) -> Instruction | None:
    """clamp(c, x, c) -> c"""
    low, x, high = instruction.operands
    number = number_of(high)
    if number is None or number != number_of(low):
        return None
    return filled(number, array_shape(x), build)
