"""Letting transfers between the memories of host and device run beside other work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import U32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.order import fused_computations
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.host import CopyDone, CopyStart
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice
from hlotool.ops.unary import Copy
from hlotool.passes.collectives.async_forms import wrapped
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.rewriter import replace


@dataclass(frozen=True)
class HostMemoryTransferAsyncifier(Pass):
    """Turns copies and slices between host and device memory into pairs of start and done."""

    name: ClassVar[str] = "host-memory-transfer-asyncifier"
    is_exact: ClassVar[bool] = True

    host_memory_space: int = option(5, "the number of the host's memory in layouts")

    def run(self, module: Module, journal: Journal) -> bool:
        """Looks for ops whose operand is in another of both memories than the result."""
        left_alone = fused_computations(module) | {
            called
            for instruction in module.instructions()
            if instruction.opcode == "async-start"
            for called in instruction.calls
        }
        changed = False
        for computation in list(module.computations):
            if computation in left_alone:
                continue
            for instruction in list(computation.instructions):
                if self._transfers(instruction) and journal.hit("started"):
                    _start(instruction, computation)
                    changed = True
        if changed:
            module.settle()
        return changed

    def _transfers(self, instruction: Instruction) -> bool:
        moved = {Copy: 0, DynamicSlice: 0, DynamicUpdateSlice: 1}.get(type(instruction.op))
        if moved is None or instruction.has_control_edges:
            return False
        source, result = instruction.operands[moved].shape, instruction.shape
        if not (isinstance(source, ArrayShape) and isinstance(result, ArrayShape)):
            return False
        spaces = {shape.layout.memory_space for shape in (source, result)}
        return spaces == {0, self.host_memory_space}


def _start(instruction: Instruction, computation: Computation) -> None:
    builder = Builder(computation, instruction)
    if isinstance(instruction.op, Copy):
        (source,) = instruction.operands
        shape = TupleShape([instruction.shape, source.shape, ArrayShape(U32)])
        start = builder.add(CopyStart(), source, shape=shape)
        done = builder.add(CopyDone(), start, shape=instruction.shape)
    else:
        done = wrapped(instruction, builder)
    replace(instruction, done, builder)
