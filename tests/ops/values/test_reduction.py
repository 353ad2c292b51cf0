"""Values of reductions, of map and of scan."""

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from tests.evaluating import entry, evaluated
from tests.ops.reducers import (
    ARGMAX,
    HORNER,
    HORNER_SLOW,
    INF,
    NAN,
    OPCODES,
    binary_reducer,
    listed,
)


def _reduced(
    opcode: str, element_type: str, array: Any, init: Any, dimensions: tuple[int, ...]
) -> Any:
    kept = tuple(s for d, s in enumerate(array.shape) if d not in dimensions)
    text = entry(
        f"a = {element_type}[{listed(array.shape)}] parameter(0)\n"
        f"i = {element_type}[] parameter(1)\n"
        f"ROOT r = {element_type}[{listed(kept)}] reduce(a, i),"
        f" dimensions={{{listed(dimensions)}}}, to_apply=f",
        binary_reducer(opcode, element_type),
    )
    return evaluated(text, array, np.asarray(init, array.dtype))


@pytest.mark.parametrize(
    ("opcode", "element_type", "elements", "init", "wanted"),
    [
        ("add", "f32", np.array([1e8, 1, -1e8], np.float32), 0, 1),
        ("add", "f32", np.array([-0.0, -0.0], np.float32), -0.0, -0.0),
        ("add", "f32", np.array([INF, -INF], np.float32), 0, NAN),
        ("add", "f32", np.array([3e38, 3e38, -3e38], np.float32), 0, 3e38),
        ("add", "f16", np.array([2048] + [1] * 8, np.float16), 0, 2056),
        ("add", "bf16", np.asarray([256] + [1] * 8, ml_dtypes.bfloat16), 0, 264),
        ("add", "s8", np.array([100, 100], np.int8), 0, -56),
        ("add", "u8", np.array([200, 100], np.uint8), 1, 45),
        ("add", "s4", np.asarray([7, 7], ml_dtypes.int4), 0, -2),
        ("add", "s1", np.array([-1, -1, -1], np.int8), 0, -1),
        ("add", "u1", np.array([1, 1, 1], np.uint8), 0, 1),
        ("add", "u64", np.array([2**64 - 1, 2], np.uint64), 0, 1),
        ("add", "pred", np.array([0, 1, 1], np.bool_), 0, 1),
        ("multiply", "pred", np.array([0, 1, 1], np.bool_), 1, 0),
        ("multiply", "f32", np.array([1e30, 1e30, 1e-30], np.float32), 1, 1e30),
        ("multiply", "s32", np.array([65536, 65536, 3], np.int32), 1, 0),
        ("multiply", "f32", np.array([INF, 0], np.float32), 1, NAN),
        ("maximum", "f32", np.array([1, NAN, 3], np.float32), -INF, NAN),
        ("minimum", "f32", np.array([1, NAN, 3], np.float32), INF, NAN),
        ("maximum", "f32", np.array([1, 3], np.float32), NAN, NAN),
        ("maximum", "f32", np.array([-0.0, 0.0, -0.0], np.float32), -INF, 0.0),
        ("minimum", "f32", np.array([0.0, -0.0, 0.0], np.float32), INF, -0.0),
        ("maximum", "f32", np.array([-INF, -INF], np.float32), -INF, -INF),
        ("maximum", "f64", np.array([1e-310, 5e-324], np.float64), 0, 1e-310),
        ("maximum", "bf16", np.asarray([-3, -2], ml_dtypes.bfloat16), -INF, -2),
        ("maximum", "s8", np.array([-128, 127], np.int8), -128, 127),
        ("minimum", "u32", np.array([2**31, 5], np.uint32), 2**32 - 1, 5),
        ("maximum", "s4", np.asarray([-8, -3], ml_dtypes.int4), -8, -3),
        ("maximum", "pred", np.array([0, 1], np.bool_), 0, 1),
        ("minimum", "pred", np.array([0, 1], np.bool_), 1, 0),
        ("and", "s8", np.array([-2, 7], np.int8), -1, 6),
        ("and", "u8", np.array([254, 7], np.uint8), 255, 6),
        ("or", "u16", np.array([1, 256], np.uint16), 0, 257),
        ("xor", "s32", np.array([5, 3], np.int32), -1, -7),
        ("xor", "pred", np.array([1, 1, 1], np.bool_), 0, 1),
        ("or", "s2", np.asarray([-2, 1], ml_dtypes.int2), 0, -1),
        ("add", "c64", np.array([1e8 + 1j, 1, -1e8], np.complex64), 1j, 1 + 2j),
        ("multiply", "c64", np.array([1j, 1j], np.complex64), 2, -2),
        ("subtract", "f32", np.array([1, 2], np.float32), 10, 7),
        ("divide", "s32", np.array([2, 3], np.int32), 100, 16),
        ("power", "f32", np.array([2, 3], np.float32), 2, 64),
    ],
)
def test_reducer_by_hand(
    opcode: str, element_type: str, elements: Any, init: Any, wanted: Any
) -> None:
    found = _reduced(opcode, element_type, elements, init, (0,))
    expected = np.asarray(wanted, elements.dtype)
    assert found.dtype == elements.dtype
    np.testing.assert_array_equal(found, expected)
    if elements.dtype == np.float32:
        assert np.isnan(wanted) or np.signbit(found) == np.signbit(expected)


