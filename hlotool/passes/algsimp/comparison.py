"""Identities of comparisons."""

from __future__ import annotations

from math import inf, isnan

from hlotool.analysis.lossless import holds_all
from hlotool.ir.element_type import PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Add, Compare, Maximum, Minimum, Select, Subtract, Xor
from hlotool.ops.unary import Abs, IsFinite, Negate, Not
from hlotool.passes.algsimp.constants import (
    computed,
    filled,
    folded,
    is_any_zero,
    is_constant,
    number_of,
    value_of,
)
from hlotool.passes.algsimp.ranges import range_of
from hlotool.passes.algsimp.regular import (
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

patterns = RegularPatternSet("comparison")

_OPPOSITES = {"EQ": "NE", "NE": "EQ", "LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}
_MIRRORED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}
_OF_EQUALS = {"EQ": True, "GE": True, "LE": True, "NE": False, "GT": False, "LT": False}


def is_total(op: Compare, x: Instruction) -> bool:
    """Whether of any two elements exactly one of LT, EQ and GT holds."""
    return not is_inexact(x) or op.type == "TOTALORDER"


def opposite(op: Compare, x: Instruction) -> Compare | None:
    """Returns the comparison that holds where `op` does not, for operands like `x`."""
    if op.direction not in {"EQ", "NE"} and not is_total(op, x):
        return None
    return op.replace(direction=_OPPOSITES[op.direction])


def _mirrored(op: Compare) -> Compare:
    return op.replace(direction=_MIRRORED[op.direction])


def _flags(value: object, like: Instruction, build: Builder) -> Instruction:
    """Returns truth values, all of them what `value` is."""
    return filled(Literal.from_array(bool(value), PRED), array_shape(like), build)


@patterns.rewrites(Compare)
def compared_constant_on_the_right(instruction: Instruction, build: Builder) -> Instruction | None:
    """c < x -> x > c, as of every comparison"""
    match instruction:
        case Instruction(op=Compare() as op, operands=[constant, x]) if is_constant(
            constant
        ) and not is_constant(x):
            return build.add(_mirrored(op), x, constant)
    return None


@patterns.rewrites(Compare)
def compare_equals(instruction: Instruction, build: Builder) -> Instruction | None:
    """x == x -> true, as for every direction, where there is no NaN; x < x -> false always"""
    match instruction:
        case Instruction(op=Compare(direction=direction) as op, operands=[x, y]) if x is y and (
            is_total(op, x) or direction in {"LT", "GT"}
        ):
            return _flags(_OF_EQUALS[direction], x, build)
    return None


@patterns.rewrites(Compare, assumes=NO_NANS)
def compare_equals_inexact(instruction: Instruction, build: Builder) -> Instruction | None:
    """x == x -> true, of floats, as for every direction"""
    match instruction:
        case Instruction(op=Compare(direction=direction), operands=[x, y]) if x is y:
            return _flags(_OF_EQUALS[direction], x, build)
    return None


@patterns.rewrites(Compare)
def compare_by_range(instruction: Instruction, build: Builder) -> Instruction | None:
    """x < y -> true, of integers where every x is less than every y, as for every direction"""
    match instruction:
        case Instruction(op=Compare(direction=direction), operands=[x, y]) if is_integral(x):
            ours, theirs = range_of(x), range_of(y)
            if ours.high < theirs.low:
                return _flags(direction in {"LT", "LE", "NE"}, x, build)
            if ours.low > theirs.high:
                return _flags(direction in {"GT", "GE", "NE"}, x, build)
            if ours.high == theirs.low and direction in {"LE", "GT"}:
                return _flags(direction == "LE", x, build)
            if ours.low == theirs.high and direction in {"GE", "LT"}:
                return _flags(direction == "GE", x, build)
    return None


@patterns.rewrites(Compare)
def compare_with_end_of_range(instruction: Instruction, build: Builder) -> Instruction | None:
    """x > c -> x != c, and x <= c -> x == c, of integers never less than c, as at the other end"""
    match instruction:
        case Instruction(op=Compare(direction=direction) as op, operands=[x, y]) if is_integral(x):
            ours, theirs = range_of(x), range_of(y)
            if theirs.low != theirs.high:
                return None
            ends = {"GT": ("NE", ours.low), "LE": ("EQ", ours.low),
                    "LT": ("NE", ours.high), "GE": ("EQ", ours.high)}  # fmt: skip
            simpler, end = ends.get(direction, ("", None))
            if end == theirs.low:
                return build.add(op.replace(direction=simpler), x, y)
    return None


@patterns.rewrites(Compare)
def compare_flag(instruction: Instruction, build: Builder) -> Instruction | None:
    """flag == true -> flag, and flag == false -> not(flag), as of the other directions"""
    match instruction:
        case Instruction(op=Compare(direction=direction), operands=[flag, constant]) if is_pred(
            flag
        ):
            value = value_of(constant)
            if value is None:
                return None
            # What false and what true yields.
            results = {"EQ": (not value, value), "NE": (value, not value),
                       "LT": (value, False), "GE": (not value, True),
                       "GT": (False, not value), "LE": (True, value)}[direction]  # fmt: skip
            return _as_flag(flag, *results, build)
    return None


def _as_flag(flag: Instruction, no: object, yes: object, build: Builder) -> Instruction:
    """Returns what is `yes` where the flag is true, and `no` elsewhere."""
    if bool(no) is bool(yes):
        return _flags(yes, flag, build)
    return flag if yes else build.add(Not(), flag)


@patterns.rewrites(Compare)
def compare_sum_with_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """x + c == d -> x == d - c, of integers, as of NE"""
    match instruction:
        case Instruction(
            op=Compare(direction="EQ" | "NE") as op,
            operands=[Instruction(op=Add(), operands=[x, one]), other],
        ) if is_integral(x) and number_of(one) is not None and number_of(other) is not None:
            return build.add(op, x, folded(Subtract(), build, other, one))
    return None


@patterns.rewrites(Compare)
def compare_difference_with_zero(instruction: Instruction, build: Builder) -> Instruction | None:
    """x - y == 0 -> x == y, of integers, as of NE, and of x ^ y"""
    match instruction:
        case Instruction(
            op=Compare(direction="EQ" | "NE") as op,
            operands=[Instruction(op=Subtract() | Xor(), operands=[x, y]), zero],
        ) if is_bits(x) and is_any_zero(zero):
            return build.add(op, x, y)
    return None


@patterns.rewrites(Compare)
def compare_negated_with_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """-x < c -> x > -c, of floats, as of every comparison, and of EQ and NE of integers"""
    match instruction:
        case Instruction(
            op=Compare() as op, operands=[Instruction(op=Negate(), operands=[x]), constant]
        ) if number_of(constant) is not None and _can_mirror(op, x):
            return build.add(_mirrored(op), x, folded(Negate(), build, constant))
    return None


@patterns.rewrites(Compare)
def compare_negated(instruction: Instruction, build: Builder) -> Instruction | None:
    """-x < -y -> x > y, of floats, as of every comparison, and of EQ and NE of integers"""
    match instruction:
        case Instruction(
            op=Compare() as op,
            operands=[
                Instruction(op=Negate(), operands=[x]),
                Instruction(op=Negate(), operands=[y]),
            ],
        ) if _can_mirror(op, x):
            return build.add(_mirrored(op), x, y)
    return None


def _can_mirror(op: Compare, x: Instruction) -> bool:
    if is_float(x):
        # NaN has no sign to turn where numbers are only compared.
        return op.type != "TOTALORDER"
    return op.direction in {"EQ", "NE"}


@patterns.rewrites(Compare)
def compare_converted_with_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """convert(x) < c -> x < convert(c), where both conversions lose nothing, of integers"""
    match instruction:
        case Instruction(
            op=Compare(direction=direction),
            operands=[Instruction(op=Convert(), operands=[x]), constant],
        ) if is_integral(constant) and is_bits(x) and holds_all(type_of(constant), type_of(x)):
            number = number_of(constant)
            if number is None:
                return None
            narrow = computed(Convert(), type_of(x), number)
            if computed(Convert(), type_of(constant), narrow) != number:
                return None
            narrowed = filled(narrow, array_shape(x), build)
            return build.add(Compare(direction), x, narrowed)
    return None


@patterns.rewrites(Compare)
def compare_converted(instruction: Instruction, build: Builder) -> Instruction | None:
    """convert(x) < convert(y) -> x < y, where the conversions lose nothing"""
    match instruction:
        case Instruction(
            op=Compare(direction=direction, type=kind),
            operands=[
                Instruction(op=Convert(), operands=[x]),
                Instruction(op=Convert(), operands=[y]),
            ],
        ) if (
            kind != "TOTALORDER"
            and type_of(x) is type_of(y)
            and (is_bits(x) or is_float(x))
            and holds_all(type_of(instruction.operands[0]), type_of(x))
        ):
            return build.add(Compare(direction), x, y)
    return None


@patterns.rewrites(Compare)
def compare_selected(instruction: Instruction, build: Builder) -> Instruction | None:
    """select(flag, c, d) == e -> flag, not(flag), true or false, as for every direction"""
    match instruction:
        case Instruction(
            op=Compare() as op,
            operands=[Instruction(op=Select(), operands=[flag, one, other]), third],
        ) if array_shape(flag).dimensions == array_shape(third).dimensions:
            numbers = number_of(one), number_of(other), number_of(third)
            yes, no, limit = numbers
            if yes is None or no is None or limit is None:
                return None
            at_no, at_yes = (computed(op, PRED, number, limit).scalar() for number in (no, yes))
            return _as_flag(flag, at_no, at_yes, build)
    return None


@patterns.rewrites(Compare)
def compare_extreme_with_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """maximum(x, c) > d -> x > d, where d is not less than c, as of minimum and other directions"""
    match instruction:
        case Instruction(
            op=Compare(direction=direction) as op,
            operands=[Instruction(op=Maximum() | Minimum() as inner, operands=[x, one]), other],
        ) if op.type != "TOTALORDER" and not is_pred(x):
            bound, limit = value_of(one), value_of(other)
            if not isinstance(bound, int | float) or not isinstance(limit, int | float):
                return None
            if isinstance(inner, Minimum):
                bound, limit = -bound, -limit
                direction = _MIRRORED[direction]
            # At the bound itself only what tells greater ones from it goes on doing so.
            if bound < limit or (bound == limit and direction in {"GT", "LE"}):
                return build.add(op, x, other)
    return None


@patterns.rewrites(Compare)
def compare_size_with_zero(instruction: Instruction, build: Builder) -> Instruction | None:
    """abs(x) < 0 -> false, of floats"""
    match instruction:
        case Instruction(
            op=Compare(direction="LT", type=None),
            operands=[Instruction(op=Abs(), operands=[x]), zero],
        ) if is_float(zero) and is_any_zero(zero):
            return _flags(0, x, build)
    return None


@patterns.rewrites(Compare)
def compare_size_with_infinity(instruction: Instruction, build: Builder) -> Instruction | None:
    """abs(x) < inf -> is-finite(x)"""
    match instruction:
        case Instruction(
            op=Compare(direction="LT", type=None),
            operands=[Instruction(op=Abs(), operands=[x]), constant],
        ) if is_float(x) and value_of(constant) == inf:
            return build.add(IsFinite(), x)
    return None


@patterns.rewrites(Compare)
def compare_with_nan(instruction: Instruction, build: Builder) -> Instruction | None:
    """x < nan -> false, as for every direction but NE"""
    match instruction:
        case Instruction(op=Compare(direction=direction) as op, operands=[x, constant]) if is_float(
            x
        ) and not is_total(op, x):
            value = value_of(constant)
            if isinstance(value, float) and isnan(value):
                return _flags(direction == "NE", x, build)
    return None


@patterns.rewrites(Compare)
def compare_with_infinity(instruction: Instruction, build: Builder) -> Instruction | None:
    """x > inf -> false, x < -inf -> false"""
    match instruction:
        case Instruction(op=Compare(direction="GT" | "LT" as direction) as op, operands=[x, c]) if (
            is_float(x) and not is_total(op, x)
        ):
            if value_of(c) == (inf if direction == "GT" else -inf):
                return _flags(0, x, build)
    return None
