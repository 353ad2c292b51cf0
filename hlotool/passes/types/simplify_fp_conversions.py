"""Dropping conversions between floating-point types that undo each other."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.lossless import holds_all
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.conversion import Convert
from hlotool.passes.pass_base import option
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

DROPPED_ROUNDING = "dropped-rounding"

patterns = PatternSet("simplify-fp-conversions")


@patterns.rewrites(Convert)
def conversion_to_same_type(instruction: Instruction, _: Builder) -> Instruction | None:
    """convert(x: f32) to f32 -> x"""
    (operand,) = instruction.operands
    same = array_shape(operand).element_type is array_shape(instruction).element_type
    return operand if same and array_shape(operand).element_type.is_float else None


@patterns.rewrites(Convert)
def conversion_by_wider_type(instruction: Instruction, builder: Builder) -> Instruction | None:
    """convert(convert(x: bf16) to f32) to f16 -> convert(x) to f16"""
    chain = _chain(instruction)
    if chain is None:
        return None
    source, first, through, last = chain
    return builder.convert(source, last) if holds_all(through, first) else None


@patterns.rewrites(Convert, assumes=DROPPED_ROUNDING)
def conversion_by_narrower_type(instruction: Instruction, builder: Builder) -> Instruction | None:
    """convert(convert(x: f32) to bf16) to f32 -> x"""
    chain = _chain(instruction)
    return None if chain is None else builder.convert(chain[0], chain[3])


def _chain(
    instruction: Instruction,
) -> tuple[Instruction, ElementType, ElementType, ElementType] | None:
    # What is converted twice, and its three types, all of them floats.
    match instruction:
        case Instruction(operands=[Instruction(op=Convert(), operands=[source]) as through]):
            types = [array_shape(one).element_type for one in (source, through, instruction)]
            first, middle, last = types
            return (source, first, middle, last) if all(t.is_float for t in types) else None
    return None


@dataclass(frozen=True)
class SimplifyFpConversions(PatternPass):
    """Drops floating-point conversions through a type that holds every value."""

    name: ClassVar[str] = "simplify-fp-conversions"
    identities: ClassVar[PatternSet] = patterns

    drop_rounding: bool = option(
        default=False,
        words="also drops conversions through a narrower type, and the rounding with them",
    )

    def allowed(self) -> Collection[str]:
        """Returns whether roundings may be dropped."""
        return {DROPPED_ROUNDING} if self.drop_rounding else ()
