"""Comparisons of floats by their bits, as comparisons of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import F32, NanEncoding
from hlotool.ir.float_format import nan_bits
from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Compare
from hlotool.ops.shape_checks import wider
from hlotool.passes.expanders.expander import Expander, integer_like
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class ComparisonExpander(Expander):
    """Writes comparisons of floats in total order as comparisons of integers."""

    name: ClassVar[str] = "comparison-expander"
    is_exact: ClassVar[bool] = True

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction compares floats in total order."""
        match instruction:
            case Instruction(op=Compare(type="TOTALORDER"), operands=[one, _]):
                return array_shape(one).element_type.is_float
        return False

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """compare(x, y), type=TOTALORDER -> compare(order of x, order of y)"""
        op = instruction.op
        assert isinstance(op, Compare)
        one, other = instruction.operands
        element_type = wider(array_shape(one).element_type, array_shape(other).element_type)
        ours, theirs = (
            total_order(Term(build, operand).converted(element_type)) for operand in (one, other)
        )
        return ours.compared(op.direction, theirs).instruction


def total_order(floats: Term) -> Term:
    """Returns integers in the order of all bit patterns: -NaN, -inf, -0, 0, inf, NaN."""
    if integer_like("s", floats.element_type) is None:
        # The types of six bits have no NaN, and f32 has all their numbers.
        floats = floats.converted(F32)
    element_type = floats.element_type
    form = element_type.float_format
    signed = integer_like("s", element_type)
    assert form is not None
    assert signed is not None
    if not form.has_sign:
        unsigned = integer_like("u", element_type)
        assert unsigned is not None
        return floats.reread(unsigned)
    bits = floats.reread(signed)
    largest = (1 << (element_type.bits - 1)) - 1
    # The size of a negative number counts downwards.
    turned = bits.compared("LT", 0).chosen(bits ^ largest, bits)
    if form.nan is NanEncoding.NEGATIVE_ZERO:
        nan = nan_bits(form) - (1 << element_type.bits)
        return bits.compared("EQ", nan).chosen(bits, turned)
    return turned
