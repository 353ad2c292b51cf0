"""Rounding products in an op of its own, where they are narrower than what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.ops.shape_checks import wider
from hlotool.passes.pattern_pass import PatternPass
from hlotool.passes.types.contractions import has_plain_numbers
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("result_caster")


@patterns.rewrites(Dot, Convolution)
def round_product_apart(instruction: Instruction, builder: Builder) -> Instruction | None:
    """dot(x: f32, y: f32): bf16 -> convert(dot(x, y): f32) to bf16"""
    if not has_plain_numbers(instruction):
        return None
    lhs, rhs, *_ = (array_shape(operand).element_type for operand in instruction.operands)
    shape = array_shape(instruction)
    if not (lhs.is_float and rhs.is_float and shape.element_type.is_float):
        return None
    made = wider(lhs, rhs)
    # Narrower sums are rounded to their type in any case, after they were made in f32.
    if made.bits <= shape.element_type.bits or made.bits < 32:
        return None
    product = builder.add(
        instruction.op, *instruction.operands, shape=shape.with_element_type(made)
    )
    return builder.convert(product, shape.element_type)


@dataclass(frozen=True)
class ResultCaster(PatternPass):
    """Lets dots and convolutions yield the type of their operands, and converts the result."""

    name: ClassVar[str] = "result_caster"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
