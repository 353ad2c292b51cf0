"""Elementwise ops of one operand, and `copy`.

Most differ only in what they compute and in the element types that they take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from hlotool.ir.appearance import Category
from hlotool.ir.cost import Access
from hlotool.ir.element_type import PRED, ElementType, Kind
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.lazy import scipy_special
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape
from hlotool.ops.elementwise import (
    ALL_KINDS,
    BIT_KINDS,
    NUMBER_KINDS,
    SIGNED_KINDS,
    Elementwise,
    resized_layout,
)
from hlotool.ops.numerics import floats, integers, special
from hlotool.ops.numerics.widths import doubled, narrowed, widened
from hlotool.ops.shape_checks import (
    FLOAT_KINDS,
    FLOAT_OR_COMPLEX_KINDS,
    INTEGER_KINDS,
    arrays,
    check_kind,
)


class Unary(Elementwise):
    """Base of ops on the elements of one array."""

    arity = 1
    kinds: ClassVar[frozenset[Kind]] = ALL_KINDS
    """The kinds of element types that the operand may have."""

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, with the element type of the result."""
        (operand,) = arrays(operands, self.opcode)
        check_kind(operand, self.kinds, f"{self.opcode}: operand")
        element_type = self.result_type(operand.element_type)
        if element_type is operand.element_type:
            return operand
        layout = resized_layout(operand.layout, element_type)
        return operand.with_element_type(element_type).with_layout(layout)

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns the element type of the result."""
        return operand

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what `_compute` makes of the operand in its computing width, narrowed."""
        (shape,) = arrays(frame.operand_shapes, self.opcode)
        element_type = shape.element_type
        computed = self._compute(widened(operands[0], element_type), element_type)
        return narrowed(computed, self.result_type(element_type))

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        """Returns the result for an array in the width that `element_type` is computed in."""
        raise NotImplementedError


class Accurate(Unary):
    """Base of transcendental functions: an annotation may say how exact they must be.

    They are computed in 64 bits, a component, and rounded once.
    """

    is_transcendental = True
    kinds = FLOAT_OR_COMPLEX_KINDS
    takes_result_accuracy = True

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        """Returns the function of the operand as `f64` or `c128`."""
        return self._function(doubled(operand))

    def _function(self, operand: Array) -> Value:
        """Returns the function of an array of `f64` or `c128`."""
        raise NotImplementedError


class Part(Unary):
    """Base of ops that make one real number of a complex one; real operands keep their type."""

    kinds = FLOAT_OR_COMPLEX_KINDS

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns the type of a complex number's parts."""
        return operand.component


class Abs(Part, opcode="abs"):
    """Absolute value; of a complex number its magnitude."""

    kinds = SIGNED_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.abs(doubled(operand) if element_type.is_complex else operand)


class Negate(Unary, opcode="negate"):
    """Minus the operand; integers wrap."""

    kinds = NUMBER_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.negative(operand)


class Sign(Unary, opcode="sign"):
    """-1, 0 or 1 as the operand is negative, zero or positive; NaN stays NaN.

    A complex number is divided by its magnitude.
    """

    kinds = SIGNED_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        if element_type.is_complex:
            return special.direction(doubled(operand))
        return floats.sign(operand)


class Ceil(Unary, opcode="ceil"):
    """The least integer that is not less."""

    kinds = FLOAT_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.ceil(operand)


class Floor(Unary, opcode="floor"):
    """The greatest integer that is not greater."""

    kinds = FLOAT_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.floor(operand)


class RoundNearestAfz(Unary, opcode="round-nearest-afz"):
    """The nearest integer; halves go away from zero."""

    kinds = FLOAT_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return floats.rounded_away(operand)


class RoundNearestEven(Unary, opcode="round-nearest-even"):
    """The nearest integer; halves go to the even one."""

    kinds = FLOAT_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.rint(operand)


