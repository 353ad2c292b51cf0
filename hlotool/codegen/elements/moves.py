"""Ops that yield an element of an operand, at an index that is computed; constants and counts."""

from __future__ import annotations

from hlotool.codegen.elements.constants import constant_element
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.reinterpreted import reinterpreted
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import memory_index, memory_place
from hlotool.codegen.indexing.index import Index, delinear, linear
from hlotool.codegen.llvm.value import constant
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import GetDimensionSize
from hlotool.ops.shape_changing import Bitcast, Broadcast, Reshape, Reverse, Slice, Transpose
from hlotool.ops.source import Constant


@element_rule(Constant)
def _constant(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    return constant_element(emitter, instruction, index, array_shape(instruction).element_type)


@element_rule(GetDimensionSize)
def _dimension_size(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op, shape = instruction.op, array_shape(instruction.operands[0])
    assert isinstance(op, GetDimensionSize)
    if shape.is_dynamic(op.dimensions):
        raise NotCompiled("the size of a dynamic dimension")
    return Element(S32, (constant("i32", shape.dimensions[op.dimensions]),))


@element_rule(Broadcast)
def _broadcast(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Broadcast)
    return emitter.operand(instruction, 0, [index[d] for d in op.dimensions])


@element_rule(Reshape)
def _reshape(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    place = linear(index, array_shape(instruction).dimensions)
    return emitter.operand(
        instruction, 0, delinear(place, array_shape(instruction.operands[0]).dimensions)
    )


@element_rule(Bitcast)
def _bitcast(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    ours, theirs = array_shape(instruction), array_shape(instruction.operands[0])
    place = memory_place(ours, index)
    if ours.element_type is theirs.element_type:
        return _at_place(emitter, instruction, place)
    return reinterpreted(
        emitter.function,
        theirs.element_type,
        ours.element_type,
        place,
        lambda other: _at_place(emitter, instruction, other),
        emitter.lanes,
    )


def _at_place(emitter: ElementEmitter, instruction: Instruction, place: Index) -> Element:
    """Writes the element of the operand at a place among all in memory."""
    found = memory_index(array_shape(instruction.operands[0]), place)
    return emitter.operand(instruction, 0, found)


@element_rule(Transpose)
def _transpose(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Transpose)
    return emitter.operand(
        instruction, 0, [index[op.dimensions.index(d)] for d in range(len(op.dimensions))]
    )


@element_rule(Reverse)
def _reverse(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op, sizes = instruction.op, array_shape(instruction).dimensions
    assert isinstance(op, Reverse)
    found = [
        one * -1 + (size - 1) if d in op.dimensions else one
        for d, (one, size) in enumerate(zip(index, sizes, strict=True))
    ]
    return emitter.operand(instruction, 0, found)


@element_rule(Slice)
def _slice(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Slice)
    found = [one * step + start for one, (start, _, step) in zip(index, op.slice, strict=True)]
    return emitter.operand(instruction, 0, found)
