"""What loops want: that the numbers which end them are small, so that they do end."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.evaluation.constraints.kinds import Constraint, Range
from hlotool.evaluation.constraints.uniform import uniform_value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.control_flow import Call, Fusion, While
from hlotool.ops.elementwise import And, Compare, Or
from hlotool.ops.shape_changing import Bitcast, Broadcast, Reshape
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy, Not

MOST_ROUNDS = 8
"""How far apart a counter and its limit begin."""
_UPWARDS = ("LT", "LE")
_THROUGH = (And, Bitcast, Broadcast, Copy, Not, Or, Reshape, Tuple)

LoopWants = dict[Instruction, list[tuple[int, Constraint]]]
"""For comparisons, numbers of operands with constraints on them."""


def loop_wants(module: Module) -> LoopWants:
    """Returns what the comparisons that end loops want of what they compare."""
    found: LoopWants = {}
    for instruction in module.instructions():
        if isinstance(instruction.op, While):
            for comparison in _comparisons(instruction.calls[0].root):
                found[comparison] = list(_wants(comparison, instruction.name))
    return found


def _comparisons(root: Instruction) -> Iterator[Instruction]:
    waiting, seen = [root], {root}
    while waiting:
        instruction = waiting.pop()
        if isinstance(instruction.op, Compare):
            yield instruction
            continue
        sources: list[Instruction] = []
        if isinstance(instruction.op, (*_THROUGH, GetTupleElement)):
            sources = list(instruction.operands)
        elif isinstance(instruction.op, Call | Fusion):
            sources = [instruction.calls[0].root]
        fresh = [source for source in sources if source not in seen]
        seen.update(fresh)
        waiting += fresh


def _wants(comparison: Instruction, loop: str) -> Iterator[tuple[int, Constraint]]:
    assert isinstance(comparison.op, Compare)
    for number in (0, 1):
        limit = uniform_value(comparison.operands[1 - number])
        if limit is not None:
            is_upwards = (comparison.op.direction in _UPWARDS) == (number == 0)
            if comparison.op.direction in ("NE", "EQ"):
                # Counting down ends at zero, counting up anywhere else.
                is_upwards = limit != 0
            low, high = (limit - MOST_ROUNDS, limit) if is_upwards else (limit, limit + MOST_ROUNDS)
            yield number, Range(low, high, source=loop)
            return
    middle = MOST_ROUNDS // 2
    if comparison.op.direction == "NE":
        # A counter that goes up, and its limit.
        yield 0, Range(0, middle, source=loop)
        yield 1, Range(middle, MOST_ROUNDS, source=loop)
        return
    yield 0, Range(0, MOST_ROUNDS, source=loop)
    yield 1, Range(0, MOST_ROUNDS, source=loop)
