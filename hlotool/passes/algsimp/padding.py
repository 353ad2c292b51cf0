"""Identities that begin at a pad or a reverse."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ir.window import PaddingDimension
from hlotool.ops.shape_changing import Broadcast, Pad, Reverse, Slice
from hlotool.passes.algsimp.values import is_same, is_same_scalar
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.dimensions import are_static, broadcast_to, count_of, sizes
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp padding")


@patterns.rewrites(Pad)
def pad_with_nothing(instruction: Instruction, _: Builder) -> Instruction | None:
    """pad(x, value) -> x, where nothing is added or cut off"""
    match instruction:
        case Instruction(op=Pad(padding=padding), operands=[x, _]) if (
            are_static(x)
            and x.shape.compatible(instruction.shape)
            and all(_adds_nothing(p, size) for p, size in zip(padding, sizes(x), strict=True))
        ):
            return x
    return None


def _adds_nothing(padding: PaddingDimension, size: int) -> bool:
    return padding.low == padding.high == 0 and (not padding.interior or size < 2)


@patterns.rewrites(Pad)
def pad_between_nothing(instruction: Instruction, build: Builder) -> Instruction | None:
    """pad(x, value), padding=1_1_2 -> pad(x, value), padding=1_1, where x has size 1 or 0 there"""
    match instruction:
        case Instruction(op=Pad(padding=padding), operands=[x, value]) if are_static(x):
            edges = tuple(
                PaddingDimension(p.low, p.high) if size < 2 else p
                for p, size in zip(padding, sizes(x), strict=True)
            )
            if edges != padding:
                return build.add(Pad(edges), x, value, shape=instruction.shape)
    return None


@patterns.rewrites(Pad)
def pad_of_no_elements(instruction: Instruction, build: Builder) -> Instruction | None:
    """pad(x, value) -> broadcast(value), where x has no elements"""
    x, value = instruction.operands
    if not are_static(x, instruction, value) or count_of(x):
        return None
    return broadcast_to(build, value, (), sizes(instruction))


@patterns.rewrites(Pad)
def pad_that_cuts(instruction: Instruction, build: Builder) -> Instruction | None:
    """pad(x, value), padding=-1_2 -> slice(pad(x, value))"""
    match instruction:
        case Instruction(op=Pad(padding=padding), operands=[x, value]) if are_static(x) and any(
            p.low < 0 or p.high < 0 for p in padding
        ):
            added = [PaddingDimension(max(0, p.low), max(0, p.high), p.interior) for p in padding]
            whole = x
            if any(p != PaddingDimension(0, 0) for p in added):
                whole = build.add(Pad(tuple(added)), x, value)
            bounds = [
                (max(0, -p.low), size + min(0, p.high), 1)
                for p, size in zip(padding, sizes(whole), strict=True)
            ]
            return build.add(Slice(tuple(bounds)), whole)
    return None


@patterns.rewrites(Pad)
def pad_of_pad(instruction: Instruction, build: Builder) -> Instruction | None:
    """pad(pad(x, value), value) -> pad(x, value)"""
    match instruction:
        case Instruction(
            op=Pad(padding=outer),
            operands=[Instruction(op=Pad(padding=inner), operands=[x, below]), value],
        ) if are_static(x) and is_same(below, value) and _only_widens(*outer, *inner):
            pairs = zip(outer, inner, strict=True)
            edges = [PaddingDimension(o.low + i.low, o.high + i.high) for o, i in pairs]
            return build.add(Pad(tuple(edges)), x, value)
    return None


def _only_widens(*padding: PaddingDimension) -> bool:
    return all(p.low >= 0 and p.high >= 0 and not p.interior for p in padding)


@patterns.rewrites(Pad)
def pad_of_own_value(instruction: Instruction, build: Builder) -> Instruction | None:
    """pad(broadcast(c), c) -> broadcast(c)"""
    x, value = instruction.operands
    if not are_static(x, value, instruction) or not sizes(x) or not is_same_scalar(x, value):
        return None
    return broadcast_to(build, value, (), sizes(instruction))


@patterns.rewrites(Reverse)
def reverse_of_reverse(instruction: Instruction, build: Builder) -> Instruction | None:
    """reverse(reverse(x)) -> reverse(x), along the dimensions that one of both turns round"""
    match instruction:
        case Instruction(
            op=Reverse(dimensions=outer),
            operands=[Instruction(op=Reverse(dimensions=inner), operands=[x])],
        ):
            turned = tuple(sorted({*outer} ^ {*inner}))
            return build.add(Reverse(turned), x) if turned else x
    return None


@patterns.rewrites(Reverse)
def reverse_of_ones(instruction: Instruction, build: Builder) -> Instruction | None:
    """reverse(x) -> x, along dimensions of size 1"""
    match instruction:
        case Instruction(op=Reverse(dimensions=turned), operands=[x]) if are_static(x):
            kept = tuple(d for d in turned if sizes(x)[d] > 1)
            if not kept:
                return x
            return None if kept == turned else build.add(Reverse(kept), x)
    return None


@patterns.rewrites(Reverse)
def reverse_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """reverse(broadcast(x)) -> broadcast(reverse(x))"""
    match instruction:
        case Instruction(
            op=Reverse(dimensions=turned),
            operands=[Instruction(op=Broadcast(dimensions=mapped), operands=[x])],
        ) if are_static(x, instruction):
            kept = tuple(n for n, d in enumerate(mapped) if d in turned)
            small = build.add(Reverse(kept), x) if kept else x
            return broadcast_to(build, small, mapped, sizes(instruction))
    return None
