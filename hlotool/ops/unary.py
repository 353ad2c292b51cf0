"""Elementwise ops of one operand, and `copy`.

Most differ only in what they compute and in the element types that they take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from hlotool.ir.element_type import PRED, ElementType, Kind
from hlotool.ir.op import Op
from hlotool.ir.shape import ProgramShape, Shape
from hlotool.ops.elementwise import (
    ALL_KINDS,
    BIT_KINDS,
    NUMBER_KINDS,
    SIGNED_KINDS,
    Elementwise,
    resized_layout,
)
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


class Accurate(Unary):
    """Base of transcendental functions: an annotation may say how exact they must be."""

    kinds = FLOAT_OR_COMPLEX_KINDS
    takes_result_accuracy = True


class Part(Unary):
    """Base of ops that make one real number of a complex one; real operands keep their type."""

    kinds = FLOAT_OR_COMPLEX_KINDS

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns the type of a complex number's parts."""
        return operand.component


class Abs(Part, opcode="abs"):
    """Absolute value; of a complex number its magnitude."""

    kinds = SIGNED_KINDS


class Negate(Unary, opcode="negate"):
    """Minus the operand; integers wrap."""

    kinds = NUMBER_KINDS


class Sign(Unary, opcode="sign"):
    """-1, 0 or 1 as the operand is negative, zero or positive; NaN stays NaN.

    A complex number is divided by its magnitude.
    """

    kinds = SIGNED_KINDS


class Ceil(Unary, opcode="ceil"):
    """The least integer that is not less."""

    kinds = FLOAT_KINDS


class Floor(Unary, opcode="floor"):
    """The greatest integer that is not greater."""

    kinds = FLOAT_KINDS


class RoundNearestAfz(Unary, opcode="round-nearest-afz"):
    """The nearest integer; halves go away from zero."""

    kinds = FLOAT_KINDS


class RoundNearestEven(Unary, opcode="round-nearest-even"):
    """The nearest integer; halves go to the even one."""

    kinds = FLOAT_KINDS


class IsFinite(Unary, opcode="is-finite"):
    """Whether a number is neither infinite nor NaN, as pred."""

    kinds = FLOAT_KINDS

    def result_type(self, operand: ElementType) -> ElementType:
        """Returns pred."""
        return PRED


class Not(Unary, opcode="not"):
    """Logical negation of pred, of integers the complement of every bit."""

    kinds = BIT_KINDS


class Popcnt(Unary, opcode="popcnt"):
    """The number of bits that are set."""

    kinds = INTEGER_KINDS


class CountLeadingZeros(Unary, opcode="count-leading-zeros"):
    """The number of zero bits above the highest set bit; the width for 0."""

    kinds = INTEGER_KINDS


class Real(Part, opcode="real"):
    """The real part; a real number as it is."""


class Imag(Part, opcode="imag"):
    """The imaginary part; 0 for a real number."""


class Exponential(Accurate, opcode="exponential"):
    """e to the power of the operand."""


class ExponentialMinusOne(Accurate, opcode="exponential-minus-one"):
    """e to the power of the operand, minus 1; exact near 0."""


class Log(Accurate, opcode="log"):
    """Natural logarithm."""


class LogPlusOne(Accurate, opcode="log-plus-one"):
    """Natural logarithm of 1 plus the operand; exact near 0."""


class Logistic(Accurate, opcode="logistic"):
    """1 / (1 + exp(-x))."""


class Sqrt(Accurate, opcode="sqrt"):
    """Square root."""


class Cbrt(Accurate, opcode="cbrt"):
    """Cube root; negative for a negative operand."""

    kinds = FLOAT_KINDS


class Rsqrt(Accurate, opcode="rsqrt"):
    """1 divided by the square root."""


class Erf(Accurate, opcode="erf"):
    """Error function."""

    kinds = FLOAT_KINDS


class Sine(Accurate, opcode="sine"):
    """Sine of an angle in radians."""


class Cosine(Accurate, opcode="cosine"):
    """Cosine of an angle in radians."""


class Tan(Accurate, opcode="tan"):
    """Tangent of an angle in radians."""


class Acos(Accurate, opcode="acos"):
    """Arc cosine in radians."""


class Asin(Accurate, opcode="asin"):
    """Arc sine in radians."""


class Cosh(Accurate, opcode="cosh"):
    """Hyperbolic cosine."""


class Sinh(Accurate, opcode="sinh"):
    """Hyperbolic sine."""


class Tanh(Accurate, opcode="tanh"):
    """Hyperbolic tangent."""


class Acosh(Accurate, opcode="acosh"):
    """Inverse hyperbolic cosine."""


class Asinh(Accurate, opcode="asinh"):
    """Inverse hyperbolic sine."""


class Atanh(Accurate, opcode="atanh"):
    """Inverse hyperbolic tangent."""


class Copy(Op, opcode="copy"):
    """Yields its operand in a buffer of its own, which may have another layout."""

    arity = 1

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, layout included."""
        (operand,) = operands
        return operand
