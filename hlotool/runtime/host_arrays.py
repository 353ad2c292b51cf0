"""Arrays at addresses of the memory of a compiled module, as views that numpy works on."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from hlotool.ir.frame import Array
from hlotool.ir.shape import ArrayShape


class HostArray:
    """How the array of a shape lies in memory; all that does not depend on where.

    The live sizes of an array with dynamic dimensions stand behind its elements, as s32.
    """

    __slots__ = ("_bounds", "_dtype", "_is_dynamic", "_memory", "_strides", "bytes")

    def __init__(self, shape: ArrayShape) -> None:
        self._dtype = shape.element_type.numpy
        self._bounds = tuple(shape.dimensions)
        self._is_dynamic = not shape.is_static
        self._strides = tuple(strides_of(shape))
        self.bytes = shape.element_count * self._dtype.itemsize
        """Of all elements."""
        self._memory = ctypes.c_uint8 * self.bytes

    def at(self, address: int) -> Array:
        """Returns a view of the elements at an address, those that are live."""
        found = self._whole(address)
        if self._is_dynamic:
            found = found[tuple(map(slice, self._live_sizes(address)))]
        return found

    def store(self, value: Array, address: int) -> None:
        """Stores a value at an address."""
        whole = self._whole(address)
        if self._is_dynamic:
            whole[tuple(map(slice, value.shape))] = value
            self._live_sizes(address)[...] = value.shape
        else:
            whole[...] = value

    def _whole(self, address: int) -> Array:
        if not self.bytes:
            return np.empty(self._bounds, self._dtype)
        memory: Any = self._memory.from_address(address)
        return np.ndarray(self._bounds, self._dtype, memory, 0, self._strides)

    def _live_sizes(self, address: int) -> Array:
        rank = len(self._bounds)
        memory: Any = (ctypes.c_int32 * rank).from_address(address + self.bytes)
        return np.ndarray(rank, np.int32, memory)


def strides_of(shape: ArrayShape) -> list[int]:
    """Returns how many bytes apart the neighbours of each dimension lie."""
    strides = [0] * shape.rank
    step = shape.element_type.numpy.itemsize
    for dimension in shape.layout.minor_to_major:
        strides[dimension] = step
        step *= shape.dimensions[dimension]
    return strides
