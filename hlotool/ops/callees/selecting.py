"""Selecting an element of each window, and scattering values to the selected places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir.frame import Callee
from hlotool.ir.lazy import numpy as np
from hlotool.ops.callees.mapping import Mapped
from hlotool.ops.callees.reducers import Combination, Taken, recognized
from hlotool.ops.numerics.windows import meetings

if TYPE_CHECKING:
    from hlotool.ir.frame import Array
    from hlotool.ir.window import Window


def selected(select: Callee, elements: Array, window: Window) -> Array:
    """Returns for each place of the window the flat index of an element there, -1 for none.

    The first element is selected, then each next one that `select` does not keep it against.
    """
    places = [d.output_size(n) for d, n in zip(window, elements.shape, strict=True)]
    indices = np.full(places, -1)
    values = np.zeros(places, elements.dtype)
    flat_indices = np.arange(elements.size).reshape(elements.shape)
    keep = Mapped(select)
    for met, shown in meetings(window, elements.shape):
        (keeps,) = keep([values[met], elements[shown]])
        takes = ~keeps | (indices[met] < 0)
        values[met] = np.where(takes, elements[shown], values[met])
        indices[met] = np.where(takes, flat_indices[shown], indices[met])
    return indices


def scattered_back(scatter: Callee, target: Array, indices: Array, source: Array) -> Array:
    """Returns `target` with each of `source`, in order, scattered to its flat index.

    `scatter` takes the value and what stands there already, in this order. Values without an
    index go nowhere.
    """
    order = indices.ravel()
    there = order >= 0
    order, values = order[there], source.ravel()[there]
    recognition = recognized(scatter.computation)
    result = target.flatten()
    if recognition is None:
        combine = Mapped(scatter)
        for index, value in zip(order, values, strict=True):
            (result[index],) = combine([value, result[index]])
        return result.reshape(target.shape)
    (component,) = recognition
    if isinstance(component, Combination):
        combined = component.encoded(target).flatten()
        component.function.at(combined, order, component.encoded(values))
        return component.decoded(combined).reshape(target.shape)
    if component is Taken.ACCUMULATOR:
        result[order] = values
    return result.reshape(target.shape)
