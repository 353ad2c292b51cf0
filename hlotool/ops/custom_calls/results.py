"""The results that a custom call declares: one, or a tuple of which the first is the value."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.custom_calls.registry import fault
from hlotool.ops.numerics.matrix_products import stored_sums
from hlotool.ops.tuple_values import context


def declared_results(frame: Frame) -> Sequence[Shape]:
    """Returns the shape of each result."""
    return frame.shape.elements if isinstance(frame.shape, TupleShape) else (frame.shape,)


def first_result(frame: Frame) -> ArrayShape:
    """Returns the shape of the first result; raises `EvaluationError` where it is no array."""
    results = declared_results(frame)
    if not results or not isinstance(results[0], ArrayShape):
        raise fault(frame, f"{frame.shape.plain_text} is declared, an array is wanted")
    return results[0]


def stored(value: Array, frame: Frame, *others: Array) -> Value:
    """Returns a value of a computing type as the first result, with `others` behind it.

    Results behind those are room for work: it means nothing and comes out zero.
    """
    found = stored_sums(value, first_result(frame)), *others
    if not isinstance(frame.shape, TupleShape):
        return found[0]
    return *found, *map(context, frame.shape.elements[len(found) :])
