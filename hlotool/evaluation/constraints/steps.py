"""What a constraint on the result of an instruction says about its operands: arithmetic.

A step may ask for more than is needed, never for what would not do; where nothing short of a
run could tell, it asks for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from hlotool.evaluation.constraints.kinds import (
    SMALL,
    Components,
    Constraint,
    Fixed,
    Full,
    Matrices,
    MatrixKind,
    Nonzero,
    Range,
    positive,
)
from hlotool.evaluation.constraints.moves import MOVES, moved_whole
from hlotool.evaluation.constraints.uniform import uniform_value
from hlotool.evaluation.following import Index, maker
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.elementwise import (
    Add,
    Divide,
    Maximum,
    Minimum,
    Multiply,
    Power,
    Select,
    Subtract,
)
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.ops.unary import (
    Abs,
    Asinh,
    Atanh,
    Cbrt,
    Erf,
    Exponential,
    ExponentialMinusOne,
    LogPlusOne,
    Negate,
    Sign,
    Sinh,
    Sqrt,
    Tanh,
)

Steps = Iterator[tuple[int, Constraint]]
"""Numbers of operands, each with a constraint on it."""

_THROUGH_ZERO = (
    Abs, Asinh, Atanh, Cbrt, Erf, ExponentialMinusOne, LogPlusOne, Negate, Sign, Sinh, Tanh,
)  # fmt: skip
"""Functions that are zero for zero alone."""


def steps(instruction: Instruction, constraint: Constraint) -> Steps:
    """Yields what a constraint on an instruction's array says about the operands."""
    if isinstance(constraint, Full) and not instruction.calls:
        for number, operand in enumerate(instruction.operands):
            if isinstance(operand.shape, ArrayShape) and operand.shape.dynamic:
                yield number, constraint
    rule = MOVES.get(type(instruction.op)) or _RULES.get(type(instruction.op))
    if rule is not None and not isinstance(constraint, Full):
        yield from rule(instruction, constraint)
    elif isinstance(constraint, Nonzero) and isinstance(instruction.op, _THROUGH_ZERO):
        yield 0, constraint


def _known(instruction: Instruction) -> tuple[int, float] | None:
    """Returns the unknown operand's number and the number that the other one is everywhere."""
    for number in (0, 1):
        value = uniform_value(instruction.operands[1 - number])
        if value is not None:
            return number, value
    return None


def _add(instruction: Instruction, constraint: Constraint) -> Steps:
    known = _known(instruction)
    if known is not None:
        yield from _shift(known[0], -known[1], constraint)
    elif isinstance(constraint, Range):
        half = replace(constraint, low=constraint.low / 2, high=constraint.high / 2)
        yield from ((number, half) for number in (0, 1))
    elif _is_definite(constraint):
        yield from ((number, constraint) for number in (0, 1))


def _is_definite(constraint: Constraint) -> bool:
    return isinstance(constraint, Matrices) and constraint.kind is MatrixKind.POSITIVE_DEFINITE


def _shift(number: int, offset: float, constraint: Constraint) -> Steps:
    if isinstance(constraint, Range):
        yield number, constraint.shifted(offset)
    elif isinstance(constraint, Fixed):
        yield number, replace(constraint, value=constraint.value + offset)
    elif isinstance(constraint, Components):
        yield (
            number,
            replace(
                constraint,
                lows=tuple(low + offset for low in constraint.lows),
                highs=tuple(high + offset for high in constraint.highs),
            ),
        )


def _subtract(instruction: Instruction, constraint: Constraint) -> Steps:
    known = _known(instruction)
    if known is None:
        return
    number, value = known
    if number == 0:
        yield from _shift(0, value, constraint)
    elif isinstance(constraint, Range):
        yield 1, constraint.scaled(-1).shifted(value)
    elif isinstance(constraint, Fixed):
        yield 1, replace(constraint, value=value - constraint.value)


def _multiply(instruction: Instruction, constraint: Constraint) -> Steps:
    known = _known(instruction)
    if known is not None:
        if known[1] != 0:
            yield from _scale(known[0], 1 / known[1], constraint)
    elif isinstance(constraint, Nonzero):
        yield from ((number, constraint) for number in (0, 1))
    elif isinstance(constraint, Range):
        yield from _product(instruction, constraint)


def _scale(number: int, factor: float, constraint: Constraint) -> Steps:
    if isinstance(constraint, Range):
        yield number, constraint.scaled(factor)
    elif isinstance(constraint, Fixed):
        yield number, replace(constraint, value=constraint.value * factor)
    elif isinstance(constraint, Nonzero) or (_is_definite(constraint) and factor > 0):
        yield number, constraint


def _product(instruction: Instruction, wanted: Range) -> Steps:
    one, other = instruction.operands
    if one is other:
        yield from _square(wanted)
    elif wanted.low >= 0:
        factor = replace(wanted, low=math.sqrt(wanted.low), high=math.sqrt(wanted.high))
        yield from ((number, factor) for number in (0, 1))
    elif wanted.high <= 0:
        # One factor above zero, the other below.
        least, most = math.sqrt(-wanted.high), math.sqrt(-wanted.low)
        yield 0, replace(wanted, low=least, high=most)
        yield 1, replace(wanted, low=-most, high=-least)
    else:
        size = math.sqrt(min(-wanted.low, wanted.high))
        factor = replace(wanted, low=-size, high=size)
        yield from ((number, factor) for number in (0, 1))


def _square(wanted: Range) -> Steps:
    # A square is never negative.
    if wanted.high == math.inf:
        if wanted.low > 0:
            yield 0, Nonzero(source=wanted.source)
    elif wanted.low > 0:
        yield 0, replace(wanted, low=math.sqrt(wanted.low), high=math.sqrt(wanted.high))
    elif wanted.high >= 0:
        size = math.sqrt(wanted.high)
        yield 0, replace(wanted, low=-size, high=size)


