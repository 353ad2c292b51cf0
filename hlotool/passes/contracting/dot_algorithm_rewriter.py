"""Dots whose algorithm has them made of several dots on parts of the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import BF16, F32, PRED, U32, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.conversion import BitcastConvert
from hlotool.ops.elementwise import Add, And, Compare, Subtract
from hlotool.passes.contracting.products import add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("dot-algorithm-rewriter")


@dataclass(frozen=True)
class Splitting:
    """How numbers are split: which bits a part keeps, and which parts are multiplied.

    Products stand from the smallest to the largest, in which order they are added up.
    """

    kept_bits: int
    part_type: ElementType
    algorithm: str
    """The algorithm of each of the dots."""
    products: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """Into how many parts a number is split."""
        return 1 + max(number for pair in self.products for number in pair)


_BF16_BITS = 0xFFFF0000
_TF32_BITS = 0xFFFFE000
_TWO_PARTS = ((1, 0), (0, 1), (0, 0))
_OF_SIX = ((2, 0), (1, 1), (0, 2), *_TWO_PARTS)
_OF_NINE = ((2, 2), (2, 1), (1, 2), *_OF_SIX)
SPLITTINGS = {
    "dot_bf16_bf16_f32_x3": Splitting(_BF16_BITS, BF16, "dot_bf16_bf16_f32", _TWO_PARTS),
    "dot_bf16_bf16_f32_x6": Splitting(_BF16_BITS, BF16, "dot_bf16_bf16_f32", _OF_SIX),
    "dot_bf16_bf16_f32_x9": Splitting(_BF16_BITS, BF16, "dot_bf16_bf16_f32", _OF_NINE),
    "dot_tf32_tf32_f32_x3": Splitting(_TF32_BITS, F32, "dot_tf32_tf32_f32", _TWO_PARTS),
}


@patterns.rewrites(Dot)
def split_numbers(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, y), algorithm=dot_bf16_bf16_f32_x3 -> add(dot(x1, y0), dot(x0, y1), dot(x0, y0))"""
    dot = dense_dot(instruction)
    splitting = None if dot is None else SPLITTINGS.get(dot.op.algorithm)
    if dot is None or splitting is None:
        return None
    lhs, rhs = dot.lhs.operand, dot.rhs.operand
    if any(array_shape(one).element_type is not F32 for one in (lhs, rhs, instruction)):
        return None
    ours, theirs = _parts(build, lhs, splitting), _parts(build, rhs, splitting)
    op = dot.op.replace(algorithm=splitting.algorithm)
    *small, largest = [
        add_product(build, op, ours[one], theirs[other], F32) for one, other in splitting.products
    ]
    corrections = small[0]
    for product in small[1:]:
        corrections = build.add(Add(), corrections, product)
    return build.add(Add(), _without_nan(build, corrections), largest)


def _parts(build: Builder, number: Instruction, splitting: Splitting) -> list[Instruction]:
    """Returns parts that add up to a number, the largest first.

    Bits are cut off, so that no part is of another sign than the number, or too large.
    """
    parts: list[Instruction] = []
    shape = array_shape(number)
    bits = shape.with_element_type(U32)
    kept = build.full(splitting.kept_bits, bits)
    for count in range(splitting.count):
        if count:
            number = build.add(Subtract(), number, parts[-1], shape=shape)
        masked = build.add(And(), build.add(BitcastConvert(), number, shape=bits), kept, shape=bits)
        parts.append(build.add(BitcastConvert(), masked, shape=shape))
    return [build.convert(part, splitting.part_type) for part in parts]


def _without_nan(build: Builder, number: Instruction) -> Instruction:
    """Returns zero where a number is NaN: infinities leave NaN in the parts behind the first."""
    shape = array_shape(number)
    is_number = build.add(Compare("EQ"), number, number, shape=shape.with_element_type(PRED))
    return build.select(is_number, number, build.full(0, shape))


@dataclass(frozen=True)
class DotAlgorithmRewriter(PatternPass):
    """Makes f32 dots of algorithms that split numbers several dots on the parts."""

    name: ClassVar[str] = "dot-algorithm-rewriter"
    identities: ClassVar[PatternSet] = patterns
