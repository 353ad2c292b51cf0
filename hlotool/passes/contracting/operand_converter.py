"""One element type for both operands of a dot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.lossless import holds_all
from hlotool.ir.element_type import F32, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.numerics.matrix_products import PACKED
from hlotool.ops.shape_checks import wider
from hlotool.passes.contracting.products import add_product, dense_dot
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("operand_converter")


@patterns.rewrites(Dot)
def convert_operands(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x:f16, y:f32) -> dot(convert(x):f32, y:f32)"""
    dot = dense_dot(instruction)
    if dot is None or PACKED in dot.op.operand_precision:
        return None
    lhs, rhs = dot.lhs.operand, dot.rhs.operand
    one, other = array_shape(lhs).element_type, array_shape(rhs).element_type
    target = _common(one, other)
    if one is other or target is None:
        return None
    return add_product(
        build, dot.op, build.convert(lhs, target), build.convert(rhs, target), dot.element_type
    )


def _common(one: ElementType, other: ElementType) -> ElementType | None:
    """Returns the type that both are multiplied in anyway, or that holds both; `None` for none."""
    if one.is_float and other.is_float:
        found = wider(one, other)
        # Of narrow floats none holds all values of another.
        return found if found.bits >= F32.bits else F32
    for wide, narrow in ((one, other), (other, one)):
        if wide.is_integer and narrow.is_integer and holds_all(wide, narrow):
            return wide
    return None


@dataclass(frozen=True)
class OperandConverter(PatternPass):
    """Converts operands of a dot that have two element types to a type that holds both."""

    name: ClassVar[str] = "operand_converter"
    identities: ClassVar[PatternSet] = patterns
