"""Random bits that follow from a state, computed by integer ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import U64
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.random import RngBitGenerator
from hlotool.passes.expanders.expander import Expander
from hlotool.passes.expanders.random_words import (
    numbers_of_state,
    philox_bits,
    state_of_numbers,
    threefry_bits,
)
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term

_STATE_SIZES = {"rng_three_fry": (2,), "rng_philox": (2, 3)}


@dataclass(frozen=True)
class RngBitGeneratorExpander(Expander):
    """Writes the generators ThreeFry and Philox as integer ops.

    The bits are those that the op itself yields. States that the algorithm does not have are
    left alone.
    """

    name: ClassVar[str] = "rng-bit-generator-expander"
    is_exact: ClassVar[bool] = True

    default_algorithm: str = option(
        "rng_philox", "what rng_default means", choices=("rng_philox", "rng_three_fry")
    )

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction draws bits from a state that the algorithm has."""
        if not isinstance(instruction.op, RngBitGenerator):
            return False
        state = array_shape(instruction.operands[0])
        sizes = _STATE_SIZES.get(self._algorithm(instruction.op), ())
        return state.element_type is U64 and state.dimensions in [(size,) for size in sizes]

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """rng-bit-generator(state) -> tuple(state + count, mixed(state + iota))"""
        op = instruction.op
        assert isinstance(op, RngBitGenerator)
        declared = instruction.shape
        shape = declared.elements[1] if isinstance(declared, TupleShape) else declared
        assert isinstance(shape, ArrayShape)
        state = numbers_of_state(Term(build, instruction.operands[0]))
        key, low, *more = state
        width = shape.element_type.bits
        if self._algorithm(op) == "rng_three_fry":
            words, low = threefry_bits(key, low, shape.dimensions, width)
        else:
            # Where the state has no high half the key stands for it.
            high = more[0] if more else key
            words, low, high = philox_bits(key, low, high, shape.dimensions, width)
            more = [high] if more else []
        bits = words.converted(shape.element_type).instruction
        if not declared.is_tuple:
            return bits
        following = state_of_numbers([key, low, *more]).instruction
        return build.joined([following, bits], declared)

    def _algorithm(self, op: RngBitGenerator) -> str:
        return self.default_algorithm if op.algorithm == "rng_default" else op.algorithm
