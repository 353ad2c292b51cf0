"""Ops without operands: parameters, constants, index numbers, and who is running."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.attribute import BOOLEANS, INTEGER
from hlotool.ir.cost import Access
from hlotool.ir.element_type import S64, U32
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.literal import LITERAL, Literal
from hlotool.ir.literal_text import literal_text
from hlotool.ir.op import LargeConstants, Op
from hlotool.ir.record import attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape
from hlotool.ops.elementwise import NUMBER_KINDS
from hlotool.ops.numerics.widths import converted
from hlotool.ops.shape_checks import array, check_dimension, check_kind, check_length


class Parameter(Op, opcode="parameter"):
    """The value given for one parameter of the computation.

    `parameter_replication` says of each array in it whether all replicas are given the same.
    """

    category = Category.SOURCE
    drawn = Drawn.PARAMETER
    runs_code = False
    arity = 0
    payload = INTEGER
    infers_shape = False

    number: int = attr(INTEGER, named=False)
    parameter_replication: tuple[bool, ...] | None = attr(BOOLEANS, default=None)

    @property
    def parameter_number(self) -> int:
        """Which parameter of its computation the instruction is."""
        return self.number

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` for a negative number, or unless each array has one flag."""
        if self.number < 0:
            raise ShapeError(f"parameter: number {self.number} is negative")
        if self.parameter_replication is not None:
            leaves = sum(1 for _ in declared.leaves())
            check_length(self.parameter_replication, leaves, "parameter: parameter_replication")


class Constant(Op, opcode="constant"):
    """A value that the module holds."""

    category = Category.SOURCE
    drawn = Drawn.CONSTANT
    access = Access.MOVED
    runs_code = False
    arity = 0
    payload = LITERAL
    payload_needs_shape = True
    infers_shape = False

    literal: Literal = attr(LITERAL, named=False)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the literal."""
        return self.literal.shape

    @property
    def payload_shape(self) -> Shape:
        """The shape of the literal: static, also where the text declares a dynamic one."""
        return self.literal.shape

    def payload_text(self, large_constants: LargeConstants) -> str:
        """Returns the value, or `{...}` where it is too large to show."""
        if large_constants is not LargeConstants.ESSENTIAL:
            return literal_text(
                self.literal,
                print_large=large_constants is not LargeConstants.ELIDED,
                exact=large_constants is LargeConstants.EXACT,
            )
        for value in (0, 1):
            if self.literal.is_all(value) and not _has_negative_zero(self.literal):
                return str(value)
        shape = self.literal.shape
        if isinstance(shape, ArrayShape) and shape.element_type.is_integer:
            return literal_text(self.literal, print_large=True)
        return "{...}"

    @property
    def short_value(self) -> str:
        """The value, `{...}` where it is too large to show."""
        return self.payload_text(LargeConstants.ELIDED)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the literal; raises `EvaluationError` where the text has left it out."""
        return _value(self.literal)


def _value(literal: Literal) -> Value:
    if literal.elided:
        raise EvaluationError(
            "constant: the value was left out of the text as {...}",
            notes=[
                "values stay when XLA dumps with --xla_dump_large_constants",
                "print_large_constants is the option when a program prints the module",
            ],
        )
    if literal.shape.is_tuple:
        return tuple(map(_value, literal.elements))
    return literal.array()


def _has_negative_zero(literal: Literal) -> bool:
    # For an array of zeros or ones, where no other number could have the sign.
    parts = (part for item in literal for part in (item.real, item.imag))
    return any(copysign(1, part) < 0 for part in parts)


class Iota(Op, opcode="iota"):
    """Each element is its own index along one dimension."""

    category = Category.SOURCE
    access = Access.MOVED
    arity = 0
    infers_shape = False

    iota_dimension: int = attr(INTEGER)

    @property
    def short_value(self) -> str:
        """The dimension that is numbered."""
        return f"dimension {self.iota_dimension}"

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where the dimension is out of range or elements are no numbers."""
        result = array(declared, "iota: result")
        check_kind(result, NUMBER_KINDS, "iota: result")
        check_dimension(self.iota_dimension, result.rank, "iota: iota_dimension")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the numbers, of which a narrow type keeps what it can hold."""
        shape = array(frame.shape, "iota: result")
        if UNBOUNDED in shape.dimensions:
            raise EvaluationError(f"iota: the size of {shape.plain_text} is not known")
        sizes = [1] * shape.rank
        sizes[self.iota_dimension] = -1
        count = np.arange(shape.dimensions[self.iota_dimension], dtype=np.int64)
        line = converted(count, S64, shape.element_type).reshape(sizes)
        return np.broadcast_to(line, shape.dimensions)


class DeviceNumber(Op):
    """Base of ops that number the devices which run the module."""

    category = Category.SOURCE
    arity = 0

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns `u32[]`."""
        return ArrayShape(U32)


class ReplicaId(DeviceNumber, opcode="replica-id"):
    """The number of the replica that runs the module."""

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the row of the device."""
        return np.asarray(frame.device.replica, np.uint32)


class PartitionId(DeviceNumber, opcode="partition-id"):
    """The number of the partition that runs the module."""

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the column of the device."""
        return np.asarray(frame.device.partition, np.uint32)
