"""Random numbers, with the state of the generator as a value or hidden in the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.errors import EvaluationError, ShapeError, UnsupportedError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import INTEGER, choice
from hlotool.ir.element_type import U64, ElementType, Kind
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape, TupleShape
from hlotool.ops.numerics.philox import philox_bits
from hlotool.ops.numerics.threefry import threefry_bits
from hlotool.ops.numerics.widths import narrowed, widened
from hlotool.ops.shape_checks import (
    FLOAT_KINDS,
    INTEGER_KINDS,
    array,
    check_kind,
    check_same,
    same_type_but_float_width,
    scalar,
)

if TYPE_CHECKING:
    import numpy

    from hlotool.ir.frame import Array

DISTRIBUTIONS = ("rng_uniform", "rng_normal")
ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")
_STATE_SIZES = {"rng_three_fry": (2,), "rng_philox": (2, 3)}
"""How many u64 a state has; what the device's default algorithm wants is not known."""
_LOW = (1 << 64) - 1


class Rng(Op, opcode="rng"):
    """Draws every element anew, from a generator whose state is hidden.

    Operands are two scalars: the bounds, upper one excluded, of `rng_uniform`, or mean and
    standard deviation of `rng_normal`. Truth values may be declared, as the reference reads them,
    and not drawn: nothing says what lies between two of them.
    """

    category = Category.EXTERNAL
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

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns numbers of the device's generator.

        Raises `UnsupportedError` for `pred`, which has no interval to draw from.
        """
        assert isinstance(frame.shape, ArrayShape)
        element_type, sizes = frame.shape.element_type, frame.shape.dimensions
        generator = frame.device.generator
        if self.distribution == "rng_normal":
            mean, deviation = (operand.astype(np.float64) for operand in operands)
            return narrowed(mean + deviation * generator.standard_normal(sizes), element_type)
        low, high = operands
        if element_type.is_integer:
            return _uniform_integers(generator, low, high, sizes, element_type)
        if not element_type.is_float:
            raise UnsupportedError(
                f"rng: rng_uniform of {element_type} is given, integers or floats are wanted"
            )
        part = generator.random(sizes)
        wide = low.astype(np.float64) * (1 - part) + high.astype(np.float64) * part
        drawn = narrowed(wide, element_type)
        # Rounding may reach the upper bound, which is excluded.
        is_beyond = drawn.astype(np.float64) >= high.astype(np.float64)
        return np.where(is_beyond, low.astype(drawn.dtype), drawn)


def _uniform_integers(
    generator: numpy.random.Generator,
    low: Array,
    high: Array,
    sizes: Sequence[int],
    element_type: ElementType,
) -> Array:
    first, stop = (int(widened(bound, element_type)) for bound in (low, high))
    if stop <= first:
        return np.full(sizes, low, element_type.numpy)
    wide = np.int64 if element_type.is_signed else np.uint64
    return narrowed(generator.integers(first, stop, sizes, wide), element_type)


class RngBitGenerator(Op, opcode="rng-bit-generator"):
    """Fills an array with random bits that follow from a state; yields the next state too.

    A result that is no tuple has the bits alone.
    """

    category = Category.EXTERNAL
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

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the next state and the bits; the default algorithm is Philox."""
        (state,) = operands
        declared = frame.shape
        bits = declared.elements[1] if isinstance(declared, TupleShape) else declared
        assert isinstance(bits, ArrayShape)
        algorithm = "rng_philox" if self.algorithm == "rng_default" else self.algorithm
        if state.dtype != np.uint64 or state.shape not in [(n,) for n in _STATE_SIZES[algorithm]]:
            raise EvaluationError(
                f"rng-bit-generator: a state of {state.dtype.name}{list(state.shape)} is given,"
                f" u64 numbers as {algorithm} has them are wanted"
            )
        key, low, *more = map(int, state)
        # Philox counts with 128 bits; where the state has no high half the key stands for it.
        high = more[0] if more else key
        width = bits.element_type.bits
        if algorithm == "rng_three_fry":
            words, counter = threefry_bits(key, low, bits.dimensions, width)
        else:
            words, counter = philox_bits(key, low | high << 64, bits.dimensions, width)
        values = narrowed(words.astype(np.uint64), bits.element_type)
        if bits is declared:
            return values
        following = [key, counter & _LOW, counter >> 64][: len(state)]
        return np.array(following, np.uint64), values

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

    category = Category.EXTERNAL
    arity = 0
    infers_shape = False
    has_side_effect = True

    delta: int = attr(INTEGER)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns `u64[2]`."""
        return ArrayShape(U64, (2,))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the state of the device before it is counted on."""
        state = frame.device.random_state
        frame.device.random_state = (state + self.delta) % (1 << 128)
        return np.array([state & _LOW, state >> 64], np.uint64)
