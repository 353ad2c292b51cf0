"""Arrays as the bytes that they take in memory, and back."""

from __future__ import annotations

from hlotool.errors import UnsupportedError
from hlotool.ir.element_type import Kind
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import ArrayShape


def reinterpreted(operand: Array, shape: ArrayShape, result: ArrayShape) -> Array:
    """Returns the bytes of an array of `shape` in memory as an array of `result`.

    Raises `UnsupportedError` for tiles, but where both have the same.
    """
    if shape.layout.tiles or result.layout.tiles:
        if (shape.dimensions, shape.layout) != (result.dimensions, result.layout):
            raise UnsupportedError(
                f"bitcast: {shape.text} becomes {result.text}: tiled layouts are not evaluated"
            )
        order = tuple(range(shape.rank))
        back = order
    else:
        order = shape.layout.minor_to_major[::-1]
        back = tuple(np.argsort(result.layout.minor_to_major[::-1], kind="stable"))
    flat = np.ascontiguousarray(operand.transpose(order)).reshape(-1)
    sizes = [result.dimensions[d] for d in _inverse(back)]
    return _elements(_bytes(flat, shape), result).reshape(sizes).transpose(back)


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(place) for place in np.argsort(order, kind="stable"))


def _bytes(flat: Array, shape: ArrayShape) -> Array:
    """Returns the bytes of elements, of which narrow ones may be packed; padded to a whole byte."""
    raw = flat.view(np.uint8)
    bits = shape.layout.element_size_bits
    if not 0 < bits < 8:
        return raw
    planes = raw[:, None] >> np.arange(bits, dtype=np.uint8) & 1
    return np.packbits(planes.reshape(-1), bitorder="little")


def _elements(raw: Array, shape: ArrayShape) -> Array:
    element_type = shape.element_type
    bits = shape.layout.element_size_bits
    if 0 < bits < 8:
        planes = np.unpackbits(raw, count=shape.element_count * bits, bitorder="little")
        weights = (1 << np.arange(bits, dtype=np.uint8)).astype(np.uint8)
        raw = (planes.reshape(-1, bits) * weights).sum(axis=1, dtype=np.uint8)
    if element_type.kind is Kind.PRED:
        return raw != 0
    if element_type.is_signed and element_type.bits < 8:
        unused = 8 - element_type.bits
        return (raw << unused).view(np.int8).__rshift__(unused).astype(element_type.numpy)
    return raw.view(element_type.numpy)
