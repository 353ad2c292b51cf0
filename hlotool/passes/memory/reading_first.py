"""Orders in which values are read before their memory is written over, so that no copy is needed.

A loop's new state lies where the old one does, and an updated array where the one before does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hlotool.analysis.aliasing import BufferClasses
from hlotool.analysis.buffer_assignment import bytes_of, has_bound
from hlotool.analysis.dataflow import Place, array_indices
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.passes.memory.scheduling import MemoryModel, dependencies_in_order

_LARGEST_CLASS = 1000
"""Up to how many places share memory where it is looked for what reads them."""


@dataclass(frozen=True)
class Overwrite:
    """An instruction that writes into memory whose value before others read."""

    writer: Instruction
    readers: tuple[Instruction, ...]
    """What reads the value before, and is not the writer."""
    size: int
    """The bytes of a copy, which is needed where a reader runs later."""


def overwrites(computation: Computation, classes: BufferClasses) -> list[Overwrite]:
    """Returns what a computation writes into memory that holds a value of it already."""
    return [
        found
        for writer in computation.instructions
        for index in array_indices(writer.shape)
        for found in _overwrites_at((writer, index), classes)
    ]


def _overwrites_at(written: Place, classes: BufferClasses) -> Iterator[Overwrite]:
    writer, index = written
    is_parameter = writer.op.parameter_number is not None
    if is_parameter or classes.dataflow.origin(written) != written:
        return
    shape = writer.shape.subshape(index)
    if shape is None or not has_bound(shape):
        return
    readers: dict[Instruction, None] = {}
    for before in _values_before(written, classes):
        for use in classes.dataflow.uses.get(before, ()):
            if use.user is not None and use.user is not writer:
                readers[use.user] = None
    if readers:
        yield Overwrite(writer, tuple(readers), bytes_of(shape))


def _values_before(written: Place, classes: BufferClasses) -> list[Place]:
    """Returns the values that lie in memory before a value is written into it."""
    writer, _ = written
    members = classes.members[classes.find(written)]
    if not 1 < len(members) <= _LARGEST_CLASS:
        return []
    operands = {*writer.operands}
    origin = classes.dataflow.origin
    found: dict[Place, None] = {}
    for member in members:
        value = origin(member)
        is_old_state = value[0].op.parameter_number is not None
        if value[0].parent is writer.parent and (is_old_state or member[0] in operands):
            found[value] = None
    found.pop(written, None)
    return [value for value in found if not classes.is_read_only(value)]


def reading_first(order: Sequence[Instruction], found: Sequence[Overwrite]) -> list[Instruction]:
    """Returns an order in which writers come behind readers, as far as operands let them."""
    made = list(order)
    if not found:
        return made
    needed: dict[Instruction, set[Instruction]] = {
        instruction: {*before} for instruction, before in dependencies_in_order(order).items()
    }
    position = _positions(made)
    for overwrite in found:
        writer, readers = overwrite.writer, overwrite.readers
        late = [reader for reader in readers if position[reader] > position[writer]]
        if late:
            made = _moved_behind(made, writer, late, needed, position)
            position = _positions(made)
        # What comes first now stays so.
        needed[writer] |= {reader for reader in readers if position[reader] < position[writer]}
    return made


def _positions(order: Sequence[Instruction]) -> dict[Instruction, int]:
    return {instruction: number for number, instruction in enumerate(order)}


def _moved_behind(
    order: list[Instruction],
    writer: Instruction,
    readers: Collection[Instruction],
    needed: Mapping[Instruction, set[Instruction]],
    position: Mapping[Instruction, int],
) -> list[Instruction]:
    """Returns an order in which a writer, and what needs it, come behind some readers."""
    begin, last = position[writer], max(position[reader] for reader in readers)
    moved = {writer: None}
    for instruction in order[begin + 1 : last + 1]:
        if not needed[instruction].isdisjoint(moved):
            moved[instruction] = None
    if not moved.keys().isdisjoint(readers):
        return order
    kept = [one for one in order[begin : last + 1] if one not in moved]
    return [*order[:begin], *kept, *moved, *order[last + 1 :]]


@dataclass(frozen=True)
class Costs:
    """What orders of a computation cost: memory at one time, and bytes that are copied."""

    model: MemoryModel
    overwrites: Sequence[Overwrite]

    def of(self, order: Sequence[Instruction]) -> tuple[int, int]:
        """Returns the most bytes that are needed at one time, copies with them, and the copies'.

        A copy lies in memory of its own from where the value is written to the end.
        """
        timeline = self.model.timeline(order)
        position = _positions(order)
        begins = [0] * (len(order) + 1)
        for overwrite in self.overwrites:
            begin = position[overwrite.writer]
            if any(position[reader] > begin for reader in overwrite.readers):
                begins[begin] += overwrite.size
        peak = copied = 0
        for used, begun in zip(timeline, begins, strict=False):
            copied += begun
            peak = max(peak, used + copied)
        return peak, copied