class IsFinite(Unary, opcode="is-finite"):
    """Whether a number is neither infinite nor NaN, as pred."""

    kinds = FLOAT_KINDS

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns pred."""
        return PRED

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.isfinite(operand)


class Not(Unary, opcode="not"):
    """Logical negation of pred, of integers the complement of every bit."""

    kinds = BIT_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.invert(operand)


class Popcnt(Unary, opcode="popcnt"):
    """The number of bits that are set."""

    kinds = INTEGER_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return integers.set_bits(operand, element_type)


class CountLeadingZeros(Unary, opcode="count-leading-zeros"):
    """The number of zero bits above the highest set bit; the width for 0."""

    kinds = INTEGER_KINDS

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return integers.leading_zeros(operand, element_type)


class Real(Part, opcode="real"):
    """The real part; a real number as it is."""

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.real(operand)


class Imag(Part, opcode="imag"):
    """The imaginary part; 0 for a real number."""

    def _compute(self, operand: Array, element_type: ElementType) -> Value:
        return np.imag(operand)


class Exponential(Accurate, opcode="exponential"):
    """e to the power of the operand."""

    def _function(self, operand: Array) -> Value:
        return np.exp(operand)


class ExponentialMinusOne(Accurate, opcode="exponential-minus-one"):
    """e to the power of the operand, minus 1; exact near 0."""

    def _function(self, operand: Array) -> Value:
        return special.exponential_minus_one(operand)


class Log(Accurate, opcode="log"):
    """Natural logarithm."""

    def _function(self, operand: Array) -> Value:
        return np.log(operand)


class LogPlusOne(Accurate, opcode="log-plus-one"):
    """Natural logarithm of 1 plus the operand; exact near 0."""

    def _function(self, operand: Array) -> Value:
        return special.log_plus_one(operand)


class Logistic(Accurate, opcode="logistic"):
    """1 / (1 + exp(-x))."""

    def _function(self, operand: Array) -> Value:
        return special.logistic(operand)


class Sqrt(Accurate, opcode="sqrt"):
    """Square root."""

    def _function(self, operand: Array) -> Value:
        return np.sqrt(operand)


class Cbrt(Accurate, opcode="cbrt"):
    """Cube root; negative for a negative operand."""

    kinds = FLOAT_KINDS

    def _function(self, operand: Array) -> Value:
        return np.cbrt(operand)


class Rsqrt(Accurate, opcode="rsqrt"):
    """1 divided by the square root."""

    def _function(self, operand: Array) -> Value:
        return special.reciprocal_root(operand)


class Erf(Accurate, opcode="erf"):
    """Error function."""

    kinds = FLOAT_KINDS

    def _function(self, operand: Array) -> Value:
        return scipy_special.erf(operand)


class Sine(Accurate, opcode="sine"):
    """Sine of an angle in radians."""

    def _function(self, operand: Array) -> Value:
        return np.sin(operand)


class Cosine(Accurate, opcode="cosine"):
    """Cosine of an angle in radians."""

    def _function(self, operand: Array) -> Value:
        return np.cos(operand)


class Tan(Accurate, opcode="tan"):
    """Tangent of an angle in radians."""

    def _function(self, operand: Array) -> Value:
        return np.tan(operand)


class Acos(Accurate, opcode="acos"):
    """Arc cosine in radians."""

    def _function(self, operand: Array) -> Value:
        return np.arccos(operand)


class Asin(Accurate, opcode="asin"):
    """Arc sine in radians."""

    def _function(self, operand: Array) -> Value:
        return np.arcsin(operand)


class Cosh(Accurate, opcode="cosh"):
    """Hyperbolic cosine."""

    def _function(self, operand: Array) -> Value:
        return np.cosh(operand)


class Sinh(Accurate, opcode="sinh"):
    """Hyperbolic sine."""

    def _function(self, operand: Array) -> Value:
        return np.sinh(operand)


class Tanh(Accurate, opcode="tanh"):
    """Hyperbolic tangent."""

    def _function(self, operand: Array) -> Value:
        return np.tanh(operand)


class Acosh(Accurate, opcode="acosh"):
    """Inverse hyperbolic cosine."""

    def _function(self, operand: Array) -> Value:
        return np.arccosh(operand)


class Asinh(Accurate, opcode="asinh"):
    """Inverse hyperbolic sine."""

    def _function(self, operand: Array) -> Value:
        return np.arcsinh(operand)


class Atanh(Accurate, opcode="atanh"):
    """Inverse hyperbolic tangent."""

    def _function(self, operand: Array) -> Value:
        return np.arctanh(operand)


class Copy(Op, opcode="copy"):
    """Yields its operand in a buffer of its own, which may have another layout."""

    category = Category.MOVEMENT
    access = Access.SAME
    moved_operands = slice(0, 1)
    arity = 1

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, layout included."""
        (operand,) = operands
        return operand

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimension itself; a scalar has none."""
        operand = operands[number]
        return tuple(range(operand.rank)) if isinstance(operand, ArrayShape) else ()

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operand: values are never written into, and have no layout."""
        return operands[0]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the same part of the operand."""
        return 0, index
