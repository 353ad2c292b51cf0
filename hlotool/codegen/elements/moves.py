"""Ops that yield an element of an operand, at an index that is computed; constants and counts."""

from __future__ import annotations

from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.source import memory_order
from hlotool.codegen.indexing.index import delinear, linear
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import literal_element
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_changing import Bitcast, Broadcast, Reshape, Reverse, Slice, Transpose
from hlotool.ops.source import Constant


def _shape(instruction: Instruction) -> ArrayShape:
    assert isinstance(instruction.shape, ArrayShape)
    return instruction.shape


@element_rule(Constant)
def _constant(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op, shape = instruction.op, _shape(instruction)
    assert isinstance(op, Constant)
    place = linear(index, shape.dimensions)
    if not place.is_constant:
        raise NotCompiled("an array of constants inside a kernel")
    return literal_element(op.literal, shape.element_type, place.offset)


@element_rule(Broadcast)
def _broadcast(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Broadcast)
    return emitter.operand(instruction, 0, [index[d] for d in op.dimensions])


@element_rule(Reshape)
def _reshape(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    place = linear(index, _shape(instruction).dimensions)
    return emitter.operand(
        instruction, 0, delinear(place, _shape(instruction.operands[0]).dimensions)
    )


@element_rule(Bitcast)
def _bitcast(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    ours, theirs = _shape(instruction), _shape(instruction.operands[0])
    if ours.element_type is not theirs.element_type:
        raise NotCompiled("a bitcast to another element type inside a kernel")
    order = memory_order(ours)
    place = linear([index[d] for d in order], [ours.dimensions[d] for d in order])
    order = memory_order(theirs)
    found = delinear(place, tuple(theirs.dimensions[d] for d in order))
    return emitter.operand(instruction, 0, [found[order.index(d)] for d in range(theirs.rank)])


@element_rule(Transpose)
def _transpose(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Transpose)
    return emitter.operand(
        instruction, 0, [index[op.dimensions.index(d)] for d in range(len(op.dimensions))]
    )


@element_rule(Reverse)
def _reverse(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op, sizes = instruction.op, _shape(instruction).dimensions
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
