"""Ops that order elements by comparing them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import BOOLEAN, INTEGER, ONE_DIMENSION
from hlotool.ir.element_type import PRED, S32
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op, Role, at_least
from hlotool.ir.record import attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape, TupleShape
from hlotool.ops.callees.sorting import best, sorting_order
from hlotool.ops.elementwise import check_live_sizes
from hlotool.ops.shape_checks import (
    array,
    arrays,
    check_dimension,
    check_same_dimensions,
    check_signature,
    one_or_tuple,
    scalar_of,
)
from hlotool.ops.tuple_values import single_or_tuple


class Sort(Op, opcode="sort"):
    """Sorts along one dimension, all operands by the same order.

    `to_apply` gets two elements of each operand, side by side, and says whether the first of
    each pair comes before the second. `is_stable` keeps equals in their order.
    """

    category = Category.REDUCTION
    arity = at_least(1)
    roles = (Role("to_apply"),)

    dimensions: int = attr(ONE_DIMENSION)
    is_stable: bool = attr(BOOLEAN, default=False)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, layout included, or of several the tuple."""
        shapes = arrays(operands, self.opcode)
        check_same_dimensions(shapes, self.opcode)
        check_dimension(self.dimensions, shapes[0].rank, "sort: dimension")
        (comparator,) = calls
        scalars = [scalar_of(shape) for shape in shapes for _ in range(2)]
        check_signature(comparator, scalars, ArrayShape(PRED), "sort: to_apply")
        return one_or_tuple(shapes)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operands in order; equals keep theirs whether they must or not."""
        check_live_sizes(operands, self.opcode)
        moved = [np.moveaxis(operand, self.dimensions, -1) for operand in operands]
        sizes = moved[0].shape
        lines = [each.reshape(prod(sizes[:-1]), sizes[-1]) for each in moved]
        order = sorting_order(frame.calls[0], lines)
        results = [
            np.moveaxis(np.take_along_axis(line, order, 1).reshape(sizes), -1, self.dimensions)
            for line in lines
        ]
        return single_or_tuple(results)


class TopK(Op, opcode="topk"):
    """The `k` largest, or smallest, elements of each row, best first, and their indices."""

    category = Category.REDUCTION
    arity = 1

    k: int = attr(INTEGER)
    largest: bool = attr(BOOLEAN, default=True, always=True)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the tuple of values and s32 indices, both row-major."""
        operand = array(operands[0], "topk: operand")
        if operand.is_scalar:
            raise ShapeError("topk: operand is a scalar, a dimension to choose from is wanted")
        *kept, size = operand.dimensions
        if self.k < 0 or (size != UNBOUNDED and self.k > size):
            raise ShapeError(f"topk: k is {self.k}, {operand.plain_text} has {size} in a row")
        dynamic = [*operand.dynamic_flags()[:-1], False]
        return TupleShape(
            [ArrayShape(t, [*kept, self.k], None, dynamic) for t in (operand.element_type, S32)]
        )

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the best elements by total order, of equals those with the lowest indices."""
        (operand,) = operands
        element_type = array(frame.operand_shapes[0], "topk: operand").element_type
        if element_type.is_complex:
            raise EvaluationError("topk: complex numbers are given, a type with an order is wanted")
        if operand.shape[-1] < self.k:
            raise EvaluationError(
                f"topk: k is {self.k}, at most the {operand.shape[-1]} that are live is wanted"
            )
        return best(operand, element_type, self.k, largest=self.largest)
