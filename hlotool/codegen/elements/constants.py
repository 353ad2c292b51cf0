"""Arrays of constants that stand in the code of a kernel."""

from __future__ import annotations

from hashlib import sha256

from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import linear
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory, literal_element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape, Layout
from hlotool.ops.source import Constant

_MOST_BYTES = 1 << 16
"""Larger arrays would make the code slow to compile."""


def constant_element(
    emitter: ElementEmitter, instruction: Instruction, index: Indices, element_type: ElementType
) -> Element:
    """Writes an element of a constant, whose bytes are taken as one of `element_type`."""
    op, shape = instruction.op, array_shape(instruction)
    assert isinstance(op, Constant)
    place = linear(index, shape.dimensions)
    if place.is_constant:
        return literal_element(op.literal, element_type, place.offset)
    held = ArrayShape(element_type, shape.dimensions)
    source = array_of_constants(emitter.function, op.literal, held)
    return source.load(emitter.function, index, emitter.lanes)


def array_of_constants(function: FunctionWriter, literal: Literal, shape: ArrayShape) -> Source:
    """Returns an array of constants, which becomes part of the module's code."""
    data = literal.data
    if len(data) > _MOST_BYTES:
        raise NotCompiled(f"{len(data)} bytes of constants inside a kernel")
    name = f"@constants.{sha256(data).hexdigest()[:24]}"
    text = "".join(f"\\{byte:02X}" for byte in data)
    kind = f"[{len(data)} x i8]"
    function.globals.add(f'{name} = private unnamed_addr constant {kind} c"{text}", align 64')
    # A literal is row-major whatever the layout of its shape.
    order = Layout(tuple(reversed(range(shape.rank))))
    plain = ArrayShape(shape.element_type, shape.dimensions, order)
    return Source(Memory(Value(name, "ptr"), shape.element_type), plain)
