"""The ThreeFry-2x32 block cipher with 20 rounds, and the bits that HLO takes from it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from hlotool.ir.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hlotool.ir.frame import Array

_PARITY = 0x1BD11BDA
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_LOW = (1 << 32) - 1
_STATE = (1 << 64) - 1


def threefry(key: int, counters: Array) -> tuple[Array, Array]:
    """Returns the two u32 words of the block of each u64 counter."""
    words = key & _LOW, key >> 32
    schedule = [np.array([word], np.uint32) for word in (*words, _PARITY ^ words[0] ^ words[1])]
    one = counters.astype(np.uint32) + schedule[0]
    other = (counters >> np.uint64(32)).astype(np.uint32) + schedule[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            one = one + other
            other = (other << np.uint32(rotation) | other >> np.uint32(32 - rotation)) ^ one
        one = one + schedule[(group + 1) % 3]
        other = other + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return one, other


def threefry_bits(key: int, counter: int, sizes: Sequence[int], bits: int) -> tuple[Array, int]:
    """Returns an array of random words for elements of this width, and the next counter.

    The words are u64 for elements of more than 32 bits, else u32 of which narrower elements
    take the low bits.
    """
    if bits > 32:
        one, other = threefry(key, _counted(counter, prod(sizes)))
        wide = one.astype(np.uint64) | other.astype(np.uint64) << np.uint64(32)
        return wide.reshape(sizes), (counter + prod(sizes)) & _STATE
    given = list(sizes) or [1]
    split = _split_dimension(given)
    half = [*given[:split], (given[split] + 1) // 2, *given[split + 1 :]]
    blocks = [words.reshape(half) for words in threefry(key, _counted(counter, prod(half)))]
    # The words of a block lie side by side along the dimension that is split.
    full = [*half[:split], 2 * half[split], *half[split + 1 :]]
    paired = np.stack(blocks, axis=split + 1).reshape(full)
    cut = paired[(slice(None),) * split + (slice(given[split]),)]
    return cut.reshape(sizes), (counter + prod(half)) & _STATE


def _split_dimension(sizes: Sequence[int]) -> int:
    even = [dimension for dimension, size in enumerate(sizes) if size % 2 == 0]
    return even[0] if even else sizes.index(max(sizes))


def _counted(counter: int, count: int) -> Array:
    return np.arange(count, dtype=np.uint64) + np.array([counter], np.uint64)
