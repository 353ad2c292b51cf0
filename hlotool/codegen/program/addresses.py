"""Where arrays lie: addresses of places, from what buffer assignment says."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from hlotool.analysis.buffer_assignment import Allocation, BufferAssignment, alignment_of
from hlotool.analysis.dataflow import Place, array_indices
from hlotool.analysis.liveness import LiveRange
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.program.program import Slot
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.source import Constant


class Addresses:
    """Addresses of the places of a module, in its entry function."""

    def __init__(self, function: FunctionWriter, assignment: BufferAssignment) -> None:
        self._function = function
        self._assignment = assignment
        entry = assignment.dataflow.module.entry
        self.arguments = array_places(entry.parameters)
        self.results = array_places([entry.root])
        self.constants: list[Instruction] = []
        self._spots: dict[int, tuple[str, int]] = {}
        """Table and number by the number of an allocation."""
        self.temporary_bytes = 0
        """How much memory temporaries take, with what is asked for by `room`."""
        self._taken: list[tuple[int, int, LiveRange]] = []
        """Where buffers begin and end among the temporaries, and when they are needed."""
        self._note_tables()

    @property
    def shared(self) -> list[tuple[int, int]]:
        """Results that lie where an argument does: numbers of both."""
        of = {self._allocation(place).number: n for n, place in enumerate(self.arguments)}
        pairs = [(n, of.get(self._allocation(p).number)) for n, p in enumerate(self.results)]
        return [(result, argument) for result, argument in pairs if argument is not None]

    def spot(self, place: Place) -> tuple[int, int]:
        """Returns what tells whether two places are the same memory."""
        allocation, offset = self._assignment.spot(place)
        return allocation.number, offset

    def of(self, place: Place) -> Value:
        """Writes the address of a place."""
        allocation, offset = self._assignment.spot(place)
        table, number = self._spots[allocation.number]
        if table == "temporaries":
            base = Value("%temporaries", "ptr")
            return self._function.offset(base, constant("i64", number + offset))
        base = Value(f"%{table}", "ptr")
        if table == "constants":
            base = self._function.load(slot(self._function, Slot.CONSTANTS), "ptr", align=8)
        entry = self._function.offset(base, constant("i64", number), "ptr")
        begin = self._function.load(entry, "ptr", align=8)
        return self._function.offset(begin, constant("i64", offset)) if offset else begin

    def room(self, instruction: Instruction, size: int) -> Value:
        """Writes the address of memory that nothing else uses while an instruction runs."""
        temporaries = Value("%temporaries", "ptr")
        if not size:
            return temporaries
        step = self._assignment.liveness.step[instruction]
        alignment = alignment_of(size)
        begin = 0
        for first, behind, live_range in self._taken:
            if live_range.start <= step <= live_range.end:
                if first >= begin + size:
                    break
                begin = max(begin, _aligned(behind, alignment))
        self.temporary_bytes = max(self.temporary_bytes, begin + size)
        return self._function.offset(temporaries, constant("i64", begin))

    def _allocation(self, place: Place) -> Allocation:
        return self._assignment.spot(place)[0]

    def _note_tables(self) -> None:
        for table, places in (("arguments", self.arguments), ("results", self.results)):
            for number, place in enumerate(places):
                self._spots[self._allocation(place).number] = table, number
        for instruction in self._assignment.liveness.sequence:
            if isinstance(instruction.op, Constant):
                for index in array_indices(instruction.shape):
                    found = self._allocation((instruction, index)).number
                    if found not in self._spots:
                        self._spots[found] = "constants", len(self.constants)
                        self.constants.append(instruction)
        for allocation in self._assignment.allocations:
            is_needed = not allocation.is_thread_local and not allocation.holds_tables
            if allocation.number not in self._spots and is_needed:
                begin = _aligned(self.temporary_bytes, alignment_of(allocation.size))
                self.temporary_bytes = begin + allocation.size
                self._spots[allocation.number] = "temporaries", begin
                self._taken += [
                    (begin + offset, begin + offset + buffer.size, buffer.live_range)
                    for buffer, offset in allocation.buffers
                ]
        self._taken.sort(key=itemgetter(0))


def array_places(instructions: Iterable[Instruction]) -> list[Place]:
    """Returns the places of all arrays that instructions yield, in order."""
    return [
        (instruction, index)
        for instruction in instructions
        for index, leaf in instruction.shape.leaves()
        if isinstance(leaf, ArrayShape)
    ]


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def slot(function: FunctionWriter, number: Slot) -> Value:
    """Writes the address of an entry of the context."""
    return function.offset(Value("%context", "ptr"), constant("i64", number), "ptr")
