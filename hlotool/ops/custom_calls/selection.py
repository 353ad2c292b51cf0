"""The best elements of rows, exactly also where a backend may choose approximately."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.element_type import PRED, S32, ElementType
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.callees.sorting import best, sorting_order, taken
from hlotool.ops.custom_calls.configuration import configuration, read_configuration
from hlotool.ops.custom_calls.registry import Yields, custom_call, fault, reading
from hlotool.ops.custom_calls.results import first_result
from hlotool.ops.shape_checks import check_signature


@custom_call("TopK", "mhlo.topk", "__gpu$TopK", calls=True, yields=Yields.ELEMENTS)
def top_k(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the best of each row of the last dimension, best first, and their s32 indices.

    The called computation says which of two is better, lower indices come first among equals.
    Without one the largest are best in total order, or the smallest with `largest = false`.
    """
    with reading(frame):
        (operand,) = operands
    return _best(operand, _count(frame, -1), frame)


@custom_call("stablehlo.dynamic_top_k", calls=True, yields=Yields.ELEMENTS)
def dynamic_top_k(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the largest of each row, as many as the second operand says, and their indices."""
    with reading(frame):
        operand, count = operands[0], int(operands[1])
    return _best(operand, count, frame)


def _best(operand: Array, count: int, frame: Frame) -> Value:
    element_type = _array_shape(frame.operand_shapes[0], frame).element_type
    size = operand.shape[-1]
    if not 0 <= count <= size:
        raise fault(frame, f"{count} elements of a row are asked for, 0 to {size} are wanted")
    if frame.calls:
        columns = [(operand, element_type), (_numbered(operand), S32)]
        order = _order(columns, frame)
        return taken(operand, order[..., :count])
    if element_type.is_complex:
        raise fault(frame, f"elements of {element_type} are given, a type with an order is wanted")
    return best(operand, element_type, count, largest=_largest(frame))


@custom_call("ApproxTopK", "PartialReduce", calls=True, yields=Yields.ELEMENTS)
def approximate_top_k(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the best along one dimension of n operands, which n initial values follow.

    They are sorted best first, by the called computation; there are as many as are declared,
    initial values behind the last one where the operands have fewer.
    """
    if len(frame.calls) != 1 or not operands or len(operands) % 2:
        raise fault(
            frame,
            f"{len(operands)} operands and {len(frame.calls)} computations are given,"
            " arrays, as many initial values and a comparator are wanted",
        )
    half = len(operands) // 2
    with reading(frame):
        dimension = int(configuration(frame).get("reduction_dim", operands[0].ndim - 1))
        count = _count(frame, dimension)
        columns = [np.moveaxis(operand, dimension, -1) for operand in operands[:half]]
    types = [_array_shape(shape, frame).element_type for shape in frame.operand_shapes[:half]]
    order = _order(list(zip(columns, types, strict=True)), frame)[..., :count]
    results = []
    with reading(frame):
        for column, initial in zip(columns, operands[half:], strict=True):
            first = np.take_along_axis(column, order, -1)
            found = np.full((*first.shape[:-1], count), initial, column.dtype)
            found[..., : first.shape[-1]] = first
            results.append(np.moveaxis(found, -1, dimension))
    return tuple(results)


def _order(columns: Sequence[tuple[Array, ElementType]], frame: Frame) -> Array:
    """Returns the indices of each row of the last dimension in the order of the comparator.

    It compares elements of all columns, or only of the first ones.
    """
    comparator = frame.calls[0]
    signature = comparator.computation.program_shape
    compared = columns[: max(1, len(signature.parameters) // 2)]
    scalars = [ArrayShape(element_type) for _, element_type in compared for _ in range(2)]
    try:
        check_signature(signature, scalars, ArrayShape(PRED), "the comparator")
    except ShapeError as error:
        raise fault(frame, error.message) from None
    rows = [column.reshape(-1, column.shape[-1]) for column, _ in compared]
    return sorting_order(comparator, rows).reshape(columns[0][0].shape)


def _largest(frame: Frame) -> bool:
    attributes = frame.instruction.annotations.frontend_attributes.get("mhlo.attributes", "")
    found = {**configuration(frame), **read_configuration(attributes)}
    return bool(found.get("largest", True))


def _numbered(operand: Array) -> Array:
    numbers = np.arange(operand.shape[-1], dtype=np.int32)
    return np.broadcast_to(numbers, operand.shape)


def _count(frame: Frame, dimension: int) -> int:
    """Returns how many elements the first result has along a dimension."""
    return _array_shape(first_result(frame), frame).dimensions[dimension]


def _array_shape(shape: Shape, frame: Frame) -> ArrayShape:
    if not isinstance(shape, ArrayShape) or shape.is_scalar:
        raise fault(frame, f"{shape.plain_text} is found, an array with rows is wanted")
    return shape
