"""What an instruction does beside yielding its value, with all that it calls."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ir.order import instructions_within
from hlotool.ops.asynchronous import AsyncContinuation


def has_side_effect(instruction: Instruction) -> bool:
    """Whether the instruction, or one that it calls, must stay though unused, and run just once.

    Two such instructions must not become one either: random numbers, say, are drawn anew.
    """
    while isinstance(instruction.op, AsyncContinuation):
        # What was started must be ended too, where nothing uses the result.
        (instruction,) = instruction.operands
    within = instructions_within(instruction) if instruction.calls else ()
    return instruction.op.has_side_effect or any(inner.op.has_side_effect for inner in within)


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
