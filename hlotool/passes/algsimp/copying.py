"""Identities of ops that pass a value on: copy, bitcast, and the size of a dimension."""

from __future__ import annotations

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.indexing import GetDimensionSize
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.unary import Copy
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import are_static, sizes
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp copying")


def _is_scheduled(build: Builder) -> bool:
    # A schedule comes with copies that keep buffers apart.
    return build.module.header.is_scheduled


@patterns.rewrites(Copy)
def copy_of_same_layout(instruction: Instruction, build: Builder) -> Instruction | None:
    """copy(x) -> x, where the layout stays and no schedule relies on the copy"""
    (x,) = instruction.operands
    if _is_scheduled(build) or not isinstance(x.shape, ArrayShape):
        return None
    return x if x.shape == instruction.shape else None


@patterns.rewrites(Copy)
def copy_of_copy(instruction: Instruction, build: Builder) -> Instruction | None:
    """copy(copy(x)) -> copy(x)"""
    match instruction:
        case Instruction(operands=[Instruction(op=Copy(), operands=[x])]) if (
            not _is_scheduled(build) and x.shape.is_array
        ):
            return build.add(Copy(), x, shape=instruction.shape)
    return None


@patterns.rewrites(Bitcast)
def bitcast_of_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """bitcast(x) -> x, where shape and layout stay"""
    (x,) = instruction.operands
    return x if isinstance(x.shape, ArrayShape) and x.shape == instruction.shape else None


@patterns.rewrites(Bitcast)
def bitcast_of_bitcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """bitcast(bitcast(x)) -> bitcast(x)"""
    match instruction:
        case Instruction(operands=[Instruction(op=Bitcast(), operands=[x]) as inner]) if are_static(
            instruction, inner, x
        ) and not _adds_padding(inner):
            return build.add(Bitcast(), x, shape=instruction.shape)
    return None


def _adds_padding(instruction: Instruction) -> bool:
    shape = instruction.shape
    assert isinstance(shape, ArrayShape)
    return shape.layout.has_tail


@patterns.rewrites(GetDimensionSize)
def size_of_static_dimension(instruction: Instruction, build: Builder) -> Instruction | None:
    """get-dimension-size(x) -> constant, where the dimension is static"""
    match instruction:
        case Instruction(op=GetDimensionSize(dimensions=dimension), operands=[x]) if isinstance(
            x.shape, ArrayShape
        ) and not x.shape.is_dynamic(dimension):
            return build.constant(sizes(x)[dimension], S32)
    return None
