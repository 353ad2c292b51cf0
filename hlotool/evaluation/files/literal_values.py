"""Values as literals of HLO, and back."""

from __future__ import annotations

import numpy as np

from hlotool.errors import UnsupportedError
from hlotool.ir.frame import Value
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape, BufferShape, Shape, TupleShape


def literal_of(value: Value, shape: Shape) -> Literal:
    """Returns a value of `shape` as a literal, of the sizes that it has when they are dynamic.

    A token becomes a literal that says nothing but its shape. Raises `UnsupportedError` for a
    value that is no number, as one of `opaque[]`.
    """
    if isinstance(shape, TupleShape):
        return Literal.of_elements(
            [literal_of(*pair) for pair in zip(value, shape.elements, strict=True)]
        )
    if isinstance(shape, BufferShape):
        shape = shape.array
    if shape.is_token:
        return Literal.elision(shape)
    if not isinstance(shape, ArrayShape):
        raise UnsupportedError(f"no literal holds a value of {shape.plain_text}")
    sizes = np.shape(value)
    layout = shape.layout if sizes == shape.dimensions else None
    return Literal.from_array(value, ArrayShape(shape.element_type, sizes, layout))


def value_of(literal: Literal) -> Value:
    """Returns the value of a literal; raises `UnsupportedError` where the text leaves it out."""
    if isinstance(literal.shape, TupleShape) and not literal.elided:
        return tuple(map(value_of, literal.elements))
    if literal.shape.is_token:
        return None
    if literal.elided:
        raise UnsupportedError(f"a literal of {literal.shape} has no elements")
    return literal.array()
