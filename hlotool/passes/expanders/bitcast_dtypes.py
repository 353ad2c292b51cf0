"""Conversions of bits between element types of different widths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import U8, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.conversion import BitcastConvert
from hlotool.ops.elementwise import Or
from hlotool.passes.expanders.expander import Expander, integer_like
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class BitcastDtypesExpander(Expander):
    """Writes conversions of bits that change the width of elements as shifts."""

    name: ClassVar[str] = "bitcast_dtypes_expander"
    is_exact: ClassVar[bool] = True

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction converts bits to elements of another width."""
        if not isinstance(instruction.op, BitcastConvert):
            return False
        types = [array_shape(one).element_type for one in (*instruction.operands, instruction)]
        has_integers = all(integer_like("u", one) is not None for one in types)
        return types[0].bits != types[1].bits and has_integers

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """bitcast-convert(x) -> pieces of x, shifted apart or together"""
        result = array_shape(instruction)
        operand = Term(build, instruction.operands[0])
        operand = operand.reread(_unsigned(operand.element_type))
        unsigned = _unsigned(result.element_type)
        if operand.element_type.bits > unsigned.bits:
            shape = ArrayShape(operand.element_type, result.dimensions)
            spread = operand.broadcast(range(result.rank - 1), shape)
            pieces = (spread >> _steps(spread, unsigned.bits)) & ((1 << unsigned.bits) - 1)
            return pieces.converted(unsigned).reread(result.element_type).instruction
        wide = operand.converted(unsigned)
        # Shifts need room for their distance also in a type of four bits or less.
        roomy = wide.converted(U8) if unsigned.bits < U8.bits else wide
        shifted = roomy << _steps(roomy, operand.element_type.bits)
        together = shifted.folded(Or(), 0, [operand.shape.rank - 1])
        return together.converted(unsigned).reread(result.element_type).instruction


def _unsigned(element_type: ElementType) -> ElementType:
    found = integer_like("u", element_type)
    assert found is not None
    return found


def _steps(like: Term, bits: int) -> Term:
    """Returns for each piece along the last dimension how far it lies from the lowest bit."""
    shape = like.shape.with_default_layout()
    return like.of(like.build.iota(shape.rank - 1, shape)) * bits
