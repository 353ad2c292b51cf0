"""Memory for every value of a module: allocations, and a place in one of them for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.dataflow import Dataflow, Index, Place, indices
from hlotool.analysis.heap import Block, packed
from hlotool.analysis.liveness import Liveness, LiveRange
from hlotool.analysis.values import Value, Values
from hlotool.errors import UsageError
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape
from hlotool.ops.numerics.physical_size import physical_bytes
from hlotool.ops.source import Constant

POINTER_BYTES = 8
_DYNAMIC_SIZE_BYTES = 4
ALIGNMENT = 64
"""What offsets of temporaries are multiples of."""


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
    values: list[Value] = field(default_factory=list)


@dataclass
class Allocation:
    """A piece of memory; `buffers` lie in it with their offsets."""

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
    _Assigner(assignment).run()
    return assignment


class _Assigner:
    def __init__(self, assignment: BufferAssignment) -> None:
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
            return Buffer(list(members), size, liveness.range_of_tables(members))
        return Buffer(list(members), size, liveness.range_of(members), _color(shape))

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
        """Lets results of elementwise work lie where an operand lay that is read no more."""
        step = self._assignment.liveness.step
        for instruction in self._assignment.liveness.sequence:
            if not isinstance(instruction.shape, ArrayShape):
                continue
            place = self._find((instruction, ()))
            if self._buffers[place].live_range.start != step[instruction]:
                continue
            for number, operand in enumerate(instruction.operands):
                if operand.shape.is_array and self._can_share(instruction, number, place, fixed):
                    self._merge(self._find((operand, ())), place, fixed)
                    break

    def _can_share(
        self, instruction: Instruction, number: int, place: Place, fixed: dict[Place, Allocation]
    ) -> bool:
        other = self._find((instruction.operands[number], ()))
        if other == place or other in fixed:
            return False
        ours, theirs = self._buffers[place], self._buffers[other]
        is_fitting = ours.size == theirs.size and ours.color == theirs.color
        if not is_fitting or theirs.live_range.end != self._assignment.liveness.step[instruction]:
            return False
        reads = [n for n, one in enumerate(instruction.operands) if self._lies(one, other)]
        return all(self._classes.writes_over(instruction, n) for n in reads)

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
            buffer = Buffer([value.place], size, LiveRange(0, 0), color, [value])
            yield Allocation(size, color, is_thread_local=True, buffers=[(buffer, 0)])

    def _temporaries(self, fixed: dict[Place, Allocation]) -> Iterator[Allocation]:
        by_color: dict[int, list[Buffer]] = {}
        for place, buffer in self._buffers.items():
            if place not in fixed:
                by_color.setdefault(buffer.color, []).append(buffer)
        for color, buffers in sorted(by_color.items()):
            buffers.sort(key=lambda buffer: (-buffer.size, buffer.live_range.start))
            blocks = [Block(b.size, b.live_range.start, b.live_range.end) for b in buffers]
            offsets, size = packed(blocks, ALIGNMENT)
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
