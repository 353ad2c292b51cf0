"""What a kernel that folds does, in which order: sweeps over the elements of its rows.

A *label* stands for an index that loops run through, a *place* has one for each dimension of an
instruction. All folds of a kernel keep the same labels: those of its rows. Each sweep runs
through the other labels of a fold or of an output; a fold that needs the result of another one
comes in a later sweep.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from hlotool.codegen.elements.shapes import first_array_shape
from hlotool.codegen.elements.source import memory_order
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.folds.folds import Fold, fold_of
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.reduction import Reduce
from hlotool.ops.source import Constant
from hlotool.ops.tuples import GetTupleElement, Tuple

Place = tuple[int, ...]
ONLY = -1
"""The label of a dimension of size 1."""


@dataclass
class Sweep:
    """One run through the elements of a row."""

    level: int
    labels: tuple[int, ...]
    """What is run through, the slowest in memory first."""
    folds: list[Instruction] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)
    """Numbers of outputs whose elements are stored."""
    is_in_order: bool = False
    """Whether a fold takes its elements one after the other, in the order of `labels`."""


@dataclass
class Plan:
    """The work of a kernel: for each row all sweeps, then outputs with one element a row."""

    sizes: list[int]
    """How many indices there are of each label."""
    rows: tuple[int, ...]
    """The labels of the rows, the slowest in memory first."""
    order: tuple[int, ...]
    """The labels of the largest array that is run through, the slowest in memory first."""
    sweeps: list[Sweep]
    ends: list[int]
    """Numbers of outputs that are stored when all sweeps of a row are done."""
    places: dict[Instruction, Place]
    """Where outputs and folds are computed."""
    spaces: dict[Instruction, Place]
    """For each fold, where its elements are."""
    folds: dict[Instruction, Fold]
    """How each fold is computed."""
    members: dict[Instruction, tuple[Place, ...]]
    """All places of each instruction that is computed."""

    def count(self, labels: Sequence[int]) -> int:
        """Returns how many elements labels run through."""
        return prod(self.sizes[label] for label in labels)

    @property
    def row_elements(self) -> int:
        """How many elements of a row the longest sweep runs through."""
        return max((self.count(sweep.labels) for sweep in self.sweeps), default=1)


def plan_of(body: Body, last: frozenset[int] = frozenset()) -> Plan:
    """Returns the sweeps of a body; `last` are outputs that must be stored in the last ones.

    Raises `NotCompiled` where the folds of the body keep different labels.
    """
    labels = _Labels(body)
    _, folds = _kinds(body, labels)
    if not folds or len(labels.places[folds[0]]) != 1:
        raise NotCompiled("folds that are needed at several places")
    if _are_folded_again(body, labels, folds):
        raise NotCompiled("folds of what other rows yield")
    rows = frozenset(labels.of(folds[0])) - {ONLY}
    return _Planned(body, labels, folds, rows, last).plan()


def kinds_of(body: Body) -> tuple[list[list[Instruction]], list[Instruction]]:
    """Returns the folds of a body by the rows they are of, and those of the result's rows.

    A fold that is needed at several places is of a kind of its own.
    """
    return _kinds(body, _Labels(body))


def _kinds(body: Body, labels: _Labels) -> tuple[list[list[Instruction]], list[Instruction]]:
    found: dict[Hashable, list[Instruction]] = {}
    for member in body.members:
        if isinstance(member.op, Reduce) and member in labels.places:
            places = labels.places[member]
            is_one = len(places) == 1
            kind: Hashable = frozenset(*places) - {ONLY} if is_one else member
            found.setdefault(kind, []).append(member)
    outputs = {output for output, _ in body.outputs}
    kinds = list(found.values())
    results = [folds for folds in kinds if not outputs.isdisjoint(folds)]

    def work(folds: list[Instruction]) -> int:
        is_swept = len(labels.places[folds[0]]) == 1
        return max(first_array_shape(fold.operands[0]).element_count for fold in folds) * is_swept

    return kinds, max(results or kinds, key=work, default=[])


def _are_folded_again(body: Body, labels: _Labels, folds: Sequence[Instruction]) -> bool:
    """Whether folds of other rows need results of folds, of which a row only knows its own."""
    above = set(folds)
    for member in body.members:
        if member in above or above.isdisjoint(member.operands):
            continue
        if isinstance(member.op, Reduce) and member in labels.places:
            return True
        above.add(member)
    return False


class _Labels:
    """The places of all members of a body."""

    def __init__(self, body: Body) -> None:
        self.sizes: list[int] = []
        self.places: dict[Instruction, dict[Place, None]] = {}
        self.spaces: list[Place] = []
        self._loaded = {one for one, _, _ in body.inputs}
        self._known: dict[tuple[Instruction, int, Place], Place] = {}
        outputs = list(dict.fromkeys(one for one, _ in body.outputs))
        largest = max(outputs, key=lambda one: _run_through(one).element_count)
        self.places[largest] = {self._first(largest): None}
        # Some outputs are those of rows that are known only when the others have been seen.
        for is_last in (False, True):
            for member in reversed(body.members):
                if isinstance(member.op, (Tuple, Constant)):
                    continue
                if member not in self.places and member in outputs:
                    place = self._beside(member, is_last=is_last)
                    if place is not None:
                        self.places[member] = {place: None}
                if member in self.places:
                    self._enter_operands(member)

    def of(self, member: Instruction) -> Place:
        """Returns the only place of a member."""
        if len(self.places.get(member, ())) != 1:
            raise NotCompiled(f"{member.opcode} at several places of one kernel")
        (place,) = self.places[member]
        return place

    def space(self, fold: Instruction) -> Place:
        """Returns the place of what is folded."""
        return self._folded(fold, self.of(fold))

    def _enter_operands(self, member: Instruction) -> None:
        for number, operand in enumerate(member.operands):
            if operand not in self._loaded and not isinstance(operand.op, Constant):
                for place in list(self.places[member]):
                    key = member, number, place
                    if key not in self._known:
                        self._known[key] = self._operand_place(*key)
                    self.places.setdefault(operand, {})[self._known[key]] = None

    def _operand_place(self, member: Instruction, number: int, place: Place) -> Place:
        if isinstance(member.op, GetTupleElement):
            return place
        if isinstance(member.op, Reduce):
            return self._folded(member, place) if 2 * number < len(member.operands) else ()
        operands = [operand.shape for operand in member.operands]
        kept = member.op.kept_dimensions(number, operands, member.shape)
        sizes = first_array_shape(member.operands[number]).dimensions
        if len(kept) != len(sizes):
            return tuple(self._new(size) for size in sizes)
        return tuple(
            ONLY if n == 1 else self._new(n) if d is None or place[d] == ONLY else place[d]
            for d, n in zip(kept, sizes, strict=True)
        )

    def _folded(self, fold: Instruction, place: Place) -> Place:
        op, sizes = fold.op, first_array_shape(fold.operands[0]).dimensions
        assert isinstance(op, Reduce)
        kept = iter(place)
        wanted = [None if d in op.dimensions else next(kept) for d in range(len(sizes))]
        for space in self.spaces:
            if self._fits(space, sizes) and all(
                label in {None, own} for label, own in zip(wanted, space, strict=True)
            ):
                return space
        made = tuple(
            label if label is not None else self._new(n)
            for label, n in zip(wanted, sizes, strict=True)
        )
        self.spaces.append(made)
        return made

    def _first(self, output: Instruction) -> Place:
        place = self._beside(output)
        assert place is not None
        return place

    def _beside(self, output: Instruction, *, is_last: bool = True) -> Place | None:
        """Returns where an output is computed that nothing else in the body uses."""
        sizes = _run_through(output).dimensions
        space = next((one for one in self.spaces if self._fits(one, sizes)), None)
        if isinstance(output.op, Reduce):
            space = space or self._new_space(sizes)
            return tuple(label for d, label in enumerate(space) if d not in output.op.dimensions)
        if space is None and is_last:
            space = self._of_rows(sizes) or self._new_space(sizes)
        return space

    def _of_rows(self, sizes: Sequence[int]) -> Place | None:
        """Returns the place of elements that belong to rows, but for dimensions of size 1."""
        wanted = [n for n in sizes if n != 1]
        for member, places in self.places.items():
            if isinstance(member.op, Reduce):
                labels = [label for label in next(iter(places)) if label != ONLY]
                if [self.sizes[label] for label in labels] == wanted:
                    left = iter(labels)
                    return tuple(ONLY if n == 1 else next(left) for n in sizes)
        return None

    def _new_space(self, sizes: Sequence[int]) -> Place:
        self.spaces.append(tuple(self._new(n) for n in sizes))
        return self.spaces[-1]

    def _fits(self, place: Place, sizes: Sequence[int]) -> bool:
        own = [1 if label == ONLY else self.sizes[label] for label in place]
        return own == list(sizes)

    def _new(self, size: int) -> int:
        if size == 1:
            return ONLY
        self.sizes.append(size)
        return len(self.sizes) - 1


class _Planned:
    def __init__(
        self,
        body: Body,
        labels: _Labels,
        folds: list[Instruction],
        rows: frozenset[int],
        last: frozenset[int],
    ) -> None:
        self._body = body
        self._labels = labels
        self._folds = folds
        self._rows = rows
        self._last = last
        self._depths = depths(body.members, set(folds))
        self._sweeps: list[Sweep] = []

    def plan(self) -> Plan:
        """Returns the sweeps in order."""
        folds = {fold: fold_of(fold) for fold in self._folds}
        for fold, how in folds.items():
            self._enter_fold(fold, is_free=how.is_free)
        ends = []
        for number, (output, _) in enumerate(self._body.outputs):
            if not self._is_swept(output, number):
                ends.append(number)
        self._sweeps.sort(key=lambda sweep: sweep.level)
        main = max(self._sweeps, key=lambda one: self._size(one.labels))
        space = self._order_of(main)
        rows = tuple(label for label in space if label in self._rows)
        outputs = [output for output, _ in self._body.outputs]
        places = {one: self._labels.of(one) for one in (*self._folds, *outputs)}
        spaces = {fold: self._labels.space(fold) for fold in self._folds}
        members = {one: tuple(found) for one, found in self._labels.places.items()}
        sizes = self._labels.sizes
        return Plan(sizes, rows, space, self._sweeps, ends, places, spaces, folds, members)

    def _enter_fold(self, fold: Instruction, *, is_free: bool) -> None:
        space, level = self._labels.space(fold), self._depths[fold]
        if is_free:
            order = in_memory(first_array_shape(fold.operands[0]), space)
            self._sweep(level, order, at_most=False).folds.append(fold)
            return
        labels = tuple(one for one in space if one not in self._rows and one != ONLY)
        for sweep in self._sweeps:
            if sweep.level == level and sweep.is_in_order and sweep.labels == labels:
                sweep.folds.append(fold)
                return
        self._sweeps.append(Sweep(level, labels, [fold], is_in_order=True))

    def _order_of(self, sweep: Sweep) -> tuple[int, ...]:
        if sweep.folds:
            operand = sweep.folds[0]
            return in_memory(first_array_shape(operand.operands[0]), self._labels.space(operand))
        output = self._body.outputs[sweep.stores[0]][0]
        return in_memory(first_array_shape(output), self._labels.of(output))

    def _size(self, labels: Sequence[int]) -> int:
        return prod(self._labels.sizes[label] for label in labels)

    def _is_swept(self, output: Instruction, number: int) -> bool:
        """Enters an output into a sweep; answers whether it has more than one element a row."""
        if output in self._folds:
            return False
        place = self._labels.of(output)
        own = frozenset(place) - {ONLY}
        if not self._rows <= own:
            raise NotCompiled("an output that is not one of rows")
        if own == self._rows:
            return False
        # What an earlier phase has left is there before all.
        level = self._depths.get(output, 0) + 1
        if number in self._last:
            level = max(level, *(sweep.level for sweep in self._sweeps))
        self._sweep(level, in_memory(first_array_shape(output), place), at_most=True).stores.append(
            number
        )
        return True

    def _sweep(self, level: int, order: tuple[int, ...], *, at_most: bool) -> Sweep:
        labels = tuple(label for label in order if label not in self._rows)
        for sweep in sorted(self._sweeps, key=lambda one: one.level):
            fits = sweep.level >= level if at_most else sweep.level == level
            if fits and set(sweep.labels) == set(labels):
                return sweep
        self._sweeps.append(Sweep(level, labels))
        return self._sweeps[-1]


def depths(members: Sequence[Instruction], folds: set[Instruction]) -> dict[Instruction, int]:
    """Returns of how many of the folds, one after the other, each member is made."""
    found: dict[Instruction, int] = {}
    for member in members:
        below = max((found.get(operand, 0) for operand in member.operands), default=0)
        found[member] = below + (member in folds)
    return found


def needed(roots: Sequence[Instruction], stops: set[Instruction]) -> Iterator[Instruction]:
    """Yields what elements are computed from; not what `stops` are made of."""
    seen = set()
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        if one not in stops:
            waiting += one.operands


def _run_through(output: Instruction) -> ArrayShape:
    """Returns the shape of what loops run through for an output."""
    return first_array_shape(output.operands[0] if isinstance(output.op, Reduce) else output)


def in_memory(shape: ArrayShape, place: Place) -> tuple[int, ...]:
    """Returns the labels of an array, the slowest in memory first."""
    return tuple(place[d] for d in memory_order(shape) if place[d] != ONLY)
