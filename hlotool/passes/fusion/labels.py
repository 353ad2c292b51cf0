"""Names for indices: at which index a kernel computes an instruction, dimension by dimension.

A *label* is a number for one index that runs while a kernel does, or for one that is computed
from such. A *place* has a label for each dimension of an instruction. Two users that need an
operand at the same place share its value; each further place is another evaluation.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from hlotool.ir.cost import Access
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.reduction import Reduce

Place = tuple[int, ...]
ONLY = -1
"""The label of a dimension of size 1, which has one index only."""


def sizes_of(instruction: Instruction) -> tuple[int, ...]:
    """Returns the dimensions of an instruction that yields an array."""
    shape = instruction.shape
    assert isinstance(shape, ArrayShape)
    return shape.dimensions


def labels_of(place: Place) -> frozenset[int]:
    """Returns the labels of a place that run."""
    return frozenset(label for label in place if label != ONLY)


class Labels:
    """The labels of one kernel. `spaces` are places that whole loop nests run through."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.spaces: list[Place] = []
        self._known: dict[Hashable, int] = {}
        self._operand_places: dict[tuple[Instruction, int], tuple[Place, ...]] = {}

    def new_space(self, sizes: Sequence[int]) -> Place:
        """Returns a place of labels that are not used yet; loops run through it."""
        place = tuple(self._label(("space", len(self.spaces), d), n) for d, n in enumerate(sizes))
        self.spaces.append(place)
        return place

    def count(self, place: Place) -> int:
        """Returns how many indices a place runs through."""
        total = 1
        for label in labels_of(place):
            total *= self.sizes[label]
        return total

    def fits(self, place: Place, sizes: Sequence[int]) -> bool:
        """Whether arrays of these dimensions can be computed at a place."""
        own = tuple(1 if label == ONLY else self.sizes[label] for label in place)
        return own == tuple(sizes)

    def of_operand(
        self, user: Instruction, number: int, places: tuple[Place, ...]
    ) -> tuple[Place, ...]:
        """Returns where a user that is computed at `places` needs one of its operands."""
        found = self._operand_places.get((user, number))
        if found is None:
            found = tuple(dict.fromkeys(self._operand_place(user, number, p) for p in places))
            self._operand_places[user, number] = found
        return found

    def _operand_place(self, user: Instruction, number: int, place: Place) -> Place:
        shapes = [operand.shape for operand in user.operands]
        kept = user.op.kept_dimensions(number, shapes, user.shape)
        sizes = sizes_of(user.operands[number])
        labels: list[int | None] = [None if d is None else place[d] for d in kept]
        if isinstance(user.op, Reduce) and len(sizes) == len(labels):
            found = self._folded_place(labels, sizes)
            if found is not None:
                return found
        for d, label in enumerate(labels):
            if sizes[d] == 1:
                labels[d] = ONLY
            elif label is None or label == ONLY:
                labels[d] = self._label((*self._moved(user, number), d, place), sizes[d])
        made = tuple(label for label in labels if label is not None)
        if isinstance(user.op, Reduce):
            self.spaces.append(made)
        return made

    def _folded_place(self, labels: list[int | None], sizes: Sequence[int]) -> Place | None:
        """Returns the place among those that loops run through that a reduction may fold."""
        for space in self.spaces:
            pairs = zip(space, labels, sizes, strict=False)
            if len(space) == len(sizes) and all(
                n == 1 or (own != ONLY and self.sizes[own] == n and label in {None, own})
                for own, label, n in pairs
            ):
                return space
        return None

    def _moved(self, user: Instruction, number: int) -> tuple[Hashable, ...]:
        """Returns what tells one change of indices from another."""
        if user.op.access is not Access.MOVED:
            return (user, number)
        # Where operands say how far things move they belong to it.
        return (user.op, number, user.shape, *user.operands[1:])

    def _label(self, key: Hashable, size: int) -> int:
        if size == 1:
            return ONLY
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.sizes)
            self.sizes.append(size)
        return found
