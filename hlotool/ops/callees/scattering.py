"""Combining updates with elements at places that may come more than once, in order."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.element_type import F32, F64, ElementType
from hlotool.ir.frame import Array, Callee
from hlotool.ir.lazy import numpy as np
from hlotool.ops.callees.mapping import Mapped
from hlotool.ops.callees.reducers import Combination, Component, Taken, recognized
from hlotool.ops.elementwise import Add, Multiply
from hlotool.ops.numerics.widths import rounded


def scattered(
    combiner: Callee,
    element_types: Sequence[ElementType],
    arrays: Sequence[Array],
    places: Array,
    updates: Sequence[Array],
) -> list[Array]:
    """Returns flat arrays with `updates` combined into them at `places`, one after the other.

    All are of one dimension. `combiner` gets an element of each array, then an update for each,
    and yields what takes the place of the elements.
    """
    results = [array.copy() for array in arrays]
    if not len(places):
        return results
    components = recognized(combiner.computation)
    if components is not None and all(map(_is_exact, components, element_types)):
        for result, component, update, element_type in zip(
            results, components, updates, element_types, strict=True
        ):
            _put(result, component, places, _held(update, element_type))
        return results
    combine = Mapped(combiner)
    for chosen in _turns(places):
        here = places[chosen]
        combined = combine(
            [*(result[here] for result in results), *(update[chosen] for update in updates)]
        )
        for result, values, element_type in zip(results, combined, element_types, strict=True):
            result[here] = _held(values, element_type)
    return results


def _held(values: Array, element_type: ElementType) -> Array:
    return rounded(values, element_type) if element_type.is_float else values


def _is_exact(component: Component, element_type: ElementType) -> bool:
    """Whether numpy rounds as the combiner does: not at all, or after each update."""
    if isinstance(component, Taken):
        return True
    if component.element_type is not element_type:
        return False
    return not _rounds(component) or element_type in {F32, F64}


def _rounds(combination: Combination) -> bool:
    element_type = combination.element_type
    has_fractions = element_type.is_float or element_type.is_complex
    return has_fractions and combination.op in {Add, Multiply}


def _put(result: Array, component: Component, places: Array, update: Array) -> None:
    if component is Taken.ELEMENT:
        # Of several values for one place numpy leaves the last.
        result[places] = update
    if not isinstance(component, Combination):
        return
    if _rounds(component):
        component.function.at(result, places, update)
        return
    touched, numbers = np.unique(places, return_inverse=True)
    combined = component.encoded(result[touched])
    component.function.at(combined, numbers, component.encoded(update))
    result[touched] = component.decoded(combined)


def _turns(places: Array) -> list[Array]:
    """Returns numbers of updates in turns: in each a place comes once, over all in order."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    numbers = np.arange(len(order))
    turns = numbers - np.maximum.accumulate(np.where(is_first, numbers, 0))
    by_turn = np.argsort(turns, kind="stable")
    bounds = np.flatnonzero(np.diff(turns[by_turn])) + 1
    return np.split(order[by_turn], bounds)
