"""Values of ops that move elements to other indices."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from hlotool.ir.element_type import ELEMENT_TYPES
from tests.evaluating import entry, evaluated

_FAST = settings(derandomize=True, deadline=None, max_examples=50)


def _array(values: Any, name: str = "s32") -> Any:
    return np.array(values).astype(ELEMENT_TYPES[name].numpy)


def _numbers(*sizes: int) -> Any:
    return np.arange(1, int(np.prod(sizes)) + 1, dtype=np.int32).reshape(sizes)


def _braces(numbers: Any) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _text(sizes: Any, name: str = "s32") -> str:
    return f"{name}[{','.join(map(str, sizes))}]"


def _computed(result: Any, line: str, *arrays: Any) -> Any:
    """Returns what an op makes of s32 arrays x0, x1, ..."""
    lines = [f"x{n} = {_text(array.shape)} parameter({n})" for n, array in enumerate(arrays)]
    lines.append(f"ROOT r = {_text(result)} {line}")
    return evaluated(entry("\n".join(lines)), *arrays)


_SIZES = st.lists(st.integers(0, 4), max_size=4)


@_FAST
@given(_SIZES, st.data())
def test_broadcast(sizes: list[int], data: st.DataObject) -> None:
    operand = _numbers(*sizes)
    more = data.draw(st.lists(st.integers(0, 3), max_size=2))
    rank = len(sizes) + len(more)
    dimensions = sorted(data.draw(st.permutations(range(rank)))[: len(sizes)])
    result = [0] * rank
    for size, dimension in zip(sizes, dimensions, strict=True):
        result[dimension] = size
    for size, dimension in zip(more, [d for d in range(rank) if d not in dimensions], strict=True):
        result[dimension] = size
    wanted = np.zeros(result, np.int32)
    for index in product(*map(range, result)):
        wanted[index] = operand[tuple(index[d] for d in dimensions)]
    found = _computed(result, f"broadcast(x0), dimensions={_braces(dimensions)}", operand)
    assert found.tolist() == wanted.tolist()


@_FAST
@given(_SIZES, st.data())
def test_transpose_and_reverse(sizes: list[int], data: st.DataObject) -> None:
    operand = _numbers(*sizes)
    order = data.draw(st.permutations(range(len(sizes))))
    result = [sizes[d] for d in order]
    found = _computed(result, f"transpose(x0), dimensions={_braces(order)}", operand)
    for index in product(*map(range, result)):
        source = [0] * len(sizes)
        for place, dimension in zip(index, order, strict=True):
            source[dimension] = place
        assert found[index] == operand[tuple(source)]
    turned = order[: len(order) // 2]
    found = _computed(sizes, f"reverse(x0), dimensions={_braces(turned)}", operand)
    for index in product(*map(range, sizes)):
        source = [sizes[d] - 1 - i if d in turned else i for d, i in enumerate(index)]
        assert found[index] == operand[tuple(source)]


@_FAST
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2)),
        min_size=1,
        max_size=3,
    )
)
def test_pad(paddings: list[tuple[int, int, int, int]]) -> None:
    grown = [size + max(0, size - 1) * inner for size, _, _, inner in paddings]
    result = [low + n + high for n, (_, low, high, _) in zip(grown, paddings, strict=True)]
    if any(size < 0 for size in result):
        return
    operand = _numbers(*(size for size, *_ in paddings))
    wanted = np.full(result, 99, np.int32)
    for index in product(*map(range, operand.shape)):
        place = [
            low + i * (inner + 1) for i, (_, low, _, inner) in zip(index, paddings, strict=True)
        ]
        if all(0 <= p < size for p, size in zip(place, result, strict=True)):
            wanted[tuple(place)] = operand[index]
    config = "x".join(f"{low}_{high}_{inner}" for _, low, high, inner in paddings)
    found = _computed(result, f"pad(x0, x1), padding={config}", operand, np.int32(99))
    assert found.tolist() == wanted.tolist()


def test_pad_puts_elements_between_before_it_cuts() -> None:
    found = _computed([5], "pad(x0, x1), padding=-1_-1_1", _numbers(4), np.int32(9))
    assert found.tolist() == [9, 2, 9, 3, 9]


@_FAST
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 8)), max_size=3))
def test_slice(bounds: list[tuple[int, int, int]]) -> None:
    ranges = [range(min(a, b), max(a, b), stride) for a, b, stride in bounds]
    operand = _numbers(*[6] * len(bounds))
    result = [len(numbers) for numbers in ranges]
    shown = ", ".join(f"[{numbers.start}:{numbers.stop}:{numbers.step}]" for numbers in ranges)
    found = _computed(result, f"slice(x0), slice={{{shown}}}", operand)
    for index in product(*map(range, result)):
        source = tuple(numbers[i] for numbers, i in zip(ranges, index, strict=True))
        assert found[index] == operand[source]


@_FAST
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 1))
def test_concatenate(lengths: list[int], dimension: int) -> None:
    sizes = [(2, n) if dimension else (n, 2) for n in lengths]
    pieces = [np.full(size, 10 * n, np.int32) + _numbers(*size) for n, size in enumerate(sizes)]
    result = [2, sum(lengths)] if dimension else [sum(lengths), 2]
    names = ", ".join(f"x{n}" for n in range(len(pieces)))
    found = _computed(result, f"concatenate({names}), dimensions={{{dimension}}}", *pieces)
    first = 0
    for piece in pieces:
        for (row, column), value in np.ndenumerate(piece):
            place = (row, column + first) if dimension else (row + first, column)
            assert found[place] == value
        first += piece.shape[dimension]


def test_reshape_keeps_the_order_of_indices_whatever_the_layouts() -> None:
    text = entry("x = s32[2,3]{0,1} parameter(0)\nROOT r = s32[3,2]{0,1} reshape(x)")
    assert evaluated(text, _numbers(2, 3)).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert _computed([], "reshape(x0)", _numbers(1, 1)).tolist() == 1


def _bitcast(operand: str, result: str, array: Any) -> Any:
    return evaluated(entry(f"x = {operand} parameter(0)\nROOT r = {result} bitcast(x)"), array)


@pytest.mark.parametrize(
    ("operand", "result", "wanted"),
    [
        ("s32[2,3]{1,0}", "s32[3,2]{1,0}", [[1, 2], [3, 4], [5, 6]]),
        ("s32[2,3]{1,0}", "s32[3,2]{0,1}", [[1, 4], [2, 5], [3, 6]]),
        ("s32[2,3]{0,1}", "s32[6]{0}", [1, 4, 2, 5, 3, 6]),
        ("s32[2,3]{0,1}", "s32[2,3]{0,1}", [[1, 2, 3], [4, 5, 6]]),
        # Two tiles of 2x2 lie one behind the other, the second with a column of padding.
        ("s32[2,3]{1,0:T(2,2)}", "s32[8]{0}", [1, 2, 4, 5, 3, 0, 6, 0]),
        ("s32[2,3]{1,0:T(2,2)}", "s32[2,3]{1,0:T(2,2)}", [[1, 2, 3], [4, 5, 6]]),
        ("s32[2,3]{1,0}", "s32[2,3]{1,0:T(1)}", [[1, 2, 3], [4, 5, 6]]),
    ],
)
def test_bitcast_keeps_the_order_in_memory(operand: str, result: str, wanted: Any) -> None:
    assert _bitcast(operand, result, _numbers(2, 3)).tolist() == wanted


def test_bitcast_reads_bytes_as_another_type() -> None:
    ones = np.array([1.0, -2.0], np.float32)
    assert _bitcast("f32[2]", "u32[2]", ones).tolist() == [0x3F800000, 0xC0000000]
    assert _bitcast("f32[2]", "u8[2,4]", ones).tolist() == [[0, 0, 128, 63], [0, 0, 0, 192]]
    assert _bitcast("u8[4]", "f32[]", _array([0, 0, 128, 63], "u8")) == 1
    assert _bitcast("c64[1]", "f32[2]", np.array([3 - 4j], np.complex64)).tolist() == [3, -4]
    assert _bitcast("f32[2]", "c64[]", ones) == 1 - 2j
    assert _bitcast("u8[2]", "s8[2]", _array([255, 1], "u8")).tolist() == [-1, 1]


def test_bitcast_of_packed_elements_has_the_first_in_the_low_bits() -> None:
    packed = _array([0x21, 0xF3], "u8")
    found = _bitcast("u8[2]", "s4[4]{0:E(4)}", packed)
    assert found.dtype == ELEMENT_TYPES["s4"].numpy
    assert found.tolist() == [1, 2, 3, -1]
    assert _bitcast("s4[4]{0:E(4)}", "u8[2]", found).tolist() == [0x21, 0xF3]
    assert _bitcast("s4[2]{0}", "s4[2]{0:E(8)}", found[:2]).tolist() == [1, 2]


_TWO = """
x = s32[4,3] parameter(0)
n = s32[] parameter(1)
m = s32[] parameter(2)
y = s32[<=4,3] set-dimension-size(x, n), dimensions={0}
z = s32[<=4,<=3] set-dimension-size(y, m), dimensions={1}
"""


def _live(line: str, rows: int = 2, columns: int = 2) -> Any:
    """Returns what an op makes of z, the first rows and columns of the numbers 1 to 12."""
    return evaluated(entry(_TWO + line), _numbers(4, 3), np.int32(rows), np.int32(columns))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("s32[<=3,<=4] transpose(z), dimensions={1,0}", [[1, 4], [2, 5]]),
        ("s32[<=4,<=3] reverse(z), dimensions={0}", [[4, 5], [1, 2]]),
        ("s32[<=4,2,<=3] broadcast(z), dimensions={0,2}", [[[1, 2]] * 2, [[4, 5]] * 2]),
        ("s32[<=3,<=2] slice(z), slice={[1:4], [0:3:2]}", [[4]]),
        ("s32[<=8,<=3] concatenate(z, z), dimensions={0}", [[1, 2], [4, 5], [1, 2], [4, 5]]),
        ("s32[<=4,1,<=3] reshape(z)", [[[1, 2]], [[4, 5]]]),
        ("s32[<=12] reshape(z)", [1, 2, 4, 5]),
        ("s32[2,<=2,<=3] reshape(z)", [[[1, 2]], [[4, 5]]]),
        ("s32[<=4,<=3,1] reshape(z)", [[[1], [2]], [[4], [5]]]),
        ("s32[<=6,<=5] pad(z, n), padding=1_1x2_0", [[2] * 4, [2, 2, 1, 2], [2, 2, 4, 5], [2] * 4]),
        ("s32[<=4,<=3] bitcast(z)", [[1, 2], [4, 5]]),
    ],
)
def test_what_is_live_of_dynamic_dimensions(line: str, wanted: Any) -> None:
    assert _live("ROOT r = " + line).tolist() == wanted


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("s32[12] reshape(z)", "has no dynamic dimension that could have less elements"),
        ("s32[<=2,6] reshape(z)", "4 elements do not fill dimension 0 of s32"),
        ("s32[<=2,<=6] reshape(z)", "has 2 dynamic dimensions that could have less elements"),
        ("s32[12] bitcast(z)", "are live, all are wanted"),
        ("s32[4,3] copy(z)", "s32.4,3. is declared"),
    ],
)
def test_what_is_live_may_not_fit(line: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        _live("ROOT r = " + line)


def test_reshape_with_an_inferred_dimension() -> None:
    found = _live("ROOT r = s32[<=2,<=6] reshape(z), inferred_dimension=1")
    assert found.tolist() == [[1, 2], [4, 5]]


def test_concatenate_checks_what_is_live() -> None:
    with pytest.raises(EvaluationError, match="may differ in dimension 0 only"):
        _live("ROOT r = s32[<=8,<=3] concatenate(z, y), dimensions={0}")


_DYNAMIC_RESHAPE = (
    "a = s32[] parameter(3)\nb = s32[] parameter(4)\nROOT r = s32[<=6,<=2] dynamic-reshape(z, a, b)"
)


def _dynamic_reshape(*sizes: int) -> Any:
    numbers = map(np.int32, (2, 3, *sizes))
    return evaluated(entry(_TWO + _DYNAMIC_RESHAPE), _numbers(4, 3), *numbers)


def test_dynamic_reshape() -> None:
    assert _dynamic_reshape(3, 2).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert _dynamic_reshape(6, 1).tolist() == [[1], [2], [3], [4], [5], [6]]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((2, 2), "hold 4 elements, the 6 of the operand are wanted"),
        ((2, 3), "size 3 is given, one within"),
        ((-3, -2), "size -3 is given, one within"),
    ],
)
def test_dynamic_reshape_wants_sizes_that_fit(sizes: tuple[int, int], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        _dynamic_reshape(*sizes)


@_FAST
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(1, 3), st.integers(0, 1)),
        min_size=1,
        max_size=3,
    )
)
def test_reshape_takes_dimensions_apart_each_by_itself(
    parts: list[tuple[int, int, int, int]],
) -> None:
    # Dimension by dimension: a number of rows, how many are live, their length, and a dimension
    # of one element behind them.
    parts = [(rows, min(live, rows), length, one) for rows, live, length, one in parts]
    whole = _numbers(*(rows * length for rows, _, length, _ in parts))
    bounds = ",".join(f"<={size}" for size in whole.shape)
    lines = [f"y0 = {_text(whole.shape)} parameter(0)"]
    for d, (_, live, length, _) in enumerate(parts):
        marked = [f"<={size}" if n <= d else str(size) for n, size in enumerate(whole.shape)]
        lines.append(f"n{d} = s32[] constant({live * length})")
        lines.append(
            f"y{d + 1} = s32[{','.join(marked)}] set-dimension-size(y{d}, n{d}), dimensions={{{d}}}"
        )
    split = [f"<={rows},{length}" + ",1" * one for rows, _, length, one in parts]
    lines.append(f"z = s32[{','.join(split)}] reshape(y{len(parts)})")
    lines.append(f"back = s32[{bounds}] reshape(z)")
    lines.append("ROOT r = tuple(z, back)")
    apart, back = evaluated(entry("\n".join(lines)), whole)
    kept = whole[tuple(slice(live * length) for _, live, length, _ in parts)]
    assert back.tolist() == kept.tolist()
    assert apart.shape == tuple(
        size for _, live, length, one in parts for size in (live, length, *[1] * one)
    )
    assert apart.ravel().tolist() == kept.ravel().tolist()


@pytest.mark.parametrize("name", ["s1", "u1", "s2", "u2", "s4", "u4", "f4e2m1fn", "f6e2m3fn"])
def test_bitcast_to_a_narrow_type_leaves_high_bits_out(name: str) -> None:
    found = _bitcast("u8[256]", f"{name}[256]", np.arange(256, dtype=np.uint8))
    bits = ELEMENT_TYPES[name].bits
    clean = _bitcast("u8[256]", f"{name}[256]", np.arange(256, dtype=np.uint8) % (1 << bits))
    assert found.tobytes() == clean.tobytes()
    back = _bitcast(f"{name}[256]", "u8[256]", found)
    assert back.tolist() == [byte % (1 << bits) for byte in range(256)]
