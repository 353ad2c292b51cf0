"""What instructions want of indices and sizes that are known only when the module runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hlotool.evaluation.constraints.kinds import (
    Components,
    Constraint,
    Fixed,
    Full,
    IndexOrder,
    Range,
)
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import UNBOUNDED, ArrayShape
from hlotool.ops.index_vectors import DimensionMap
from hlotool.ops.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    Scatter,
    SetDimensionSize,
)
from hlotool.ops.permuting import RaggedAllToAll
from hlotool.ops.shape_changing import DynamicReshape

_Wants = Iterator[tuple[int, Constraint]]


def _array(instruction: Instruction) -> ArrayShape:
    assert isinstance(instruction.shape, ArrayShape)
    return instruction.shape


def _dynamic_slice(instruction: Instruction) -> _Wants:
    assert isinstance(instruction.op, DynamicSlice)
    yield from _starts(instruction, 1, instruction.op.dynamic_slice_sizes)
    yield from _full_where_cut(instruction)


def _full_where_cut(instruction: Instruction) -> _Wants:
    # A part of fixed size may be larger than what is live of a dynamic dimension.
    if not _array(instruction.operands[0]).is_static and _array(instruction).is_static:
        yield 0, Full(source=instruction.name)


def _dynamic_update_slice(instruction: Instruction) -> _Wants:
    yield from _starts(instruction, 2, _array(instruction.operands[1]).dimensions)


def _starts(instruction: Instruction, first: int, sizes: Sequence[int]) -> _Wants:
    bounds = _array(instruction.operands[0]).dimensions
    highs = [_last_start(*pair) for pair in zip(bounds, sizes, strict=True)]
    starts = instruction.operands[first:]
    if len(starts) == 1 and _array(starts[0]).rank == 1:
        yield first, _components(0, highs, instruction)
        return
    for number, high in enumerate(highs[: len(starts)]):
        yield first + number, Range(0, high, source=instruction.name)


def _last_start(bound: int, size: int) -> int:
    # A dimension that is not known may be as short as the part that is taken of it.
    return 0 if UNBOUNDED in (bound, size) else max(0, bound - size)


def _components(dimension: int, highs: Sequence[int], instruction: Instruction) -> Components:
    return Components(dimension, (0,) * len(highs), tuple(highs), source=instruction.name)


def _gather(instruction: Instruction) -> _Wants:
    op = instruction.op
    assert isinstance(op, Gather)
    yield from _full_where_cut(instruction)
    for constraint in _vectors(
        instruction, 1, op.dimension_map(), op.slice_sizes, is_sorted=op.indices_are_sorted
    ):
        yield 1, constraint


def _scatter(instruction: Instruction) -> _Wants:
    op = instruction.op
    assert isinstance(op, Scatter)
    number = len(instruction.operands) // 2
    operand, update = _array(instruction.operands[0]), _array(instruction.operands[-1])
    dimensions = op.dimension_map()
    windows = [1] * operand.rank
    pairs = zip(dimensions.window_dimensions(operand), op.update_window_dims, strict=True)
    for ours, theirs in pairs:
        windows[ours] = update.dimensions[theirs]
    for constraint in _vectors(
        instruction,
        number,
        dimensions,
        windows,
        is_sorted=op.indices_are_sorted,
        is_unique=op.unique_indices,
    ):
        yield number, constraint


def _vectors(
    instruction: Instruction,
    number: int,
    dimensions: DimensionMap,
    windows: Sequence[int],
    *,
    is_sorted: bool,
    is_unique: bool = False,
) -> Iterator[Constraint]:
    op = instruction.op
    assert isinstance(op, Gather | Scatter)
    bounds, indices = (
        _array(instruction.operands[0]).dimensions,
        _array(instruction.operands[number]),
    )
    if not dimensions.index_map:
        return
    sizes = [windows[d] for d in dimensions.index_map]
    highs = [_last_start(bounds[d], windows[d]) for d in dimensions.index_map]
    is_vector = op.index_vector_dim < indices.rank
    if is_vector:
        yield _components(op.index_vector_dim, highs, instruction)
    else:
        yield Range(0, highs[0], source=instruction.name)
    if is_sorted or is_unique:
        steps = [max(1, size) if is_unique else 1 for size in sizes]
        yield IndexOrder(
            op.index_vector_dim if is_vector else None,
            tuple(high // step + 1 for high, step in zip(highs, steps, strict=True)),
            tuple(steps),
            dimensions.indices_batching,
            is_sorted,
            is_unique,
            source=instruction.name,
        )


def _set_dimension_size(instruction: Instruction) -> _Wants:
    assert isinstance(instruction.op, SetDimensionSize)
    bound = _array(instruction).dimensions[instruction.op.dimensions]
    if bound != UNBOUNDED:
        yield 1, Range(0, bound, source=instruction.name)


def _dynamic_reshape(instruction: Instruction) -> _Wants:
    # The sizes must have the product that the array has elements: only full ones surely do.
    yield 0, Full(source=instruction.name)
    for number, size in enumerate(_array(instruction).dimensions, start=1):
        if size != UNBOUNDED:
            yield number, Fixed(size, source=instruction.name)


def _ragged_all_to_all(instruction: Instruction) -> _Wants:
    # Every member sends one row to each other, if there are rows: so all numbers agree.
    rows, into = (_array(operand) for operand in instruction.operands[:2])
    length = min((shape.dimensions[0] for shape in (rows, into) if shape.rank), default=0)
    for number in (2, 4):
        yield number, Range(0, max(0, length - 1), source=instruction.name)
    for number in (3, 5):
        yield number, Fixed(min(1, max(0, length)), source=instruction.name)


INDEX_WANTS: dict[type[Op], Callable[[Instruction], _Wants]] = {
    DynamicReshape: _dynamic_reshape,
    DynamicSlice: _dynamic_slice,
    DynamicUpdateSlice: _dynamic_update_slice,
    Gather: _gather,
    RaggedAllToAll: _ragged_all_to_all,
    Scatter: _scatter,
    SetDimensionSize: _set_dimension_size,
}
"""The rules of these instructions: each yields numbers of operands with constraints."""
