"""Random numbers, with the state of the generator as a value or hidden in the device."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.attribute import INTEGER, choice
from hlotool.ir.element_type import U64, Kind
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape, TupleShape
from hlotool.ops.shape_checks import (
    FLOAT_KINDS,
    INTEGER_KINDS,
    array,
    check_kind,
    check_same,
    same_type_but_float_width,
    scalar,
)

DISTRIBUTIONS = ("rng_uniform", "rng_normal")
ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")
_STATE_SIZES = {"rng_three_fry": (2,), "rng_philox": (2, 3)}
"""How many u64 a state has; what the device's default algorithm wants is not known."""


class Rng(Op, opcode="rng"):
    """Draws every element anew, from a generator whose state is hidden.

    Operands are two scalars: the bounds, upper one excluded, of `rng_uniform`, or mean and
    standard deviation of `rng_normal`.
    """

    arity = 2
    infers_shape = False
    has_side_effect = True

    distribution: str = attr(choice(DISTRIBUTIONS, any_case=True))

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless operands are scalars of the result's element type."""
        result = array(declared, "rng: the result")
        kinds = FLOAT_KINDS
        if self.distribution == "rng_uniform":
            kinds = FLOAT_KINDS | INTEGER_KINDS | {Kind.PRED}
        for number, operand in enumerate(operands):
            shape = scalar(operand, f"rng: operand {number}")
            check_kind(shape, kinds, f"rng: operand {number}")
            if not same_type_but_float_width(shape.element_type, result.element_type):
                raise ShapeError(
                    f"rng: operand {number} is {shape.plain_text}, the element type of the"
                    f" result {result.plain_text} is wanted"
                )


class RngBitGenerator(Op, opcode="rng-bit-generator"):
    """Fills an array with random bits that follow from a state; yields the next state too.

    A result that is no tuple has the bits alone.
    """

    arity = 1
    infers_shape = False

    algorithm: str = attr(choice(ALGORITHMS, any_case=True))

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless the result is the state's shape and an array of integers."""
        state = array(operands[0], "rng-bit-generator: operand 0")
        self._check_state(state)
        bits = declared
        if isinstance(declared, TupleShape):
            if len(declared.elements) != 2:
                raise ShapeError(
                    f"rng-bit-generator: the result is {declared.plain_text}, a state and an"
                    " array are wanted"
                )
            check_same(declared.elements[0], state, "rng-bit-generator: result 0")
            bits = declared.elements[1]
        what = "rng-bit-generator: the array of bits"
        check_kind(array(bits, what), INTEGER_KINDS, what)

    def _check_state(self, state: ArrayShape) -> None:
        sizes = _STATE_SIZES.get(self.algorithm)
        if sizes is None:
            check_kind(state, INTEGER_KINDS, "rng-bit-generator: operand 0")
        elif state.element_type is not U64 or state.rank != 1 or state.dimensions[0] not in sizes:
            wanted = " or ".join(f"u64[{size}]" for size in sizes)
            raise ShapeError(
                f"rng-bit-generator: operand 0 is {state.plain_text}, for {self.algorithm}"
                f" {wanted} is wanted"
            )


class RngGetAndUpdateState(Op, opcode="rng-get-and-update-state"):
    """Yields the hidden state of the generator, then adds `delta` to it.

    The state is one number of 128 bits, low half first.
    """

    arity = 0
    infers_shape = False
    has_side_effect = True

    delta: int = attr(INTEGER)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns `u64[2]`."""
        return ArrayShape(U64, (2,))
