"""Sorting by a comparator that may be any computation, all lines at once.

A comparator is called on many pairs of elements at a time. One that compares a key of the first
element with the same key of the second needs no calls: the keys are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array, Callee, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.mapping import Mapped, Vectorized, as_parameters, vectorized
from hlotool.ops.elementwise import And, Compare, Elementwise, Or
from hlotool.ops.numerics.floats import total_order
from hlotool.ops.numerics.widths import widened
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.source import Constant
from hlotool.ops.unary import Copy

_Twins = dict[tuple[Instruction, Instruction], bool]
"""Pairs of instructions, and whether the second is the first for the other element."""


def sorting_order(comparator: Callee, lines: Sequence[Array]) -> Array:
    """Returns for each place of the sorted lines the number of the element that comes there.

    `lines` has an array for each operand, of [line, element]. Equals stay in order. Where the
    comparator orders nothing, as numbers by `<` when some are NaN, some order comes out.
    """
    whole = vectorized(comparator)
    if whole is None:
        return _one_by_one(comparator, lines)
    keys = _keys(comparator, whole, lines)
    if keys is None:
        return _merged(Mapped(comparator), lines)
    # The last key is the first that counts for numpy.
    return np.lexsort(keys[::-1], axis=-1)


def ordered(array: Array, element_type: ElementType) -> Array:
    """Returns integers, or truth values, in the total order of the elements."""
    is_float = element_type.is_float
    return total_order(array, element_type) if is_float else widened(array, element_type)


def descending(keys: Array) -> Array:
    """Returns keys in the opposite order; of floats none may be NaN."""
    return -keys if keys.dtype.kind == "f" else ~keys


def best(operand: Array, element_type: ElementType, count: int, *, largest: bool) -> Value:
    """Returns the best `count` of each row of the last dimension by total order, and where.

    Best come first, of equals those with the lowest indices, which are s32.
    """
    keys = ordered(operand, element_type)
    order = np.argsort(descending(keys) if largest else keys, axis=-1, kind="stable")
    return taken(operand, order[..., :count])


def taken(operand: Array, order: Array) -> Value:
    """Returns the elements of each row of the last dimension in an order, and their indices."""
    return np.take_along_axis(operand, order, -1), order.astype(np.int32)


def _merged(comparator: Mapped, lines: Sequence[Array]) -> Array:
    count, length = lines[0].shape
    order: Array = np.broadcast_to(np.arange(length), (count, length))
    width = 1
    while width < length:
        order = _pairs_merged(comparator, lines, order, width)
        width *= 2
    return order


def _pairs_merged(comparator: Mapped, lines: Sequence[Array], order: Array, width: int) -> Array:
    """Returns the order after each two neighbouring runs of `width` elements are merged."""
    places = np.arange(order.shape[1])
    is_later = places // width % 2 == 1
    later = places[is_later]
    begins = later // (2 * width) * 2 * width
    elements = order[:, is_later]
    low = np.zeros(elements.shape, np.int64)
    high = np.full(elements.shape, width)
    # A later element comes behind all earlier ones that it is not before.
    for _ in range(width.bit_length()):
        middle = np.minimum((low + high) // 2, width - 1)
        others = np.take_along_axis(order, begins + middle, 1)
        is_before = _compared(comparator, lines, elements, others)
        is_open = low < high
        high = np.where(is_open & is_before, middle, high)
        low = np.where(is_open & ~is_before, middle + 1, low)
    # Whatever the comparator says, no later element overtakes another.
    passed = np.maximum.accumulate(begins + low, axis=1) - begins
    targets = passed + later - width
    result = np.zeros_like(order)
    is_taken = np.zeros_like(order, dtype=bool)
    np.put_along_axis(result, targets, elements, 1)
    np.put_along_axis(is_taken, targets, values=True, axis=1)
    result[~is_taken] = order[:, ~is_later].reshape(-1)
    return result


def _compared(comparator: Mapped, lines: Sequence[Array], ones: Array, others: Array) -> Array:
    pairs = [np.take_along_axis(line, those, 1) for line in lines for those in (ones, others)]
    return comparator(pairs)[0]


def _one_by_one(comparator: Callee, lines: Sequence[Array]) -> Array:
    numbers = range(len(lines[0]))
    orders = [_line_order(comparator, [line[number] for line in lines]) for number in numbers]
    return np.array(orders, np.int64).reshape(lines[0].shape)


def _line_order(comparator: Callee, line: Sequence[Array]) -> list[int]:
    def compare(one: int, other: int) -> int:
        # Python asks only whether one element is less than another.
        pairs = [np.asarray(operand[place]) for operand in line for place in (one, other)]
        return -int(comparator(*as_parameters(comparator, pairs)))

    return sorted(range(len(line[0])), key=cmp_to_key(compare))


def _keys(comparator: Callee, whole: Vectorized, lines: Sequence[Array]) -> list[Array] | None:
    """Returns the keys that the comparator orders elements by, the first counts most.

    `None` where it does something else, or compares NaN by `<`.
    """
    comparisons = lexicographic_comparisons(comparator.computation)
    if comparisons is None:
        return None
    values = whole.values(as_parameters(comparator, [x for line in lines for x in (line, line)]))
    keys = []
    for comparison in comparisons:
        op, instruction = comparison.op, comparison.operands[0]
        assert isinstance(op, Compare)
        assert isinstance(instruction.shape, ArrayShape)
        element_type = instruction.shape.element_type
        numbers = ordered if op.type == "TOTALORDER" else widened
        key = numbers(values[instruction], element_type)
        if key.dtype.kind == "f" and np.isnan(key).any():
            return None
        key = np.broadcast_to(key, lines[0].shape)
        keys.append(descending(key) if op.direction == "GT" else key)
    return keys


def lexicographic_comparisons(computation: Computation) -> list[Instruction] | None:
    """Returns the comparisons of a lexicographic order: `a < b or (a == b and rest)`.

    `None` for a computation that is not proved to be one.
    """
    twins: _Twins = {}
    found, rest = [], computation.root
    while isinstance(rest.op, Or):
        step = _step(rest, twins)
        if step is None:
            return None
        first, rest = step
        found.append(first)
    return [*found, rest] if _orders(rest, twins) else None


def _step(either: Instruction, twins: _Twins) -> tuple[Instruction, Instruction] | None:
    """Returns the comparison of a lexicographic order that counts most, and the rest of it."""
    for first, both in (either.operands, either.operands[::-1]):
        if not isinstance(both.op, And) or not _orders(first, twins):
            continue
        for tie, rest in (both.operands, both.operands[::-1]):
            if _is_tie(tie, first, twins):
                return first, rest
    return None


def _orders(instruction: Instruction, twins: _Twins) -> bool:
    """Whether an instruction says that a key of the first element is less, or greater."""
    op = instruction.op
    if not isinstance(op, Compare) or op.direction not in {"LT", "GT"}:
        return False
    one, other = instruction.operands
    return _are_twins(one, other, twins)


def _is_tie(instruction: Instruction, comparison: Instruction, twins: _Twins) -> bool:
    """Whether an instruction says that the keys which `comparison` compares are equal."""
    op, other = instruction.op, comparison.op
    if not isinstance(op, Compare) or not isinstance(other, Compare):
        return False
    if op.direction != "EQ" or op.type != other.type:
        return False
    one, two = instruction.operands
    return one is comparison.operands[0] and _are_twins(one, two, twins)


def _are_twins(one: Instruction, other: Instruction, twins: _Twins) -> bool:
    """Whether `other` is for the second element what `one` is for the first."""
    known = twins.get((one, other))
    if known is None:
        known = twins[one, other] = _look_alike(one, other, twins)
    return known


def _look_alike(one: Instruction, other: Instruction, twins: _Twins) -> bool:
    number = one.op.parameter_number
    if number is not None:
        return number % 2 == 0 and other.op.parameter_number == number + 1
    return (
        isinstance(one.op, (Elementwise, Copy, Constant, Bitcast))
        and one.op == other.op
        and one.shape == other.shape
        and all(
            _are_twins(ours, theirs, twins)
            for ours, theirs in zip(one.operands, other.operands, strict=True)
        )
    )
