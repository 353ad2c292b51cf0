"""How often a loop runs its body, where that follows from constants."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import cast

from hlotool.analysis.scalar_expression import Place, ScalarExpression, StateIndex, resolved
from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import While
from hlotool.ops.elementwise import Add, Compare, Subtract
from hlotool.ops.source import Constant

MOST_EVALUATIONS = 5_000
"""How many ops are evaluated to find out about one loop."""
_MOST_VARIABLES = 8
_MOST_ROUNDS = 1 << 16
"""How many rounds of counting are tried out; numbers of 16 bits have come around by then."""
_HOLDS = {
    "LT": operator.lt,
    "GT": operator.gt,
    "LE": operator.le,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
_NOTED = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"(\d+)"')
_FLIPPED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}


@dataclass(frozen=True)
class InductionVariable:
    """A part of a loop's state that begins at a number and grows by the same in each round."""

    index: StateIndex
    init: int
    step: int
    element_type: ElementType


@dataclass(frozen=True)
class Counting:
    """How often a loop runs its body, and what counts, where it is one variable."""

    trip_count: int
    variable: InductionVariable | None = None


def trip_count(loop: Instruction) -> int | None:
    """Returns how often a `while` runs its body; `None` where it is not known, or without end."""
    found = counting(loop)
    return None if found is None else found.trip_count


def noted_trip_count(loop: Instruction) -> int | None:
    """Returns how often a `while` runs its body as a compiler has noted it, `None` without that."""
    noted = _NOTED.search(loop.annotations.backend_config)
    return int(noted[1]) if noted else None


def counting(loop: Instruction) -> Counting | None:
    """Returns the trip count of a `while`, with the induction variable.

    Numbers wrap around as their element types do. Where no formula fits, the condition and the
    variables that it needs are evaluated, as long as they depend on constants alone.
    """
    assert isinstance(loop.op, While), f"{loop.name} is no loop"
    facts = _LoopFacts(loop)
    condition = facts.condition()
    if condition is None:
        return None
    comparison = _comparison(facts, condition)
    if comparison is None:
        count = _by_evaluation(facts, condition)
        return None if count is None else Counting(count)
    variable, direction, bound = comparison
    count = _count(variable, direction, bound)
    if count is None:
        count = _count_around(variable, direction, bound)
    return None if count is None else Counting(count, variable)


class _LoopFacts:
    """What is known of the state of a loop: where parts begin and what becomes of them."""

    def __init__(self, loop: Instruction) -> None:
        self._loop = loop
        self._condition, self._body = loop.calls

    def condition(self) -> ScalarExpression | None:
        """Returns what decides on the next round."""
        found = ScalarExpression.of(Place(self._condition.root))
        return None if found is None else self._with_fixed_states(found)

    def next_value(self, index: StateIndex) -> ScalarExpression | None:
        """Returns what a round makes of a part of the state."""
        found = ScalarExpression.of(Place(self._body.root), index)
        return None if found is None else self._with_fixed_states(found)

    def init(self, index: StateIndex) -> Array | None:
        """Returns the constant that a part of the state begins with."""
        place, rest = resolved(Place(self._loop.operands[0]), index)
        op = place.instruction.op
        is_known = isinstance(op, Constant) and not rest and not op.literal.elided
        return op.literal.array() if isinstance(op, Constant) and is_known else None

    def _with_fixed_states(self, expression: ScalarExpression) -> ScalarExpression:
        """Returns the expression with the constants that never change put in."""
        fixed: dict[StateIndex, Array] = {}
        for index in expression.states:
            place, rest = resolved(Place(self._body.root), index)
            never_changes = place.instruction.op.parameter_number is not None and rest == index
            init = self.init(index)
            if never_changes and init is not None:
                fixed[index] = init
        return expression.with_states(fixed)


def _comparison(
    facts: _LoopFacts, condition: ScalarExpression
) -> tuple[InductionVariable, str, int] | None:
    """Returns the variable that a condition compares with a constant, how, and the constant."""
    compare = condition.root.op
    if len(condition.states) != 1 or not isinstance(compare, Compare):
        return None
    (index,) = condition.states
    bound, variable = _beside(condition, index), _variable(facts, index)
    if bound is None or variable is None:
        return None
    number, comes_first = bound
    direction = compare.direction if comes_first else _FLIPPED[compare.direction]
    return variable, direction, int(number.item())


