"""The best elements of rows, exactly also where a backend may choose approximately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key

from hlotool.errors import EvaluationError
from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array, Callee, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.custom_calls.configuration import configuration, read_configuration
from hlotool.ops.custom_calls.registry import custom_call, target_of
from hlotool.ops.custom_calls.results import first_result
from hlotool.ops.elementwise import Compare


@custom_call("TopK", "mhlo.topk", "__gpu$TopK")
def top_k(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the best of each row of the last dimension, best first, and their s32 indices.

    The called computation says which of two is better, lower indices come first among equals.
    Without one the largest are best in total order, or the smallest with `largest = false`.
    """
    return _best(operands[0], _count(frame, -1), frame)


@custom_call("stablehlo.dynamic_top_k")
def dynamic_top_k(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the largest of each row, as many as the second operand says, and their indices."""
    operand, count = operands
    return _best(operand, int(count), frame)


def _best(operand: Array, count: int, frame: Frame) -> Value:
    element_type = _array_shape(frame.operand_shapes[0], frame).element_type
    if not 0 <= count <= operand.shape[-1]:
        raise _too_few(frame, count, operand.shape[-1])
    columns = [operand, _numbered(operand, -1)]
    order = _order(columns, frame.calls[0] if frame.calls else None, element_type)
    if not frame.calls and not _largest(frame):
        order = _ascending(operand, element_type)
    chosen = order[..., :count]
    return np.take_along_axis(operand, chosen, -1), chosen.astype(np.int32)


@custom_call("ApproxTopK", "PartialReduce")
def approximate_top_k(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the best along one dimension of n operands, which n initial values follow.

    They are sorted best first, by the called computation; there are as many as are declared,
    initial values behind the last one where the operands have fewer.
    """
    if len(frame.calls) != 1 or not operands or len(operands) % 2:
        raise EvaluationError(
            f"{target_of(frame)}: operands, initial values and a comparator wanted"
        )
    dimension = int(configuration(frame).get("reduction_dim", operands[0].ndim - 1))
    half = len(operands) // 2
    count = _count(frame, dimension)
    columns = [np.moveaxis(operand, dimension, -1) for operand in operands[:half]]
    element_type = _array_shape(frame.operand_shapes[0], frame).element_type
    order = _order(columns, frame.calls[0], element_type)[..., :count]
    results = []
    for column, initial in zip(columns, operands[half:], strict=True):
        best = np.take_along_axis(column, order, -1)
        found = np.full((*best.shape[:-1], count), initial, column.dtype)
        found[..., : best.shape[-1]] = best
        results.append(np.moveaxis(found, -1, dimension))
    return tuple(results)


def _order(columns: Sequence[Array], comparator: Callee | None, element_type: ElementType) -> Array:
    """Returns the indices of each row of the last dimension in order."""
    values = columns[0]
    if comparator is None:
        return _descending(values, element_type)
    sort = _plain_order(comparator, values, element_type)
    if sort is not None:
        return sort(values, element_type)
    rows = [column.reshape(-1, values.shape[-1]) for column in columns]
    order = [_compared([row[n] for row in rows], comparator) for n in range(len(rows[0]))]
    return np.array(order, np.int64).reshape(values.shape)


def _compared(row: Sequence[Array], comparator: Callee) -> list[int]:
    """Returns the order of one row as the called computation decides for each two elements."""

    def is_before(one: int, other: int) -> bool:
        return bool(comparator(*(column[n : n + 1].reshape(()) for column in row
                                 for n in (one, other))))  # fmt: skip

    def compare(one: int, other: int) -> int:
        return int(is_before(other, one)) - int(is_before(one, other))

    return sorted(range(len(row[0])), key=cmp_to_key(compare))


def _plain_order(
    comparator: Callee, values: Array, element_type: ElementType
) -> Callable[[Array, ElementType], Array] | None:
    """Returns how to sort if the computation only compares its first two parameters."""
    root = comparator.computation.root
    if not isinstance(root.op, Compare) or root.op.direction not in ("GT", "LT"):
        return None
    if [operand.op.parameter_number for operand in root.operands] != [0, 1]:
        return None
    if element_type.is_float and root.op.type != "TOTALORDER":
        # NaN has no place there, and -0 equals 0: total order tells them apart.
        numbers = values.astype(np.float64)
        if np.isnan(numbers).any() or ((numbers == 0) & np.signbit(numbers)).any():
            return None
    return _descending if root.op.direction == "GT" else _ascending


def _descending(values: Array, element_type: ElementType) -> Array:
    return np.argsort(~_keys(values, element_type), axis=-1, kind="stable")


def _ascending(values: Array, element_type: ElementType) -> Array:
    return np.argsort(_keys(values, element_type), axis=-1, kind="stable")


def _keys(values: Array, element_type: ElementType) -> Array:
    """Returns integers in the order of the values: for floats total order, -NaN first."""
    if element_type.is_complex:
        raise EvaluationError(f"custom-call: {element_type} has no order")
    if not element_type.is_float:
        signed = element_type.is_signed or element_type.bits < 64
        return values.astype(np.int64 if signed else np.uint64)
    bits = values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
    sign = np.uint64(1) << np.uint64(element_type.bits - 1)
    low = sign - np.uint64(1)
    assert element_type.float_format is not None
    if not element_type.float_format.has_sign:
        return bits
    return np.where(bits & sign, low - (bits & low), (bits & low) | sign)


def _largest(frame: Frame) -> bool:
    attributes = frame.instruction.annotations.frontend_attributes.get("mhlo.attributes", "")
    found = {**configuration(frame), **read_configuration(attributes)}
    return bool(found.get("largest", True))


def _numbered(operand: Array, dimension: int) -> Array:
    numbers = np.arange(operand.shape[dimension], dtype=np.int32)
    return np.broadcast_to(numbers, operand.shape)


def _count(frame: Frame, dimension: int) -> int:
    """Returns how many elements the first result has along a dimension."""
    return _array_shape(first_result(frame), frame).dimensions[dimension]


def _array_shape(shape: Shape, frame: Frame) -> ArrayShape:
    if not isinstance(shape, ArrayShape) or shape.is_scalar:
        raise EvaluationError(f"{target_of(frame)}: an array with rows is wanted, {shape} found")
    return shape


def _too_few(frame: Frame, count: int, size: int) -> EvaluationError:
    return EvaluationError(f"{target_of(frame)}: {count} of {size} elements are wanted")