def _divide(instruction: Instruction, constraint: Constraint) -> Steps:
    known = _known(instruction)
    if known is not None and known[0] == 0:
        if known[1] != 0:
            yield from _scale(0, known[1], constraint)
    elif isinstance(constraint, Nonzero):
        yield 0, constraint
    elif isinstance(constraint, Range) and constraint.low >= 0:
        yield 0, replace(constraint, high=math.inf)
        yield 1, replace(constraint, low=SMALL, high=math.inf)


def _negate(_: Instruction, constraint: Constraint) -> Steps:
    yield from _scale(0, -1.0, constraint)


def _abs(_: Instruction, constraint: Constraint) -> Steps:
    if isinstance(constraint, Nonzero):
        yield 0, constraint
    elif isinstance(constraint, Range):
        if constraint.low > 0:
            yield 0, Nonzero(source=constraint.source)
        if constraint.high < math.inf:
            yield 0, replace(constraint, low=-constraint.high)


def _maximum(instruction: Instruction, constraint: Constraint) -> Steps:
    known = _known(instruction)
    if not isinstance(constraint, Range | Fixed | Nonzero):
        return
    if known is not None and isinstance(constraint, Range) and known[1] >= constraint.low:
        constraint = replace(constraint, low=-math.inf)
    yield from _extreme(instruction, known, constraint)


def _minimum(instruction: Instruction, constraint: Constraint) -> Steps:
    known = _known(instruction)
    if not isinstance(constraint, Range | Fixed | Nonzero):
        return
    if known is not None and isinstance(constraint, Range) and known[1] <= constraint.high:
        constraint = replace(constraint, high=math.inf)
    yield from _extreme(instruction, known, constraint)


def _extreme(
    instruction: Instruction, known: tuple[int, float] | None, constraint: Constraint
) -> Steps:
    if isinstance(constraint, Range) and (constraint.low, constraint.high) == (-math.inf, math.inf):
        return
    if known is None:
        yield from ((number, constraint) for number in (0, 1))
        return
    away_from_zero = known[1] > 0 if isinstance(instruction.op, Maximum) else known[1] < 0
    if not (isinstance(constraint, Nonzero) and away_from_zero):
        yield known[0], constraint


def _sqrt(_: Instruction, constraint: Constraint) -> Steps:
    if isinstance(constraint, Nonzero):
        yield 0, positive(constraint.source)
    elif isinstance(constraint, Range):
        low, high = max(0.0, constraint.low), max(0.0, constraint.high)
        # Of a small root the square is a number that is none to be afraid of.
        yield 0, replace(constraint, low=min(low, low * low), high=high * high)


def _exponential(_: Instruction, constraint: Constraint) -> Steps:
    if isinstance(constraint, Range):
        low = math.log(constraint.low) if constraint.low > SMALL else -math.inf
        high = math.log(constraint.high) if constraint.high > 0 else math.inf
        if (low, high) != (-math.inf, math.inf):
            yield 0, replace(constraint, low=low, high=high)


def _power(instruction: Instruction, constraint: Constraint) -> Steps:
    base = uniform_value(instruction.operands[0])
    if base is not None:
        if isinstance(constraint, Range) and base > 0 and base != 1:
            yield 1, _exponents(constraint, base)
    elif isinstance(constraint, Nonzero):
        yield 0, constraint
    elif isinstance(constraint, Range) and constraint.low > 0:
        yield 0, positive(constraint.source)


def _exponents(powers: Range, base: float) -> Range:
    low = math.log(powers.low) if powers.low > 0 else -math.inf
    high = math.log(powers.high) if 0 < powers.high < math.inf else math.inf
    return replace(powers, low=low, high=high).scaled(1 / math.log(base))


def _select(instruction: Instruction, constraint: Constraint) -> Steps:
    _, one, other = instruction.operands
    # An index that counts from the end where it is negative: what holds for it as it is will do.
    if not _is_made_of(one, other):
        yield 1, constraint
    if not _is_made_of(other, one):
        yield 2, constraint


def _is_made_of(made: Instruction, source: Instruction) -> bool:
    if not isinstance(made.op, (Add, Subtract, Negate)):
        return False
    return any(_origin(operand) == _origin(source) for operand in made.operands)


def _origin(instruction: Instruction) -> tuple[Instruction, Index]:
    found, index = maker(instruction, ())
    while not index and type(found.op) in MOVES and len(found.operands) == 1:
        found, index = maker(found.operands[0], ())
    return found, index


def _reduce(instruction: Instruction, constraint: Constraint) -> Steps:
    if not isinstance(constraint, Range) or len(instruction.operands) != 2:
        return
    combining = type(instruction.calls[0].root.op)
    if combining in (Maximum, Minimum):
        yield 0, constraint
    elif combining is Add and constraint.low >= 0:
        yield 0, replace(constraint, low=0.0, high=math.inf)
    elif combining is Multiply and constraint.low > 0:
        yield 0, positive(constraint.source)


_RULES: dict[type[Op], Callable[[Instruction, Constraint], Steps]] = {
    Abs: _abs,
    Add: _add,
    CustomCall: moved_whole,
    Divide: _divide,
    Exponential: _exponential,
    Maximum: _maximum,
    Minimum: _minimum,
    Multiply: _multiply,
    Negate: _negate,
    Power: _power,
    Reduce: _reduce,
    ReduceWindow: _reduce,
    Select: _select,
    Sqrt: _sqrt,
    Subtract: _subtract,
}
