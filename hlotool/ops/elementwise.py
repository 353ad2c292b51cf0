"""Ops that make each element from the elements at the same index of two or three operands.

Most differ only in what they compute and in the element types that they take. Operands of one
op have equal dimensions; only the scalars of `select` and `clamp` may stand for whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import choice
from hlotool.ir.cost import Access, Cost, byte_count, element_count
from hlotool.ir.element_type import C64, C128, F32, F64, PRED, ElementType, Kind
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, Layout, ProgramShape, Shape
from hlotool.ops.numerics import floats, integers, special
from hlotool.ops.numerics.widths import converted, doubled, narrowed, widened
from hlotool.ops.shape_checks import (
    FLOAT_KINDS,
    FLOAT_OR_COMPLEX_KINDS,
    INTEGER_KINDS,
    any_dynamic,
    array,
    arrays,
    check_kind,
    check_same_dimensions,
    common_element_type,
    merged_dimensions,
    same_sizes,
    same_type_but_float_width,
)

ALL_KINDS = frozenset(Kind)
BIT_KINDS = INTEGER_KINDS | {Kind.PRED}
SIGNED_KINDS = FLOAT_OR_COMPLEX_KINDS | {Kind.SIGNED}
NUMBER_KINDS = SIGNED_KINDS | {Kind.UNSIGNED}
ORDERED_KINDS = ALL_KINDS - {Kind.COMPLEX}
REAL_KINDS = ORDERED_KINDS - {Kind.PRED}
_COMPARISONS = {
    "EQ": "equal",
    "NE": "not_equal",
    "GE": "greater_equal",
    "GT": "greater",
    "LE": "less_equal",
    "LT": "less",
}
"""The numpy function of each direction."""


class Elementwise(Op):
    """Base of ops whose result has, at each index, a value of the operands' elements there."""

    category = Category.ELEMENTWISE
    access = Access.SAME
    is_transcendental: ClassVar[bool] = False
    """Whether an element takes many operations, as a function like `exponential` does."""

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns an operation for each element."""
        count = element_count(result)
        read, written = sum(map(byte_count, operands)), byte_count(result)
        return (
            Cost(0, count, read, written)
            if self.is_transcendental
            else Cost(count, 0, read, written)
        )

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimension itself; a scalar has none."""
        operand = operands[number]
        return tuple(range(operand.rank)) if isinstance(operand, ArrayShape) else ()