@pytest.mark.parametrize("opcode", ["add", "multiply", "maximum", "minimum", "subtract"])
@pytest.mark.parametrize(("sizes", "dimensions"), [((0, 2), (0,)), ((2, 0), (1,)), ((0,), (0,))])
def test_nothing_to_reduce_leaves_the_initial_value(
    opcode: str, sizes: tuple[int, ...], dimensions: tuple[int, ...]
) -> None:
    found = _reduced(opcode, "f32", np.zeros(sizes, np.float32), 7, dimensions)
    assert (found == 7).all()
    assert found.ndim == len(sizes) - 1


@pytest.mark.parametrize("opcode", ["add", "subtract"])
def test_no_dimension_to_reduce_calls_once_an_element(opcode: str) -> None:
    found = _reduced(opcode, "f32", np.array([1, 2], np.float32), 10, ())
    np.testing.assert_array_equal(found, [11, 12] if opcode == "add" else [9, 8])
    assert _reduced(opcode, "f32", np.asarray(3, np.float32), 3, ()) == (
        6 if opcode == "add" else 0
    )


def test_kept_dimension_of_no_elements() -> None:
    assert _reduced("add", "f32", np.zeros((0, 3), np.float32), 1, (1,)).shape == (0,)
    assert _reduced("subtract", "f32", np.zeros((0, 3), np.float32), 1, (1,)).shape == (0,)


@pytest.mark.parametrize("reducer", [HORNER, HORNER_SLOW])
def test_elements_come_in_row_major_order(reducer: str) -> None:
    text = entry(
        "a = f32[2,2,2] parameter(0)\ni = f32[] constant(1)\n"
        "ROOT r = f32[2] reduce(a, i), dimensions={2,0}, to_apply=horner",
        reducer,
    )
    array = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    # Of column 0: 0, 1, 4, 5.
    np.testing.assert_array_equal(
        evaluated(text, array), [16 + 0 + 4 + 8 + 5, 16 + 16 + 12 + 12 + 7]
    )


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, 5, 3], (5, 1)),
        ([5, 1, 5, 5], (5, 0)),
        ([1, NAN, 3, NAN], (NAN, 1)),
        ([NAN], (NAN, 0)),
        ([-INF, -INF], (-INF, 0)),
        ([-0.0, 0.0], (0.0, 0)),
        ([], (-INF, 99)),
        ([2, 4, 4, 1, 4, 0, 3], (4, 1)),
    ],
)
def test_argmax(values: list[float], wanted: tuple[float, int]) -> None:
    text = entry(
        f"a = f32[{len(values)}] parameter(0)\nn = s32[{len(values)}] iota(), iota_dimension=0\n"
        "low = f32[] constant(-inf)\nz = s32[] constant(99)\n"
        "ROOT r = (f32[], s32[]) reduce(a, n, low, z), dimensions={0}, to_apply=argmax",
        ARGMAX,
    )
    value, index = evaluated(text, np.asarray(values, np.float32))
    np.testing.assert_array_equal(value, np.float32(wanted[0]))
    assert index == wanted[1]


def test_variadic_reducer_of_parts_that_do_not_meet() -> None:
    text = entry(
        "a = f32[2,3] parameter(0)\nb = s32[2,3] parameter(1)\n"
        "i = f32[] constant(10)\nj = s32[] constant(7)\n"
        "ROOT r = (f32[2], s32[2]) reduce(a, b, i, j), dimensions={1}, to_apply=both",
        "both { a = f32[] parameter(0)\n b = s32[] parameter(1)\n c = f32[] parameter(2)\n"
        " d = s32[] parameter(3)\n s = f32[] add(c, a)\n m = s32[] minimum(b, d)\n"
        " ROOT r = (f32[], s32[]) tuple(s, m) }",
    )
    total, least = evaluated(
        text,
        np.array([[1, 2, 3], [4, 5, 6]], np.float32),
        np.array([[9, 8, 9], [3, 1, 2]], np.int32),
    )
    np.testing.assert_array_equal(total, [16, 25])
    np.testing.assert_array_equal(least, [7, 1])


