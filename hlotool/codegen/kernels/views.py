"""Operands that are views of arrays in memory: transposed, sliced, reshaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Index
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.target import Target
from hlotool.ir.cost import Access
from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import DynamicSlice, Gather
from hlotool.ops.unary import Copy


def viewed(instruction: Instruction, sources: Mapping[Instruction, Source]) -> Instruction | None:
    """Returns the input that an instruction is a view of, if it is one."""
    while instruction not in sources:
        if not _is_view(instruction):
            return None
        instruction = instruction.operands[0]
    return instruction


def _is_view(instruction: Instruction) -> bool:
    op, operands = instruction.op, instruction.operands
    is_moved = op.access is Access.MOVED and len(operands) == 1
    if isinstance(op, Gather) or not (is_moved or isinstance(op, DynamicSlice | Copy)):
        return False
    # The bytes of another type are no elements of this one.
    return element_type_of(operands[0]) is element_type_of(instruction)


def place_in(
    kernel: Kernel, function: FunctionWriter, operand: Instruction, index: Sequence[Index]
) -> Index:
    """Returns the place in its input of the element of a view, among all elements there.

    What says where a dynamic slice begins is loaded in `function`.
    """
    sources = kernel.sources()
    end = viewed(operand, sources)
    assert end is not None, "only a view has a place"
    tracer = _Tracer(function, kernel.target, sources, end)
    try:
        tracer.element(operand, index)
    except _Reached as reached:
        return sources[end].place(reached.index)
    raise AssertionError("a view reaches its input")


def trial_place(kernel: Kernel, operand: Instruction, index: Sequence[Index]) -> Index:
    """Returns the same for counters of loops that are not written yet: what its strides are."""
    trial = FunctionWriter("trial", kernel.function.arguments)
    return place_in(kernel, trial, operand, index)


class _Reached(Exception):  # noqa: N818 - the end of a search
    def __init__(self, index: Indices) -> None:
        super().__init__()
        self.index = index


class _Tracer(ElementEmitter):
    """Finds at which index of an input the element of a view lies."""

    def __init__(
        self,
        function: FunctionWriter,
        target: Target,
        sources: Mapping[Instruction, Source],
        end: Instruction,
    ) -> None:
        super().__init__(function, target, sources)
        self._end = end

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        if instruction is self._end:
            raise _Reached(index)
        return super()._made(instruction, index)
