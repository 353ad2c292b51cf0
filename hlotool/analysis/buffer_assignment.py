"""Memory for every value of a module: allocations, and a place in one of them for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import Dataflow, Index, Place, array_indices, indices
from hlotool.analysis.heap import Block, Space, packed
from hlotool.analysis.liveness import Liveness, LiveRange
from hlotool.analysis.values import Value, Values
from hlotool.errors import UsageError
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape
from hlotool.ops.numerics.physical_size import physical_bytes
from hlotool.ops.ordering import Sort
from hlotool.ops.source import Constant

POINTER_BYTES = 8
_DYNAMIC_SIZE_BYTES = 4
_ALIGNMENT = 64
_SMALL_BYTES = 1 << 10
_SMALL_ALIGNMENT = 16
"""Of what is smaller: less room is lost between, and few vectors lie in two lines of a cache."""
_MOST_LENT = 2000
"""Up to how many temporaries are looked for room for in the memory of results."""


def alignment_of(size: int) -> int:
    """Returns what the offset of a temporary of so many bytes is a multiple of."""
    return _SMALL_ALIGNMENT if size < _SMALL_BYTES else _ALIGNMENT


def bytes_of(shape: Shape) -> int:
    """Returns the bytes that a part of a value takes; a tuple is a table of addresses.

    The sizes of dynamic dimensions stand behind the elements. Raises `UsageError` for a
    dimension without a bound.
    """
    if isinstance(shape, TupleShape):
        return POINTER_BYTES * len(shape.elements)
    if isinstance(shape, BufferShape):
        shape = shape.array
    if not isinstance(shape, ArrayShape):
        return 0
    if not has_bound(shape):
        raise UsageError(f"{shape.plain_text} has no bound, so that no memory can be set aside")
    sizes = 0 if shape.is_static else _DYNAMIC_SIZE_BYTES * shape.rank
    return physical_bytes(shape, "buffer") + sizes


def has_bound(shape: Shape) -> bool:
    """Whether it is known how many bytes a part of a value takes at most."""
    return not isinstance(shape, ArrayShape) or UNBOUNDED not in shape.dimensions


@dataclass
class Buffer:
    """Memory of one class of places: what must share memory, and what can well share it."""

    places: list[Place]
    size: int
    live_range: LiveRange
    color: int = 0
    unit: int = 1
    """The bytes of an element, or of a part of a complex one."""
    is_table: bool = False
    """Whether it holds the addresses of the elements of a tuple."""
    values: list[Value] = field(default_factory=list)

    @property
    def block(self) -> Block:
        """What must be known to find a place for it."""
        start, end = self.live_range.start, self.live_range.end
        return Block(self.size, start, end, alignment_of(self.size))


@dataclass
class Allocation:
    """A piece of memory; `buffers` lie in it with their offsets.

    In the memory of a result, temporaries may lie until it is computed.
    """

    size: int = 0
    color: int = 0
    parameter: tuple[int, Index] | None = None
    """The input that lies here: number of the parameter, and which part of it."""
    output_shape: Shape | None = None
    """The shape of the whole result, where this is its memory."""
    is_constant: bool = False
    is_live_out: bool = False
    is_thread_local: bool = False
    is_temporary: bool = False
    number: int = 0
    buffers: list[tuple[Buffer, int]] = field(default_factory=list)

    @property
    def holds_tables(self) -> bool:
        """Whether the addresses of elements of tuples are in it, and no array."""
        return all(buffer.is_table for buffer, _ in self.buffers)

    def values(self) -> Iterator[tuple[Value, Buffer, int]]:
        """Yields each value with its buffer and offset, by number."""
        found = [(value, b, offset) for b, offset in self.buffers for value in b.values]
        yield from sorted(found, key=lambda entry: entry[0].number)


class BufferAssignment:
    """Where the values of a module lie."""

    def __init__(
        self, dataflow: Dataflow, classes: BufferClasses, liveness: Liveness, values: Values
    ) -> None:
        self.dataflow = dataflow
        self.classes = classes
        self.liveness = liveness
        self.values = values
        self.allocations: list[Allocation] = []
        """Largest first, temporaries behind all others."""
        self.spots: dict[Place, tuple[Allocation, int]] = {}
        """Allocation and offset by the place that stands for a class."""

    @property
    def total_bytes(self) -> int:
        """The bytes of all allocations."""
        return sum(allocation.size for allocation in self.allocations)

    def spot(self, place: Place) -> tuple[Allocation, int]:
        """Returns the allocation and the offset that a place of the module lies at."""
        return self.spots[self.classes.find(place)]


def buffer_assignment(module: Module) -> BufferAssignment:
    """Returns memory for every value of a module whose instructions run as they stand.

    Raises `UsageError` where several instructions call one computation, where copies are
    missing, and where a size has no bound.
    """
    dataflow = Dataflow(module)
    if dataflow.shared:
        raise UsageError(
            f"no buffers are assigned: {dataflow.shared[0].name} is called more than once",
            notes=("flatten-call-graph gives each caller a computation of its own",),
        )
    classes = BufferClasses(dataflow, in_order=True)
    for members in classes.conflicts():
        names = ", ".join(dict.fromkeys(instruction.name for instruction, _ in members))
        raise UsageError(
            f"no buffers are assigned: values that share memory are needed at one time: {names}",
            notes=("copy-insertion adds the copies that are missing",),
        )
    assignment = BufferAssignment(dataflow, classes, Liveness(dataflow), Values(dataflow))
    assigner = _Assigner(assignment)
    assigner.run()
    if assigner.shares_rows:
        other = BufferAssignment(dataflow, classes, assignment.liveness, assignment.values)
        _Assigner(other, with_rows=False).run()
        # What lies in one place longer may leave worse gaps.
        return other if other.total_bytes < assignment.total_bytes else assignment
    return assignment


class _Assigner:
    def __init__(self, assignment: BufferAssignment, *, with_rows: bool = True) -> None:
        self.shares_rows = False
        """Whether a result lies where an operand does of which it folds rows."""
        self._with_rows = with_rows
        self._assignment = assignment
        self._classes = assignment.classes
        self._entry = assignment.dataflow.module.entry
        self._buffers: dict[Place, Buffer] = {}
        """By the place that stands for the class."""
        self._merged: dict[Place, Place] = {}

    def run(self) -> None:
        """Fills the assignment."""
        for representative, members in self._classes.members.items():
            self._buffers[representative] = self._buffer(members)
        fixed = self._fixed()
        self._share(fixed)
        for value in self._assignment.values.sequential:
            self._buffers[self._find(value.place)].values.append(value)
        found = [self._alone(place, made) for place, made in fixed.items()]
        self._lend(fixed)
        found += self._thread_local()
        found.sort(key=_order)
        found += self._temporaries(fixed)
        for number, allocation in enumerate(found):
            allocation.number = number
        self._assignment.allocations = found
        self._note_spots(found)

    def _buffer(self, members: list[Place]) -> Buffer:
        liveness = self._assignment.liveness
        shapes = [instruction.shape.subshape(index) for instruction, index in members]
        shape = shapes[0]
        assert shape is not None
        size = max(bytes_of(one) for one in shapes if one is not None)
        if shape.is_tuple:
            live_range = liveness.range_of_tables(members)
            return Buffer(list(members), size, live_range, is_table=True)
        unit = max(_unit(one) for one in shapes if one is not None)
        return Buffer(list(members), size, liveness.range_of(members), _color(shape), unit)

    def _find(self, place: Place) -> Place:
        found = self._classes.find(place)
        while found in self._merged:
            found = self._merged[found]
        return found

    def _fixed(self) -> dict[Place, Allocation]:
        """Returns the allocations of inputs, results and constants, by their class."""
        found: dict[Place, Allocation] = {}

        def allocation(place: Place) -> Allocation:
            return found.setdefault(self._classes.find(place), Allocation())

        for number, parameter in enumerate(self._entry.parameters):
            for index, _ in indices(parameter.shape):
                made = allocation((parameter, index))
                made.parameter = made.parameter or (number, index)
        root = self._entry.root
        for index, shape in indices(root.shape):
            made = allocation((root, index))
            made.is_live_out = True
            if not index:
                made.output_shape = shape
        for instruction in self._assignment.liveness.sequence:
            if isinstance(instruction.op, Constant):
                for index, _ in indices(instruction.shape):
                    allocation((instruction, index)).is_constant = True
        return found

    def _share(self, fixed: dict[Place, Allocation]) -> None:
        """Lets results lie where an operand lay that is read no more, if work is in place."""
        step = self._assignment.liveness.step
        for instruction in self._assignment.liveness.sequence:
            if not instruction.shape.is_array and not isinstance(instruction.op, Sort):
                continue
            for index in array_indices(instruction.shape):
                place = self._find((instruction, index))
                if self._buffers[place].live_range.start == step[instruction]:
                    self._share_one((instruction, index), place, fixed)

    def _share_one(self, result: Place, place: Place, fixed: dict[Place, Allocation]) -> None:
        for number, operand in enumerate(result[0].operands):
            if operand.shape.is_array and self._can_share(result, number, place, fixed):
                self._merge(self._find((operand, ())), place, fixed)
                break

    def _can_share(
        self, result: Place, number: int, place: Place, fixed: dict[Place, Allocation]
    ) -> bool:
        instruction, index = result
        other = self._find((instruction.operands[number], ()))
        if other == place or other in fixed:
            return False
        ours, theirs = self._buffers[place], self._buffers[other]
        is_fitting = ours.size == theirs.size and ours.color == theirs.color
        if not is_fitting or theirs.live_range.end != self._assignment.liveness.step[instruction]:
            return False
        reads = [n for n, one in enumerate(instruction.operands) if self._lies(one, other)]
        if not all(self._classes.writes_over(instruction, n, index) for n in reads):
            return False
        of_rows = any(self._classes.reads_rows(instruction, n) for n in reads)
        self.shares_rows |= of_rows and self._with_rows
        return self._with_rows or not of_rows

    def _lies(self, operand: Instruction, representative: Place) -> bool:
        places = ((operand, index) for index, _ in indices(operand.shape))
        return any(self._find(place) == representative for place in places)

    def _merge(self, earlier: Place, later: Place, fixed: Collection[Place]) -> None:
        """Makes one buffer of two, of which the later one begins where the other one ends."""
        # Chains stay short: what comes later joins what is there, but for results.
        kept, joined = (later, earlier) if later in fixed else (earlier, later)
        start, end = self._buffers[earlier].live_range.start, self._buffers[later].live_range.end
        buffer, gone = self._buffers[kept], self._buffers.pop(joined)
        self._merged[joined] = kept
        buffer.live_range = LiveRange(start, end)
        buffer.places += gone.places

    def _alone(self, place: Place, allocation: Allocation) -> Allocation:
        buffer = self._buffers[place]
        allocation.size, allocation.color = buffer.size, buffer.color
        allocation.buffers = [(buffer, 0)]
        return allocation

    def _thread_local(self) -> Iterator[Allocation]:
        for value in self._assignment.values.per_element:
            size, color = bytes_of(value.shape), _color(value.shape)
            buffer = Buffer([value.place], size, LiveRange(0, 0), color, values=[value])
            yield Allocation(size, color, is_thread_local=True, buffers=[(buffer, 0)])

    def _lend(self, fixed: dict[Place, Allocation]) -> None:
        """Lets temporaries lie in the memory of results until these are computed."""
        waiting = [
            (place, buffer)
            for place, buffer in self._buffers.items()
            if place not in fixed and buffer.size and not buffer.is_table
        ]
        if len(waiting) > _MOST_LENT:
            return
        spaces = self._spaces(fixed)
        for place, buffer in sorted(waiting, key=lambda entry: -entry[1].size):
            for allocation, space, unit in spaces:
                if buffer.color != allocation.color or buffer.unit > unit:
                    continue
                offset = space.take(buffer.block)
                if offset is not None:
                    allocation.buffers.append((buffer, offset))
                    fixed[place] = allocation
                    break

    def _spaces(self, fixed: dict[Place, Allocation]) -> list[tuple[Allocation, Space, int]]:
        """Returns the memory of results, the smallest first, and what its addresses divide by."""
        found = {}
        for index, shape in self._entry.root.shape.leaves():
            place = self._find((self._entry.root, index))
            allocation = fixed[place]
            if allocation.parameter is None and not allocation.is_constant:
                space = Space(bytes_of(shape), self._buffers[place].live_range.start)
                found[place] = allocation, space, _unit(shape)
        return sorted(found.values(), key=lambda entry: entry[1].size)

    def _temporaries(self, fixed: dict[Place, Allocation]) -> Iterator[Allocation]:
        kinds: dict[tuple[int, bool], list[Buffer]] = {}
        for place, buffer in self._buffers.items():
            if place not in fixed:
                kinds.setdefault((buffer.color, buffer.is_table), []).append(buffer)
        for (color, _), buffers in sorted(kinds.items()):
            buffers.sort(key=lambda buffer: (-buffer.size, buffer.live_range.start))
            offsets, size = packed([buffer.block for buffer in buffers])
            placed = list(zip(buffers, offsets, strict=True))
            yield Allocation(size, color, is_temporary=True, buffers=placed)

    def _note_spots(self, allocations: Iterable[Allocation]) -> None:
        spots = {
            id(buffer): (allocation, offset)
            for allocation in allocations
            for buffer, offset in allocation.buffers
        }
        for representative in self._classes.members:
            buffer = self._buffers[self._find(representative)]
            self._assignment.spots[representative] = spots[id(buffer)]


def _order(allocation: Allocation) -> tuple[int, int, int]:
    kinds = (
        allocation.is_live_out,
        allocation.parameter is not None,
        allocation.is_constant,
        allocation.is_thread_local,
    )
    numbers = [value.number for value, _, _ in allocation.values()]
    return -allocation.size, kinds.index(True), min(numbers, default=0)


def _color(shape: Shape) -> int:
    return shape.layout.memory_space if isinstance(shape, ArrayShape) else 0


def _unit(shape: Shape) -> int:
    return shape.element_type.component.storage_bytes if isinstance(shape, ArrayShape) else 1
