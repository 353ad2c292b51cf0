"""Elements that are kept from one sweep of a row for the next: what is costly to compute.

They lie where an output of the same type and place is going to be written, or on the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from hlotool.codegen.elements.shapes import first_array_shape
from hlotool.codegen.indexing.index import linear
from hlotool.codegen.indexing.index_values import first_value
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.folds.reductions_plan import ONLY, Plan, in_memory, needed
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.numbers.element import Element, is_narrow_float, part_count
from hlotool.codegen.numbers.lanes import in_lanes
from hlotool.codegen.numbers.memory import Memory, memory_type
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Divide, Elementwise
from hlotool.ops.indexing import Gather
from hlotool.ops.reduction import Map
from hlotool.ops.unary import Rsqrt, Sqrt

if TYPE_CHECKING:
    from hlotool.codegen.kernels.folds.rows import Point, Rows

_COSTLY = 12
"""From this expense on an element is rather stored and loaded than computed again."""
_MOST_BYTES = 1 << 17
"""How much a block may keep on the stack."""


@dataclass
class KeptElements:
    """Elements of an instruction that one sweep leaves for later ones."""

    instruction: Instruction
    sweep: int
    """The sweep that writes them."""
    output: int | None
    """The output they are kept in; on the stack if there is none."""

    @property
    def type(self) -> ElementType:
        """The type of the elements."""
        return first_array_shape(self.instruction).element_type


def worth_keeping(
    body: Body,
    plan: Plan,
    shared: frozenset[tuple[int, int]],
    rows_in_block: int,
    *,
    along: bool,
) -> list[KeptElements]:
    """Returns what sweeps of a plan keep; `shared` are inputs and outputs that are one memory.

    `along` says that lanes run along the rows.
    """
    search = _Search(body, plan, shared, rows_in_block)
    # In an output lanes must lie side by side.
    is_row = bool(plan.order) and plan.order[-1] in plan.rows
    if is_row == along:
        search.taken.update(range(len(body.outputs)))
    return list(search.found())


class _Search:
    def __init__(
        self, body: Body, plan: Plan, shared: frozenset[tuple[int, int]], rows_in_block: int
    ) -> None:
        self._body = body
        self._plan = plan
        self._overwritten: dict[int, set[Instruction]] = {}
        """For outputs what lies there before."""
        for number, output in shared:
            self._overwritten.setdefault(output, set()).add(body.inputs[number][0])
        self._rows_in_block = rows_in_block
        self._roots = [
            [
                *(one for fold in sweep.folds for one in fold.operands[: len(fold.operands) // 2]),
                *(body.outputs[number][0] for number in sweep.stores),
            ]
            for sweep in plan.sweeps
        ]
        self.taken: set[int] = set()
        """Outputs in which nothing more can be kept."""
        self._kept = {*plan.spaces, *(one for one, _, _ in body.inputs)}
        """What later sweeps have without computing it."""
        self._needed = [list(needed(roots, self._kept)) for roots in self._roots]

    def found(self) -> Iterator[KeptElements]:
        """Yields what is kept, by the sweep that needs it again."""
        for number, roots in enumerate(self._roots):
            waiting, seen = list(roots), set()
            while waiting:
                one = waiting.pop()
                if one in seen or one in self._kept:
                    continue
                seen.add(one)
                first = self._first_sweep(one, number)
                kept = None if first is None else self._place(one, first)
                if kept is None:
                    waiting += one.operands
                else:
                    self._kept.add(one)
                    yield kept

    def _first_sweep(self, one: Instruction, number: int) -> int | None:
        """Returns the earlier sweep that computes an instruction at the same places."""
        labels = self._plan.sweeps[number].labels
        for earlier in range(number):
            if self._plan.sweeps[earlier].labels == labels and one in self._needed[earlier]:
                return earlier if self._is_costly(one, frozenset(labels)) else None
        return None

    def _is_costly(self, one: Instruction, labels: frozenset[int]) -> bool:
        whole = labels | set(self._plan.rows)
        places = self._plan.members.get(one, ())
        if len(places) != 1 or frozenset(places[0]) - {ONLY} != whole:
            return False
        return (
            sum(
                _expense(member)
                for member in needed([one], self._kept)
                if self._runs_through(member, labels)
            )
            >= _COSTLY
        )

    def _runs_through(self, member: Instruction, labels: frozenset[int]) -> bool:
        return any(labels <= set(place) for place in self._plan.members.get(member, ()))

    def _place(self, one: Instruction, first: int) -> KeptElements | None:
        last = max(n for n, members in enumerate(self._needed) if one in members)
        for number, sweep in enumerate(self._plan.sweeps):
            for output in sweep.stores:
                is_free = number >= last or self._body.outputs[output][0] is one
                if (
                    is_free
                    and self._holds(output, one)
                    and self._is_read_before(output, one, first)
                ):
                    self.taken.add(output)
                    return KeptElements(one, first, output)
        elements = self._plan.count(self._plan.sweeps[first].labels) * self._rows_in_block
        if elements * first_array_shape(one).element_type.storage_bytes > _MOST_BYTES:
            return None
        return KeptElements(one, first, None)

    def _holds(self, output: int, one: Instruction) -> bool:
        """Whether an output can hold the elements of an instruction until it is computed."""
        instruction, _ = self._body.outputs[output]
        shape = first_array_shape(instruction)
        place = self._plan.places[instruction]
        return (
            output not in self.taken
            and shape.element_type is first_array_shape(one).element_type
            and in_memory(shape, place) == self._plan.order
        )

    def _is_read_before(self, output: int, one: Instruction, first: int) -> bool:
        """Whether the sweep that keeps `one` is the last to read what the output lies over."""
        before = self._overwritten.get(output, set())
        later = [root for roots in self._roots[first + 1 :] for root in roots]
        return before.isdisjoint(needed(later, {*self._kept, one}))


def takes_long(member: Instruction) -> bool:
    """Whether an instruction is a function that costs much more than a load."""
    op = member.op
    if isinstance(op, Map):
        return True
    is_long = isinstance(op, Elementwise) and op.is_transcendental
    return is_long and not isinstance(op, (Sqrt, Rsqrt))


def _expense(member: Instruction) -> int:
    """Returns about how much an instruction costs for each vector, a plain operation being 1."""
    if takes_long(member):
        return 30
    if isinstance(member.op, (Divide, Sqrt, Rsqrt, Gather)):
        return 8
    # What is computed in f32 and rounded takes several operations.
    return 5 if is_narrow_float(first_array_shape(member).element_type) else 1


class Keeping:
    """Writes what sweeps keep, and loads of it."""

    def __init__(self, rows: Rows, rows_in_block: int) -> None:
        self._rows = rows
        self._rows_in_block = rows_in_block
        self._all = self._kept(rows.kernel.shared)
        self._memories: dict[Instruction, Value] = {}
        self._sweep = 0
        self._at: tuple[int, Point] | None = None

    @property
    def overwrites(self) -> bool:
        """Whether any sweep reads what it, or one before, has written over."""
        return self._is_kept_in_outputs or bool(self._rows.kernel.shared)

    def overwrites_in(self, sweep: int) -> bool:
        """Whether a sweep must not come to an element twice.

        For sweeps that only fold the answer is the same whether outputs lie over inputs or not,
        and so are the results.
        """
        shared = {output for _, output in self._rows.kernel.shared}
        written: set[int | None] = {*self._rows.plan.sweeps[sweep].stores}
        written |= {one.output for one in self._all if one.sweep == sweep}
        return self._is_kept_in_outputs or not shared.isdisjoint(written)

    @cached_property
    def _is_kept_in_outputs(self) -> bool:
        """Whether outputs hold other elements first, if none of them lies over an input."""
        rows = self._rows
        return any(
            one.output is not None
            and rows.kernel.body.outputs[one.output][0] is not one.instruction
            for one in self._kept(frozenset())
        )

    def _kept(self, shared: frozenset[tuple[int, int]]) -> list[KeptElements]:
        rows = self._rows
        body, count = rows.kernel.body, self._rows_in_block
        return worth_keeping(body, rows.plan, shared, count, along=rows.along)

    def begin(self, sweep: int) -> None:
        """Notes which sweep is written now."""
        self._sweep = sweep
        loads = self._rows.emitter.kept
        loads.clear()
        for one in self._all:
            if one.sweep < sweep:
                loads[one.instruction] = partial(self._load, one)

    def end(self) -> None:
        """Notes that no sweep is written now."""
        self._rows.emitter.kept.clear()

    def move_to(self, number: int, point: Point) -> None:
        """Notes at which point elements are written now, for which vector of rows."""
        self._at = number, point

    def written(self) -> list[KeptElements]:
        """Returns what the sweep keeps beside what it stores anyway."""
        stored = self._rows.plan.sweeps[self._sweep].stores
        outputs = self._rows.kernel.body.outputs
        return [
            one
            for one in self._all
            if one.sweep == self._sweep
            and not (one.output in stored and outputs[one.output][0] is one.instruction)
        ]

    def element(self, one: KeptElements) -> Element:
        """Writes the element that is to be kept at the point where the sweep is."""
        assert self._at is not None
        (place,) = self._rows.plan.members[one.instruction]
        index = self._rows.indices(place, self._at[1])
        return self._rows.emitter.element(one.instruction, index)

    def store(self, one: KeptElements, element: Element) -> None:
        """Writes that an element is kept."""
        function, lanes = self._rows.function, self._rows.emitter.lanes
        memory, address = self._address(one)
        memory.store(function, in_lanes(function, element, lanes), address)

    def _load(self, one: KeptElements) -> Element:
        memory, address = self._address(one)
        return memory.load(self._rows.function, address, self._rows.emitter.lanes)

    def _address(self, one: KeptElements) -> tuple[Memory, Value]:
        assert self._at is not None
        rows, (number, point) = self._rows, self._at
        function = rows.function
        if one.output is not None:
            output = rows.outputs[one.output]
            instruction, _ = rows.kernel.body.outputs[one.output]
            place = output.place(rows.indices(rows.plan.places[instruction], point))
            place.ask_for_splits()
            return output.memory, output.address(function, place)
        labels = rows.plan.sweeps[one.sweep].labels
        sizes = [rows.plan.sizes[label] for label in labels]
        place = linear([point[label] for label in labels], sizes) * self._rows_in_block
        place += number * (0 if rows.along else rows.lanes)
        memory = Memory(self._memory(one), one.type, is_written=True)
        return memory, memory.at(function, first_value(function, place))

    def _memory(self, one: KeptElements) -> Value:
        if one.instruction not in self._memories:
            elements = self._rows.plan.count(self._rows.plan.sweeps[one.sweep].labels)
            count = part_count(one.type) * elements * self._rows_in_block
            made = self._rows.function.scratch(memory_type(one.type), count)
            self._memories[one.instruction] = made
        return self._memories[one.instruction]
