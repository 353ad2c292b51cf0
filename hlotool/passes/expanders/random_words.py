"""The generators ThreeFry-2x32 and Philox-4x32, written out in integer ops."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.ir.element_type import U32, U64
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_changing import Concatenate
from hlotool.rewriting.terms import Term

_THREEFRY_PARITY = 0x1BD11BDA
_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_THREEFRY_GROUPS = 5
_PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_PHILOX_ROUNDS = 10


def threefry_bits(key: Term, counter: Term, sizes: Sequence[int], bits: int) -> tuple[Term, Term]:
    """Returns random words of `sizes`, and the counter after them; key and counter are u64.

    Words are u64 for more than 32 bits, else u32.
    """
    if bits > U32.bits:
        words = _threefry(key, _counted(counter, prod(sizes)))
        return _paired(*words).reshaped(sizes), counter + prod(sizes)
    given = list(sizes) or [1]
    split = _split_dimension(given)
    half = list(given)
    half[split] = (given[split] + 1) // 2
    blocks = _threefry(key, _counted(counter, prod(half)))
    # The words of a block lie side by side along the dimension that is split.
    full = [*half[:split], 2 * half[split], *half[split + 1 :]]
    beside = [*half[: split + 1], 1, *half[split + 1 :]]
    stacked = _joined([block.reshaped(beside) for block in blocks], split + 1)
    cut = stacked.reshaped(full).part([0] * len(given), given)
    return cut.reshaped(sizes), counter + prod(half)


def _threefry(key: Term, counters: Term) -> tuple[Term, Term]:
    """Returns the two u32 words of the block of each u64 counter."""
    words = _halves(key)
    schedule = (*words, words[0] ^ words[1] ^ _THREEFRY_PARITY)
    one, other = _halves(counters)
    one, other = one + schedule[0], other + schedule[1]
    for group in range(_THREEFRY_GROUPS):
        for rotation in _THREEFRY_ROTATIONS[group % 2]:
            one = one + other
            other = (other << rotation | other >> (U32.bits - rotation)) ^ one
        one = one + schedule[(group + 1) % 3]
        other = other + (schedule[(group + 2) % 3] + (group + 1))
    return one, other


def _split_dimension(sizes: Sequence[int]) -> int:
    even = [dimension for dimension, size in enumerate(sizes) if size % 2 == 0]
    return even[0] if even else list(sizes).index(max(sizes))


def philox_bits(
    key: Term, low: Term, high: Term, sizes: Sequence[int], bits: int
) -> tuple[Term, Term, Term]:
    """Returns random words of `sizes`, and both halves of the counter after them.

    Key and halves are u64. Words are u64 for more than 32 bits, else u32.
    """
    count = prod(sizes)
    word_count = 2 * count if bits > U32.bits else count
    block_count = -(-word_count // 4)
    counters = _counted(low, block_count)
    highs = high + counters.compared("LT", low).converted(U64)
    words = [word.reshaped([block_count, 1]) for word in _philox(key, counters, highs)]
    if bits > U32.bits:
        words = [_paired(words[0], words[1]), _paired(words[2], words[3])]
    line = _joined(words, 1).reshaped([block_count * len(words)])
    following = low + block_count
    carry = following.compared("LT", low).converted(U64)
    return line.part([0], [count]).reshaped(sizes), following, high + carry


def _philox(key: Term, low: Term, high: Term) -> tuple[Term, Term, Term, Term]:
    """Returns the four u32 words of the block of each counter."""
    words = (*_halves(low), *_halves(high))
    keys = _halves(key)
    for number in range(_PHILOX_ROUNDS):
        low_0, high_0 = _halves(words[0].converted(U64) * _PHILOX_MULTIPLIERS[0])
        low_1, high_1 = _halves(words[2].converted(U64) * _PHILOX_MULTIPLIERS[1])
        ours, theirs = (
            part + ((number * step) & 0xFFFF_FFFF)
            for part, step in zip(keys, _PHILOX_KEY_STEPS, strict=True)
        )
        words = (high_1 ^ words[1] ^ ours, low_1, high_0 ^ words[3] ^ theirs, low_0)
    return words


def _counted(counter: Term, count: int) -> Term:
    """Returns as many counters from the one given on."""
    numbers = counter.build.iota(0, ArrayShape(U64, [count]))
    return counter.of(numbers) + counter


def _halves(numbers: Term) -> tuple[Term, Term]:
    """Returns the low and the high 32 bits of u64 numbers."""
    return numbers.converted(U32), (numbers >> U32.bits).converted(U32)


def _paired(low: Term, high: Term) -> Term:
    """Returns u64 numbers of which the halves are given."""
    return low.converted(U64) | high.converted(U64) << U32.bits


def _joined(parts: Sequence[Term], dimension: int) -> Term:
    instructions = [part.instruction for part in parts]
    return parts[0].of(parts[0].build.add(Concatenate(dimension), *instructions))


def numbers_of_state(state: Term) -> list[Term]:
    """Returns the u64 numbers of a state as scalars."""
    (length,) = state.shape.dimensions
    return [state.part([n], [n + 1]).reshaped([]) for n in range(length)]


def state_of_numbers(numbers: Sequence[Term]) -> Term:
    """Returns the state that holds u64 scalars."""
    return _joined([number.reshaped([1]) for number in numbers], 0)
