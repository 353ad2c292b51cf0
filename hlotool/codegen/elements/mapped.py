"""Computations that are done on each element of arrays."""

from __future__ import annotations

from hlotool.codegen.elements.callee import applied
from hlotool.codegen.elements.elementwise import operand_elements
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.numbers.conversion import converted
from hlotool.codegen.numbers.element import Element
from hlotool.ir.instruction import Instruction
from hlotool.ops.reduction import Map


@element_rule(Map)
def _map(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    operands = operand_elements(emitter, instruction, index)
    (found,) = applied(emitter, instruction.calls[0], operands)
    return converted(emitter.function, found, element_type_of(instruction))
