"""Elements that come from one place or another: what is not taken is not loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.indexing.index import Bounded, Index, Known, index_of
from hlotool.codegen.indexing.index_values import in_range, lane_values
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.lanes import any_lane, every_lane, in_lanes
from hlotool.codegen.numbers.patterns import selected

Condition: TypeAlias = Value | bool
"""Whether something holds: known now, or a value when the code runs."""


def all_of(function: FunctionWriter, conditions: Sequence[Condition]) -> Condition:
    """Writes whether all conditions hold; answers where that is known."""
    if any(condition is False for condition in conditions):
        return False
    found: Condition = True
    for condition in conditions:
        if isinstance(condition, Value):
            found = condition if found is True else function.binary("and", _value(found), condition)
    return found


def chosen(
    emitter: ElementEmitter,
    condition: Condition,
    inside: Callable[[Sequence[Value] | None], Element],
    outside: Callable[[], Element],
) -> Element:
    """Writes `inside(None)` where a condition holds, elsewhere `outside()`.

    Only what is taken is computed. Where lanes differ, `inside` gets the condition of each
    lane and may load only what is safe for all of them; the lanes that hold are kept.
    """
    if isinstance(condition, bool):
        return inside(None) if condition else outside()
    if condition.lanes == 1:
        return branched(emitter, condition, lambda: inside(None), outside)
    every, some = (one(emitter.function, condition) for one in (every_lane, any_lane))

    def mixed() -> Element:
        found, other = inside([condition]), outside()
        return selected(emitter.function, condition, found, other)

    def not_all() -> Element:
        return branched(emitter, some, mixed, outside)

    return branched(emitter, every, lambda: inside(None), not_all)


def branched(
    emitter: ElementEmitter,
    condition: Value,
    then: Callable[[], Element],
    otherwise: Callable[[], Element],
) -> Element:
    """Writes an element that one of two branches computes."""
    types = []

    def side(make: Callable[[], Element]) -> tuple[Value, ...]:
        with emitter.region():
            element = make()
        types.append(element.type)
        return in_lanes(emitter.function, element, emitter.lanes).parts

    parts = emitter.function.branch(condition, lambda: side(then), lambda: side(otherwise))
    return Element(types[0], parts)


def inside(emitter: ElementEmitter, index: Sequence[Index], sizes: Sequence[int]) -> Condition:
    """Writes whether an index is one of an array of these sizes; answers where that is known."""
    pairs = zip(index, sizes, strict=True)
    return all_of(
        emitter.function,
        [in_range(emitter.function, one, size, emitter.lanes) for one, size in pairs],
    )


def is_zero(emitter: ElementEmitter, index: Index) -> Condition:
    """Writes whether an index is 0; answers where that is known."""
    if index.is_constant:
        return index.offset == 0
    value = lane_values(emitter.function, index, emitter.lanes)
    return emitter.function.compare("eq", value, constant("i64", 0))


def bounded(index: Index, size: int) -> Index:
    """Returns an index of which is known that it lies inside of a dimension."""
    if index.low >= 0 and index.high < size:
        return index
    return index_of(Bounded(index, size - 1))


def clamped(emitter: ElementEmitter, index: Index, size: int) -> Index:
    """Returns an index moved inside of a dimension; itself where it is inside already."""
    if index.low >= 0 and index.high < size:
        return index
    value = lane_values(emitter.function, index, emitter.lanes)
    return index_of(Known(clamped_value(emitter.function, value, size - 1), size - 1))


def clamped_value(function: FunctionWriter, value: Value, high: int) -> Value:
    """Writes an `i64`, moved so far that it lies between 0 and `high`."""
    positive = function.intrinsic("smax", value, constant("i64", 0))
    return function.intrinsic("smin", positive, constant("i64", high))


def _value(condition: Condition) -> Value:
    assert isinstance(condition, Value)
    return condition
