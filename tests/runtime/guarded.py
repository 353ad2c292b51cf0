"""Arrays behind which there is no memory: who reads past their end ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PROTECT_NONE = 0


def guarded(array: NDArray[Any]) -> NDArray[Any]:
    """Returns a copy of an array that ends where memory does; it lasts as long as the array."""
    array = np.asarray(array)
    if not array.nbytes:
        return array
    pages = -(-array.nbytes // mmap.PAGESIZE)
    held = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(held))
    end = pages * mmap.PAGESIZE
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    address, size = ctypes.c_void_p(begin + end), ctypes.c_size_t(mmap.PAGESIZE)
    if protect(address, size, _PROTECT_NONE):
        raise OSError(ctypes.get_errno(), "no page was protected")
    data = np.frombuffer(held, np.uint8)[end - array.nbytes : end]
    made = data.view(array.dtype).reshape(array.shape)
    made[...] = array
    return made
