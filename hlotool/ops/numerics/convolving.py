"""Convolution as matrix products, one for each tap of the kernel or each window of the base.

Padding and holes of the base are never visited, so nothing is multiplied there.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from hlotool.ir.lazy import numpy as np
from hlotool.ir.window import Window, WindowDimension
from hlotool.ops.numerics.matrix_products import matrix_product, without_integers
from hlotool.ops.numerics.windows import all_met, met_elements

if TYPE_CHECKING:
    from hlotool.ir.frame import Array

_SLAB_BYTES = 1 << 26
"""How much a step of the work may take beside the operands and the result, roughly."""


def convolved(base: Array, kernel: Array, window: Window) -> Array:
    """Returns [groups, batch, positions..., outputs], each a sum over taps and inputs.

    `base` is [groups, batch, elements..., inputs], `kernel` [groups, taps..., inputs, outputs],
    of one computing type. The window has a dimension for each of elements, taps and positions;
    its reversal is not looked at.
    """
    elements, taps = base.shape[2:-1], kernel.shape[1:-2]
    positions = tuple(map(WindowDimension.output_size, window, elements))
    sizes = (*base.shape[:2], *positions, kernel.shape[-1])
    computing_type = base.dtype
    base, kernel = without_integers(base, kernel, prod(taps) * base.shape[-1])
    sums = np.zeros(sizes, base.dtype)
    add = _add_windows if prod(positions) < prod(taps) else _add_taps
    batch = base.shape[1]
    bytes_each = (base.nbytes + sums.nbytes) // max(1, batch)
    slab = max(1, _SLAB_BYTES // max(1, bytes_each))
    for start in range(0, batch, slab):
        part = slice(start, start + slab)
        add(sums[:, part], base[:, part], kernel, window)
    return sums.astype(computing_type, copy=False)


def _add_taps(sums: Array, base: Array, kernel: Array, window: Window) -> None:
    """Adds what each tap contributes to all positions."""
    taps, positions, elements = kernel.shape[1:-2], sums.shape[2:-1], base.shape[2:-1]
    meetings = [
        [
            met_elements(tap * dim.window_dilation - dim.padding_low, dim.stride, dim, count, size)
            for tap in range(tap_count)
        ]
        for dim, tap_count, count, size in zip(window, taps, positions, elements, strict=True)
    ]
    for tap in product(*map(range, taps)):
        found = all_met([of_dimension[t] for of_dimension, t in zip(meetings, tap, strict=True)])
        if found is None:
            continue
        met, read = found
        part, weights = _behind(base, 2, read), _behind(kernel, 1, tap)
        _behind(sums, 2, met)[...] += _weighted(part, weights)


def _weighted(part: Array, weights: Array) -> Array:
    """Returns [groups, ..., outputs] for [groups, ..., inputs] and [groups, inputs, outputs]."""
    groups, inputs, outputs = weights.shape
    if inputs == 1 and groups > 1:
        spread: Array = part * weights.reshape(groups, *[1] * (part.ndim - 2), outputs)
        return spread
    rows = part.reshape(groups, prod(part.shape[1:-1]), inputs)
    return matrix_product(rows, weights).reshape(*part.shape[:-1], outputs)


def _add_windows(sums: Array, base: Array, kernel: Array, window: Window) -> None:
    """Adds for each position what all taps contribute."""
    groups, batch = base.shape[:2]
    inputs, outputs = kernel.shape[-2:]
    taps, positions, elements = kernel.shape[1:-2], sums.shape[2:-1], base.shape[2:-1]
    meetings = [
        [
            met_elements(
                position * dim.stride - dim.padding_low, dim.window_dilation, dim, count, size
            )
            for position in range(position_count)
        ]
        for dim, position_count, count, size in zip(window, positions, taps, elements, strict=True)
    ]
    for position in product(*map(range, positions)):
        found = all_met([at[p] for at, p in zip(meetings, position, strict=True)])
        if found is None:
            continue
        met, read = found
        weights = _behind(kernel, 1, met)
        terms = prod(weights.shape[1:-2]) * inputs
        part = _behind(base, 2, read).reshape(groups, batch, terms)
        product_here = matrix_product(part, weights.reshape(groups, terms, outputs))
        _behind(sums, 2, position)[...] = product_here


def _behind(array: Array, dimensions: int, index: tuple[Any, ...]) -> Array:
    """Returns the part of an array that an index behind its first dimensions picks."""
    return array[(slice(None),) * dimensions + index]
