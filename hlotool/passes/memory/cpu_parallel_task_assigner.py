"""How many threads work on an instruction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any, ClassVar

from hlotool.analysis.cost import CostAnalysis
from hlotool.analysis.dataflow import Dataflow
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import Fusion
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.indexing import DynamicSlice, Gather
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.ops.shape_changing import Broadcast, Concatenate, Pad, Reverse, Slice, Transpose
from hlotool.ops.source import Iota
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal

_FIELD = "outer_dimension_partitions"
_IN_PARTS = (
    Elementwise, Broadcast, Concatenate, Pad, Reverse, Slice, Transpose, Iota, Reduce,
    ReduceWindow, DynamicSlice, Gather,
)  # fmt: skip
"""Ops of whose results each part can be computed alone."""
_FLOP, _TRANSCENDENTAL, _BYTE = 1, 2, 10
"""What the work of one operation counts against that of the others."""
_LEAST_WORK = 100_000
"""Work that is worth a thread."""
_LEAST_BYTES = 256 * 1024
"""Bytes that are worth a thread where memory is slower than the work on it."""


@dataclass(frozen=True)
class CpuParallelTaskAssigner(Pass):
    """Notes in the backend configuration of large instructions how to part their work.

    `outer_dimension_partitions` says into how many parts each of the outer dimensions of the
    result is cut, for one thread each.
    """

    name: ClassVar[str] = "cpu-parallel-task-assigner"
    is_exact: ClassVar[bool] = True

    max_parallelism: int = option(8, "threads that work on one instruction at most")

    def run(self, module: Module, journal: Journal) -> bool:
        """Looks at the instructions that run by themselves, not at those inside others."""
        costs = CostAnalysis(module)
        changed = False
        for computation in Dataflow(module).computations:
            for instruction in computation.instructions:
                shape = instruction.shape
                if not isinstance(shape, ArrayShape) or not _works_in_parts(instruction):
                    continue
                counts = _partitions(shape, self._threads(instruction, costs))
                if counts and _note(instruction, counts, journal):
                    changed = True
        return changed

    def _threads(self, instruction: Instruction, costs: CostAnalysis) -> int:
        cost = costs.instruction_cost(instruction)
        most = self.max_parallelism
        work = (
            _FLOP * cost.flops
            + _TRANSCENDENTAL * cost.transcendentals
            + _BYTE * cost.bytes_accessed
        )
        least = _LEAST_WORK
        if cost.flops <= cost.bytes_accessed:
            # Threads only wait for memory: more than a few of them do not help.
            most = min(most, isqrt(max(0, most - 1)) + 1)
            work, least = cost.bytes_accessed, _LEAST_BYTES
        return min(most, work // least)


def _works_in_parts(instruction: Instruction) -> bool:
    op = instruction.op
    return isinstance(op, _IN_PARTS) or (isinstance(op, Fusion) and op.kind == "kLoop")


def _partitions(shape: ArrayShape, threads: int) -> list[int]:
    """Returns counts of parts for the outer dimensions, none where one thread does it all."""
    counts: list[int] = []
    left = threads
    for dimension in reversed(shape.layout.minor_to_major):
        if left < 2:
            break
        count = min(max(shape.dimensions[dimension], 1), left)
        counts.append(count)
        left //= count
    return counts if any(count > 1 for count in counts) else []


def _note(instruction: Instruction, counts: Sequence[int], journal: Journal) -> bool:
    annotations = instruction.annotations
    config: Any = {}
    if annotations.backend_config:
        try:
            config = json.loads(annotations.backend_config)
        except ValueError:
            config = None
    # What is no dictionary belongs to another backend.
    if not isinstance(config, dict) or config.get(_FIELD):
        return False
    if not journal.hit("partitions assigned"):
        return False
    config = {_FIELD: [str(count) for count in counts]} | {
        name: value for name, value in config.items() if name != _FIELD
    }
    text = json.dumps(config, separators=(",", ":"))
    instruction.annotations = annotations.replace(backend_config=text)
    return True
