"""Products of arrays that are stored without most of their zeros."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.lazy import numpy as np

if TYPE_CHECKING:
    from hlotool.ir.frame import Array

_POSITION_BITS = 2
_WORD_BITS = 16


def spread(
    values: Array, metadata: Array, dimension: int, kept: int, group: int
) -> tuple[Array, Array]:
    """Returns the array with its zeros, and which of its elements are stored ones.

    Of every `group` elements of the dimension `kept` are stored; their places in the group
    stand in 2 bits each of `metadata`, from the low bits of a u16 up.
    """
    if group > 1 << _POSITION_BITS:
        raise UnsupportedError(f"dot: sparsity {kept}:{group}, groups of 4 at most can be read")
    stored = np.moveaxis(values, dimension, -1)
    words = np.moveaxis(metadata, dimension, -1)
    size, in_word = stored.shape[-1], _WORD_BITS // _POSITION_BITS
    if words.shape != (*stored.shape[:-1], -(-size // in_word)):
        raise EvaluationError(
            f"dot: positions {list(metadata.shape)} of values {list(values.shape)}, one u16 for"
            f" {in_word} values along dimension {dimension} is wanted"
        )
    numbers = np.arange(size)
    positions = words[..., numbers // in_word] >> (numbers % in_word * _POSITION_BITS)
    places = (positions & 3) + numbers // kept * group
    if size and (positions & 3).max(initial=0) >= group:
        raise EvaluationError(f"dot: a value has position 3, less than {group} is wanted")
    # Of a dynamic dimension the last group may be there in part.
    whole = np.zeros((*stored.shape[:-1], -(-size // kept) * group), values.dtype)
    is_kept = np.zeros(whole.shape, np.bool_)
    # The values of a group come one after the other: two at one place add up.
    for number in range(kept):
        slot = slice(number, None, kept)
        one = np.zeros_like(whole)
        np.put_along_axis(one, places[..., slot], stored[..., slot], axis=-1)
        np.put_along_axis(is_kept, places[..., slot], np.True_, axis=-1)
        whole += one
    return np.moveaxis(whole, -1, dimension), np.moveaxis(is_kept, -1, dimension)


def product_of_kept(
    lhs: Array, lhs_kept: Array, rhs: Array, rhs_kept: Array, batch: int, contracting: int
) -> Array:
    """Returns [batch, rows, columns] of [batch, rows, n] and [batch, n, columns].

    Only products of two kept elements are summed. Numbers of dimensions are as in
    `product_of_paired`.
    """
    batches, rows = lhs.shape[:batch], lhs.shape[batch : lhs.ndim - contracting]
    columns = rhs.shape[batch + contracting :]
    terms = math.prod(rhs.shape[batch : batch + contracting])
    left = [one.reshape(math.prod(batches), math.prod(rows), terms) for one in (lhs, lhs_kept)]
    right = [one.reshape(math.prod(batches), terms, math.prod(columns)) for one in (rhs, rhs_kept)]
    sums = np.zeros((math.prod(batches), math.prod(rows), math.prod(columns)), lhs.dtype)
    for term in range(terms):
        (factor, ours), (other, theirs) = (
            [one[:, :, term, None] for one in left],
            [one[:, term, None, :] for one in right],
        )
        sums += np.where(ours & theirs, factor * other, lhs.dtype.type(0))
    return sums.reshape((*batches, *rows, *columns))
