"""What reductions, products and sorts make of padded arrays: what is not live must not count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hlotool.analysis.combinations import neutral_value
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.callees.reducers import Combination, recognized
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.ops.elementwise import Compare
from hlotool.ops.ordering import Sort
from hlotool.ops.reduction import Reduce, ReduceWindow
from hlotool.passes.types.contractions import has_plain_numbers
from hlotool.passes.types.dynamic_rules import made, paired_sizes, rule, windowed, zero_like
from hlotool.passes.types.padded_array import PaddedArray, first_sizes, is_below, static
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.inlining import inlined


@rule(Reduce)
def reduce(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Puts what changes nothing in place of what is not live."""
    op = instruction.op
    assert isinstance(op, Reduce)
    half = len(operands) // 2
    filled = _neutral_filled(instruction, operands[:half], op.dimensions, builder)
    if filled is None:
        return None
    inits = [operand.array for operand in operands[half:]]
    sizes = first_sizes(operands[:half])
    kept = tuple(size for d, size in enumerate(sizes) if d not in op.dimensions)
    return _results(instruction, [*filled, *inits], kept, builder)


@rule(ReduceWindow)
def reduce_window(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Puts what changes nothing in place of what is not live; counts the windows that fit."""
    op = instruction.op
    assert isinstance(op, ReduceWindow)
    half = len(operands) // 2
    dimensions = range(operands[0].shape.rank)
    filled = _neutral_filled(instruction, operands[:half], dimensions, builder)
    if filled is None:
        return None
    inits = [operand.array for operand in operands[half:]]
    sizes = tuple(
        None if size is None else windowed(size, window, builder)
        for size, window in zip(first_sizes(operands[:half]), op.window, strict=True)
    )
    return _results(instruction, [*filled, *inits], sizes, builder)


def _neutral_filled(
    instruction: Instruction,
    arrays: list[PaddedArray],
    dimensions: range | tuple[int, ...],
    builder: Builder,
) -> list[Instruction] | None:
    """Returns arrays to reduce without what is not live; `None` where nothing is neutral."""
    sizes = first_sizes(arrays)
    if all(sizes[dimension] is None for dimension in dimensions):
        return [one.array for one in arrays]
    components = recognized(instruction.calls[0])
    if components is None or len(components) != len(arrays):
        return None
    found = []
    for array, component in zip(arrays, components, strict=True):
        neutral = neutral_value(component) if isinstance(component, Combination) else None
        if neutral is None or component_type(component) is not array.shape.element_type:
            return None
        same = PaddedArray(array.array, sizes)
        found.append(same.filled(dimensions, _scalar(neutral, array.shape, builder), builder))
    return found


def component_type(component: object) -> object:
    """Returns the element type that a combination works in."""
    return component.element_type if isinstance(component, Combination) else None


def _scalar(value: object, shape: ArrayShape, builder: Builder) -> Callable[[], Instruction]:
    return lambda: builder.literal(Literal.from_array(np.asarray(value), shape.element_type))


def _results(
    instruction: Instruction,
    operands: list[Instruction],
    sizes: tuple[Instruction | None, ...],
    builder: Builder,
) -> list[PaddedArray]:
    shape = instruction.shape
    if not isinstance(shape, TupleShape):
        return made(instruction, operands, sizes, builder)
    parts = [static(part) for part in shape.elements if isinstance(part, ArrayShape)]
    whole = builder.add(instruction.op, *operands, calls=instruction.calls, shape=TupleShape(parts))
    return [PaddedArray(builder.element(whole, n), sizes) for n in range(len(parts))]


@rule(Dot)
def dot(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Puts zeros in place of what is not live along contracting dimensions, in both operands."""
    op = instruction.op
    assert isinstance(op, Dot)
    if not has_plain_numbers(instruction):
        return None
    summed = zip(op.lhs_contracting_dims, op.rhs_contracting_dims, strict=True)
    batch = zip(op.lhs_batch_dims, op.rhs_batch_dims, strict=True)
    lhs, rhs = paired_sizes(operands[0], operands[1], iter([*summed, *batch]), builder)
    arrays = [
        lhs.filled(op.lhs_contracting_dims, zero_like(lhs.shape, builder), builder),
        rhs.filled(op.rhs_contracting_dims, zero_like(rhs.shape, builder), builder),
    ]
    sizes = [lhs.sizes[d] for d in op.lhs_batch_dims]
    sizes += [lhs.sizes[d] for d in op.lhs_free_dimensions(lhs.shape.rank)]
    sizes += [rhs.sizes[d] for d in op.rhs_free_dimensions(rhs.shape.rank)]
    return made(instruction, arrays, sizes, builder)


@rule(Convolution)
def convolution(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Puts zeros in place of input and features that are not live."""
    op = instruction.op
    assert isinstance(op, Convolution)
    labels = op.dim_labels
    if not has_plain_numbers(instruction) or op.feature_group_count * op.batch_group_count > 1:
        return None
    features = (labels.input_feature, labels.kernel_input_feature)
    lhs, rhs = paired_sizes(operands[0], operands[1], iter([features]), builder)
    if any(rhs.sizes[dimension] is not None for dimension in labels.kernel_spatial):
        return None
    sizes: list[Instruction | None] = [None] * lhs.shape.rank
    sizes[labels.output_batch] = lhs.sizes[labels.input_batch]
    sizes[labels.output_feature] = rhs.sizes[labels.kernel_output_feature]
    spatial = zip(labels.input_spatial, labels.output_spatial, op.window, strict=True)
    for ours, theirs, window in spatial:
        size = lhs.sizes[ours]
        sizes[theirs] = None if size is None else windowed(size, window, builder)
    summed = (labels.input_feature, *labels.input_spatial)
    arrays = [
        lhs.filled(summed, zero_like(lhs.shape, builder), builder),
        rhs.filled([labels.kernel_input_feature], zero_like(rhs.shape, builder), builder),
    ]
    return made(instruction, arrays, sizes, builder)


@rule(Sort)
def sort(
    instruction: Instruction, operands: list[PaddedArray], builder: Builder
) -> list[PaddedArray] | None:
    """Sorts a flag along, by which what is not live comes last."""
    op = instruction.op
    assert isinstance(op, Sort)
    sizes = first_sizes(operands)
    size = sizes[op.dimensions]
    arrays = [operand.array for operand in operands]
    shapes = [static(array_shape(array)) for array in arrays]
    calls = instruction.calls
    if size is not None:
        arrays.append(is_below(shapes[0], op.dimensions, size, builder))
        shapes.append(array_shape(arrays[-1]))
        calls = (_live_first(instruction, builder),)
    single = len(shapes) == 1
    shape = shapes[0] if single else TupleShape(shapes)
    whole = builder.add(op, *arrays, calls=calls, shape=shape)
    results = [whole] if single else [builder.element(whole, n) for n in range(len(shapes))]
    return [PaddedArray(result, sizes) for result in results[: len(operands)]]


def _live_first(instruction: Instruction, builder: Builder) -> Computation:
    """Returns the comparator with one more pair of scalars: whether the elements are live."""
    (comparator,) = instruction.calls
    flags = [ArrayShape(PRED)] * 2
    scalars = [parameter.shape for parameter in comparator.parameters]
    inside = builder.computation_named(comparator.name, [*scalars, *flags])
    *compared, one, other = inside.computation.parameters
    before = inlined(comparator, compared, inside)
    same = inside.add(Compare("EQ"), one, other)
    return inside.finish(inside.select(same, before, one))
