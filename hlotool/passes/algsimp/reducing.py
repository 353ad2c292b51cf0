"""Identities that begin at a reduce of one array."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.analysis.combinations import combination_of, is_exact, is_idempotent
from hlotool.ir.instruction import Instruction
from hlotool.ops.callees.reducers import Combination
from hlotool.ops.elementwise import Add, Multiply
from hlotool.ops.reduction import Reduce
from hlotool.ops.shape_changing import Broadcast, Pad, Reshape, Transpose
from hlotool.passes.algsimp.constants import is_any_zero
from hlotool.passes.algsimp.regular import FAST_MATH, NO_SIGNED_ZEROS
from hlotool.passes.algsimp.values import is_neutral, is_same
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    count_of,
    groups,
    has_elements,
    inverse,
    is_increasing,
    is_used_once,
    more_than_one,
    resized,
    sizes,
    without,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp reducing")


def _combination(instruction: Instruction) -> Combination | None:
    """Returns what a reduce of one static array does, where operands have the reducer's type."""
    if len(instruction.operands) != 2 or not are_static(instruction, *instruction.operands):
        return None
    found = combination_of(instruction.calls[0])
    if found is None:
        return None
    types = {array_shape(operand).element_type for operand in instruction.operands}
    is_one_type = types == {found.element_type} == {array_shape(instruction).element_type}
    return found if is_one_type else None


def _reduced_dimensions(instruction: Instruction) -> tuple[int, ...]:
    assert isinstance(instruction.op, Reduce)
    return instruction.op.dimensions


def _is_single(instruction: Instruction) -> bool:
    operands = instruction.operands
    return len(operands) == 2 and are_static(instruction, *operands)


def _reduced(
    build: Builder, like: Instruction, x: Instruction, dimensions: Sequence[int]
) -> Instruction:
    """Returns x reduced as by another reduce, along other dimensions."""
    kept = without(sizes(x), dimensions)
    return build.add(
        Reduce(tuple(sorted(dimensions))),
        x,
        like.operands[1],
        calls=like.calls,
        shape=resized(like, kept),
    )


