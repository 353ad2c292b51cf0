"""Identities that begin or end at a dot."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.elementwise import Multiply
from hlotool.ops.shape_changing import Transpose
from hlotool.passes.algsimp.constants import is_any_zero
from hlotool.passes.algsimp.regular import NO_SIGNED_ZEROS
from hlotool.passes.algsimp.values import zeros
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import (
    are_static,
    broadcast_to,
    count_of,
    has_elements,
    is_increasing,
    is_used_once,
    more_than_one,
    sizes,
    without,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("algsimp contracting")


def _dot(instruction: Instruction) -> Dot:
    op = instruction.op
    assert isinstance(op, Dot)
    return op


def _is_plain(instruction: Instruction) -> bool:
    """Whether a dot has static operands, and no more than the two."""
    return len(instruction.operands) == 2 and are_static(instruction, *instruction.operands)


@patterns.rewrites(Dot)
def dot_over_nothing(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, y) -> broadcast(0), where there is nothing to add up"""
    if not _is_plain(instruction) or not count_of(instruction):
        return None
    if all(count_of(operand) for operand in instruction.operands):
        return None
    return zeros(build, array_shape(instruction))


@patterns.rewrites(Dot)
def dot_with_zeros(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, 0) -> broadcast(0), where elements are integers"""
    if not _is_plain(instruction):
        return None
    if not all(array_shape(o).element_type.is_integer for o in instruction.operands):
        return None
    if not array_shape(instruction).element_type.is_integer:
        return None
    is_known = any(map(is_any_zero, instruction.operands))
    return zeros(build, array_shape(instruction)) if is_known else None


@patterns.rewrites(Dot, over=(Transpose,))
def dot_of_transposed_lhs(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(transpose(x), y) -> dot(x, y), with the dimensions of x named anew"""
    match instruction:
        case Instruction(
            operands=[Instruction(op=Transpose(dimensions=order), operands=[x]), y]
        ) if _is_plain(instruction):
            op = _dot(instruction)
            batch = _renamed(op.lhs_batch_dims, order)
            free = _renamed(op.lhs_free_dimensions(len(order)), order)
            if not _may_be_renamed(op.lhs_batch_dims, batch, free):
                return None
            contracting = _renamed(op.lhs_contracting_dims, order)
            renamed = op.replace(lhs_batch_dims=batch, lhs_contracting_dims=contracting)
            return build.add(renamed, x, y, shape=instruction.shape)
    return None


@patterns.rewrites(Dot, over=(Transpose,))
def dot_of_transposed_rhs(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, transpose(y)) -> dot(x, y), with the dimensions of y named anew"""
    match instruction:
        case Instruction(
            operands=[x, Instruction(op=Transpose(dimensions=order), operands=[y])]
        ) if _is_plain(instruction):
            op = _dot(instruction)
            batch = _renamed(op.rhs_batch_dims, order)
            free = _renamed(op.rhs_free_dimensions(len(order)), order)
            if not _may_be_renamed(op.rhs_batch_dims, batch, free):
                return None
            contracting = _renamed(op.rhs_contracting_dims, order)
            renamed = op.replace(rhs_batch_dims=batch, rhs_contracting_dims=contracting)
            return build.add(renamed, x, y, shape=instruction.shape)
    return None


def _renamed(dimensions: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    return tuple(order[d] for d in dimensions)


def _may_be_renamed(old: Sequence[int], batch: Sequence[int], free: Sequence[int]) -> bool:
    """Whether the result keeps its order, and batch dimensions that come first still do."""
    first = tuple(range(len(old)))
    return is_increasing(free) and (tuple(batch) == first or tuple(old) != first)


@patterns.rewrites(Transpose)
def transpose_of_dot(instruction: Instruction, build: Builder) -> Instruction | None:
    """transpose(dot(x, y)) -> dot(y, x), where it swaps what x and y bring"""
    match instruction:
        case Instruction(
            op=Transpose(dimensions=order),
            operands=[Instruction(op=Dot() as op, operands=[x, y]) as inner],
        ) if _is_plain(inner) and is_used_once(inner):
            batch = len(op.lhs_batch_dims)
            left = batch + len(op.lhs_free_dimensions(len(sizes(x))))
            rank = len(order)
            swapped = (*range(batch), *range(left, rank), *range(batch, left))
            if order != swapped or is_increasing(order) or len(set(op.operand_precision)) > 1:
                return None
            turned = op.replace(
                lhs_batch_dims=op.rhs_batch_dims,
                lhs_contracting_dims=op.rhs_contracting_dims,
                rhs_batch_dims=op.lhs_batch_dims,
                rhs_contracting_dims=op.lhs_contracting_dims,
            )
            return build.add(turned, y, x, shape=instruction.shape)
    return None


@patterns.rewrites(Dot)
def dot_of_single_products(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, y) -> multiply(broadcast(x), broadcast(y)), where integers are not added up"""
    if not _is_plain(instruction) or not array_shape(instruction).element_type.is_integer:
        return None
    return _product(instruction, build)


@patterns.rewrites(Dot, assumes=NO_SIGNED_ZEROS)
def dot_of_single_float_products(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(x, y) -> multiply(broadcast(x), broadcast(y)), where floats are not added up"""
    op = _dot(instruction)
    if not _is_plain(instruction) or op.algorithm != "unset":
        return None
    return _product(instruction, build) if array_shape(instruction).element_type.is_float else None


def _product(instruction: Instruction, build: Builder) -> Instruction | None:
    x, y = instruction.operands
    op = _dot(instruction)
    types = {array_shape(each).element_type for each in (x, y, instruction)}
    if len(types) > 1 or more_than_one(sizes(x), op.lhs_contracting_dims):
        return None
    if not has_elements(instruction) or any("packed" in p for p in op.operand_precision):
        return None
    batch, result = len(op.lhs_batch_dims), sizes(instruction)
    left = batch + len(op.lhs_free_dimensions(len(sizes(x))))
    ours = (*range(batch), *range(batch, left))
    theirs = (*range(batch), *range(left, len(result)))
    lhs = _spread(build, x, op.lhs_batch_dims, op.lhs_contracting_dims, ours, result)
    rhs = _spread(build, y, op.rhs_batch_dims, op.rhs_contracting_dims, theirs, result)
    return build.add(Multiply(), lhs, rhs)


def _spread(
    build: Builder,
    operand: Instruction,
    batch: Sequence[int],
    contracting: Sequence[int],
    places: Sequence[int],
    result: Sequence[int],
) -> Instruction:
    """Returns an operand without contracting dimensions, its others at places of the result."""
    kept = without(range(len(sizes(operand))), contracting)
    free = [dimension for dimension in kept if dimension not in batch]
    place_of = dict(zip((*batch, *free), places, strict=True))
    flat = build.reshape(operand, without(sizes(operand), contracting))
    return broadcast_to(build, flat, [place_of[d] for d in kept], result)
