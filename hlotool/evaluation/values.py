"""Whether values are of the shapes that they are declared to be."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from hlotool.errors import EvaluationError
from hlotool.ir.frame import Array, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape
from hlotool.ops.numerics.widths import rounded

_WIDEST_BYTES = 16


def fitted(value: Value, shape: Shape) -> Value:
    """Returns a value as one of `shape`: floats of another width are rounded to the declared.

    Raises `EvaluationError` where value and shape differ in more than that.
    """
    if isinstance(shape, BufferShape):
        shape = shape.array
    if isinstance(shape, ArrayShape):
        return _fitted_array(value, shape)
    if isinstance(shape, TupleShape):
        if not isinstance(value, tuple) or len(value) != len(shape.elements):
            raise EvaluationError(f"{shown(value)} was computed, {shape.plain_text} is declared")
        return tuple(map(fitted, value, shape.elements))
    return None


def _fitted_array(value: Value, shape: ArrayShape) -> Array:
    # numpy hands out numbers of its own in place of arrays of rank 0.
    array = np.asarray(value)
    if not holds(shape, array.shape):
        raise EvaluationError(f"{shown(value)} was computed, {shape.plain_text} is declared")
    wanted = shape.element_type.numpy
    if array.dtype == wanted:
        return array
    if shape.element_type.is_float and _is_float(array.dtype):
        return rounded(array, shape.element_type)
    raise EvaluationError(f"{shown(value)} was computed, {shape.plain_text} is declared")


def _is_float(numpy_type: np.dtype[Any]) -> bool:
    # The types that numpy lacks are of kind V, integers among them.
    return numpy_type.name.startswith(("float", "bfloat"))


def holds(shape: ArrayShape, sizes: tuple[int, ...]) -> bool:
    """Whether an array of `sizes` may be a value of `shape`: a dynamic dimension may be short."""
    if sizes == shape.dimensions:
        return True
    if shape.is_static or len(sizes) != shape.rank:
        return False
    bounds = zip(sizes, shape.dimensions, shape.dynamic, strict=True)
    return all(
        size == bound or (dynamic and (bound == UNBOUNDED or size <= bound))
        for size, bound, dynamic in bounds
    )


def arrays_of(values: Sequence[Value]) -> list[Array]:
    """Returns the arrays of values, those of tuples one by one; tokens have none."""
    arrays: list[Array] = []
    for value in values:
        if isinstance(value, tuple):
            arrays += arrays_of(value)
        elif value is not None:
            arrays.append(np.asarray(value))
    return arrays


def check_size(instruction: Instruction) -> None:
    """Raises `EvaluationError` where numpy has no numbers for the bytes of an instruction's value.

    That counts in the widest type to compute in, and also where one dimension is 0.
    """
    for _, leaf in instruction.shape.leaves():
        if isinstance(leaf, ArrayShape):
            sizes = (max(1, size) for size in leaf.dimensions)
            if prod(sizes) * _WIDEST_BYTES > sys.maxsize:
                raise too_large(instruction)


def too_large(instruction: Instruction) -> EvaluationError:
    """Returns the error of an instruction for whose value there is no memory."""
    message = f"out of memory for the value of {instruction.name}, {instruction.shape.plain_text}"
    return EvaluationError(message, instruction.location)


def shown(value: Value) -> str:
    """Returns the type of a value as numpy sees it: `float32[2,3]`, or of a tuple its parts'."""
    if value is None:
        return "token"
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    array = np.asarray(value)
    return f"{array.dtype.name}[{','.join(map(str, array.shape))}]"
