"""Widening the operands of products to the type that the sums have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.lossless import holds_all
from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.passes.pattern_pass import PatternPass
from hlotool.passes.types.contractions import has_plain_numbers
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("operand_upcaster")


@patterns.rewrites(Dot, Convolution)
def widen_operands(instruction: Instruction, builder: Builder) -> Instruction | None:
    """dot(x: s8, y: s8): s32 -> dot(convert(x) to s32, convert(y) to s32): s32"""
    if not has_plain_numbers(instruction):
        return None
    lhs, rhs, *rest = instruction.operands
    types = [array_shape(operand).element_type for operand in (lhs, rhs)]
    result = array_shape(instruction).element_type
    same_kind = all(
        (one.is_float and result.is_float) or (one.is_integer and result.is_integer)
        for one in types
    )
    if not same_kind or not all(holds_all(result, one) for one in types):
        return None
    if all(one is result for one in types):
        return None
    operands = [builder.convert(operand, result) for operand in (lhs, rhs)]
    return builder.add(instruction.op, *operands, *rest, shape=instruction.shape)


@dataclass(frozen=True)
class OperandUpcaster(PatternPass):
    """Converts operands of dots and convolutions to the type that the result has."""

    name: ClassVar[str] = "operand_upcaster"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
