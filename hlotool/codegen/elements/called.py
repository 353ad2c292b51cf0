"""Calls and fusions of scalars inside computations that ops call for elements."""

from __future__ import annotations

from hlotool.codegen.elements.callee import applied
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import Call, Fusion


@element_rule(Call, Fusion)
def _called(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    for one in (*instruction.operands, instruction):
        if not isinstance(one.shape, ArrayShape) or not one.shape.is_scalar:
            raise NotCompiled(f"{instruction.opcode} of arrays inside a kernel")
    operands = [emitter.element(operand, ()) for operand in instruction.operands]
    (found,) = applied(emitter, instruction.calls[0], operands)
    return found
