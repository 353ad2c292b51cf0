"""How far a result may be from the expected one: bounds by element type and by what made it.

The walk goes over a module as the evaluator does, with `rounding.Error` in place of arrays.
Arguments are exact. A loop's body is walked through a few times, and what the last time added
counts for each round that is left; the number of rounds is the known trip count, or a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.analysis.trip_count import noted_trip_count
from hlotool.evaluation.comparison.rounding import (
    EXACT,
    MOST,
    Error,
    Errors,
    leaves_of,
    limited,
    ulp,
)
from hlotool.evaluation.comparison.rounding_rules import RULES, Rule, uniform, unknown
from hlotool.evaluation.following import with_passed
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.elementwise import Compare
from hlotool.ops.source import Constant

TupleIndex = tuple[int, ...]

GUESSED_ROUNDS = 64
"""How often a loop is taken to run where nobody knows."""
_WALKED_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an element may be off.

    It is `relative · |expected| + scaled · max(|expected|, size) + absolute`, where `size` is
    the root of the mean square of the array's finite expected elements; where anything is
    rounded, `absolute` is the smallest normal number of the type. A tolerance with `needs_both`
    is a user's: an element fails where its error is above `absolute` and its relative error
    above `relative`. `reason` says where the bounds come from.
    """

    relative: float = 0.0
    scaled: float = 0.0
    absolute: float = 0.0
    reason: str = ""
    needs_both: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether elements must be equal."""
        return not (self.relative or self.scaled or self.absolute)


def tolerances(module: Module) -> dict[TupleIndex, Tolerance]:
    """Returns the tolerance of each array of the module's result, by its tuple index."""
    entry = module.entry
    arguments = [uniform(EXACT, parameter.shape) for parameter in entry.parameters]
    walk = _Walk({})
    errors = leaves_of(walk.called(entry, arguments))
    if walk.sent:
        # What is sent may come later in the text than what receives it.
        errors = leaves_of(_Walk(walk.sent).called(entry, arguments))
    leaves = entry.root.shape.leaves()
    return {
        index: _tolerance(error, leaf.element_type)
        for (index, leaf), error in zip(leaves, errors, strict=True)
        if isinstance(leaf, ArrayShape)
    }


def chosen(element_type: ElementType, absolute: float | None, relative: float | None) -> Tolerance:
    """Returns the tolerance of bounds that a user gives; integers must be equal all the same."""
    if not (element_type.is_float or element_type.is_complex):
        return Tolerance(reason=f"{element_type.name} must be equal")
    return Tolerance(
        relative=relative or 0.0,
        absolute=absolute or 0.0,
        reason="bounds given by the user",
        needs_both=True,
    )


def _tolerance(error: Error, element_type: ElementType) -> Tolerance:
    if not (element_type.is_float or element_type.is_complex):
        remark = "" if not error.steps else f"; it depends on rounded values ({_history(error)})"
        return Tolerance(reason=f"{element_type.name} must be equal{remark}")
    if error.is_exact:
        return Tolerance(reason=f"{element_type.name} that no instruction rounds must be equal")
    kept = limited(error, element_type)
    float_format = element_type.component.float_format
    assert float_format is not None
    # Numbers below the smallest normal one are flushed to zero by some backends.
    smallest = 2.0 ** (1 - float_format.bias)
    return Tolerance(kept.relative, kept.scaled, smallest, _history(error))


def _history(error: Error) -> str:
    steps = f", one of {error.steps} roundings" if error.steps > 1 else ""
    return f"{error.cause}{steps}"


class _Walk:
    """The walk over a module; computations with the same arguments are walked through once."""

    def __init__(self, sent: dict[int | None, Error]) -> None:
        self.sent = sent
        self._known: dict[tuple[Computation, tuple[Errors, ...]], Errors] = {}

    def called(self, computation: Computation, arguments: Sequence[Errors]) -> Errors:
        """Returns the errors of what a computation yields."""
        key = computation, tuple(arguments)
        if key not in self._known:
            self._known[key] = self._walked(computation, arguments)
        return self._known[key]

    def _walked(self, computation: Computation, arguments: Sequence[Errors]) -> Errors:
        errors: dict[Instruction, Errors] = {}
        for instruction in computation.instructions:
            number = instruction.op.parameter_number
            if number is not None:
                errors[instruction] = arguments[number]
                continue
            operands = [errors[operand] for operand in instruction.operands]
            made = partial(self._made, instruction, operands)
            errors[instruction] = with_passed(instruction, operands, made)
        return errors[computation.root]

    def _made(self, instruction: Instruction, operands: Sequence[Errors]) -> Errors:
        found = rule_of(type(instruction.op))(self, instruction, operands)
        return _typed(found, instruction.shape)

    def looped(self, instruction: Instruction, state: Errors) -> Errors:
        """Returns the errors of the last state of a loop."""
        body = instruction.calls[1]
        rounds = trip_count(instruction)
        total = GUESSED_ROUNDS if rounds is None else rounds
        walked = min(total, _WALKED_ROUNDS)
        previous = state
        for _ in range(walked):
            previous, state = state, self.called(body, [state])
        return _continued(previous, state, total - walked)


def trip_count(loop: Instruction) -> int | None:
    """Returns how many rounds a `while` takes, or at most takes, as far as that is written.

    A note of a compiler counts, then a condition that compares with a constant.
    """
    noted = noted_trip_count(loop)
    if noted is not None:
        return noted
    condition = loop.calls[0].root
    if not isinstance(condition.op, Compare):
        return None
    for operand in condition.operands:
        op = operand.op
        if isinstance(op, Constant) and not op.literal.elided and operand.shape.is_array:
            limit = op.literal.scalar()
            return int(limit) if isinstance(limit, int) and 0 < limit < 1 << 31 else None
    return None


def _continued(previous: Errors, last: Errors, rounds: int) -> Errors:
    """Returns the errors after more rounds, each of which adds what the last one added."""
    if isinstance(previous, Error) and isinstance(last, Error):
        added = max(0.0, last.relative - previous.relative)
        spread = max(0.0, last.scaled - previous.scaled)
        return Error(
            min(MOST, last.relative + rounds * added),
            min(MOST, last.scaled + rounds * spread),
            last.cause,
            last.share,
            last.steps + rounds * max(0, last.steps - previous.steps),
            last.grows,
        )
    assert isinstance(previous, tuple)
    assert isinstance(last, tuple)
    return tuple(_continued(*pair, rounds) for pair in zip(previous, last, strict=True))


def rule_of(op: type[Op]) -> Rule:
    """Returns the rule of the nearest base of an op's class."""
    return next((RULES[kind] for kind in op.__mro__ if kind in RULES), unknown)


def _typed(errors: Errors, shape: Shape) -> Errors:
    """Returns errors of the form of a shape, with none where there are no floats."""
    if isinstance(shape, TupleShape):
        parts = errors if isinstance(errors, tuple) else (errors,) * len(shape.elements)
        return tuple(map(_typed, parts, shape.elements))
    if not isinstance(errors, Error):
        return EXACT
    if not isinstance(shape, ArrayShape) or ulp(shape.element_type) == 0:
        # What it depends on is kept, for the reason.
        return Error(0.0, 0.0, errors.cause, errors.share, errors.steps, errors.grows)
    return errors
