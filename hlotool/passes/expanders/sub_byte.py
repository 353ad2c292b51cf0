"""How elements narrower than a byte lie in memory."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape, BufferShape, ProgramShape, Shape, TupleShape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.numerics.physical_size import physical_bytes
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal

_BYTE = 8


class ElementSizes(Pass):
    """Base of passes that change how many bits an element takes in memory, in every layout."""

    is_exact: ClassVar[bool] = True

    @abstractmethod
    def element_size(self, shape: ArrayShape) -> int:
        """Returns the bits that the layout of an array is to say, 0 for whole bytes."""

    def run(self, module: Module, journal: Journal) -> bool:
        """Changes all layouts, those in the header included."""
        for instruction in module.instructions():
            if isinstance(instruction.op, Bitcast) and not self._keeps_bytes(instruction):
                journal.note("no layout is changed: this takes bytes of another width", instruction)
                return False
        found = any(self._is_other(instruction) for instruction in module.instructions())
        header = module.header
        layout = header.entry_computation_layout
        if layout is not None:
            packed = ProgramShape(
                [self._packed(shape) for shape in layout.parameters],
                self._packed(layout.result),
                layout.parameter_names,
            )
            found |= packed != layout
            header = header.replace(entry_computation_layout=packed)
        if not found or not journal.hit("element_size"):
            return False
        module.header = header
        for instruction in module.instructions():
            instruction.op = self._packed_op(instruction.op)
            instruction.shape = self._packed(instruction.shape)
        return True

    def _is_other(self, instruction: Instruction) -> bool:
        return (
            self._packed(instruction.shape) != instruction.shape
            or self._packed_op(instruction.op) != instruction.op
        )

    def _keeps_bytes(self, bitcast: Instruction) -> bool:
        """Whether operand and result of a bitcast take equally many bytes in the new layouts."""
        taken = []
        for shape in (bitcast.operands[0].shape, bitcast.shape):
            packed = self._packed(shape)
            array = packed.array if isinstance(packed, BufferShape) else packed
            assert isinstance(array, ArrayShape)
            taken.append(physical_bytes(array, "bitcast"))
        return taken[0] == taken[1]

    def _packed(self, shape: Shape) -> Shape:
        if isinstance(shape, TupleShape):
            packed = [self._packed(element) for element in shape.elements]
            is_same = all(map(_is_same, packed, shape.elements))
            return shape if is_same else TupleShape(packed)
        if isinstance(shape, BufferShape):
            array = self._packed(shape.array)
            assert isinstance(array, ArrayShape)
            return BufferShape(array)
        if not isinstance(shape, ArrayShape):
            return shape
        bits = self.element_size(shape)
        if shape.layout.element_size_bits == bits:
            return shape
        return shape.with_layout(shape.layout.replace(element_size_bits=bits))

    def _packed_op(self, op: Op) -> Op:
        """Returns the op with the shapes in its attributes packed."""
        if isinstance(op, Constant):
            shape = self._packed(op.literal.shape)
            is_same = shape is op.literal.shape
            return op if is_same else op.replace(literal=op.literal.with_shape(shape))
        if isinstance(op, CustomCall) and op.operand_layout_constraints is not None:
            packed = tuple(self._packed(shape) for shape in op.operand_layout_constraints)
            return op.replace(operand_layout_constraints=packed)
        return op


def _is_same(one: Shape, other: Shape) -> bool:
    return one is other


@dataclass(frozen=True)
class SubByteSizeSetter(ElementSizes):
    """Lets layouts say that elements narrower than a byte are packed; truth values are not."""

    name: ClassVar[str] = "sub-byte-size-setter"

    def element_size(self, shape: ArrayShape) -> int:
        """Returns the width of narrow elements, what stands there for others."""
        bits = shape.element_type.bits
        is_narrow = bits < _BYTE and shape.element_type is not PRED
        return bits if is_narrow else shape.layout.element_size_bits


@dataclass(frozen=True)
class SubByteSizeRemoval(ElementSizes):
    """Lets no layout say that elements are packed: each takes whole bytes."""

    name: ClassVar[str] = "sub-byte-size-removal"

    def element_size(self, shape: ArrayShape) -> int:
        """Returns 0."""
        return 0
