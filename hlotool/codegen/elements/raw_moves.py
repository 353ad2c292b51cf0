"""Elements that are only moved: their bits are, whatever number they stand for."""

from __future__ import annotations

from collections.abc import Mapping

from hlotool.codegen.elements.constants import constant_element
from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.patterns import selected
from hlotool.codegen.target import Target
from hlotool.ir.element_type import PRED, U8, U16, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Select
from hlotool.ops.source import Constant


def raw_type(element_type: ElementType) -> ElementType | None:
    """Returns the type of bits that elements are moved as; `None` where they are as they are.

    Floats narrower than 32 bits would be widened and rounded again, pred be compared with 0.
    """
    if element_type is PRED or (element_type.is_float and element_type.bits < 32):
        return U8 if element_type.storage_bytes == 1 else U16
    return None


class MovingEmitter(ElementEmitter):
    """Writes elements of which some instructions are only moved; `raw` has the type of bits."""

    def __init__(
        self,
        function: FunctionWriter,
        target: Target,
        sources: Mapping[Instruction, Source],
        raw: Mapping[Instruction, ElementType],
    ) -> None:
        super().__init__(function, target, sources)
        self._raw = raw

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        # A constant of another kernel is loaded: equal kernels share their code.
        if instruction not in self._raw or instruction in self.sources:
            return super()._made(instruction, index)
        # The rules of these two ask for the type of the numbers.
        if isinstance(instruction.op, Constant):
            return constant_element(self, instruction, index, self._raw[instruction])
        if isinstance(instruction.op, Select):
            return self._chosen(instruction, index)
        return super()._made(instruction, index)

    def _chosen(self, instruction: Instruction, index: Indices) -> Element:
        flag, yes, no = (
            self.element(one, index if array_shape(one).rank else ())
            for one in instruction.operands
        )
        return selected(self.function, flag.value, yes, no)