@pytest.mark.parametrize(("parameter", "wanted"), [(0, [7, 7]), (1, [3, 6])])
def test_reducer_that_yields_a_parameter(parameter: int, wanted: list[float]) -> None:
    names = ["a = f32[] parameter(0)", "b = f32[] parameter(1)"]
    names[parameter] = f"ROOT {names[parameter]}"
    text = entry(
        "a = f32[2,3] parameter(0)\ni = f32[] constant(7)\n"
        "ROOT r = f32[2] reduce(a, i), dimensions={1}, to_apply=one",
        "one { " + "\n".join(names) + " }",
    )
    array = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    np.testing.assert_array_equal(evaluated(text, array), wanted)


def test_reducer_that_yields_a_tuple_of_one() -> None:
    text = entry(
        "a = f32[3] parameter(0)\ni = f32[] constant(7)\n"
        "ROOT r = f32[] reduce(a, i), dimensions={0}, to_apply=f",
        "f { a = f32[] parameter(0)\n b = f32[] parameter(1)\n s = f32[] subtract(a, b)\n"
        " ROOT r = (f32[]) tuple(s) }",
    )
    assert evaluated(text, np.array([1, 2, 3], np.float32)) == 1


def test_elements_narrower_than_the_accumulator() -> None:
    text = entry(
        "a = bf16[300] parameter(0)\ni = f32[] constant(0)\n"
        "ROOT r = f32[] reduce(a, i), dimensions={0}, to_apply=f",
        "f { a = f32[] parameter(0)\n b = bf16[] parameter(1)\n c = f32[] convert(b)\n"
        " ROOT r = f32[] add(a, c) }",
    )
    assert evaluated(text, np.ones(300, ml_dtypes.bfloat16)) == 300


def test_only_live_elements_are_reduced() -> None:
    text = entry(
        "a = f32[<=4,2] parameter(0)\ni = f32[] constant(0)\n"
        "ROOT r = f32[2] reduce(a, i), dimensions={0}, to_apply=f",
        binary_reducer("add", "f32"),
    )
    np.testing.assert_array_equal(evaluated(text, np.ones((3, 2), np.float32)), [3, 3])


@pytest.mark.parametrize(
    "line",
    [
        "(f32[], s32[]) reduce(a, b, i, j), dimensions={0}, to_apply=argmax",
        "(f32[<=4], s32[<=4]) reduce-window(a, b, i, j), window={size=1}, to_apply=argmax",
        "f32[<=4] map(a, b), dimensions={0}, to_apply=first",
        "f32[<=4] scan(a, b), dimensions={0}, num_carries=0, to_apply=first",
    ],
)
def test_live_sizes_that_differ_are_an_error(line: str) -> None:
    text = entry(
        "a = f32[<=4] parameter(0)\nb = s32[<=4] parameter(1)\n"
        f"i = f32[] constant(0)\nj = s32[] constant(0)\nROOT r = {line}",
        ARGMAX,
        "first { ROOT a = f32[] parameter(0)\n b = s32[] parameter(1) }",
    )
    with pytest.raises(EvaluationError, match="equal ones are wanted"):
        evaluated(text, np.ones(3, np.float32), np.ones(2, np.int32))


@pytest.mark.parametrize("reducer", [HORNER, HORNER_SLOW])
def test_map(reducer: str) -> None:
    text = entry(
        "a = f32[2,2] parameter(0)\nb = f32[2,2] parameter(1)\n"
        "ROOT r = f32[2,2] map(a, b), dimensions={0,1}, to_apply=horner",
        reducer,
    )
    one, other = np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, INF]], np.float32)
    np.testing.assert_array_equal(evaluated(text, one, other), 2 * one + other)


