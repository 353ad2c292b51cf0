"""Random numbers: the bits against ciphers in plain Python, the rest by range and moments."""

from collections.abc import Iterator, Sequence
from itertools import count, islice, product
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ops.numerics.philox import philox
from hlotool.ops.numerics.threefry import threefry
from hlotool.text.parser import parse
from tests.evaluating import evaluated

WORD = (1 << 32) - 1
LONG = (1 << 64) - 1
PI = [0x85A308D3243F6A88, 0x0370734413198A2E]
"""The first digits of pi, as the published test vectors of both ciphers take them."""


def threefry_block(key: int, counter: int) -> tuple[int, int]:
    """Returns the two words of a block, worked in whole numbers."""
    keys = [key & WORD, key >> 32]
    keys.append(0x1BD11BDA ^ keys[0] ^ keys[1])
    x, y = (counter + keys[0]) & WORD, ((counter >> 32) + keys[1]) & WORD
    rotations = [13, 15, 26, 6, 17, 29, 16, 24]
    for number in range(20):
        rotation = rotations[number % 8]
        x = (x + y) & WORD
        y = ((y << rotation | y >> (32 - rotation)) & WORD) ^ x
        if number % 4 == 3:
            group = number // 4 + 1
            x = (x + keys[group % 3]) & WORD
            y = (y + keys[(group + 1) % 3] + group) & WORD
    return x, y


def philox_block(key: int, counter: int) -> list[int]:
    """Returns the four words of a block, worked in whole numbers."""
    words = [counter >> 32 * n & WORD for n in range(4)]
    k, m = key & WORD, key >> 32
    for _ in range(10):
        first, second = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [
            second >> 32 ^ words[1] ^ k, second & WORD,
            first >> 32 ^ words[3] ^ m, first & WORD,
        ]  # fmt: skip
        k, m = (k + 0x9E3779B9) & WORD, (m + 0xBB67AE85) & WORD
    return words


def threefry_vector(key: int, counter: int) -> tuple[int, ...]:
    return tuple(int(word[0]) for word in threefry(key, np.array([counter], np.uint64)))


