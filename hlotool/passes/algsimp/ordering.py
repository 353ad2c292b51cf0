"""Identities of sort and of map."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.ordering import Sort
from hlotool.ops.reduction import Map
from hlotool.ops.shape_changing import Broadcast
from hlotool.passes.algsimp.values import literal_of
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import are_static, broadcast_to, sizes
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp ordering")


@patterns.rewrites(Sort)
def sort_of_one(instruction: Instruction, build: Builder) -> Instruction | None:
    """sort(x, y) -> tuple(x, y), where there is at most one element to sort"""
    match instruction:
        case Instruction(op=Sort(dimensions=along), operands=operands) if (
            are_static(*operands) and sizes(operands[0])[along] < 2
        ):
            return operands[0] if instruction.shape.is_array else build.tuple(*operands)
    return None


@patterns.rewrites(Sort)
def sort_of_equals(instruction: Instruction, _: Builder) -> Instruction | None:
    """sort(broadcast(x)) -> broadcast(x), where all that is sorted is equal"""
    match instruction:
        case Instruction(
            op=Sort(dimensions=along),
            operands=[Instruction(op=Broadcast(dimensions=mapped)) as x],
        ) if are_static(x) and along not in mapped:
            return x
    return None


@patterns.rewrites(Map)
def map_to_own_parameter(instruction: Instruction, _: Builder) -> Instruction | None:
    """map(x, y) -> x, where the computation yields its parameter"""
    number = instruction.calls[0].root.op.parameter_number
    if number is None or not are_static(instruction):
        return None
    x = instruction.operands[number]
    return x if are_static(x) and x.shape.compatible(instruction.shape) else None


@patterns.rewrites(Map)
def map_to_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """map(x) -> broadcast(constant), where the computation yields a constant"""
    root = instruction.calls[0].root
    literal = literal_of(root)
    shape = instruction.shape
    if literal is None or not isinstance(shape, ArrayShape) or not shape.is_static:
        return None
    if literal.element_type is not shape.element_type:
        return None
    return broadcast_to(build, build.literal(literal), (), shape.dimensions)
