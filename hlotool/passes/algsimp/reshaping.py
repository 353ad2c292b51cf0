"""Identities that begin at a reshape."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ops.shape_changing import Broadcast, Reshape
from hlotool.ops.source import Constant, Iota
from hlotool.passes.algsimp.values import literal_of
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    groups,
    has_elements,
    is_increasing,
    is_used_once,
    more_than_one,
    resized,
    sizes,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp reshaping")


@patterns.rewrites(Reshape)
def reshape_of_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """reshape(x) -> x, where the dimensions stay"""
    (x,) = instruction.operands
    return x if are_static(instruction, x) and sizes(x) == sizes(instruction) else None


@patterns.rewrites(Reshape, over=(Reshape,))
def reshape_of_reshape(instruction: Instruction, build: Builder) -> Instruction | None:
    """reshape(reshape(x)) -> reshape(x)"""
    match instruction:
        case Instruction(operands=[Instruction(op=Reshape(), operands=[x]) as inner]) if are_static(
            instruction, inner, x
        ):
            return build.reshape(x, sizes(instruction))
    return None


@patterns.rewrites(Reshape, over=(Constant,))
def reshape_of_constant(instruction: Instruction, build: Builder) -> Instruction | None:
    """reshape(constant) -> constant, where the old one is not needed any more"""
    (operand,) = instruction.operands
    literal = literal_of(operand)
    if literal is None or not are_static(instruction) or not is_used_once(operand):
        return None
    return build.literal(Literal(resized(instruction, sizes(instruction)), literal.data))


@patterns.rewrites(Reshape, over=(Iota,))
def reshape_of_iota(instruction: Instruction, build: Builder) -> Instruction | None:
    """reshape(iota) -> iota, where the dimension that is counted along stays"""
    match instruction:
        case Instruction(operands=[Instruction(op=Iota(iota_dimension=along)) as iota]) if (
            has_elements(instruction, iota) and sizes(iota)[along] != 1
        ):
            found = _in_place_of(along, sizes(iota), sizes(instruction))
            if found is not None:
                return build.iota(found, resized(instruction, sizes(instruction)))
    return None


def _in_place_of(dimension: int, old: Sequence[int], new: Sequence[int]) -> int | None:
    """Returns which new dimension an old one of more than one element becomes, alone and whole."""
    for before, after in groups(old, new):
        if dimension in before:
            found = more_than_one(new, after)
            is_alone = more_than_one(old, before) == [dimension] and len(found) == 1
            return found[0] if is_alone else None
    return None


@patterns.rewrites(Reshape, over=(Broadcast,))
def reshape_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """reshape(broadcast(x)) -> broadcast(reshape(x)), where new and old dimensions stay apart"""
    match instruction:
        case Instruction(
            operands=[Instruction(op=Broadcast(dimensions=mapped), operands=[x]) as inner]
        ) if has_elements(instruction, inner) and is_increasing(mapped):
            kept = _kept_along(mapped, sizes(inner), sizes(instruction))
            if kept is None:
                return None
            result = sizes(instruction)
            small = build.reshape(x, [result[d] for d in kept])
            return broadcast_to(build, small, kept, result)
    return None


def _kept_along(mapped: Sequence[int], old: Sequence[int], new: Sequence[int]) -> list[int] | None:
    """Returns the new dimensions that hold the mapped old ones; `None` where they mix with others.

    Mapped dimensions of size 1 are dropped.
    """
    kept: list[int] = []
    for before, after in groups(old, new):
        wide = more_than_one(old, before)
        is_mapped = [dimension in mapped for dimension in wide]
        if wide and all(is_mapped):
            kept += more_than_one(new, after)
        elif any(is_mapped):
            return None
    return kept
