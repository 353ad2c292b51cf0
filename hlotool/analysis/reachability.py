"""Whether one instruction leads to another, kept up while instructions are merged."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ops.tuples import GetTupleElement

FARTHEST = 2000
"""How many places apart instructions may stand for a question about them to be answered."""


class TopologicalOrder:
    """An order of a computation's instructions, operands before users.

    Elements of tuples count as part of what they are taken from. Each question and each merge
    takes time for what stands between two instructions, not for the whole computation.
    """

    def __init__(self, computation: Computation) -> None:
        self._slots: list[Instruction | None] = [
            one for one in computation.instructions if not isinstance(one.op, GetTupleElement)
        ]
        self._positions = {one: n for n, one in enumerate(self._slots) if one is not None}

    def position(self, instruction: Instruction) -> int:
        """Returns the place of an instruction in the order."""
        return self._positions[instruction]

    def can_merge(self, first: Instruction, last: Instruction) -> bool:
        """Whether no way leads from the first to the last but an edge between them.

        They stand in this order. It is `False` also where they are too far apart to tell.
        """
        start, end = self._positions[first], self._positions[last]
        if end - start > FARTHEST:
            return False
        seen = self._between(first, last)
        return not any(last in users_of(one) for one in seen)

    def merge(self, first: Instruction, last: Instruction, made: Instruction) -> None:
        """Puts one instruction in the place of two that `can_merge` allowed.

        Call it before the graph is changed.
        """
        start, end = self._positions.pop(first), self._positions.pop(last)
        after = self._between(first, last, end)
        window = self._slots[start : end + 1]
        kept = [one for one in window if one not in after and one not in {first, last, None}]
        behind = [one for one in window if one in after]
        filled: list[Instruction | None] = [*kept, made, *behind]
        filled += [None] * (len(window) - len(filled))
        self._slots[start : end + 1] = filled
        for position, one in enumerate(filled, start):
            if one is not None:
                self._positions[one] = position

    def rename(self, old: Instruction, new: Instruction) -> None:
        """Lets an instruction take the place of another."""
        position = self._positions.pop(old)
        self._positions[new] = position
        self._slots[position] = new

    def _between(
        self, first: Instruction, last: Instruction, end: int | None = None
    ) -> set[Instruction]:
        """Returns what the first leads to and stands before the last."""
        limit = self._positions[last] if end is None else end
        seen: set[Instruction] = set()
        waiting = [first]
        while waiting:
            for user in users_of(waiting.pop()):
                if user is not last and user not in seen and self._positions[user] < limit:
                    seen.add(user)
                    waiting.append(user)
        return seen


def users_of(instruction: Instruction) -> Iterator[Instruction]:
    """Yields what must run after an instruction, users of its elements among them."""
    yield from instruction.control_successors
    for user in instruction.users:
        if isinstance(user.op, GetTupleElement):
            yield from users_of(user)
        else:
            yield user
