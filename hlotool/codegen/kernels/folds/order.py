"""Whether a reducer that is called may take elements in any order.

A reducer that only compares its parameters and passes some of them on, as the one that finds
the greatest element and its index, depends on nothing but how they compare. A few values of
each type show every way in which those of two or three calls can compare, NaN with them: what
holds for these holds for all.

Some keep the first of several elements that are alike, NaNs above all. These may be taken in
any order too where one of the accumulators is the position: it tells which comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED, ElementType
from hlotool.ir.frame import Array, Device
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.callees.mapping import Vectorized
from hlotool.ops.elementwise import And, Compare, Maximum, Minimum, Or, Select, Xor
from hlotool.ops.source import Constant, Iota
from hlotool.ops.tuple_values import parts
from hlotool.ops.tuples import Tuple
from hlotool.ops.unary import Copy, Not

if TYPE_CHECKING:
    from hlotool.ops.reduction import Reduce

_Arrays: TypeAlias = list[Array]
_Call: TypeAlias = Callable[[_Arrays, _Arrays], _Arrays]
_MOST = 2
"""Accumulators of a reducer that is looked at: the triples of values become too many."""


def is_free(reducer: Computation) -> bool:
    """Whether a reducer gives the same in whatever order and grouping it takes elements.

    It is then also certain that the same element may be taken more than once.
    """
    types = _accumulators(reducer)
    return types is not None and _holds(_caller(reducer), types)


def position(reduce: Instruction) -> int | None:
    """Returns which accumulator has the position where elements ordered by it are free.

    `None` where none has, or elements do not come with their positions.
    """
    op = cast("Reduce", reduce.op)
    types = _accumulators(reduce.calls[0])
    initial = _constants(reduce)
    if types is None or initial is None:
        return None
    sizes = cast("ArrayShape", reduce.operands[0].shape).dimensions
    folded = [d for d in op.dimensions if sizes[d] != 1]
    for number, kind in enumerate(types):
        source = reduce.operands[number].op
        is_position = isinstance(source, Iota) and [source.iota_dimension] == folded
        if not is_position or not kind.is_integer:
            continue
        if _holds_by_position(_caller(reduce.calls[0]), types, number, initial):
            return number
    return None


def _constants(reduce: Instruction) -> tuple[float, ...] | None:
    """Returns the initial values where they are constants."""
    found = []
    for operand in reduce.operands[len(reduce.operands) // 2 :]:
        if not isinstance(operand.op, Constant):
            return None
        found.append(operand.op.literal.array().astype(np.float64).item())
    return tuple(found)


def _accumulators(reducer: Computation) -> list[ElementType] | None:
    """Returns the types of a reducer that can be tried out; `None` of others."""
    types = []
    for parameter in reducer.parameters:
        if not isinstance(parameter.shape, ArrayShape) or parameter.shape.element_type.is_complex:
            return None
        types.append(parameter.shape.element_type)
    half = len(types) // 2
    if half > _MOST or types[:half] != types[half:]:
        return None
    return types[:half] if all(map(_only_compares, reducer.instructions)) else None


def _only_compares(instruction: Instruction) -> bool:
    op = instruction.op
    if isinstance(op, (And, Or, Xor, Not)):
        shape = instruction.shape
        return isinstance(shape, ArrayShape) and shape.element_type is PRED
    return op.parameter_number is not None or isinstance(
        op, (Select, Compare, Maximum, Minimum, Copy, Tuple)
    )


def _caller(reducer: Computation) -> _Call:
    # No op that only compares asks for a device.
    function = Vectorized(reducer, cast("Device", None))
    return lambda one, other: [np.asarray(part) for part in parts(function(*one, *other))]


def _by_position(call: _Call, number: int) -> _Call:
    def ordered(one: _Arrays, other: _Arrays) -> _Arrays:
        is_first = one[number] <= other[number]
        pairs = zip(call(one, other), call(other, one), strict=True)
        return [np.where(is_first, yes, no) for yes, no in pairs]

    return ordered


def _holds(call: _Call, types: Sequence[ElementType]) -> bool:
    elements = np.array(list(product(*map(_values, types))))
    return _is_free(call, *_triples(types, elements, np.ones((len(elements),) * 2, bool)))


def _holds_by_position(
    call: _Call, types: Sequence[ElementType], number: int, initial: tuple[float, ...]
) -> bool:
    """Whether elements at different positions, and the initial values, may come in any order."""
    values = [[*_values(kind), first] for kind, first in zip(types, initial, strict=True)]
    elements = np.array([initial, *product(*values)])
    positions = elements[:, number]
    can_meet = (positions[:, None] != positions) | np.eye(len(elements), dtype=bool)
    can_meet[0, :] = can_meet[:, 0] = True
    ordered = _by_position(call, number)
    one, other, third = _triples(types, elements, can_meet)
    start = [np.full_like(array, value) for array, value in zip(one, initial, strict=True)]
    return _is_free(ordered, one, other, third) and _same(call(start, one), ordered(start, one))


def _is_free(call: _Call, one: _Arrays, other: _Arrays, third: _Arrays) -> bool:
    return (
        _same(call(one, one), one)
        and _same(call(one, other), call(other, one))
        and _same(call(call(one, other), third), call(one, call(other, third)))
    )


def _same(ours: _Arrays, theirs: _Arrays) -> bool:
    # Which of two zeros is left HLO leaves open, as it does the order.
    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(map(_wide, ours), map(_wide, theirs), strict=True)
    )


def _wide(array: Array) -> Array:
    return array if array.dtype.kind in "biu" else array.astype(np.float64)


def _triples(types: Sequence[ElementType], elements: Array, can_meet: Array) -> list[_Arrays]:
    """Returns all triples of elements that may meet, each as an array for each accumulator."""
    places = np.indices((len(elements),) * 3).reshape(3, -1)
    one, other, third = places
    places = places[:, can_meet[one, other] & can_meet[other, third] & can_meet[one, third]]
    return [[elements[row, k].astype(kind.numpy) for k, kind in enumerate(types)] for row in places]


def _values(kind: ElementType) -> list[float]:
    if kind is PRED:
        return [0, 1]
    return [float("nan"), 0, 1, 2] if kind.is_float else [0, 1, 2]
