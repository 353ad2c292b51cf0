"""Random numbers from a hidden state, computed from counted bits."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import ClassVar

from hlotool.ir.element_type import F32, F64, U32, U64, ElementType, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.random import Rng, RngGetAndUpdateState
from hlotool.ops.unary import Cosine, Log, Sqrt
from hlotool.passes.expanders.expander import Expander
from hlotool.passes.expanders.random_words import numbers_of_state, philox_bits
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class RngExpander(Expander):
    """Writes the drawing of random numbers as Philox on the hidden state.

    The numbers are others than those that the op itself yields.
    """

    name: ClassVar[str] = "rng-expander"

    key: int = option(0x2B7E1516, "the key of the generator")

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction draws numbers; truth values are not drawn by any."""
        is_one = isinstance(instruction.op, Rng)
        return is_one and array_shape(instruction).element_type.kind is not Kind.PRED

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """rng(a, b) -> a + (b - a) * philox(rng-get-and-update-state())"""
        op = instruction.op
        assert isinstance(op, Rng)
        shape = array_shape(instruction)
        first, second = (Term(build, operand) for operand in instruction.operands)
        if op.distribution == "rng_normal":
            result = _normal(_Draws(self.key, instruction, build, 2), first, second)
        elif shape.element_type.is_integer:
            result = _uniform_integers(_Draws(self.key, instruction, build, 1), first, second)
        else:
            result = _uniform(_Draws(self.key, instruction, build, 1), first, second)
        return result.converted(shape.element_type).instruction


class _Draws:
    """Random words for an instruction, `count` for each of its elements."""

    def __init__(self, key: int, instruction: Instruction, build: Builder, count: int) -> None:
        self.shape = array_shape(instruction)
        element_type = self.shape.element_type
        is_wide = element_type.bits > U32.bits
        self.word_type = U64 if is_wide else U32
        self.float_type: ElementType = F64 if is_wide else F32
        sizes = [count, *self.shape.dimensions]
        words = count * self.shape.element_count * (2 if is_wide else 1)
        op = RngGetAndUpdateState(-(-words // 4))
        state = build.add(op)
        # The state is what has the side effect, and is drawn where the numbers were.
        state.control_predecessors = instruction.control_predecessors
        low, high = numbers_of_state(Term(build, state))
        start = Term(build, build.constant(key, U64))
        bits, _, _ = philox_bits(start, low, high, sizes, self.word_type.bits)
        self._bits = bits

    def words(self, number: int) -> Term:
        """Returns words of `word_type`, one for each element."""
        sizes = self._bits.shape.dimensions
        starts = [number, *[0] * self.shape.rank]
        part = self._bits.part(starts, [number + 1, *sizes[1:]])
        return part.reshaped(self.shape.dimensions)

    def fractions(self, number: int) -> Term:
        """Returns floats of `float_type` from 0 up to 1, which is excluded."""
        form = self.float_type.float_format
        assert form is not None
        kept = form.mantissa_bits + 1
        whole = self.words(number) >> (self.word_type.bits - kept)
        return whole.converted(self.float_type) * 2.0**-kept

    def spread(self, scalar: Term, element_type: ElementType) -> Term:
        """Returns a scalar at every index, in another type."""
        shape = ArrayShape(element_type, self.shape.dimensions)
        return scalar.converted(element_type).broadcast((), shape)


def _uniform(draws: _Draws, low: Term, high: Term) -> Term:
    fractions = draws.fractions(0)
    first, end = (draws.spread(bound, draws.float_type) for bound in (low, high))
    # A difference of bounds could overflow.
    wide = first * (fractions.full(1) - fractions) + end * fractions
    element_type = draws.shape.element_type
    drawn = wide.converted(element_type)
    lowest, bound = (draws.spread(one, element_type) for one in (low, high))
    # Rounding may reach the upper bound, which is excluded.
    return drawn.compared("GE", bound).chosen(lowest, drawn)


def _uniform_integers(draws: _Draws, low: Term, high: Term) -> Term:
    element_type = draws.shape.element_type
    first, end = (draws.spread(bound, element_type) for bound in (low, high))
    is_range = first.compared("LT", end)
    word_type = draws.word_type
    span = is_range.chosen(end.converted(word_type) - first.converted(word_type), 1)
    return first + (draws.words(0) % span).converted(element_type)


def _normal(draws: _Draws, mean: Term, deviation: Term) -> Term:
    """Returns normal numbers by the transform of Box and Muller."""
    first, second = draws.fractions(0), draws.fractions(1)
    # 1 less a number below 1 is never 0.
    radius = ((first.full(1) - first).changed(Log()) * -2).changed(Sqrt())
    normal = radius * (second * (2 * pi)).changed(Cosine())
    centre, scale = (draws.spread(one, draws.float_type) for one in (mean, deviation))
    return centre + scale * normal
