"""Shapes with other layouts, and values brought into them."""

from __future__ import annotations

from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, BufferShape, Layout, Shape, TupleShape
from hlotool.ops.unary import Copy
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.rewriter import remove_dead


def row_major(shape: Shape) -> Shape:
    """Returns a shape with dimensions in row-major order; all else of its layouts stays."""
    if isinstance(shape, TupleShape):
        return TupleShape([row_major(element) for element in shape.elements])
    if isinstance(shape, BufferShape):
        return BufferShape(row_major_array(shape.array))
    return row_major_array(shape) if isinstance(shape, ArrayShape) else shape


def row_major_array(shape: ArrayShape) -> ArrayShape:
    """Returns an array's shape with dimensions in row-major order."""
    order = Layout.default(shape.rank).minor_to_major
    if shape.layout.minor_to_major == order:
        return shape
    return shape.with_layout(shape.layout.replace(minor_to_major=order))


class LayoutCopies:
    """Brings values of one computation into wanted layouts, each only once."""

    def __init__(self, computation: Computation) -> None:
        self._computation = computation
        self._made: dict[tuple[Instruction, Shape], Instruction] = {}
        self._added: list[Instruction] = []
        self._copies: set[Instruction] = set()

    def brought(self, value: Instruction, wanted: Shape) -> Instruction:
        """Returns the value in the layouts of `wanted`."""
        if value.shape == wanted:
            return value
        found = self._made.get((value, wanted))
        if found is None:
            found = self._made[value, wanted] = self._brought(value, wanted)
        return found

    def drop_unused(self) -> None:
        """Takes copies out that nothing uses in the end."""
        remove_dead(self._computation, self._added)

    def _brought(self, value: Instruction, wanted: Shape) -> Instruction:
        builder = Builder(self._computation, value)
        if isinstance(wanted, TupleShape):
            elements = [
                self.brought(builder.element(value, number), element)
                for number, element in enumerate(wanted.elements)
            ]
            made = builder.tuple(*elements)
        elif value in self._copies and value.operands[0].shape == wanted:
            return value.operands[0]
        elif isinstance(wanted, ArrayShape):
            made = builder.add(Copy(), value, shape=wanted)
            self._copies.add(made)
        else:
            return value
        self._added += builder.made
        return made
