"""What an instruction does beside yielding its value, with all that it calls."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction


def has_side_effect(instruction: Instruction) -> bool:
    """Whether the instruction, or one that it calls, must stay though unused, and run just once.

    Two such instructions must not become one either: random numbers, say, are drawn anew.
    """
    if not instruction.calls:
        return instruction.op.has_side_effect
    waiting, visited = [instruction], set(instruction.calls)
    while waiting:
        current = waiting.pop()
        if current.op.has_side_effect:
            return True
        for computation in current.calls:
            if computation not in visited or current is instruction:
                visited.add(computation)
                waiting += computation.instructions
    return False


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
