"""Random arrays whose numbers must fit together: matrices, index vectors, keys, group sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hlotool.evaluation.constraints.kinds import IndexOrder, MatrixKind
from hlotool.evaluation.generation.random_numbers import Bounds, type_ends
from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array

_MOST_LISTED = 1 << 20
"""Up to so many index vectors are all listed to choose different ones."""


class ImpossibleError(ValueError):
    """There are no numbers that are as wanted; the message says why."""


def matrices(
    kind: MatrixKind,
    element_type: ElementType,
    sizes: tuple[int, ...],
    generator: np.random.Generator,
) -> Array:
    """Returns square matrices that are far from singular, also in the triangle not looked at."""
    wide = _uniform(element_type, sizes, generator)
    count = sizes[-1]
    identity = np.eye(count)
    if kind is MatrixKind.POSITIVE_DEFINITE:
        product = wide @ np.conj(np.swapaxes(wide, -1, -2))
        # Sums in another order are rounded otherwise.
        half = (product + np.conj(np.swapaxes(product, -1, -2))) / 2
        return np.asarray((half / max(1, count) + identity).astype(element_type.numpy))
    diagonal = identity * generator.uniform(1.0, 2.0, sizes)
    small = wide * (1 - identity) / max(1, count)
    return np.asarray((small + diagonal).astype(element_type.numpy))


def _uniform(
    element_type: ElementType, sizes: tuple[int, ...], generator: np.random.Generator
) -> Array:
    real = generator.uniform(-1.0, 1.0, sizes)
    if not element_type.is_complex:
        return real
    return np.asarray(real + 1j * generator.uniform(-1.0, 1.0, sizes))


def group_sizes(
    total: int,
    element_type: ElementType,
    sizes: tuple[int, ...],
    generator: np.random.Generator,
) -> Array:
    """Returns numbers of at least 0 that sum to `total` along the last dimension."""
    count = sizes[-1] if sizes else 1
    if not count:
        raise ImpossibleError(f"no groups sum to {total}")
    found = generator.multinomial(total, [1 / count] * count, sizes[:-1]).reshape(sizes)
    if found.size and found.max() > type_ends(element_type)[1]:
        raise ImpossibleError(f"groups of {total} do not fit {element_type}")
    return np.asarray(found.astype(element_type.numpy))


def different(
    dimension: int,
    element_type: ElementType,
    sizes: tuple[int, ...],
    bounds: Bounds,
    generator: np.random.Generator,
) -> Array:
    """Returns numbers that all differ along a dimension, in random order."""
    count = sizes[dimension]
    keys = _keys(count, element_type, bounds)
    if len(keys) < count:
        raise ImpossibleError(f"{element_type} has only {len(keys)} such numbers, not {count}")
    lines = [size for number, size in enumerate(sizes) if number != dimension]
    places = np.broadcast_to(np.arange(count), (*lines, count))
    shuffled = keys[generator.permuted(places, axis=-1)]
    return np.asarray(np.moveaxis(shuffled, -1, dimension))


def _keys(count: int, element_type: ElementType, bounds: Bounds) -> Array:
    if element_type.is_complex:
        raise ImpossibleError("complex numbers have no order")
    lowest, highest = type_ends(element_type)
    if not element_type.is_float:
        low = int(lowest) if bounds.low <= lowest else math.ceil(bounds.low)
        high = int(highest) if bounds.high >= highest else math.floor(bounds.high)
        start = min(max(low, -(count // 2)), max(low, high - count + 1))
        stop = min(high + 1, start + count)
        return np.array(range(start, stop), np.int64).astype(element_type.numpy)
    if element_type.bits <= 16:
        bits = np.arange(1 << element_type.bits).astype(f"u{element_type.storage_bytes}")
        numbers = bits.view(element_type.numpy).astype(np.float64)
        scale = 1.0
    else:
        numbers = np.arange(-(count // 2), count - count // 2).astype(np.float64)
        scale = 2.0 ** -math.ceil(math.log2(max(2, count)))
    least, most = max(bounds.low, lowest), min(bounds.high, highest)
    if scale < 1 and (least > -0.5 or most < 0.5):
        numbers, scale = numbers + count // 2 + 1, 1.0
        numbers = least + numbers
    kept = np.unique(numbers[(numbers * scale >= least) & (numbers * scale <= most)] * scale)
    if len(kept) > count:
        # Those of the most usual sizes.
        away_from_one = np.abs(np.log2(np.abs(kept)))
        kept = kept[np.argsort(away_from_one, kind="stable")[:count]]
    return kept.astype(element_type.numpy)


def index_vectors(
    order: IndexOrder,
    element_type: ElementType,
    sizes: tuple[int, ...],
    generator: np.random.Generator,
) -> Array:
    """Returns index vectors that are sorted, or different, within each batch."""
    wanted = order.counts if order.dimension is not None else order.counts[:1]
    most = int(type_ends(element_type)[1])
    counts = [
        min(count, most // step + 1) for count, step in zip(wanted, order.steps, strict=False)
    ]
    total = math.prod(counts)
    batch = [sizes[dimension] for dimension in order.batching]
    rest = [
        size
        for dimension, size in enumerate(sizes)
        if dimension != order.dimension and dimension not in order.batching
    ]
    rows = [_row(order, total, math.prod(rest), generator) for _ in range(math.prod(batch))]
    flat = np.array(rows, np.int64).reshape((*batch, *rest))
    parts = _parts(flat, counts, order.steps)
    front = [*order.batching, *_others(len(sizes), order)]
    if order.dimension is None:
        made = parts[0]
    else:
        made = np.stack(parts, axis=-1)
        front.append(order.dimension)
    return np.asarray(made.transpose(np.argsort(front)).astype(element_type.numpy))


def _others(rank: int, order: IndexOrder) -> list[int]:
    gone = {order.dimension, *order.batching}
    return [dimension for dimension in range(rank) if dimension not in gone]


def _row(order: IndexOrder, total: int, count: int, generator: np.random.Generator) -> Array:
    if not order.is_unique:
        found = generator.integers(0, min(total, 1 << 62), count)
    elif count > total:
        raise ImpossibleError(f"there are {total} different index vectors, not {count}")
    elif total <= _MOST_LISTED:
        found = generator.permutation(total)[:count]
    else:
        spread = generator.integers(0, total // count, count)
        # One of each stretch of equal length: they cannot meet.
        found = generator.permutation(spread + np.arange(count) * (total // count))
    return np.sort(found) if order.is_sorted else found


def _parts(flat: Array, counts: Sequence[int], steps: Sequence[int]) -> list[Array]:
    found: list[Array] = []
    for count, step in zip(reversed(counts), reversed(steps), strict=False):
        flat, part = np.divmod(flat, count)
        found.insert(0, part * step)
    return found
