"""Values of tuple shapes: put together, taken apart, and filled up with what means nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hlotool.ir.frame import Array, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape


def single_or_tuple(values: Sequence[Value]) -> Value:
    """Returns the only one of `values`, or the tuple of several."""
    return values[0] if len(values) == 1 else tuple(values)


def parts(value: Value) -> tuple[Value, ...]:
    """Returns the elements of a tuple, or an array alone."""
    return value if isinstance(value, tuple) else (value,)


def arrays_of(value: Value, shape: Shape) -> Iterator[Array]:
    """Yields the arrays of a value of a shape, tuples taken apart."""
    if isinstance(shape, TupleShape):
        for element, inner in zip(value, shape.elements, strict=True):
            yield from arrays_of(element, inner)
    elif value is not None:
        yield value


def put_together(shape: Shape, arrays: Iterator[Array]) -> Value:
    """Returns a value of a shape that is made of the next arrays; tokens are `None`."""
    if isinstance(shape, TupleShape):
        return tuple(put_together(element, arrays) for element in shape.elements)
    return next(arrays) if isinstance(shape, ArrayShape) else None


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
