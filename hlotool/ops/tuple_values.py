"""Values of tuple shapes: put together, taken apart, and filled up with what means nothing."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.frame import Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape


def single_or_tuple(values: Sequence[Value]) -> Value:
    """Returns the only one of `values`, or the tuple of several."""
    return values[0] if len(values) == 1 else tuple(values)


def parts(value: Value) -> tuple[Value, ...]:
    """Returns the elements of a tuple, or an array alone."""
    return value if isinstance(value, tuple) else (value,)


def with_contexts(begun: tuple[Value, ...], shape: Shape) -> Value:
    """Returns the tuple `begun` with contexts behind it, as many as `shape` has elements.

    A context is what the start of an operation hands to its end.
    """
    contexts = shape.elements[len(begun) :] if isinstance(shape, TupleShape) else ()
    return *begun, *map(context, contexts)


def context(shape: Shape) -> Value:
    """Returns the value of a context: it says nothing, so all of it is zero."""
    if isinstance(shape, BufferShape):
        shape = shape.array
    if isinstance(shape, ArrayShape):
        sizes = [0 if size == UNBOUNDED else size for size in shape.dimensions]
        return np.zeros(sizes, shape.element_type.numpy)
    if isinstance(shape, TupleShape):
        return tuple(map(context, shape.elements))
    return None
