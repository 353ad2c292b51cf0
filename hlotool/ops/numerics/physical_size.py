"""How many bytes arrays take in memory, as their layouts say."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_checks import physical_order


def physical_bytes(shape: ArrayShape, what: str) -> int:
    """Returns the bytes that an array takes in memory, with what its layout pads it to.

    Elements narrower than a byte take one each unless the layout says how many bits they have.
    """
    layout = shape.layout
    sizes = [shape.dimensions[d] for d in reversed(physical_order(shape, what))]
    for tile in layout.tiles:
        sizes = _tiled(sizes, tile)
    alignment = layout.tail_padding_alignment_in_elements
    elements = divided_up(prod(sizes), alignment) * alignment
    bits = layout.element_size_bits or 8 * shape.element_type.storage_bytes
    return divided_up(elements * bits, 8)


def _tiled(sizes: Sequence[int], tile: Sequence[int | None]) -> list[int]:
    # Sizes and tile are major to minor. A `None` joins its dimension to the next minor one.
    padded = [1] * (len(tile) - len(sizes)) + list(sizes)
    kept, inner = padded[: len(padded) - len(tile)], padded[len(padded) - len(tile) :]
    counts, tile_sizes, joined = [], [], 1
    for size, tile_size in zip(inner, tile, strict=True):
        joined *= size
        if tile_size is not None:
            counts.append(divided_up(joined, tile_size))
            tile_sizes.append(tile_size)
            joined = 1
    return [*kept, *counts, *tile_sizes]


def divided_up(dividend: int, divisor: int) -> int:
    """Returns a quotient, rounded up where it is no whole number."""
    return -(-dividend // divisor)
