"""Values of the contexts that stand behind what a started operation yields."""

from __future__ import annotations

from hlotool.ir.frame import Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape


def with_contexts(parts: tuple[Value, ...], shape: Shape) -> Value:
    """Returns the tuple `parts` with contexts behind it, as many as `shape` has elements."""
    contexts = shape.elements[len(parts) :] if isinstance(shape, TupleShape) else ()
    return *parts, *map(context, contexts)


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
