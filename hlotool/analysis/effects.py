"""What an instruction does beside yielding its value, with all that it calls."""

from __future__ import annotations

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.order import append_with_called, instructions_within
from hlotool.ops.asynchronous import AsyncContinuation


class SideEffects:
    """What has side effects in a module, as long as these stay where they are.

    Each computation is looked into once, however many call it.
    """

    def __init__(self) -> None:
        self._known: dict[Computation, bool] = {}
        self._entered: set[Computation] = set()

    def of(self, instruction: Instruction) -> bool:
        """Whether `has_side_effect` holds of an instruction."""
        return self._has(_started(instruction))

    def _has(self, instruction: Instruction) -> bool:
        if instruction.op.has_side_effect:
            return True
        return bool(instruction.calls) and any(map(self._is_in, instruction.calls))

    def _is_in(self, computation: Computation) -> bool:
        if computation not in self._known:
            # Called ones come first: calls nest deeper than Python's stack.
            order: list[Computation] = []
            append_with_called(computation, self._entered, order)
            for one in order:
                self._known[one] = any(map(self._has, one.instructions))
        return self._known[computation]


def has_side_effect(instruction: Instruction) -> bool:
    """Whether the instruction, or one that it calls, must stay though unused, and run just once.

    Two such instructions must not become one either: random numbers, say, are drawn anew.
    """
    instruction = _started(instruction)
    if instruction.op.has_side_effect or not instruction.calls:
        return instruction.op.has_side_effect
    return any(inner.op.has_side_effect for inner in instructions_within(instruction))


def _started(instruction: Instruction) -> Instruction:
    """Returns the start of something asynchronous: it must be ended though nothing uses the end."""
    while isinstance(instruction.op, AsyncContinuation):
        (instruction,) = instruction.operands
    return instruction


def can_be_removed(instruction: Instruction) -> bool:
    """Whether nothing is lost with an instruction that nothing uses.

    Parameters stay: callers count on them.
    """
    return (
        not instruction.users
        and not instruction.is_root
        and instruction.op.parameter_number is None
        and not has_side_effect(instruction)
    )
