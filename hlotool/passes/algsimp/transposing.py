"""Identities that begin at a transpose."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ops.shape_changing import Broadcast, Reshape, Transpose
from hlotool.ops.source import Constant, Iota
from hlotool.passes.algsimp.values import literal_of
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    inverse,
    is_increasing,
    is_used_once,
    more_than_one,
    resized,
    sizes,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp transposing")


@patterns.rewrites(Transpose)
def transpose_of_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """transpose(x) -> x, where all dimensions stay"""
    match instruction:
        case Instruction(op=Transpose(dimensions=order), operands=[x]) if is_increasing(order):
            return x
    return None


@patterns.rewrites(Transpose, over=(Transpose,))
def transpose_of_transpose(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(transpose(x, inner), outer) -> transpose(x, inner[outer])"""
    match instruction:
        case Instruction(
            op=Transpose(dimensions=outer),
            operands=[Instruction(op=Transpose(dimensions=inner), operands=[x])],
        ) if are_static(x):
            return build.transpose(x, [inner[d] for d in outer])
    return None


@patterns.rewrites(Transpose)
def transpose_of_ones(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(x) -> reshape(x), where only dimensions of size 1 move"""
    match instruction:
        case Instruction(op=Transpose(dimensions=order), operands=[x]) if (
            are_static(x)
            and not is_increasing(order)
            and is_increasing(more_than_one(sizes(x), order))
        ):
            return build.add(Reshape(), x, shape=resized(x, sizes(instruction)))
    return None


@patterns.rewrites(Transpose, over=(Broadcast,))
def transpose_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(broadcast(x)) -> broadcast(x)"""
    match instruction:
        case Instruction(
            op=Transpose(dimensions=order),
            operands=[Instruction(op=Broadcast(dimensions=mapped), operands=[x])],
        ) if are_static(instruction, x):
            places = inverse(order)
            return broadcast_to(build, x, [places[d] for d in mapped], sizes(instruction))
    return None


@patterns.rewrites(Transpose, over=(Iota,))
def transpose_of_iota(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(iota) -> iota"""
    match instruction:
        case Instruction(
            op=Transpose(dimensions=order),
            operands=[Instruction(op=Iota(iota_dimension=along))],
        ) if are_static(instruction):
            return build.iota(order.index(along), resized(instruction, sizes(instruction)))
    return None


@patterns.rewrites(Transpose, over=(Constant,))
def transpose_of_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(constant) -> constant, where the old one is not needed any more"""
    match instruction:
        case Instruction(
            op=Transpose(dimensions=order), operands=[Instruction(op=Constant()) as operand]
        ) if is_used_once(operand):
            literal = literal_of(operand)
            if literal is None:
                return None
            shape = resized(instruction, sizes(instruction))
            return build.literal(Literal.from_array(literal.array().transpose(order), shape))
    return None


@patterns.rewrites(Transpose, over=(Reshape,))
def transpose_of_reshape(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(reshape(x)) -> reshape(transpose(x)), where the reshape adds dimensions of size 1

    The transpose then has less dimensions, and meets what computes x.
    """
    match instruction:
        case Instruction(
            op=Transpose(dimensions=order),
            operands=[Instruction(op=Reshape(), operands=[x]) as inner],
        ) if are_static(instruction, inner, x) and is_used_once(inner):
            old, added = sizes(x), sizes(inner)
            wide = more_than_one(old, range(len(old)))
            if len(wide) != len(old) or len(old) >= len(added):
                return None
            if old != tuple(size for size in added if size != 1):
                return None
            numbers = {d: n for n, d in enumerate(more_than_one(added, range(len(added))))}
            moved = build.transpose(x, [numbers[d] for d in order if d in numbers])
            return build.add(Reshape(), moved, shape=resized(x, sizes(instruction)))
    return None