class Binary(Elementwise):
    """Base of ops on the elements of two arrays with equal dimensions and element types."""

    arity = 2
    kinds: ClassVar[frozenset[Kind]] = ALL_KINDS
    """The kinds of element types that the operands may have."""

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the common shape; a scalar or a dimension of size 1 stretches to the other.

        The layout is the first operand's where dimensions are equal and bounded, else row-major.
        """
        one, other = arrays(operands, self.opcode)
        element_type = common_element_type([one, other], self.opcode)
        for number, operand in enumerate((one, other)):
            check_kind(operand, self.kinds, f"{self.opcode}: operand {number}")
        return _stretched(one, other, self.result_type(element_type), self.opcode)

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` also where operands differ in dimensions: modules stretch none."""
        check_same_dimensions(arrays(operands, self.opcode), self.opcode)
        super().check_shape(operands, calls, declared)

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns the element type of the result for the operands' common one."""
        return operand

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what `_compute` makes of the operands in their computing width, narrowed."""
        shapes = arrays(frame.operand_shapes, self.opcode)
        element_type = common_element_type(shapes, self.opcode)
        check_live_sizes(operands, self.opcode)
        one, other = (
            widened(operand, shape.element_type)
            for operand, shape in zip(operands, shapes, strict=True)
        )
        computed = self._compute(one, other, element_type)
        return narrowed(computed, self.result_type(element_type))

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        """Returns the result for arrays in the width that `element_type` is computed in."""
        raise NotImplementedError


def check_live_sizes(operands: Sequence[Array], opcode: str) -> None:
    """Raises `EvaluationError` where dynamic dimensions have come to differ; scalars fit all."""
    sizes = {operand.shape for operand in operands if operand.shape}
    if len(sizes) > 1:
        shown = " and ".join(str(list(size)) for size in sorted(sizes))
        raise EvaluationError(f"{opcode}: operands have sizes {shown}, equal ones are wanted")


def _stretched(
    one: ArrayShape, other: ArrayShape, element_type: ElementType, opcode: str
) -> ArrayShape:
    if one.dimensions == other.dimensions and UNBOUNDED not in one.dimensions:
        layout = resized_layout(one.layout, element_type)
        return ArrayShape(element_type, one.dimensions, layout, any_dynamic([one, other]))
    if one.is_scalar or other.is_scalar:
        whole = other if one.is_scalar else one
        return ArrayShape(element_type, whole.dimensions, None, whole.dynamic)
    if one.rank != other.rank:
        raise ShapeError(
            f"{opcode}: operands {one.plain_text} and {other.plain_text} differ in rank"
        )
    ours = zip(one.dimensions, one.dynamic_flags(), strict=True)
    theirs = zip(other.dimensions, other.dynamic_flags(), strict=True)
    pairs = [_stretched_size(*pair) for pair in zip(ours, theirs, strict=True)]
    found = [pair for pair in pairs if pair is not None]
    if len(found) != len(pairs):
        raise ShapeError(
            f"{opcode}: operands {one.plain_text} and {other.plain_text} differ in dimensions"
        )
    return ArrayShape(element_type, [size for size, _ in found], None, [flag for _, flag in found])


def resized_layout(layout: Layout, element_type: ElementType) -> Layout:
    """Returns the layout for elements of another type: only what can be packed stays packed."""
    if layout.element_size_bits and element_type.bits >= 8:
        return layout.replace(element_size_bits=0)
    return layout


def _stretched_size(one: tuple[int, bool], other: tuple[int, bool]) -> tuple[int, bool] | None:
    if one[0] == other[0]:
        return one[0], one[1] or other[1]
    for elastic in (1, UNBOUNDED):
        if one[0] == elastic:
            return other
        if other[0] == elastic:
            return one
    return None


class Add(Binary, opcode="add"):
    """Sum; integers wrap, pred is or."""

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return np.add(one, other)


class Subtract(Binary, opcode="subtract"):
    """The first operand minus the second; integers wrap."""

    kinds = NUMBER_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return np.subtract(one, other)


class Multiply(Binary, opcode="multiply"):
    """Product; integers wrap, pred is and."""

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return np.multiply(one, other)


class Mulhi(Binary, opcode="mulhi"):
    """The high half of the product in twice the width."""

    kinds = INTEGER_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return integers.high_half(one, other, element_type)


class Divide(Binary, opcode="divide"):
    """Quotient; of integers cut towards zero, with every bit set for a divisor of 0."""

    kinds = NUMBER_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        if element_type.is_complex:
            return special.quotient(doubled(one), doubled(other))
        return integers.quotient(one, other) if element_type.is_integer else np.divide(one, other)


class Remainder(Binary, opcode="remainder"):
    """What division leaves, with the sign of the dividend."""

    kinds = REAL_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return integers.remainder(one, other) if element_type.is_integer else np.fmod(one, other)


class Power(Binary, opcode="power"):
    """The first operand to the power of the second."""

    is_transcendental = True
    kinds = NUMBER_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        if element_type.is_integer:
            return integers.power(one, other)
        return special.power(doubled(one), doubled(other))


class Maximum(Binary, opcode="maximum"):
    """The greater element; NaN where one is NaN."""

    kinds = ORDERED_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return floats.maximum(one, other)


class Minimum(Binary, opcode="minimum"):
    """The lesser element; NaN where one is NaN."""

    kinds = ORDERED_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return floats.minimum(one, other)


class And(Binary, opcode="and"):
    """Logical and of pred, bitwise and of integers."""

    kinds = BIT_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return np.bitwise_and(one, other)


class Or(Binary, opcode="or"):
    """Logical or of pred, bitwise or of integers."""

    kinds = BIT_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return np.bitwise_or(one, other)


class Xor(Binary, opcode="xor"):
    """Exclusive or of pred, bitwise exclusive or of integers."""

    kinds = BIT_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return np.bitwise_xor(one, other)


class ShiftLeft(Binary, opcode="shift-left"):
    """Bits moved up; 0 when moved by the width or more."""

    kinds = INTEGER_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return integers.shifted_left(one, other, element_type)


class ShiftRightArithmetic(Binary, opcode="shift-right-arithmetic"):
    """Bits moved down, filled with copies of the highest bit."""

    kinds = INTEGER_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return integers.shifted_right_signed(one, other, element_type)


class ShiftRightLogical(Binary, opcode="shift-right-logical"):
    """Bits moved down, filled with zeros."""

    kinds = INTEGER_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return integers.shifted_right(one, other, element_type)


class Atan2(Binary, opcode="atan2"):
    """The angle of the point (second operand, first operand), in radians."""

    is_transcendental = True
    kinds = FLOAT_OR_COMPLEX_KINDS

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return special.angle(doubled(one), doubled(other))


class Complex(Binary, opcode="complex"):
    """The complex number with the operands as real and imaginary part."""

    kinds = FLOAT_KINDS

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the common shape with complex elements; float width must be 32 or 64 bits."""
        one, other = arrays(operands, self.opcode)
        if one.element_type is not other.element_type or one.element_type not in {F32, F64}:
            raise ShapeError(
                f"complex: parts are {one.plain_text} and {other.plain_text},"
                " f32 or f64 for both is wanted"
            )
        return super().infer_shape(operands, calls)

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns c64 or c128."""
        return C64 if operand is F32 else C128

    def _compute(self, one: Array, other: Array, element_type: ElementType) -> Value:
        return floats.complex_of(one, other)


class Compare(Binary, opcode="compare"):
    """Compares two arrays and yields pred elements.

    `FLOAT` follows IEEE: no comparison with NaN holds but NE, and -0 equals 0. `TOTALORDER`
    orders every bit pattern of a float: -NaN first, -0 before 0, NaN last.
    """

    direction: str = attr(choice(("EQ", "NE", "GE", "GT", "LE", "LT")))
    type: str | None = attr(choice(("FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")), default=None)

    @property
    def title(self) -> str:
        """The opcode with its direction."""
        return f"{self.opcode} {self.direction}"

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the common shape of the operands with pred elements."""
        inferred = super().infer_shape(operands, calls)
        element_type = array(operands[0], "compare: operand 0").element_type
        if element_type.is_complex and self.direction not in {"EQ", "NE"}:
            raise ShapeError(
                f"compare: complex numbers have no order for {self.direction}, only EQ and NE"
            )
        return inferred

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns pred."""
        return PRED

    def adapted(self, operands: Sequence[Shape], declared: Shape) -> Self:
        """Returns the op without a `type` that says what the operands' type says already."""
        operand = operands[0]
        if self.type is None or not isinstance(operand, ArrayShape):
            return self
        is_default = self.type == comparison_type(operand.element_type)
        return self.replace(type=None) if is_default else self

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns whether the comparison holds, for each pair of elements."""
        shapes = arrays(frame.operand_shapes, self.opcode)
        element_type = common_element_type(shapes, self.opcode)
        check_live_sizes(operands, self.opcode)
        by_bits = self.type == "TOTALORDER"
        keys = [
            floats.total_order(converted(operand, shape.element_type, element_type), element_type)
            if by_bits
            else widened(operand, shape.element_type)
            for operand, shape in zip(operands, shapes, strict=True)
        ]
        return np.asarray(getattr(np, _COMPARISONS[self.direction])(*keys))


def comparison_type(operand: ElementType) -> str:
    """Returns the `type` of a comparison that gives none."""
    if operand.kind in FLOAT_OR_COMPLEX_KINDS:
        return "FLOAT"
    return "SIGNED" if operand.is_signed else "UNSIGNED"


class Select(Elementwise, opcode="select"):
    """Takes each element from the second operand where the first is true, else from the third.

    A scalar first operand chooses one of them as a whole; they may be tuples then.
    """

    moved_operands = slice(1, 3)
    arity = 3

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the values; the layout is that of flags that are no scalar.

        Elements are packed as those of the second operand.
        """
        flags = array(operands[0], "select: operand 0")
        check_kind(flags, frozenset({Kind.PRED}), "select: operand 0")
        if flags.is_scalar and operands[1].is_tuple and operands[1].compatible(operands[2]):
            return operands[1]
        values = arrays(operands, self.opcode)[1:]
        element_type = common_element_type(values, self.opcode)
        shapes = values if flags.is_scalar else [flags, *values]
        sizes, dynamic = merged_dimensions(shapes, self.opcode)
        packing = values[0].layout.element_size_bits
        layout = shapes[0].layout.replace(element_size_bits=packing)
        return ArrayShape(element_type, sizes, layout, dynamic)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the second operand where the first is true, the third elsewhere."""
        flags, *values = operands
        if flags.ndim == 0:
            return values[0] if flags else values[1]
        check_live_sizes(operands, self.opcode)
        shapes = arrays(frame.operand_shapes, self.opcode)[1:]
        element_type = common_element_type(shapes, self.opcode)
        chosen = [
            converted(value, shape.element_type, element_type)
            for value, shape in zip(values, shapes, strict=True)
        ]
        return np.where(flags, *chosen)


class Clamp(Elementwise, opcode="clamp"):
    """Keeps the elements of its second operand between the first and the third.

    Both bounds may be scalars. Where they cross, the upper one wins.
    """

    arity = 3

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the second operand."""
        low, values, high = arrays(operands, self.opcode)
        check_kind(values, ORDERED_KINDS, "clamp: operand 1")
        for bound in (low, high):
            fits = bound.is_scalar or same_sizes(bound.dimensions, values.dimensions)
            if not fits or not same_type_but_float_width(bound.element_type, values.element_type):
                raise ShapeError(f"clamp: {bound.plain_text} is no bound for {values.plain_text}")
        return values

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the lesser of the upper bound and the greater of lower bound and element."""
        shapes = arrays(frame.operand_shapes, self.opcode)
        check_live_sizes(operands, self.opcode)
        low, values, high = (
            widened(operand, shape.element_type)
            for operand, shape in zip(operands, shapes, strict=True)
        )
        kept = floats.minimum(floats.maximum(low, values), high)
        return narrowed(kept, shapes[1].element_type)
