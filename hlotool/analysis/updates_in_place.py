"""Updates of arrays in fusions that can be done in the memory of the array."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice, Scatter
from hlotool.ops.shape_changing import Bitcast

_MOST_STEPS = 64
"""How many instructions are looked at to prove that an array is only read where it changes."""


def updated_parameter(root: Instruction) -> Instruction | None:
    """Returns the parameter that the root of a fusion updates, if it can be done in place.

    Then nothing needs an element of it after it is overwritten, in whatever order the elements
    of the update are computed.
    """
    update = below_bitcasts(root)
    if not isinstance(update.op, DynamicUpdateSlice | Scatter) or update.shape.is_tuple:
        return None
    parameter = below_bitcasts(update.operands[0])
    if parameter.op.parameter_number is None:
        return None
    array = update.operands[0]
    while array is not parameter:
        if list(array.users) != [update] or update.operands.count(array) > 1:
            return None
        update, array = array, array.operands[0]
    readers = [user for user in parameter.users if user is not update]
    if parameter in update.operands[1:] or parameter.is_root:
        return None
    return parameter if all(_reads_what_changes(one, update) for one in readers) else None


def below_bitcasts(instruction: Instruction) -> Instruction:
    """Returns the instruction whose memory, under another shape, an instruction is."""
    while isinstance(instruction.op, Bitcast):
        (instruction,) = instruction.operands
    return instruction


def reads_part(reader: Instruction, update: Instruction) -> bool:
    """Whether a dynamic-slice takes just the part that an update replaces."""
    return (
        isinstance(reader.op, DynamicSlice)
        and isinstance(update.op, DynamicUpdateSlice)
        and reader.operands[1:] == update.operands[2:]
        and reader.shape == update.operands[1].shape
    )


def _reads_what_changes(reader: Instruction, update: Instruction) -> bool:
    """Whether each element that a reader takes is only used for what takes its place."""
    if not reads_part(reader, update):
        return False
    seen = {reader}
    waiting = [reader]
    while waiting and len(seen) < _MOST_STEPS:
        one = waiting.pop()
        if one.is_root:
            return False
        for user in one.users:
            if user is update and one not in (*user.operands[:1], *user.operands[2:]):
                continue
            if not isinstance(user.op, Elementwise) or user.shape.is_tuple:
                return False
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return not waiting
