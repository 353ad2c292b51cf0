"""How much memory is in use at each instruction, and where its value lies."""

from __future__ import annotations

from itertools import accumulate

from hlotool.analysis.buffer_assignment import Allocation, BufferAssignment, buffer_assignment
from hlotool.errors import UsageError
from hlotool.graph.model import ModuleGraph
from hlotool.ir.cost import byte_count
from hlotool.ir.instruction import Instruction


class Memory:
    """Live bytes and buffers by instruction.

    Where buffers cannot be assigned, since a computation has several callers or copies are
    missing, live bytes are those of each computation by itself if no value shares memory with
    another; `title` says so.
    """

    def __init__(self, graph: ModuleGraph) -> None:
        self.live_bytes: dict[Instruction, int] = {}
        self.buffers: dict[Instruction, str] = {}
        try:
            assignment = buffer_assignment(graph.module)
        except UsageError:
            self.title = "live memory (estimate)"
            for computation in graph.computations:
                if graph.kind(computation) not in {"fusion", "applied"}:
                    self._estimate(graph.instructions(computation))
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

    def _estimate(self, order: list[Instruction]) -> None:
        step = {instruction: number for number, instruction in enumerate(order)}
        changes = [0] * (len(order) + 1)
        for start, instruction in enumerate(order):
            # Elements of tuples and the like are no values of their own.
            size = byte_count(instruction.shape) if instruction.op.runs_code else 0
            is_given = instruction.op.parameter_number is not None
            if is_given:
                size = byte_count(instruction.shape)
            is_kept = is_given or instruction.is_root
            last = max((step[user] for user in instruction.users), default=start)
            changes[0 if is_given else start] += size
            changes[len(order) if is_kept else last + 1] -= size
        self.live_bytes.update(zip(order, accumulate(changes), strict=False))


def _title(allocation: Allocation) -> str:
    kinds = {
        "result": allocation.is_live_out,
        "parameter": allocation.parameter is not None,
        "constant": allocation.is_constant,
        "temporary": allocation.is_temporary,
    }
    words = " and ".join(kind for kind, holds in kinds.items() if holds)
    return f"{allocation.number}: {words}"
