"""Elementwise ops: an element of the result from the elements of all operands at its index."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape

Operation: TypeAlias = Callable[[FunctionWriter, Instruction, tuple[Element, ...]], Element]
"""Writes a result from elements of all operands; the instruction has attributes and types."""


def elementwise(*ops: type[Op]) -> Callable[[Operation], Operation]:
    """Enters a function as the one that computes elementwise ops."""

    def enter(operation: Operation) -> Operation:
        def rule(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
            operands = instruction.operands
            # A scalar beside arrays holds for all of their elements.
            elements = [emitter.element(one, index if _rank(one) else ()) for one in operands]
            return operation(emitter.function, instruction, tuple(elements))

        element_rule(*ops)(rule)
        return operation

    return enter


def _rank(instruction: Instruction) -> int:
    shape = instruction.shape
    return shape.rank if isinstance(shape, ArrayShape) else 0