@patterns.rewrites(Reduce)
def reduce_of_ones(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(x, init) -> op(broadcast(init), reshape(x)), along dimensions of size 1 or none

    It is reshape(x) where init changes nothing.
    """
    if not _is_single(instruction):
        return None
    x, init = instruction.operands
    if more_than_one(sizes(x), _reduced_dimensions(instruction)):
        return None
    combination = _combination(instruction)
    if combination is None:
        return None
    flat = build.reshape(x, sizes(instruction))
    is_sum = combination.op is Add and is_any_zero(init)
    if is_neutral(combination, init) or (is_sum and _is_sum_from_zero(x)):
        return flat
    start = broadcast_to(build, init, (), sizes(instruction))
    return build.add(combination.op(), start, flat)


def _is_sum_from_zero(instruction: Instruction) -> bool:
    """Whether each element is a sum that begins at 0, so that none can be -0."""
    while isinstance(instruction.op, (Broadcast, Reshape, Transpose)):
        (instruction,) = instruction.operands
    if not isinstance(instruction.op, Reduce):
        return False
    combination = _combination(instruction)
    if combination is None or combination.op is not Add or combination.element_type.is_complex:
        return False
    init = instruction.operands[1]
    return is_any_zero(init) and not is_neutral(combination, init)


@patterns.rewrites(Reduce, assumes=NO_SIGNED_ZEROS)
def sum_of_ones(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(x, 0) -> reshape(x), where floats are added along dimensions of size 1 or none"""
    if not _is_single(instruction):
        return None
    x, init = instruction.operands
    if more_than_one(sizes(x), _reduced_dimensions(instruction)):
        return None
    combination = _combination(instruction)
    if combination is None:
        return None
    is_sum = combination.op is Add and is_any_zero(init)
    return build.reshape(x, sizes(instruction)) if is_sum else None


@patterns.rewrites(Reduce)
def reduce_of_no_elements(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(x, init) -> broadcast(init), where x has no elements"""
    if not _is_single(instruction) or count_of(instruction.operands[0]):
        return None
    init = instruction.operands[1]
    if array_shape(init).element_type is not array_shape(instruction).element_type:
        return None
    return broadcast_to(build, init, (), sizes(instruction))


@patterns.rewrites(Reduce, over=(Reduce,))
def reduce_of_reduce(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(reduce(x)) -> reduce(x), with one reducer that is exact in any order"""
    combination = _combination(instruction)
    if combination is None or not is_exact(combination):
        return None
    return _merged(instruction, combination, build)


@patterns.rewrites(Reduce, over=(Reduce,), assumes=FAST_MATH)
def sum_of_sums(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(reduce(x)) -> reduce(x), where floats are added or multiplied in another order"""
    combination = _combination(instruction)
    if combination is None or is_exact(combination):
        return None
    return _merged(instruction, combination, build)


def _merged(
    instruction: Instruction, combination: Combination, build: Builder
) -> Instruction | None:
    inner = instruction.operands[0]
    if not isinstance(inner.op, Reduce) or not is_used_once(inner):
        return None
    if _combination(inner) != combination:
        return None
    x, below, init = inner.operands[0], inner.operands[1], instruction.operands[1]
    is_absorbed = is_idempotent(combination) and is_same(below, init)
    is_free_sum = combination.op is Add and is_any_zero(below) and not is_exact(combination)
    if not (is_neutral(combination, below) or is_absorbed or is_free_sum):
        return None
    kept = without(range(len(sizes(x))), _reduced_dimensions(inner))
    outer = [kept[d] for d in _reduced_dimensions(instruction)]
    return _reduced(build, instruction, x, (*_reduced_dimensions(inner), *outer))


@patterns.rewrites(Reduce, over=(Broadcast,))
def reduce_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(broadcast(x)) -> broadcast(reduce(x)), where equal values combine to themselves"""
    combination = _combination(instruction)
    match instruction:
        case Instruction(
            operands=[Instruction(op=Broadcast(dimensions=mapped), operands=[x]) as inner, _]
        ) if combination is not None and is_idempotent(combination) and has_elements(inner):
            gone = _reduced_dimensions(instruction)
            if set(gone) <= set(mapped):
                return None
            small = [n for n, d in enumerate(mapped) if d in gone]
            kept = without(range(len(sizes(inner))), gone)
            places = [kept.index(d) for d in mapped if d not in gone]
            reduced = _reduced(build, instruction, x, small)
            return broadcast_to(build, reduced, places, sizes(instruction))
    return None


@patterns.rewrites(Reduce, over=(Broadcast,))
def sum_of_broadcast(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(broadcast(x), init) -> broadcast(x * n + init), where integers are added"""
    combination = _combination(instruction)
    match instruction:
        case Instruction(
            operands=[Instruction(op=Broadcast(dimensions=mapped), operands=[x]) as inner, init]
        ) if combination is not None and has_elements(inner):
            gone = _reduced_dimensions(instruction)
            element_type = combination.element_type
            if combination.op is not Add or not element_type.is_integer or set(gone) & {*mapped}:
                return None
            times = count_of(inner) // count_of(instruction)
            factor = build.constant(_wrapped(times, element_type.bits), element_type)
            product = build.add(Multiply(), x, broadcast_to(build, factor, (), sizes(x)))
            total = build.add(Add(), product, broadcast_to(build, init, (), sizes(x)))
            kept = without(range(len(sizes(inner))), gone)
            places = [kept.index(d) for d in mapped]
            return broadcast_to(build, total, places, sizes(instruction))
    return None


def _wrapped(number: int, bits: int) -> int:
    """Returns a number cut to a width, as numpy can hold it."""
    low = number & ((1 << bits) - 1)
    return low - (1 << bits) if low >> (bits - 1) else low


@patterns.rewrites(Reduce, over=(Transpose,))
def reduce_of_transpose(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(transpose(x)) -> reduce(x), perhaps transposed, in the same order or an exact one"""
    combination = _combination(instruction)
    in_any_order = combination is not None and is_exact(combination)
    match instruction:
        case Instruction(
            operands=[Instruction(op=Transpose(dimensions=order), operands=[x]) as inner, _]
        ) if _is_single(instruction) and are_static(x):
            gone = [order[d] for d in sorted(_reduced_dimensions(instruction))]
            kept = without(order, _reduced_dimensions(instruction))
            if not (in_any_order or is_increasing(gone)):
                return None
            if not is_increasing(kept) and not is_used_once(inner):
                return None
            reduced = _reduced(build, instruction, x, gone)
            return build.transpose(reduced, inverse(inverse(kept)))
    return None


@patterns.rewrites(Reduce, over=(Transpose,), assumes=FAST_MATH)
def sum_of_transpose(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(transpose(x)) -> reduce(x), where floats are added or multiplied in another order"""
    match instruction:
        case Instruction(
            operands=[Instruction(op=Transpose(dimensions=order), operands=[x]), _]
        ) if _combination(instruction) is not None:
            kept = without(order, _reduced_dimensions(instruction))
            if is_increasing(kept):
                gone = [order[d] for d in _reduced_dimensions(instruction)]
                return _reduced(build, instruction, x, gone)
    return None


@patterns.rewrites(Reduce, over=(Reshape,))
def reduce_of_reshape(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(reshape(x)) -> reduce(x), perhaps reshaped, where dimensions are reduced whole"""
    match instruction:
        case Instruction(operands=[Instruction(op=Reshape(), operands=[x]) as inner, _]) if (
            _is_single(instruction) and has_elements(inner, x)
        ):
            gone = _reduced_before(_reduced_dimensions(instruction), sizes(x), sizes(inner))
            if not gone:
                return None
            if without(sizes(x), gone) != sizes(instruction) and not is_used_once(inner):
                return None
            return build.reshape(_reduced(build, instruction, x, gone), sizes(instruction))
    return None


def _reduced_before(
    reduced: Sequence[int], old: Sequence[int], new: Sequence[int]
) -> list[int] | None:
    """Returns which old dimensions hold just what the reduced new ones hold."""
    gone: list[int] = []
    for before, after in groups(old, new):
        wide = more_than_one(new, after) or after
        flags = {dimension in reduced for dimension in wide}
        if len(flags) > 1:
            return None
        if True in flags:
            gone += before
    return gone


@patterns.rewrites(Reduce, over=(Pad,))
def reduce_of_pad(instruction: Instruction, build: Builder) -> Instruction | None:
    """reduce(pad(x, value), init) -> reduce(x, init), where the value changes nothing"""
    combination = _combination(instruction)
    match instruction:
        case Instruction(
            operands=[Instruction(op=Pad(padding=padding), operands=[x, value]), init]
        ) if combination is not None and are_static(x):
            gone = _reduced_dimensions(instruction)
            for dimension, edges in enumerate(padding):
                is_kept = dimension not in gone
                if is_kept and (edges.low or edges.high or edges.interior):
                    return None
                if edges.low < 0 or edges.high < 0:
                    return None
            if changes_nothing(combination, value, init):
                return _reduced(build, instruction, x, gone)
    return None


def changes_nothing(combination: Combination, value: Instruction, init: Instruction) -> bool:
    """Whether a value may be combined any number of times with what starts from `init`."""
    if is_neutral(combination, value):
        return True
    if is_idempotent(combination) and is_same(value, init):
        return True
    # What begins at 0 never becomes -0, and only -0 would change.
    is_sum = combination.op is Add and not combination.element_type.is_complex
    is_from_zero = is_any_zero(init) and not is_neutral(combination, init)
    return is_sum and is_from_zero and is_any_zero(value)
