"""Rows of a kernel that folds: elements at points, values of rows, what is kept and stored.

A row is handled as a *block*: one row, whose elements lie side by side in lanes, or as many rows
as there are lanes, or several such vectors of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import ZERO, Counter, Index, delinear, index_of, linear
from hlotool.codegen.kernels.folds.folds import State, across, joined
from hlotool.codegen.kernels.folds.reductions_plan import ONLY, Place, Plan
from hlotool.codegen.kernels.folds.rows_kept import Keeping
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.kernels.loops.nests import Nest
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.target import Target
from hlotool.ir.instruction import Instruction
from hlotool.ops.tuples import GetTupleElement

Point: TypeAlias = dict[int, Index]
"""An index for each label."""


class RowEmitter(ElementEmitter):
    """Writes elements where folds are values of the row, and some elements are kept in memory."""

    def __init__(
        self, function: FunctionWriter, target: Target, sources: Mapping[Instruction, Source]
    ) -> None:
        super().__init__(function, target, sources)
        self.folded: dict[Instruction, tuple[Element, ...]] = {}
        """Results of folds for the row at hand."""
        self.kept: dict[Instruction, Callable[[], Element]] = {}
        """How elements are loaded that an earlier sweep has kept."""

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        if instruction in self.folded:
            return self.folded[instruction][0]
        op = instruction.op
        if isinstance(op, GetTupleElement) and instruction.operands[0] in self.folded:
            return self.folded[instruction.operands[0]][op.index]
        if instruction in self.kept:
            return self.kept[instruction]()
        return super()._made(instruction, index)


@dataclass
class Block:
    """Rows that are handled at once: a point for each vector of them."""

    points: list[Point]
    lanes: int
    """How many rows a vector has."""
    values: list[dict[Instruction, tuple[Element, ...]]] = field(default_factory=list)
    """For each point, the results of folds."""

    def __post_init__(self) -> None:
        self.values = [{} for _ in self.points]


class Counters:
    """Counters of the loops of a kernel, and the nests that they belong to.

    Nests last while code is made anew because a loop must be split.
    """

    def __init__(self) -> None:
        self.nests: dict[int, Nest] = {}
        self._unsplit: set[tuple[int, int, int]] = set()
        self._owners: dict[Counter, tuple[int, int]] = {}

    def nest(self, key: int, extents: Sequence[int]) -> Nest:
        """Returns a nest of loops; `extents` are those that it begins with."""
        if key not in self.nests:
            self.nests[key] = Nest(extents or [1])
        return self.nests[key]

    def counter(self, key: int, position: int, value: Value, lanes: int = 1) -> Counter:
        """Returns a counter of a loop that is open."""
        extent = self.nests[key].extents[position]
        splits = (key, position, extent) not in self._unsplit
        made = Counter(extent, value, lanes, splits=splits)
        self._owners[made] = key, position
        return made

    def split(self, counter: Counter, stride: int, lanes: int) -> None:
        """Splits the loop of a counter, or notes that it cannot be; `lanes` must be left."""
        key, position = self._owners[counter]
        extents = self.nests[key].extents
        too_small = position == len(extents) - 1 and stride < lanes
        if too_small or not self.nests[key].split(position, stride):
            self._unsplit.add((key, position, extents[position]))


ROWS = -1
"""The key of the nest of rows; sweeps have their numbers."""


class Rows:
    """What a kernel does for its rows, into one function."""

    def __init__(
        self, kernel: Kernel, plan: Plan, counters: Counters, *, along: bool, lanes: int, width: int
    ) -> None:
        self.kernel = kernel
        self.function: FunctionWriter = kernel.function
        self.plan = plan
        self.counters = counters
        self.along = along
        """Whether lanes are elements of one row; otherwise they are rows."""
        self.lanes = lanes
        self.emitter = RowEmitter(self.function, kernel.target, kernel.sources())
        self.outputs = [kernel.destination(n) for n in range(len(kernel.body.outputs))]
        self.folds = plan.folds
        self.width = width
        """How many vectors of rows a block has at most."""
        self.kept = Keeping(self, 1 if along else width * lanes)

    def point(self, counters: Sequence[Counter], extents: Sequence[int], labels: Place) -> Point:
        """Returns the index of each label for the counters of a nest that runs through them."""
        place = linear([index_of(one) for one in counters], extents)
        sizes = tuple(self.plan.sizes[label] for label in labels)
        return dict(zip(labels, delinear(place, sizes), strict=True))

    @contextmanager
    def at(self, block: Block, number: int, point: Point) -> Iterator[None]:
        """Holds while elements at one point of a block are written."""
        self.emitter.folded = block.values[number]
        self.kept.move_to(number, point)
        yield

    @staticmethod
    def indices(place: Place, point: Point) -> list[Index]:
        """Returns the index in each dimension of what is computed at a place."""
        return [ZERO if label == ONLY else point[label] for label in place]

    def initials(self, fold: Instruction) -> list[Element]:
        """Returns the initial values of a fold."""
        half = len(fold.operands) // 2
        return [self.emitter.operand(fold, half + n, ()) for n in range(half)]

    def start(self, fold: Instruction, lanes: int) -> State:
        """Returns the state of a fold before any element, in so many lanes."""
        state = self.folds[fold].start(self.initials(fold))
        return tuple(self.function.splat(value, lanes) for value in state)

    def elements(self, fold: Instruction, point: Point) -> list[Element]:
        """Writes the elements that a fold takes in at a point."""
        index = self.indices(self.plan.spaces[fold], point)
        half = len(fold.operands) // 2
        return [self.emitter.operand(fold, number, index) for number in range(half)]

    def finish(self, block: Block, number: int, fold: Instruction, states: list[State]) -> None:
        """Writes the results of a fold for a point from states that have taken in all of it."""
        found = self.total(fold, states)
        with self.emitter.with_lanes(block.lanes):
            block.values[number][fold] = self.folds[fold].finished(
                self.emitter, found, self.initials(fold)
            )

    def total(self, fold: Instruction, states: list[State]) -> State:
        """Writes what several states have taken in, in one lane for each row."""
        found = joined(self.emitter, self.folds[fold], states)
        return across(self.emitter, self.folds[fold], found) if self.along else found

    def end(self, block: Block) -> None:
        """Writes the outputs that have an element for each row."""
        with self.emitter.with_lanes(block.lanes):
            for number, point in enumerate(block.points):
                with self.at(block, number, point):
                    found = [(n, self._result(n, point)) for n in self.plan.ends]
                    for output, element in found:
                        self.store(output, element, point)

    def _result(self, number: int, point: Point) -> Element:
        instruction, part = self.kernel.body.outputs[number]
        if instruction in self.emitter.folded:
            found = self.emitter.folded[instruction]
            return found[part[-1]] if instruction.shape.is_tuple else found[0]
        return self.output_element(number, point)

    def output_element(self, number: int, point: Point) -> Element:
        """Writes the element of an output at a point."""
        instruction, _ = self.kernel.body.outputs[number]
        return self.emitter.element(instruction, self.indices(self.plan.places[instruction], point))

    def store(self, number: int, element: Element, point: Point) -> None:
        """Writes the store of an element of an output, or of one for each lane."""
        instruction, _ = self.kernel.body.outputs[number]
        index = self.indices(self.plan.places[instruction], point)
        self.outputs[number].store(self.function, index, element, self.emitter.lanes)
