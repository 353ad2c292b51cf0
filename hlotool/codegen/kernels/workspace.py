"""Arrays in the workspace of a kernel: what one of its phases leaves for those behind it."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.codegen.elements.source import Source
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.cost import byte_count
from hlotool.ir.shape import ArrayShape


@dataclass(frozen=True)
class WorkspaceMemory(Memory):
    """Elements that begin so many bytes behind the address of the workspace."""

    offset: int = 0

    def at(self, function: FunctionWriter, place: Value) -> Value:
        """Writes the address of an element by its place among all (`i64`)."""
        before = self.offset // self.type.storage_bytes
        if before:
            place = function.binary("add nsw", place, constant("i64", before))
        return super().at(function, place)


@dataclass(frozen=True)
class WorkspaceArray:
    """An array in the workspace, so many bytes behind its begin."""

    offset: int
    shape: ArrayShape

    def source(self, kernel: Kernel, *, is_written: bool) -> Source:
        """Returns the array, whichever function of the kernel it is read or written in."""
        kind = self.shape.element_type
        memory = WorkspaceMemory(kernel.workspace, kind, is_written=is_written, offset=self.offset)
        return Source(memory, self.shape)


def workspace_array(kernel: Kernel, shape: ArrayShape) -> WorkspaceArray:
    """Sets memory aside for an array."""
    return WorkspaceArray(kernel.room(byte_count(shape)), shape)
