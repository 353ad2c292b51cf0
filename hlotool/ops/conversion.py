"""Elementwise ops that change how numbers are held: their type, their bits, their precision."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError, UnsupportedError
from hlotool.ir.attribute import INTEGER
from hlotool.ir.element_type import Kind
from hlotool.ir.frame import Frame, Value
from hlotool.ir.record import attr
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.numerics.conversions import reduced, reread, stochastic
from hlotool.ops.numerics.widths import converted
from hlotool.ops.shape_checks import (
    FLOAT_KINDS,
    INTEGER_KINDS,
    array,
    arrays,
    check_kind,
    check_same_dimensions,
    same_size,
    same_sizes,
)
from hlotool.ops.unary import Unary


class Convert(Elementwise, opcode="convert"):
    """Turns each element into the nearest value of another element type.

    Floats become integers towards zero and stay in range, NaN becomes 0; wide integers lose
    their high bits; whatever is not 0 becomes true.
    """

    arity = 1
    infers_shape = False

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where dimensions change."""
        (operand,) = arrays(operands, self.opcode)
        result = array(declared, "convert: result")
        _check_kept_dimensions(operand, result, self.opcode)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the nearest values of the result's element type."""
        (operand,) = arrays(frame.operand_shapes, self.opcode)
        result = array(frame.shape, "convert: result")
        return converted(operands[0], operand.element_type, result.element_type)


def _check_kept_dimensions(operand: ArrayShape, result: ArrayShape, opcode: str) -> None:
    if not same_sizes(operand.dimensions, result.dimensions):
        raise ShapeError(
            f"{opcode}: {operand.plain_text} becomes {result.plain_text},"
            " equal dimensions are wanted"
        )


class BitcastConvert(Elementwise, opcode="bitcast-convert"):
    """Reads the bits of each element as another element type.

    Where the new type is narrower a minor dimension is added that numbers the pieces, the
    least significant one first; where it is wider the minor dimension goes.
    """

    arity = 1
    infers_shape = False

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless the bits fill the result; complex and pred keep theirs."""
        (operand,) = arrays(operands, self.opcode)
        result = array(declared, "bitcast-convert: result")
        if not _same_bits(operand, result):
            raise ShapeError(
                f"bitcast-convert: the bits of {operand.plain_text} do not fill {result.plain_text}"
            )

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions that both have."""
        (operand,) = arrays(operands, self.opcode)
        rank = array(result, "bitcast-convert: result").rank
        return tuple(d if d < rank else None for d in range(operand.rank))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the elements that have the bits of the operand."""
        (operand,) = arrays(frame.operand_shapes, self.opcode)
        result = array(frame.shape, "bitcast-convert: result")
        return reread(operands[0], operand.element_type, result.element_type)


def _same_bits(operand: ArrayShape, result: ArrayShape) -> bool:
    ours, theirs = operand.element_type, result.element_type
    if ours.bits == theirs.bits:
        return same_sizes(operand.dimensions, result.dimensions)
    if not {ours.kind, theirs.kind}.isdisjoint({Kind.COMPLEX, Kind.PRED}):
        return False
    narrow, wide = (operand, result) if ours.bits < theirs.bits else (result, operand)
    pieces, rest = divmod(wide.element_type.bits, narrow.element_type.bits)
    return (
        rest == 0
        and not narrow.is_scalar
        and same_size(narrow.dimensions[-1], pieces)
        and same_sizes(narrow.dimensions[:-1], wide.dimensions)
    )


class ReducePrecision(Unary, opcode="reduce-precision"):
    """Rounds each float to fewer bits of exponent and mantissa, and keeps its type.

    What is too large becomes infinite, what is too small for a normal number becomes 0.
    """

    infers_shape = False
    kinds = FLOAT_KINDS

    exponent_bits: int = attr(INTEGER)
    mantissa_bits: int = attr(INTEGER)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape."""
        if self.exponent_bits < 1:
            raise ShapeError(
                f"reduce-precision: exponent_bits is {self.exponent_bits}, 1 or more is wanted"
            )
        if self.mantissa_bits < 0:
            raise ShapeError(
                f"reduce-precision: mantissa_bits is {self.mantissa_bits}, 0 or more is wanted"
            )
        return super().infer_shape(operands, calls)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the elements that fit into the bits given, held in the operand's type."""
        (operand,) = arrays(frame.operand_shapes, self.opcode)
        return reduced(operands[0], operand.element_type, self.exponent_bits, self.mantissa_bits)


class StochasticConvert(Elementwise, opcode="stochastic-convert"):
    """Rounds each float up or down by chance; the second operand has the random bits."""

    arity = 2
    infers_shape = False

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless dimensions, and widths of floats and random bits, agree."""
        operand, random = arrays(operands, self.opcode)
        result = array(declared, "stochastic-convert: result")
        check_same_dimensions([operand, random], self.opcode)
        check_kind(operand, FLOAT_KINDS, "stochastic-convert: operand 0")
        check_kind(random, frozenset({Kind.UNSIGNED}), "stochastic-convert: operand 1")
        check_kind(result, FLOAT_KINDS | INTEGER_KINDS, "stochastic-convert: result")
        if operand.element_type.bits != random.element_type.bits:
            raise ShapeError(
                f"stochastic-convert: random bits are {random.plain_text},"
                f" {operand.element_type.bits} bits an element are wanted"
            )
        _check_kept_dimensions(operand, result, self.opcode)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns integers; raises `UnsupportedError` for floats, which HLO does not define."""
        operand, _ = arrays(frame.operand_shapes, self.opcode)
        result = array(frame.shape, "stochastic-convert: result")
        if not result.element_type.is_integer:
            raise UnsupportedError(f"stochastic-convert to {result.element_type} is not defined")
        return stochastic(operands[0], operands[1], operand.element_type, result.element_type)
