"""Ops that make tuples and take them apart."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.attribute import INTEGER
from hlotool.ir.frame import Frame, Value
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.shape import ProgramShape, Shape, TupleShape


class Tuple(Op, opcode="tuple"):
    """Joins its operands into a tuple."""

    category = Category.MOVEMENT
    drawn = Drawn.TUPLE
    runs_code = False
    arity = None

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the tuple of the operands' shapes, layouts included."""
        return TupleShape(operands)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operands, joined."""
        return tuple(operands)

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the operand that the part is in."""
        return (index[0], index[1:]) if index else None


class GetTupleElement(Op, opcode="get-tuple-element"):
    """Takes one element of a tuple."""

    category = Category.MOVEMENT
    drawn = Drawn.ELEMENT
    runs_code = False
    arity = 1

    index: int = attr(INTEGER)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the element, layout included."""
        (operand,) = operands
        if not isinstance(operand, TupleShape):
            raise ShapeError(
                f"get-tuple-element: operand is {operand.plain_text}, a tuple is wanted"
            )
        if not 0 <= self.index < len(operand.elements):
            raise ShapeError(
                f"get-tuple-element: index {self.index} is out of range,"
                f" the operand has {len(operand.elements)} elements"
            )
        return operand.elements[self.index]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the element."""
        return operands[0][self.index]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns where the element is in the tuple."""
        return 0, (self.index, *index)
