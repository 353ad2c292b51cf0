"""Start indices of dynamic slices and updates, as far as they are known."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.instruction import Instruction
from hlotool.passes.algsimp.constants import integer_of
from hlotool.passes.algsimp.values import is_same, literal_of
from hlotool.rewriting.dimensions import are_static, sizes

Starts = tuple[Instruction, ...]


def constant_starts(
    instruction: Instruction, first: int, window: Sequence[int]
) -> list[int] | None:
    """Returns where a window of an array begins, moved inside; `None` where it is not known.

    The start indices are the operands from number `first` on: scalars, or one vector.
    """
    array, given = instruction.operands[0], instruction.operands[first:]
    if not are_static(array, *given):
        return None
    numbers = _numbers(given, len(window))
    if any(number is None for number in numbers):
        return None
    return [
        max(0, min(number or 0, bound - size))
        for number, bound, size in zip(numbers, sizes(array), window, strict=True)
    ]


def _numbers(starts: Sequence[Instruction], rank: int) -> Sequence[int | None]:
    if len(starts) != 1 or not sizes(starts[0]):
        return [integer_of(start) for start in starts]
    literal = literal_of(starts[0])
    if literal is None:
        return [integer_of(starts[0])] * rank
    return [int(number) for number in literal.array().tolist()]


def have_same_starts(one: Starts, other: Starts) -> bool:
    """Whether two windows of equal sizes begin at the same place, as far as is seen."""
    return len(one) == len(other) and all(map(is_same, one, other))
