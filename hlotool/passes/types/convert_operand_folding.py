"""Feeding narrow operands to ops that widen what they multiply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.lossless import holds_all
from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.conversion import Convert
from hlotool.ops.convolution import Convolution
from hlotool.passes.pattern_pass import PatternPass
from hlotool.passes.types.contractions import has_plain_numbers
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("convert_operand_folding")


@patterns.rewrites(Dot, Convolution)
def fold_widened_operands(instruction: Instruction, builder: Builder) -> Instruction | None:
    """dot(convert(x: s8) to s32, y: s32): s32 -> dot(x: s8, y): s32"""
    if not has_plain_numbers(instruction):
        return None
    lhs, rhs, *rest = instruction.operands
    operands = [_source(lhs, instruction), _source(rhs, instruction), *rest]
    if operands == list(instruction.operands):
        return None
    return builder.add(instruction.op, *operands, shape=instruction.shape)


def _source(operand: Instruction, product: Instruction) -> Instruction:
    """Returns what the operand was widened from, where the product then is just the same."""
    if not isinstance(operand.op, Convert):
        return operand
    (source,) = operand.operands
    narrow, wide = array_shape(source).element_type, array_shape(operand).element_type
    result = array_shape(product).element_type
    same_kind = (narrow.is_float and wide.is_float) or (narrow.is_integer and wide.is_integer)
    return source if same_kind and holds_all(wide, narrow) and holds_all(result, wide) else operand


@dataclass(frozen=True)
class ConvertOperandFolding(PatternPass):
    """Feeds narrow operands straight to dots and convolutions that yield the wider type."""

    name: ClassVar[str] = "convert_operand_folding"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
