"""Names for indices: at which index a kernel computes an instruction, dimension by dimension.

A *label* is a number for one index that runs while a kernel does, or for one that is computed
from such. A *place* has a label for each dimension of an instruction. Two users that need an
operand at the same place share its value; each further place is another evaluation.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from hlotool.ir.cost import Access
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.reduction import Reduce

Place = tuple[int, ...]
_RUN_THROUGH = (Access.FOLDED, Access.SUMMED, Access.UPDATED)
"""How ops read operands that have loops of their own for them."""
ONLY = -1
"""The label of a dimension of size 1, which has one index only."""
_ONLY = frozenset({ONLY})


def sizes_of(instruction: Instruction) -> tuple[int, ...]:
    """Returns the dimensions of what an instruction yields."""
    shape = instruction.shape
    if isinstance(shape, TupleShape):
        # A fold of several arrays yields as many of equal dimensions.
        shape = shape.elements[0]
    assert isinstance(shape, ArrayShape)
    return shape.dimensions


def labels_of(place: Place) -> frozenset[int]:
    """Returns the labels of a place that run."""
    found = frozenset(place)
    return found - _ONLY if ONLY in found else found


class Labels:
    """The labels of one kernel. `spaces` are places that whole loop nests run through."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.spaces: list[Place] = []
        self.loops: list[frozenset[int]] = []
        """For each label the labels of loops that it is computed from."""
        self._known: dict[Hashable, int] = {}
        self._operand_places: dict[tuple[Instruction, int], tuple[Place, ...]] = {}

    def copied(self) -> Labels:
        """Returns a copy that can be added to alone."""
        made = Labels()
        made.sizes = list(self.sizes)
        made.spaces = list(self.spaces)
        made.loops = list(self.loops)
        made._known = dict(self._known)
        made._operand_places = dict(self._operand_places)
        return made

    def new_space(self, sizes: Sequence[int]) -> Place:
        """Returns a place of labels that are not used yet; loops run through it."""
        number = len(self.spaces)
        place = tuple(self._label(("space", number, d), n, None) for d, n in enumerate(sizes))
        self.spaces.append(place)
        return place

    def loops_of(self, place: Place) -> frozenset[int]:
        """Returns the labels of the loops that change the indices of a place."""
        return frozenset().union(*(self.loops[label] for label in labels_of(place)))

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
            found = self._operand_places[user, number] = self._places_for(user, number, places)
        return found

    def _places_for(
        self, user: Instruction, number: int, places: tuple[Place, ...]
    ) -> tuple[Place, ...]:
        # Most users need the same index of arrays of their own dimensions.
        if user.op.access is Access.SAME and sizes_of(user.operands[number]) == sizes_of(user):
            return places
        shapes = [operand.shape for operand in user.operands]
        kept = user.op.kept_dimensions(number, shapes, user.shape)
        return tuple(dict.fromkeys(self._operand_place(user, number, p, kept) for p in places))

    def _operand_place(
        self, user: Instruction, number: int, place: Place, kept: Sequence[int | None]
    ) -> Place:
        """Returns where an operand is needed whose dimensions are `kept` as those of its user."""
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
                base = None if user.op.access in _RUN_THROUGH else self.loops_of(place)
                labels[d] = self._label((*self._moved(user, number), d, place), sizes[d], base)
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

    def _label(self, key: Hashable, size: int, loops: frozenset[int] | None) -> int:
        if size == 1:
            return ONLY
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.sizes)
            self.sizes.append(size)
            self.loops.append(frozenset({found}) if loops is None else loops)
        return found
