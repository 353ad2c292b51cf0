"""What a constraint on the result of an instruction says about its operands: moved elements.

The instructions here yield elements of their operands as they are. Constraints on single
elements pass; one on a dimension passes where the dimension is still to be found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from hlotool.evaluation.constraints.kinds import (
    Components,
    Constraint,
    Fixed,
    GroupSizes,
    IndexOrder,
    Matrices,
    MatrixKind,
    Nonzero,
    Range,
    Unique,
    Weights,
)
from hlotool.evaluation.following import Index
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.collective import AllGather, AllGatherStart, CollectiveBroadcast
from hlotool.ops.conversion import Convert, ReducePrecision
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.custom_calls.registry import Yields, yields_of
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice, Gather, SetDimensionSize
from hlotool.ops.ordering import Sort
from hlotool.ops.permuting import AllToAll, CollectivePermute, CollectivePermuteStart
from hlotool.ops.shape_changing import (
    Bitcast,
    Broadcast,
    Concatenate,
    DynamicReshape,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)

Moves = Iterator[tuple[int, Constraint]]
"""Numbers of operands, each with a constraint on it."""
_Find = Callable[[int], int | None]
"""Returns where the operand has a dimension of the result, `None` where it has not."""

ELEMENTWISE = (Range, Nonzero, Fixed, Weights)
_SWAPPED = {
    MatrixKind.LOWER: MatrixKind.UPPER,
    MatrixKind.UPPER: MatrixKind.LOWER,
    MatrixKind.POSITIVE_DEFINITE: MatrixKind.POSITIVE_DEFINITE,
}


def _array(instruction: Instruction) -> ArrayShape:
    assert isinstance(instruction.shape, ArrayShape)
    return instruction.shape


def _same(_: Instruction, constraint: Constraint) -> Moves:
    yield 0, constraint


def _moved(*numbers: int) -> Callable[[Instruction, Constraint], Moves]:
    def rule(_: Instruction, constraint: Constraint) -> Moves:
        if isinstance(constraint, Components):
            constraint = constraint.narrowest
        if isinstance(constraint, ELEMENTWISE):
            yield from ((number, constraint) for number in numbers)

    return rule


def moved_parts(instruction: Instruction, index: Index, constraint: Constraint) -> Moves:
    """Yields what a constraint on one array of several says about operands."""
    numbers = _sources(instruction, index)
    yield from _moved(*numbers)(instruction, constraint)


def _sources(instruction: Instruction, index: Index) -> Sequence[int]:
    """Returns the operands that a part of the result has its elements from, in other places."""
    op, count = instruction.op, len(instruction.operands)
    if isinstance(op, AllGatherStart | CollectivePermuteStart):
        if index[:1] != (1,):
            return ()
        index = index[1:]
    if isinstance(op, CollectivePermute) and op.slice_sizes:
        return (0, 1)
    if isinstance(op, AllToAll):
        # Each member keeps another one of the pieces.
        return range(count)
    if isinstance(op, Sort | AllGather | CollectivePermute | CollectiveBroadcast) or _cuts(op):
        return index[:1] or (0,)
    return ()


def _cuts(op: Op) -> bool:
    return isinstance(op, CustomCall) and yields_of(op.custom_call_target) is Yields.IN_PLACE


def moved_whole(instruction: Instruction, constraint: Constraint) -> Moves:
    """Yields what a constraint on the only array says about operands."""
    return moved_parts(instruction, (), constraint)


def _transpose(instruction: Instruction, constraint: Constraint) -> Moves:
    assert isinstance(instruction.op, Transpose)
    dimensions = instruction.op.dimensions
    if isinstance(constraint, Matrices) and len(dimensions) > 1:
        rank = len(dimensions)
        last = dimensions[-2:]
        if last == (rank - 1, rank - 2):
            yield 0, replace(constraint, kind=_SWAPPED[constraint.kind])
        elif last == (rank - 2, rank - 1):
            yield 0, constraint
        return
    yield from _found(constraint, dimensions.__getitem__, instruction)


def _broadcast(instruction: Instruction, constraint: Constraint) -> Moves:
    assert isinstance(instruction.op, Broadcast)
    places = {to: number for number, to in enumerate(instruction.op.dimensions)}
    yield from _found(constraint, places.get, instruction)


def _reshape(instruction: Instruction, constraint: Constraint) -> Moves:
    result, operand = _array(instruction), _array(instruction.operands[0])
    if result.element_type is not operand.element_type:
        return
    if result.element_count != operand.element_count:
        return
    if isinstance(constraint, IndexOrder):
        if constraint.dimension is not None and len(constraint.counts) == 1:
            # Vectors of one index are as good as the indices.
            constraint = replace(constraint, dimension=None)
        if constraint.dimension is None and not constraint.batching:
            yield 0, constraint
            return
    if isinstance(constraint, Components) and len(constraint.highs) == 1:
        yield 0, constraint.narrowest
        return

    def find(dimension: int) -> int | None:
        return _kept(result.dimensions, operand.dimensions, dimension)

    yield from _found(constraint, find, instruction)


def _kept(of: Sequence[int], in_: Sequence[int], dimension: int) -> int | None:
    """Returns the dimension of `in_` that steps through the elements as `dimension` of `of`."""
    inner = math.prod(of[dimension + 1 :])
    for number, size in enumerate(in_):
        if size == of[dimension] and math.prod(in_[number + 1 :]) == inner:
            return number
    return None


def _found(constraint: Constraint, find: _Find, instruction: Instruction) -> Moves:
    """Passes a constraint to operand 0 where it has the dimensions that it is about."""
    if isinstance(constraint, Components):
        dimension = find(constraint.dimension)
        if dimension is None:
            yield 0, constraint.narrowest
        else:
            yield 0, replace(constraint, dimension=dimension)
    elif isinstance(constraint, Unique):
        dimension = find(constraint.dimension)
        if dimension is not None:
            yield 0, replace(constraint, dimension=dimension)
    elif isinstance(constraint, IndexOrder):
        yield from _ordered(constraint, find)
    elif isinstance(constraint, Matrices | GroupSizes):
        count = 2 if isinstance(constraint, Matrices) else 1
        result, operand = _array(instruction), _array(instruction.operands[0])
        ours = [find(dimension) for dimension in range(result.rank - count, result.rank)]
        if ours == list(range(operand.rank - count, operand.rank)):
            yield 0, constraint
    else:
        yield 0, constraint


def _ordered(constraint: IndexOrder, find: _Find) -> Moves:
    batching = [find(dimension) for dimension in constraint.batching]
    dimension = None if constraint.dimension is None else find(constraint.dimension)
    if None in batching or (dimension is None) != (constraint.dimension is None):
        return
    kept = tuple(number for number in batching if number is not None)
    yield 0, replace(constraint, dimension=dimension, batching=kept)


def _slice(instruction: Instruction, constraint: Constraint) -> Moves:
    assert isinstance(instruction.op, Slice)
    if not isinstance(constraint, Components):
        if isinstance(constraint, (*ELEMENTWISE, Unique, IndexOrder)):
            yield 0, constraint
        return
    dimension = constraint.dimension
    start, limit, stride = instruction.op.slice[dimension]
    size = _array(instruction.operands[0]).dimensions[dimension]
    lows, highs = [-math.inf] * size, [math.inf] * size
    lows[start:limit:stride], highs[start:limit:stride] = constraint.lows, constraint.highs
    yield 0, replace(constraint, lows=tuple(lows), highs=tuple(highs))


def _reverse(instruction: Instruction, constraint: Constraint) -> Moves:
    assert isinstance(instruction.op, Reverse)
    if isinstance(constraint, Components) and constraint.dimension in instruction.op.dimensions:
        yield 0, replace(constraint, lows=constraint.lows[::-1], highs=constraint.highs[::-1])
    elif isinstance(constraint, (*ELEMENTWISE, Components, Unique)):
        yield 0, constraint


def _concatenate(instruction: Instruction, constraint: Constraint) -> Moves:
    assert isinstance(instruction.op, Concatenate)
    along = instruction.op.dimensions
    if isinstance(constraint, Components) and constraint.dimension == along:
        sizes = [_array(operand).dimensions[along] for operand in instruction.operands]
        ends = [0, *accumulate(sizes)]
        for number in range(len(sizes)):
            part = slice(ends[number], ends[number + 1])
            if sizes[number]:
                yield (
                    number,
                    replace(constraint, lows=constraint.lows[part], highs=constraint.highs[part]),
                )
    elif isinstance(constraint, (*ELEMENTWISE, Components)):
        for number in range(len(instruction.operands)):
            yield number, constraint


MOVES: dict[type[Op], Callable[[Instruction, Constraint], Moves]] = {
    AllGather: moved_whole,
    AllToAll: moved_whole,
    Bitcast: _reshape,
    Broadcast: _broadcast,
    CollectiveBroadcast: moved_whole,
    CollectivePermute: moved_whole,
    Concatenate: _concatenate,
    Convert: _same,
    DynamicReshape: _reshape,
    DynamicSlice: _moved(0),
    DynamicUpdateSlice: _moved(0, 1),
    Gather: _moved(0),
    Pad: _moved(0, 1),
    ReducePrecision: _same,
    Reshape: _reshape,
    Reverse: _reverse,
    SetDimensionSize: _same,
    Slice: _slice,
    Sort: moved_whole,
    Transpose: _transpose,
}
"""The rules of these instructions: each yields numbers of operands with constraints."""
