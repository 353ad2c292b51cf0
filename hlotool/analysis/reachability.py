"""Whether one kernel leads to another, kept up while kernels are merged in thought."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ops.tuples import GetTupleElement

FARTHEST = 2000
"""How many places apart groups may stand for a question about them to be answered."""


class Group:
    """Instructions that are to become one, in an order in which operands stand before users."""

    __slots__ = ("followers", "instructions")

    def __init__(self, instructions: list[Instruction]) -> None:
        self.instructions = instructions
        self.followers: set[Instruction] | None = None
        """What uses or waits for them, once the group is whole and somebody has asked."""


class GroupOrder:
    """The instructions of a computation in groups, ordered so that each leads to later ones only.

    At first each instruction is a group by itself; elements of a tuple are in the group of what
    they are taken from. Questions and merges take time for what stands between two groups.
    """

    def __init__(self, computation: Computation) -> None:
        self._groups: dict[Instruction, Group] = {}
        self._slots: list[Group | None] = []
        for instruction in computation.instructions:
            self._enter(instruction)
        self._positions = {one: n for n, one in enumerate(self._slots) if one is not None}

    def _enter(self, instruction: Instruction) -> None:
        if isinstance(instruction.op, GetTupleElement):
            group = self._groups[instruction.operands[0]]
            group.instructions.append(instruction)
        else:
            group = Group([instruction])
            self._slots.append(group)
        self._groups[instruction] = group

    def __iter__(self) -> Iterator[Group]:
        return iter([group for group in self._slots if group is not None])

    def group(self, instruction: Instruction) -> Group:
        """Returns the group that an instruction is in."""
        return self._groups[instruction]

    def position(self, group: Group) -> int:
        """Returns the place of a group in the order."""
        return self._positions[group]

    def can_merge(self, first: Group, last: Group) -> bool:
        """Whether no way leads from the first to the last but an edge between them.

        They stand in this order. It is `False` also where they are too far apart to tell.
        """
        if self._positions[last] - self._positions[first] > FARTHEST:
            return False
        end = self._positions[last]
        seen: set[Group] = set()
        waiting = [first]
        while waiting:
            group = waiting.pop()
            for user in self._users(group):
                if user is last and group is not first:
                    return False
                if user not in seen and self._positions[user] < end:
                    seen.add(user)
                    waiting.append(user)
        return True

    def merge(self, first: Group, last: Group) -> Group:
        """Returns the group of two that `can_merge` allowed; it takes their place."""
        start, end = self._positions[first], self._positions[last]
        behind = self._between(first, last)
        made = Group([*first.instructions, *last.instructions])
        self._groups.update(dict.fromkeys(made.instructions, made))
        window = [one for one in self._slots[start : end + 1] if one is not None]
        before = [one for one in window if one not in behind and one not in {first, last}]
        after = [one for one in window if one in behind]
        filled: list[Group | None] = [*before, made, *after]
        filled += [None] * (end + 1 - start - len(filled))
        self._slots[start : end + 1] = filled
        del self._positions[first], self._positions[last]
        for position, one in enumerate(filled, start):
            if one is not None:
                self._positions[one] = position
        return made

    def _between(self, first: Group, last: Group) -> set[Group]:
        """Returns what the first leads to that stands before the last."""
        end = self._positions[last]
        seen: set[Group] = set()
        waiting = [first]
        while waiting:
            for user in self._users(waiting.pop()):
                if user not in seen and self._positions[user] < end:
                    seen.add(user)
                    waiting.append(user)
        return seen

    def _users(self, group: Group) -> set[Group]:
        if group.followers is None:
            group.followers = {
                user
                for instruction in group.instructions
                for user in (*instruction.users, *instruction.control_successors)
            }
        found = {self._groups[user] for user in group.followers}
        found.discard(group)
        return found