@pytest.mark.parametrize("reducer", [HORNER, HORNER_SLOW])
@pytest.mark.parametrize("sizes", [(), (0,), (2, 0, 3)])
def test_map_of_scalars_and_of_nothing(reducer: str, sizes: tuple[int, ...]) -> None:
    shape = f"f32[{listed(sizes)}]"
    numbers = listed(tuple(range(len(sizes))))
    text = entry(
        f"a = {shape} parameter(0)\n"
        f"ROOT r = {shape} map(a, a), dimensions={{{numbers}}}, to_apply=horner",
        reducer,
    )
    found = evaluated(text, np.full(sizes, 2, np.float32))
    np.testing.assert_array_equal(found, np.full(sizes, 6))


def test_map_to_another_type_with_a_constant() -> None:
    text = entry(
        "a = s32[3] parameter(0)\nROOT r = pred[3] map(a), dimensions={0}, to_apply=big",
        "big { a = s32[] parameter(0)\n two = s32[] constant(2)\n"
        " ROOT r = pred[] compare(a, two), direction=GE }",
    )
    np.testing.assert_array_equal(
        evaluated(text, np.array([1, 2, 3], np.int32)), [False, True, True]
    )


def test_map_to_a_constant() -> None:
    text = entry(
        "a = s32[3] parameter(0)\nROOT r = s32[3] map(a), dimensions={0}, to_apply=two",
        "two { a = s32[] parameter(0)\n ROOT r = s32[] constant(2) }",
    )
    np.testing.assert_array_equal(evaluated(text, np.array([1, 2, 3], np.int32)), [2, 2, 2])


_STEP = """
step {
  x = f32[2] parameter(0)
  c = f32[2] parameter(1)
  n = f32[2] add(c, x)
  o = f32[2] multiply(n, n)
  ROOT r = (f32[2], f32[2]) tuple(o, n)
}
"""


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("is_reverse", [0, 1])
@pytest.mark.parametrize("dimension", [0, 1])
def test_scan(length: int, is_reverse: int, dimension: int) -> None:
    sizes = (length, 2) if dimension == 0 else (2, length)
    shape = f"f32[{listed(sizes)}]"
    reverse = "true" if is_reverse else "false"
    text = entry(
        f"x = {shape} parameter(0)\nc = f32[2] parameter(1)\n"
        f"ROOT r = ({shape}, f32[2]) scan(x, c), dimensions={{{dimension}}}, num_carries=1,"
        f" is_reverse={reverse}, to_apply=step",
        _STEP,
    )
    array = np.arange(1, 1 + 2 * length, dtype=np.float32).reshape(sizes)
    outputs, carry = evaluated(text, array, np.array([10, 20], np.float32))
    lines = np.moveaxis(array, dimension, 0)
    lines = lines[::-1] if is_reverse else lines
    sums = np.asarray([10, 20]) + np.cumsum(lines, axis=0)
    wanted = (sums[::-1] if is_reverse else sums) ** 2
    np.testing.assert_array_equal(np.moveaxis(outputs, dimension, 0), wanted)
    np.testing.assert_array_equal(carry, sums[-1] if length else [10, 20])


def test_scan_without_carries() -> None:
    text = entry(
        "x = f32[3,2] parameter(0)\n"
        "ROOT r = f32[3,2] scan(x), dimensions={0}, num_carries=0, to_apply=minus",
        "minus { x = f32[2] parameter(0)\n ROOT r = f32[2] negate(x) }",
    )
    array = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(evaluated(text, array), -array)


_NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -2.0, 3.0, NAN, INF, -INF])


@st.composite
def _array_and_dimensions(draw: st.DrawFn) -> tuple[Any, tuple[int, ...]]:
    sizes = draw(st.lists(st.integers(0, 3), max_size=3))
    count = int(np.prod(sizes, dtype=int))
    array = np.asarray(draw(st.lists(_NUMBERS, min_size=count, max_size=count)), np.float32)
    dimensions = draw(st.permutations(range(len(sizes))))
    chosen = draw(st.integers(0, len(sizes)))
    return array.reshape(sizes), tuple(dimensions[:chosen])


@given(_array_and_dimensions(), st.sampled_from(sorted(OPCODES)), _NUMBERS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_reduce_is_a_loop_over_elements(
    given_array: tuple[Any, tuple[int, ...]], opcode: str, init: float
) -> None:
    array, dimensions = given_array
    kept = [d for d in range(array.ndim) if d not in dimensions]
    wanted = np.full([array.shape[d] for d in kept], init, np.float64)
    for index in product(*map(range, array.shape)):
        place = tuple(index[d] for d in kept)
        wanted[place] = OPCODES[opcode](float(wanted[place]), float(array[index]))
    found = _reduced(opcode, "f32", array, init, dimensions)
    np.testing.assert_array_equal(found, wanted.astype(np.float32))
