"""The Philox-4x32 generator with 10 rounds, and the bits that HLO takes from it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from hlotool.ir.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hlotool.ir.frame import Array

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_LOW = (1 << 32) - 1
_STATE = (1 << 64) - 1


def philox(key: int, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
    """Returns the four u32 words of the block of each counter, given as two u64 halves."""
    words = (*_halves(low), *_halves(high))
    keys = key & _LOW, key >> 32
    for _ in range(_ROUNDS):
        words = _round(words, keys)
        keys = (keys[0] + _KEY_STEPS[0]) & _LOW, (keys[1] + _KEY_STEPS[1]) & _LOW
    return words


def _round(
    words: tuple[Array, Array, Array, Array], keys: tuple[int, int]
) -> tuple[Array, Array, Array, Array]:
    low_0, high_0 = _halves(words[0].astype(np.uint64) * np.uint64(_MULTIPLIERS[0]))
    low_1, high_1 = _halves(words[2].astype(np.uint64) * np.uint64(_MULTIPLIERS[1]))
    return (
        high_1 ^ words[1] ^ np.uint32(keys[0]),
        low_1,
        high_0 ^ words[3] ^ np.uint32(keys[1]),
        low_0,
    )


def _halves(numbers: Array) -> tuple[Array, Array]:
    return numbers.astype(np.uint32), (numbers >> np.uint64(32)).astype(np.uint32)


def philox_bits(key: int, counter: int, sizes: Sequence[int], bits: int) -> tuple[Array, int]:
    """Returns an array of random words for elements of this width, and the next counter.

    Counters have 128 bits. The words are u64 for elements of more than 32 bits, else u32 of
    which narrower elements take the low bits.
    """
    count = prod(sizes)
    word_count = 2 * count if bits > 32 else count
    block_count = -(-word_count // 4)
    low = np.arange(block_count, dtype=np.uint64) + np.array([counter & _STATE], np.uint64)
    carry = (low < np.uint64(counter & _STATE)).astype(np.uint64)
    high = carry + np.array([counter >> 64], np.uint64)
    words = np.stack(philox(key, low, high), axis=-1).ravel()
    if bits > 32:
        pairs = words.reshape(-1, 2).astype(np.uint64)
        words = pairs[:, 0] | pairs[:, 1] << np.uint64(32)
    return words[:count].reshape(sizes), (counter + block_count) & ((1 << 128) - 1)
