"""The bytes of arrays in the order that layouts give them, and arrays made of such bytes."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir.element_type import Kind
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape, Layout
from hlotool.ops.numerics.conversions import of_bits
from hlotool.ops.shape_checks import physical_order


def reinterpreted(value: Array, operand: ArrayShape, result: ArrayShape) -> Array:
    """Returns the array of shape `result` that has the bytes of `value`, of shape `operand`.

    Bytes that the layout of the operand adds as padding are 0.
    """
    held = _in_memory(value, operand)
    if not (operand.element_type is result.element_type and _width(operand) == _width(result)):
        held = _elements_of(_bytes_of(held, operand), result)
    if _is_plain(result):
        return held[: result.element_count].reshape(result.dimensions)
    places = memory_order(result)
    found = np.zeros(result.element_count, held.dtype)
    is_element = places >= 0
    found[places[is_element]] = held[: places.size][is_element]
    return found.reshape(result.dimensions)


def memory_order(shape: ArrayShape) -> Array:
    """Returns the row-major number of the element at each place in memory, -1 for padding."""
    numbers = np.arange(shape.element_count).reshape(shape.dimensions)
    order = physical_order(shape, "layout")
    placed = _tiled(numbers.transpose(order[::-1]), shape.layout)
    alignment = shape.layout.tail_padding_alignment_in_elements
    return np.pad(placed.reshape(-1), (0, -placed.size % alignment), constant_values=-1)


def _is_plain(shape: ArrayShape) -> bool:
    """Whether elements lie in row-major order with nothing between or behind them."""
    layout = shape.layout
    is_row_major = layout.minor_to_major == Layout.default(shape.rank).minor_to_major
    return is_row_major and not layout.tiles and layout.tail_padding_alignment_in_elements == 1


def _in_memory(value: Array, shape: ArrayShape) -> Array:
    if _is_plain(shape):
        return value.reshape(-1)
    places = memory_order(shape)
    flat = value.reshape(-1)
    held = np.zeros(places.size, value.dtype)
    held[places >= 0] = flat[places[places >= 0]]
    return held


def _tiled(numbers: Array, layout: Layout) -> Array:
    for tile in layout.tiles:
        rank = max(0, len(tile) - numbers.ndim)
        numbers = numbers.reshape([1] * rank + list(numbers.shape))
        kept = numbers.shape[: numbers.ndim - len(tile)]
        numbers = _tiled_once(_merged(numbers, len(kept), tile), kept, tile)
    return numbers


def _merged(numbers: Array, kept: int, tile: Sequence[int | None]) -> Array:
    """Returns the array with each dimension that the tile leaves out made part of the next."""
    sizes, joined = list(numbers.shape[:kept]), 1
    for size, tile_size in zip(numbers.shape[kept:], tile, strict=True):
        joined *= size
        if tile_size is not None:
            sizes.append(joined)
            joined = 1
    return numbers.reshape(sizes)


def _tiled_once(numbers: Array, kept: Sequence[int], tile: Sequence[int | None]) -> Array:
    """Returns [kept..., tiles along each dimension..., elements of a tile...]."""
    tile_sizes = [size for size in tile if size is not None]
    missing = [
        -size % tile_size
        for size, tile_size in zip(numbers.shape[len(kept) :], tile_sizes, strict=True)
    ]
    padding = [(0, 0)] * len(kept) + [(0, more) for more in missing]
    padded = np.pad(numbers, padding, constant_values=-1)
    split = list(kept)
    for size, tile_size in zip(padded.shape[len(kept) :], tile_sizes, strict=True):
        split += [size // tile_size, tile_size]
    first, count = len(kept), len(tile_sizes)
    order = [
        *range(first),
        *range(first, first + 2 * count, 2),
        *range(first + 1, first + 2 * count, 2),
    ]
    return padded.reshape(split).transpose(order)


def _width(shape: ArrayShape) -> int:
    """Returns the bits that an element takes in memory."""
    return shape.layout.element_size_bits or 8 * shape.element_type.storage_bytes


def _bytes_of(elements: Array, shape: ArrayShape) -> Array:
    """Returns the bytes of elements that lie one behind the other."""
    stored = shape.element_type.storage_bytes
    raw = np.ascontiguousarray(elements).view(np.uint8)
    if shape.element_type.bits < 8:
        raw = raw & np.uint8((1 << shape.element_type.bits) - 1)
    width = _width(shape)
    if width == 8 * stored:
        return raw
    bits = np.unpackbits(raw.reshape(-1, stored), axis=1, bitorder="little")
    more = max(0, width - 8 * stored)
    return np.packbits(np.pad(bits, ((0, 0), (0, more)))[:, :width], bitorder="little")


def _elements_of(raw: Array, shape: ArrayShape) -> Array:
    """Returns the elements that have these bytes."""
    element_type, width = shape.element_type, _width(shape)
    wanted = 8 * element_type.storage_bytes
    if width != wanted:
        bits = np.unpackbits(raw, bitorder="little")
        rows = bits[: len(bits) // width * width].reshape(-1, width)
        more = max(0, wanted - width)
        padded = np.pad(rows, ((0, 0), (0, more)))[:, :wanted]
        raw = np.packbits(padded, axis=1, bitorder="little").reshape(-1)
    if element_type.bits < 8 or element_type.kind is Kind.PRED:
        return of_bits(raw.astype(np.uint64), element_type)
    return raw[: len(raw) // (wanted // 8) * (wanted // 8)].view(element_type.numpy)