def _variable(facts: _LoopFacts, index: StateIndex) -> InductionVariable | None:
    init, next_value = facts.init(index), facts.next_value(index)
    if init is None or next_value is None:
        return None
    shape = next_value.root.shape
    if not isinstance(shape, ArrayShape) or not shape.element_type.is_integer:
        return None
    step = _step(next_value, index)
    if step is None:
        return None
    return InductionVariable(index, int(init.item()), step, shape.element_type)


def _beside(expression: ScalarExpression, index: StateIndex) -> tuple[Array, bool] | None:
    """Returns the constant that stands beside a variable, and whether the variable is first."""
    if len(expression.arguments) != 2:
        return None
    one, other = expression.arguments
    if one == index and not isinstance(other, tuple | None):
        return other, True
    if other == index and not isinstance(one, tuple | None):
        return one, False
    return None


def _step(next_value: ScalarExpression, index: StateIndex) -> int | None:
    found = _beside(next_value, index)
    if found is None or next_value.states != (index,):
        return None
    number, comes_first = found
    match next_value.root.op:
        case Add():
            return int(number.item())
        case Subtract() if comes_first:
            return -int(number.item())
    return None


def _count(variable: InductionVariable, direction: str, bound: int) -> int | None:
    """Returns the rounds of a loop by arithmetic; `None` where numbers wrap or it never ends."""
    init, step, modulus = variable.init, variable.step, 1 << variable.element_type.bits
    if direction == "NE":
        return _rounds_to_hit(init, step, bound, modulus)
    if direction == "EQ":
        moves = step % modulus != 0
        return 0 if init != bound else 1 if moves else None
    sign = 1 if direction in {"LT", "LE"} else -1
    limit = sign * bound + (1 if direction in {"LE", "GE"} else 0)
    distance, step = limit - sign * init, sign * step
    if distance <= 0:
        return 0
    if step <= 0:
        return None
    count = -(-distance // step)
    return count if _fits(init + count * variable.step, variable.element_type) else None


def _count_around(variable: InductionVariable, direction: str, bound: int) -> int | None:
    """Returns the rounds of a loop by counting; `None` where there are very many, or no end."""
    kind, value = variable.element_type, variable.init
    modulus = 1 << kind.bits
    lowest = -(modulus >> 1) if kind.is_signed else 0
    for count in range(min(modulus, _MOST_ROUNDS) + 1):
        if not _HOLDS[direction](value, bound):
            return count
        value = (value + variable.step - lowest) % modulus + lowest
    return None


def _rounds_to_hit(init: int, step: int, bound: int, modulus: int) -> int | None:
    """Returns the least n for which init + n * step and bound are the same number, wrapped."""
    distance, step = (bound - init) % modulus, step % modulus
    if distance == 0:
        return 0
    common = gcd(step, modulus)
    if step == 0 or distance % common:
        return None
    period = modulus // common
    return distance // common * pow(step // common, -1, period) % period


def _fits(number: int, kind: ElementType) -> bool:
    bits = kind.bits - int(kind.is_signed)
    least = -(1 << bits) if kind.is_signed else 0
    return least <= number < 1 << bits


def _by_evaluation(facts: _LoopFacts, condition: ScalarExpression) -> int | None:
    """Returns the rounds until the condition fails, found by doing what it depends on."""
    steps = _closed(facts, condition)
    if steps is None:
        return None
    values = {index: facts.init(index) for index in steps}
    if any(value is None for value in values.values()):
        return None
    state = cast("Mapping[StateIndex, Array]", values)
    cost = condition.size + sum(step.size for step in steps.values())
    seen: set[tuple[bytes, ...]] = set()
    for count in range(MOST_EVALUATIONS // max(1, cost) + 1):
        if not condition.evaluate(state).item():
            return count
        key = tuple(value.tobytes() for value in state.values())
        if key in seen:
            return None
        seen.add(key)
        state = {index: step.evaluate(state) for index, step in steps.items()}
    return None


def _closed(
    facts: _LoopFacts, condition: ScalarExpression
) -> dict[StateIndex, ScalarExpression] | None:
    """Returns how all variables change that the condition depends on, also from round to round."""
    steps: dict[StateIndex, ScalarExpression] = {}
    waiting = list(condition.states)
    while waiting:
        index = waiting.pop()
        if index in steps:
            continue
        step = facts.next_value(index)
        if step is None or len(steps) == _MOST_VARIABLES:
            return None
        steps[index] = step
        waiting += step.states
    return steps
