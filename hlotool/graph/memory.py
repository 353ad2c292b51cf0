"""How much memory is in use at each instruction, and where its value lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from hlotool.analysis.buffer_assignment import (
    Allocation,
    Buffer,
    BufferAssignment,
    buffer_assignment,
)
from hlotool.errors import UsageError
from hlotool.graph.model import ModuleGraph
from hlotool.ir.cost import byte_count
from hlotool.ir.instruction import Instruction

_MOST_VALUES = 60
"""How many values of a peak are kept."""


@dataclass(frozen=True, slots=True)
class Peak:
    """Where most memory is in use, and for what.

    `values` are the largest ones with their bytes, of `count` that live there; those that share
    memory are one, the last of them that is computed by then.
    """

    instruction: Instruction
    size: int
    count: int
    values: list[tuple[Instruction, int]]


class Memory:
    """Live bytes and buffers by instruction.

    Where buffers cannot be assigned, since a computation has several callers or copies are
    missing, live bytes are those of each computation by itself if no value shares memory with
    another; `title` says so.
    """

    def __init__(self, graph: ModuleGraph) -> None:
        self.live_bytes: dict[Instruction, int] = {}
        self.buffers: dict[Instruction, str] = {}
        self.peak: Peak | None = None
        try:
            assignment = buffer_assignment(graph.module)
        except UsageError:
            self.title = "live memory (estimate)"
            for computation in graph.computations:
                kind = graph.kind(computation)
                if kind not in {"fusion", "applied"}:
                    self._estimate(graph.instructions(computation), is_entry=kind == "entry")
            return
        self.title = "live memory"
        self._take_live_bytes(assignment)
        self._take_buffers(assignment)

    def _take_live_bytes(self, assignment: BufferAssignment) -> None:
        liveness = assignment.liveness
        changes = [0] * (liveness.end + 2)
        for allocation in assignment.allocations:
            for buffer, _ in () if allocation.is_thread_local else allocation.buffers:
                changes[buffer.live_range.start] += buffer.size
                changes[buffer.live_range.end + 1] -= buffer.size
        self.live_bytes = dict(zip(liveness.sequence, accumulate(changes), strict=False))
        position = {instruction: number for number, instruction in enumerate(liveness.sequence)}
        step = max(position.values(), key=lambda n: self.live_bytes[liveness.sequence[n]])
        self._take_peak(
            liveness.sequence[step],
            (
                (_shown_at(buffer, position, step), buffer.size)
                for allocation in assignment.allocations
                if not allocation.is_thread_local
                for buffer, _ in allocation.buffers
                if buffer.live_range.start <= step <= buffer.live_range.end
            ),
        )

    def _take_peak(self, at: Instruction, living: Iterable[tuple[Instruction, int]]) -> None:
        found = sorted(living, key=lambda value: -value[1])
        self.peak = Peak(at, self.live_bytes[at], len(found), found[:_MOST_VALUES])

    def _take_buffers(self, assignment: BufferAssignment) -> None:
        for allocation in assignment.allocations:
            if allocation.is_thread_local:
                continue
            title = _title(allocation)
            for buffer, offset in allocation.buffers:
                place = f"{title} +{offset:#x}" if allocation.is_temporary else title
                for instruction, index in buffer.places:
                    # Of a tuple the table of addresses says nothing.
                    if not index and not instruction.shape.is_tuple:
                        self.buffers[instruction] = place

    def _estimate(self, order: list[Instruction], *, is_entry: bool) -> None:
        step = {instruction: number for number, instruction in enumerate(order)}
        changes = [0] * (len(order) + 1)
        lives: list[tuple[int, int, int]] = []
        for start, instruction in enumerate(order):
            # Elements of tuples and the like are no values of their own.
            size = byte_count(instruction.shape) if instruction.op.runs_code else 0
            is_given = instruction.op.parameter_number is not None
            if is_given:
                size = byte_count(instruction.shape)
            is_kept = is_given or instruction.is_root
            last = max((step[user] for user in instruction.users), default=start)
            lives.append((0 if is_given else start, len(order) - 1 if is_kept else last, size))
            changes[lives[-1][0]] += size
            changes[lives[-1][1] + 1] -= size
        self.live_bytes.update(zip(order, accumulate(changes), strict=False))
        if is_entry and order:
            at = max(range(len(order)), key=lambda number: self.live_bytes[order[number]])
            living = (
                (instruction, size)
                for instruction, (start, end, size) in zip(order, lives, strict=True)
                if size and start <= at <= end
            )
            self._take_peak(order[at], living)


def _shown_at(buffer: Buffer, position: dict[Instruction, int], step: int) -> Instruction:
    """Returns which of the instructions that share a buffer holds it at a step."""
    arrays = [place for place in buffer.places if not place[1]] or buffer.places
    computed = [one for one, _ in arrays if position.get(one, 0) <= step]
    return max(computed, key=lambda one: position.get(one, 0)) if computed else arrays[0][0]


def _title(allocation: Allocation) -> str:
    kinds = {
        "result": allocation.is_live_out,
        "parameter": allocation.parameter is not None,
        "constant": allocation.is_constant,
        "temporary": allocation.is_temporary,
    }
    words = " and ".join(kind for kind, holds in kinds.items() if holds)
    return f"{allocation.number}: {words}"