@pytest.mark.parametrize(
    ("key", "counter", "wanted"),
    [
        (0, 0, (0x6B200159, 0x99BA4EFE)),
        (LONG, LONG, (0x1CB996FC, 0xBB002BE7)),
        (PI[1], PI[0], (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_published_threefry_vectors(key: int, counter: int, wanted: tuple[int, int]) -> None:
    assert threefry_vector(key, counter) == threefry_block(key, counter) == wanted


@pytest.mark.parametrize(
    ("key", "low", "high", "wanted"),
    [
        (0, 0, 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        (LONG, LONG, LONG, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (0x299F31D0A4093822, *PI, [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ],
)
def test_published_philox_vectors(key: int, low: int, high: int, wanted: list[int]) -> None:
    halves = (np.array([half], np.uint64) for half in (low, high))
    assert [int(word[0]) for word in philox(key, *halves)] == wanted
    assert philox_block(key, low | high << 64) == wanted


def bits(algorithm: str, element_type: str, sizes: Sequence[int], state: Sequence[int]) -> Any:
    texts = f"u64[{len(state)}]", f"{element_type}[{','.join(map(str, sizes))}]"
    return evaluated(
        f"({', '.join(texts)}) rng-bit-generator({texts[0]} s), algorithm={algorithm}",
        np.array(state, np.uint64),
    )


def test_bits_that_a_front_end_saw() -> None:
    # What XLA for CPU made of a JAX program with the default algorithm.
    state, values = bits("rng_default", "u32", [16], [2 << 32 | 1, 4 << 32 | 3])
    assert state.tolist() == [2 << 32 | 1, 4 << 32 | 7]
    assert values[:4].tolist() == [512747620, 1298009047, 1267190206, 761827841]
    assert values[-2:].tolist() == [3495892623, 3810382818]


def test_the_array_alone() -> None:
    state = np.array([1, 2], np.uint64)
    alone = evaluated("u32[3] rng-bit-generator(u64[2] s), algorithm=rng_philox", state)
    assert alone.tolist() == bits("rng_philox", "u32", [3], [1, 2])[1].tolist()


def philox_words(key: int, counter: int) -> Iterator[int]:
    for block in count():
        yield from philox_block(key, (counter + block) % (1 << 128))


def philox_twin(state: Sequence[int], sizes: Sequence[int], width: int) -> tuple[Any, list[int]]:
    key, low = state[:2]
    counter = low | (state[2] if len(state) == 3 else key) << 64
    number = prod(sizes)
    words = philox_words(key, counter)
    if width == 64:
        values = [next(words) | next(words) << 32 for _ in range(number)]
    else:
        values = [word % (1 << width) for word in islice(words, number)]
    after = counter + -(-number * (2 if width == 64 else 1) // 4)
    return values, [key, after & LONG, after >> 64 & LONG][: len(state)]


def threefry_twin(state: Sequence[int], sizes: Sequence[int], width: int) -> tuple[Any, list[int]]:
    key, counter = state
    if width == 64:
        blocks = [threefry_block(key, (counter + n) & LONG) for n in range(prod(sizes))]
        return [x | y << 32 for x, y in blocks], [key, (counter + len(blocks)) & LONG]
    given_sizes = list(sizes) or [1]
    split = next(
        (d for d, size in enumerate(given_sizes) if size % 2 == 0),
        given_sizes.index(max(given_sizes)),
    )
    half = list(given_sizes)
    half[split] = -(-half[split] // 2)
    values = []
    for place in product(*map(range, given_sizes)):
        number = 0
        for d, size in enumerate(half):
            number = number * size + (place[d] // 2 if d == split else place[d])
        block = threefry_block(key, (counter + number) & LONG)
        values.append(block[place[split] % 2] % (1 << width))
    return values, [key, (counter + prod(half)) & LONG]


WIDTHS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "s8": 8, "s16": 16, "s32": 32, "s64": 64}
numbers = st.one_of(st.integers(0, LONG), st.integers(LONG - 3, LONG))
shapes = st.lists(st.integers(0, 5), max_size=3)


def check(algorithm: str, twin: Any, element_type: str, sizes: list[int], state: list[int]) -> None:
    values, after = twin(state, sizes, WIDTHS[element_type])
    state_found, found = bits(algorithm, element_type, sizes, state)
    assert state_found.tolist() == after
    unsigned = found.view(f"u{found.dtype.itemsize}")
    assert unsigned.shape == tuple(sizes)
    assert unsigned.ravel().tolist() == values


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.sampled_from(sorted(WIDTHS)), shapes, st.lists(numbers, min_size=2, max_size=2))
def test_threefry_bits(element_type: str, sizes: list[int], state: list[int]) -> None:
    check("rng_three_fry", threefry_twin, element_type, sizes, state)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.sampled_from(sorted(WIDTHS)), shapes, st.lists(numbers, min_size=2, max_size=3))
def test_philox_bits(element_type: str, sizes: list[int], state: list[int]) -> None:
    check("rng_philox", philox_twin, element_type, sizes, state)


def test_counters_of_philox_carry_into_their_high_half() -> None:
    state, values = bits("rng_philox", "u32", [8], [5, LONG, LONG])
    assert state.tolist() == [5, 1, 0]
    assert values[4:].tolist() == philox_block(5, 0)


def test_narrow_elements_take_the_low_bits() -> None:
    wide = bits("rng_philox", "u32", [40], [1, 2])[1]
    narrow = bits("rng_philox", "s4", [40], [1, 2])[1].astype(int)
    assert narrow.tolist() == ((wide.astype(int) & 15 ^ 8) - 8).tolist()


def test_states_that_no_algorithm_has() -> None:
    with pytest.raises(EvaluationError, match="u64 numbers as rng_philox has them are wanted"):
        evaluated(
            "(u32[2], u32[2]) rng-bit-generator(u32[2] s), algorithm=rng_default",
            np.array([1, 2], np.uint32),
        )


def rng(result: str, kind: str, low: Any, high: Any) -> Any:
    name = result[: result.index("[")]
    text = f"{result} rng({name}[] a, {name}[] b), distribution=rng_{kind}"
    return evaluated(text, low, high)


@pytest.mark.parametrize("numpy_type", [np.float32, np.float64, np.float16])
def test_uniform_floats(numpy_type: Any) -> None:
    name = {2: "f16", 4: "f32", 8: "f64"}[np.dtype(numpy_type).itemsize]
    drawn = rng(f"{name}[50,40]", "uniform", numpy_type(-1), numpy_type(3))
    assert drawn.dtype == numpy_type
    assert ((drawn >= -1) & (drawn < 3)).all()
    assert abs(drawn.astype(float).mean() - 1) < 0.1
    assert drawn.min() < -0.9
    assert drawn.max() > 2.9


def test_the_upper_bound_is_excluded_when_rounding_reaches_it() -> None:
    one, two = (np.array(value, ml_dtypes.float8_e5m2) for value in (1, 1.25))
    assert (rng("f8e5m2[100]", "uniform", one, two).astype(float) == 1).all()


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("s32", -2, 2),
        ("u8", 250, 255),
        ("s64", -(2**63), -(2**63) + 2),
        ("u64", LONG - 3, LONG),
    ],
)
def test_uniform_integers(name: str, low: int, high: int) -> None:
    numpy_type = ELEMENT_TYPES[name].numpy
    bounds = (np.array(bound, numpy_type) for bound in (low, high))
    drawn = rng(f"{name}[200]", "uniform", *bounds)
    assert set(drawn.tolist()) == set(range(low, high))


def test_bounds_that_leave_one_number() -> None:
    assert rng("s32[3]", "uniform", np.int32(5), np.int32(5)).tolist() == [5, 5, 5]
    assert rng("f32[2]", "uniform", np.float32(5), np.float32(5)).tolist() == [5, 5]


def test_uniform_pred_means_nothing() -> None:
    with pytest.raises(UnsupportedError, match="rng: rng_uniform of pred"):
        rng("pred[2]", "uniform", np.False_, np.True_)


def test_normal_floats() -> None:
    drawn = rng("f32[100,100]", "normal", np.float32(3), np.float32(2)).astype(float)
    assert abs(drawn.mean() - 3) < 0.1
    assert abs(drawn.std() - 2) < 0.1


def test_each_draw_is_new_and_each_run_the_same() -> None:
    text = "f32[4] rng(f32[] a, f32[] b), distribution=rng_uniform"
    module, bounds = parse(text), [np.array(bound, np.float32) for bound in (0, 1)]
    device = LoneDevice(seed=7)
    first, second = (evaluate_module(module, bounds, device) for _ in range(2))
    again = evaluate_module(module, bounds, LoneDevice(seed=7))
    assert first.tolist() != second.tolist()
    assert first.tolist() == again.tolist()


def test_state_of_the_device() -> None:
    module, device = parse("u64[2] rng-get-and-update-state(), delta=3"), LoneDevice()
    assert evaluate_module(module, [], device).tolist() == [0x7012395, 0]
    assert evaluate_module(module, [], device).tolist() == [0x7012398, 0]
    device.random_state = (1 << 128) - 2
    assert evaluate_module(module, [], device).tolist() == [LONG - 1, LONG]
    assert evaluate_module(module, [], device).tolist() == [1, 0]
