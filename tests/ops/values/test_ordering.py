"""Values of sort and topk."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from hlotool.ir.element_type import ELEMENT_TYPES
from tests.evaluating import entry, evaluated

NAN = float("nan")
_FAST = settings(derandomize=True, deadline=None, max_examples=40)


def _array(values: Any, name: str) -> Any:
    return np.array(values).astype(ELEMENT_TYPES[name].numpy)


def _comparator(*names: str, root: str) -> str:
    """Returns a computation `f` of pairs a0 and b0, a1 and b1, ... of these types."""
    lines = [
        f"{side}{n} = {name}[] parameter({2 * n + place})"
        for n, name in enumerate(names)
        for place, side in enumerate("ab")
    ]
    return "f {\n" + "\n".join(lines) + "\n" + root + "\n}"


def _sorted(comparator: str, *operands: tuple[Any, str], dimension: int = 0) -> Any:
    shown = [f"{name}[{','.join(map(str, array.shape))}]" for array, name in operands]
    lines = [f"x{n} = {shape} parameter({n})" for n, shape in enumerate(shown)]
    result = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
    names = ", ".join(f"x{n}" for n in range(len(shown)))
    lines.append(f"ROOT r = {result} sort({names}), dimensions={{{dimension}}}, to_apply=f")
    return evaluated(entry("\n".join(lines), comparator), *(array for array, _ in operands))


def _compare(direction: str, suffix: str = "") -> str:
    return f"ROOT r = pred[] compare(a0, b0), direction={direction}{suffix}"


# The second computes with arrays, so that it is called for one pair at a time.
_DIRECT = _comparator("s32", root=_compare("LT"))
_CALLED = _comparator(
    "s32",
    root=(
        "c = s32[1] reshape(a0)\nd = s32[1] reshape(b0)\n"
        "e = pred[1] compare(c, d), direction=LT\nROOT r = pred[] reshape(e)"
    ),
)
_COMPUTED = _comparator("s32", root="n = pred[] compare(a0, b0), direction=GE\nROOT r = not(n)")


@pytest.mark.parametrize("comparator", [_DIRECT, _CALLED, _COMPUTED])
def test_each_line_is_sorted_by_itself(comparator: str) -> None:
    operand = _array([[3, -1, 2], [0, 5, -7]], "s32")
    assert _sorted(comparator, (operand, "s32"), dimension=1).tolist() == [[-1, 2, 3], [-7, 0, 5]]
    assert _sorted(comparator, (operand, "s32"), dimension=0).tolist() == [[0, -1, -7], [3, 5, 2]]


@pytest.mark.parametrize("comparator", [_DIRECT, _CALLED, _COMPUTED])
@pytest.mark.parametrize("size", [(0,), (1,), (2, 0), (0, 2)])
def test_there_may_be_nothing_to_sort(comparator: str, size: tuple[int, ...]) -> None:
    operand = np.zeros(size, np.int32)
    assert _sorted(comparator, (operand, "s32")).shape == size


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("u8", [0, 255, 7], [255, 7, 0]),
        ("u64", [2**64 - 1, 0, 2**63], [2**64 - 1, 2**63, 0]),
        ("s8", [-128, 127, 0], [127, 0, -128]),
        ("s4", [-8, 7, 0], [7, 0, -8]),
        ("pred", [False, True, False], [True, False, False]),
        ("bf16", [0.5, -3.0, 1.0], [1.0, 0.5, -3.0]),
        ("f32", [float("-inf"), float("inf"), 0.0], [float("inf"), 0.0, float("-inf")]),
    ],
)
def test_descending_order_of_any_type(name: str, values: list[Any], wanted: list[Any]) -> None:
    operand = np.array(values, np.uint64) if name == "u64" else _array(values, name)
    found = _sorted(_comparator(name, root=_compare("GT")), (operand, name))
    assert found.tolist() == wanted


@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_equals_keep_their_order(direction: str) -> None:
    keys = _array([1, 0, 1, 0, 1], "s32")
    comparator = _comparator("s32", "s32", root=_compare(direction))
    _, places = _sorted(comparator, (keys, "s32"), (np.arange(5, dtype=np.int32), "s32"))
    assert places.tolist() == ([1, 3, 0, 2, 4] if direction == "LT" else [0, 2, 4, 1, 3])


def test_zeros_are_equal_but_not_in_total_order() -> None:
    zeros = _array([0.0, -0.0, 0.0, -0.0], "f32")
    plain = _sorted(_comparator("f32", root=_compare("LT")), (zeros, "f32"))
    assert np.signbit(plain).tolist() == [False, True, False, True]
    total = _sorted(_comparator("f32", root=_compare("LT", ", type=TOTALORDER")), (zeros, "f32"))
    assert np.signbit(total).tolist() == [True, True, False, False]


def test_total_order_has_nan_at_both_ends() -> None:
    values = np.array([1, NAN, -0.0, np.copysign(NAN, -1), 0, np.inf, -np.inf], np.float32)
    comparator = _comparator("f32", "s32", root=_compare("LT", ", type=TOTALORDER"))
    _, places = _sorted(comparator, (values, "f32"), (np.arange(7, dtype=np.int32), "s32"))
    assert places.tolist() == [3, 6, 2, 4, 0, 5, 1]


@_FAST
@given(st.lists(st.sampled_from([0.0, 1.0, -2.0, NAN]), max_size=17), st.sampled_from(["LT", "LE"]))
def test_what_orders_nothing_loses_nothing(values: list[float], direction: str) -> None:
    found = _sorted(_comparator("f32", root=_compare(direction)), (_array(values, "f32"), "f32"))
    assert sorted(map(str, found.tolist())) == sorted(map(str, map(float, values)))


_TWO_KEYS = (
    "lt = pred[] compare(a0, b0), direction=LT\neq = pred[] compare(a0, b0), direction=EQ\n"
    "gt = pred[] compare(a1, b1), direction=GT\n"
)
_BOTH = "both = pred[] and(eq, gt)\nROOT r = pred[] or(lt, both)"
_TURNED = "both = pred[] and(gt, eq)\nROOT r = pred[] or(both, lt)"
_CHOSEN = "ROOT r = pred[] select(eq, gt, lt)"


@_FAST
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), max_size=20),
    st.sampled_from([_BOTH, _TURNED, _CHOSEN]),
)
def test_two_keys_and_a_companion(pairs: list[tuple[int, int]], root: str) -> None:
    wanted = sorted(range(len(pairs)), key=lambda n: (pairs[n][0], -pairs[n][1]))
    comparator = _comparator("s32", "s32", "s32", root=_TWO_KEYS + root)
    columns = [_array([pair[k] for pair in pairs], "s32") for k in range(2)]
    columns.append(np.arange(len(pairs), dtype=np.int32))
    found = _sorted(comparator, *((column, "s32") for column in columns))
    assert found[2].tolist() == wanted
    assert found[0].tolist() == [pairs[n][0] for n in wanted]


@_FAST
@given(st.lists(st.integers(-9, 9), max_size=20), st.sampled_from(["a0, b0", "b0, a0"]))
def test_keys_that_the_comparator_computes(values: list[int], pair: str) -> None:
    root = f"p = s32[] abs(a0)\nq = s32[] abs(b0)\nROOT r = compare({pair}), direction=LT"
    root = root.replace("a0, b0", "p, q").replace("b0, a0", "q, p")
    places = np.arange(len(values), dtype=np.int32)
    comparator = _comparator("s32", "s32", root=root)
    _, found = _sorted(comparator, (_array(values, "s32"), "s32"), (places, "s32"))
    sign = 1 if pair == "a0, b0" else -1
    assert found.tolist() == sorted(range(len(values)), key=lambda n: sign * abs(values[n]))


def test_keys_that_are_bits() -> None:
    # As XLA's own passes compare floats that have been made one kind of NaN and of zero.
    root = (
        "p = s32[] bitcast(a0)\nq = s32[] bitcast(b0)\nROOT r = pred[] compare(p, q), direction=GT"
    )
    values = _array([1.0, -1.0, 0.0, 8.0], "f32")
    assert _sorted(_comparator("f32", root=root), (values, "f32")).tolist() == [8, 1, 0, -1]
    mixed = root.replace("GT", "GE").replace("bitcast(b0)", "bitcast-convert(b0)")
    assert _sorted(_comparator("f32", root=mixed), (values, "f32")).tolist() == [8, 1, 0, -1]


@_FAST
@given(st.lists(st.integers(-9, 9), max_size=20))
def test_a_comparator_that_compares_no_keys(values: list[int]) -> None:
    root = "one = s32[] constant(1)\nm = s32[] add(a0, one)\nROOT r = compare(m, b0), direction=LE"
    found = _sorted(_comparator("s32", root=root), (_array(values, "s32"), "s32"))
    assert found.tolist() == sorted(values)


def test_sort_of_a_dynamic_dimension_takes_what_is_live() -> None:
    text = entry(
        "x = s32[4] parameter(0)\nn = s32[] constant(3)\n"
        "c = s32[<=4] set-dimension-size(x, n), dimensions={0}\n"
        "ROOT r = s32[<=4] sort(c), dimensions={0}, to_apply=f",
        _DIRECT,
    )
    assert evaluated(text, _array([5, 4, 3, 0], "s32")).tolist() == [3, 4, 5]


def _topk(values: Any, name: str, k: int, *, largest: bool = True) -> tuple[Any, Any]:
    sizes = [*values.shape[:-1], k]
    shown = ",".join(map(str, sizes))
    whole = ",".join(map(str, values.shape))
    text = entry(
        f"x = {name}[{whole}] parameter(0)\n"
        f"ROOT r = ({name}[{shown}], s32[{shown}]) topk(x), k={k}, largest={str(largest).lower()}"
    )
    best, places = evaluated(text, values)
    return best.tolist(), places.tolist()


def test_topk_has_nan_as_the_largest_and_the_smallest() -> None:
    values = np.array([3, NAN, 1, 3, np.copysign(NAN, -1), 2], np.float32)
    _, places = _topk(values, "f32", 3)
    assert places == [1, 0, 3]
    _, places = _topk(values, "f32", 3, largest=False)
    assert places == [4, 2, 5]


@pytest.mark.parametrize(
    ("name", "best", "wanted"),
    [
        ("u8", "largest", [1, 0]),
        ("u8", "smallest", [3, 0]),
        ("s8", "largest", [0, 2]),
        ("s8", "smallest", [1, 3]),
        ("bf16", "largest", [1, 0]),
        ("pred", "smallest", [3, 0]),
    ],
)
def test_topk_of_any_type(name: str, best: str, wanted: list[int]) -> None:
    values = np.array([5, 255, 5, 0], np.uint8)
    values = values.view(np.int8) if name == "s8" else _array(values, name)
    assert _topk(values, name, 2, largest=best == "largest")[1] == wanted


def test_topk_of_none_and_of_all() -> None:
    rows = _array([[1, 2], [4, 3]], "s32")
    assert _topk(rows, "s32", 0) == ([[], []], [[], []])
    assert _topk(rows, "s32", 2) == ([[2, 1], [4, 3]], [[1, 0], [0, 1]])


def test_topk_of_a_row_that_is_too_short() -> None:
    text = entry(
        "x = s32[4] parameter(0)\nn = s32[] constant(2)\n"
        "c = s32[<=4] set-dimension-size(x, n), dimensions={0}\n"
        "ROOT r = (s32[3], s32[3]) topk(c), k=3, largest=true"
    )
    with pytest.raises(EvaluationError, match="topk: k is 3, at most the 2 that are live"):
        evaluated(text, _array([5, 4, 3, 0], "s32"))
