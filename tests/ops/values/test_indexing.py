"""Values of dynamic slices, gather, scatter and dimension sizes."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from hlotool.ir.element_type import ELEMENT_TYPES
from tests.evaluating import entry, evaluated

_TWO = """
{name} {{
  a = {type}[] parameter(0)
  b = {type}[] parameter(1)
  ROOT r = {type}[] {op}
}}
"""
_FAST = settings(derandomize=True, deadline=None, max_examples=50)


def _combiner(op: str, element_type: str = "s32") -> str:
    """Returns a computation `f` of an element a and an update b."""
    return _TWO.format(name="f", type=element_type, op=op)


def _array(values: Any, name: str = "s32") -> Any:
    return np.array(values).astype(ELEMENT_TYPES[name].numpy)


def _text(array: Any, name: str) -> str:
    return f"{name}[{','.join(map(str, array.shape))}]"


def _sliced(operand: Any, starts: Sequence[Any], sizes: Sequence[int], index_type: str) -> Any:
    lines = [f"x = {_text(operand, 's32')} parameter(0)"]
    lines += [f"i{n} = {index_type}[] parameter({n + 1})" for n in range(len(starts))]
    names = "".join(f", i{n}" for n in range(len(starts)))
    shown = ",".join(map(str, sizes))
    lines.append(f"ROOT r = s32[{shown}] dynamic-slice(x{names}), dynamic_slice_sizes={{{shown}}}")
    indices = [_array(start, index_type) for start in starts]
    return evaluated(entry("\n".join(lines)), operand, *indices)


@pytest.mark.parametrize(
    ("index_type", "start", "wanted"),
    [
        ("s32", 1, 1),
        ("s32", -5, 0),
        ("s32", 2**31 - 1, 3),
        ("s8", -128, 0),
        ("u8", 255, 3),
        ("s64", -(2**63), 0),
        ("u64", 2**64 - 1, 3),
        ("s4", -8, 0),
        ("u4", 15, 3),
        ("u2", 2, 2),
    ],
)
def test_start_of_any_type_is_moved_inside(index_type: str, start: int, wanted: int) -> None:
    operand = _array([0, 1, 2, 3, 4])
    start_array = np.array(start, np.uint64 if start > 0 else np.int64)
    found = _sliced(operand, [start_array], [2], index_type)
    assert found.tolist() == [wanted, wanted + 1]


def test_dynamic_slice_takes_all_starts_from_one_vector() -> None:
    found = evaluated(
        entry(
            "x = s32[3,4] parameter(0)\ni = s32[2] parameter(1)\n"
            "ROOT r = s32[2,2] dynamic-slice(x, i), dynamic_slice_sizes={2,2}"
        ),
        np.arange(12, dtype=np.int32).reshape(3, 4),
        _array([9, 1]),
    )
    assert found.tolist() == [[5, 6], [9, 10]]


def test_dynamic_slice_of_a_scalar_and_of_nothing() -> None:
    assert _sliced(_array(7), [], [], "s32").tolist() == 7
    assert _sliced(_array([7, 8]), [5], [0], "s32").shape == (0,)


def test_dynamic_update_slice_moves_the_update_inside_and_leaves_its_operand() -> None:
    operand = np.arange(6, dtype=np.int32).reshape(2, 3)
    found = evaluated(
        entry(
            "x = s32[2,3] parameter(0)\nu = s32[1,2] parameter(1)\n"
            "i = u8[] parameter(2)\nj = u8[] parameter(3)\n"
            "ROOT r = s32[2,3] dynamic-update-slice(x, u, i, j)"
        ),
        operand,
        _array([[70, 80]]),
        _array(0, "u8"),
        _array(255, "u8"),
    )
    assert found.tolist() == [[0, 70, 80], [3, 4, 5]]
    assert operand.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_gather_clamps_rows_and_columns() -> None:
    found = evaluated(
        entry(
            "x = s32[3,4] parameter(0)\ni = s64[3,2] parameter(1)\n"
            "ROOT r = s32[3,2,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={},"
            " start_index_map={1,0}, index_vector_dim=1, slice_sizes={2,2}"
        ),
        np.arange(12, dtype=np.int32).reshape(3, 4),
        np.array([[0, 0], [2**63 - 1, -(2**63)], [1, 7]], np.int64),
    )
    assert found.tolist() == [[[0, 1], [4, 5]], [[2, 3], [6, 7]], [[5, 6], [9, 10]]]


def test_gather_of_scalars_with_the_vector_behind_all_dimensions() -> None:
    found = evaluated(
        entry(
            "x = f32[4] parameter(0)\ni = u64[2,2] parameter(1)\n"
            "ROOT r = f32[2,2] gather(x, i), offset_dims={}, collapsed_slice_dims={0},"
            " start_index_map={0}, index_vector_dim=2, slice_sizes={1}"
        ),
        np.array([0.5, 1.5, 2.5, 3.5], np.float32),
        np.array([[0, 1], [2**64 - 1, 2]], np.uint64),
    )
    assert found.tolist() == [[0.5, 1.5], [3.5, 2.5]]


def test_gather_without_index_numbers_repeats_the_start() -> None:
    found = evaluated(
        entry(
            "x = s32[3] parameter(0)\ni = s32[2,0] parameter(1)\n"
            "ROOT r = s32[2,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={},"
            " start_index_map={}, index_vector_dim=1, slice_sizes={2}"
        ),
        _array([4, 5, 6]),
        np.zeros((2, 0), np.int32),
    )
    assert found.tolist() == [[4, 5], [4, 5]]


@st.composite
def _gathers(draw: st.DrawFn) -> tuple[Any, Any, dict[str, Any]]:
    """Draws an operand, indices, and the attributes of a gather with one batching dimension."""
    rank = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    batching = draw(st.sampled_from([None, *range(rank)]))
    mapped = draw(st.permutations([d for d in range(rank) if d != batching]))
    mapped = mapped[: draw(st.integers(0, len(mapped)))]
    slice_sizes = [draw(st.integers(1, size)) for size in sizes]
    if batching is not None:
        slice_sizes[batching] = 1
    single = [d for d in range(rank) if slice_sizes[d] == 1 and d != batching]
    collapsed = draw(st.lists(st.sampled_from(single), unique=True)) if single else []
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    along = draw(st.integers(0, len(batch)))
    if batching is not None:
        batch.insert(along, sizes[batching])
    vector = draw(st.integers(0, len(batch)))
    index_sizes = [*batch[:vector], len(mapped), *batch[vector:]]
    numbers = st.lists(
        st.integers(-3, 6), min_size=int(np.prod(index_sizes)), max_size=int(np.prod(index_sizes))
    )
    indices = np.array(draw(numbers), np.int32).reshape(index_sizes)
    window_rank = rank - len(collapsed) - (batching is not None)
    whole_rank = len(batch) + window_rank
    offsets = draw(st.permutations(range(whole_rank)))[:window_rank]
    attributes = {
        "offset": sorted(offsets),
        "collapsed": sorted(collapsed),
        "map": mapped,
        "batching": [] if batching is None else [batching],
        "along": [] if batching is None else [along + (along >= vector)],
        "vector": vector,
        "sizes": slice_sizes,
        "batch": batch,
    }
    operand = np.arange(1, np.prod(sizes) + 1, dtype=np.int32).reshape(sizes)
    return operand, indices, attributes


def _windows(operand: Any, indices: Any, at: dict[str, Any]) -> Any:
    """Yields index in the result, start and offset in the operand of each element of windows."""
    rank = operand.ndim
    window = [d for d in range(rank) if d not in at["collapsed"] + at["batching"]]
    whole = len(at["batch"]) + len(window)
    outer = [d for d in range(whole) if d not in at["offset"]]
    sizes = [at["sizes"][d] for d in window]
    for b in product(*map(range, at["batch"])):
        start = [0] * rank
        for k, dimension in enumerate(at["map"]):
            start[dimension] = int(indices[(*b[: at["vector"]], k, *b[at["vector"] :])])
        for dimension, along in zip(at["batching"], at["along"], strict=True):
            start[dimension] = b[along - (along > at["vector"])]
        for w in product(*map(range, sizes)):
            index = [0] * whole
            offset = [0] * rank
            for place, value in zip(outer, b, strict=True):
                index[place] = value
            for place, dimension, value in zip(at["offset"], window, w, strict=True):
                index[place] = offset[dimension] = value
            yield tuple(index), start, offset


def _sizes_of_windows(operand: Any, at: dict[str, Any]) -> list[int]:
    gone = at["collapsed"] + at["batching"]
    window = iter([at["sizes"][d] for d in range(operand.ndim) if d not in gone])
    batch = iter(at["batch"])
    rank = len(at["batch"]) + operand.ndim - len(gone)
    return [next(window if d in at["offset"] else batch) for d in range(rank)]


def _braces(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


@_FAST
@given(_gathers())
def test_gather_does_what_its_definition_says(case: tuple[Any, Any, dict[str, Any]]) -> None:
    operand, indices, at = case
    wanted = np.zeros(_sizes_of_windows(operand, at), np.int32)
    for index, start, offset in _windows(operand, indices, at):
        place = [
            min(max(s, 0), n - size) + o
            for s, n, size, o in zip(start, operand.shape, at["sizes"], offset, strict=True)
        ]
        wanted[index] = operand[tuple(place)]
    text = entry(
        f"x = {_text(operand, 's32')} parameter(0)\ni = {_text(indices, 's32')} parameter(1)\n"
        f"ROOT r = {_text(wanted, 's32')} gather(x, i), offset_dims={_braces(at['offset'])},"
        f" collapsed_slice_dims={_braces(at['collapsed'])}, start_index_map={_braces(at['map'])},"
        f" operand_batching_dims={_braces(at['batching'])},"
        f" start_indices_batching_dims={_braces(at['along'])},"
        f" index_vector_dim={at['vector']}, slice_sizes={_braces(at['sizes'])}"
    )
    assert evaluated(text, operand, indices).tolist() == wanted.tolist()


# Row-major order shows: neither is commutative.
_COMBINERS: dict[str, Callable[[int, int], int]] = {
    "add(a, b)": lambda a, b: a + b,
    "subtract(a, b)": lambda a, b: a - b,
    "subtract(b, a)": lambda a, b: b - a,
    "maximum(b, a)": max,
    "copy(b)": lambda *pair: pair[1],
    "copy(a)": lambda *pair: pair[0],
}


@_FAST
@given(_gathers(), st.sampled_from(list(_COMBINERS)))
def test_scatter_does_what_its_definition_says(
    case: tuple[Any, Any, dict[str, Any]], op: str
) -> None:
    operand, indices, at = case
    updates = 100 * np.arange(1, np.prod(_sizes_of_windows(operand, at)) + 1, dtype=np.int32)
    updates = updates.reshape(_sizes_of_windows(operand, at))
    wanted = operand.copy()
    for index, start, offset in sorted(_windows(operand, indices, at)):
        inside = all(
            0 <= s <= n - size for s, n, size in zip(start, operand.shape, at["sizes"], strict=True)
        )
        if inside:
            place = tuple(s + o for s, o in zip(start, offset, strict=True))
            wanted[place] = _COMBINERS[op](int(wanted[place]), int(updates[index]))
    text = entry(
        f"x = {_text(operand, 's32')} parameter(0)\ni = {_text(indices, 's32')} parameter(1)\n"
        f"u = {_text(updates, 's32')} parameter(2)\n"
        f"ROOT r = {_text(operand, 's32')} scatter(x, i, u), to_apply=f,"
        f" update_window_dims={_braces(at['offset'])},"
        f" inserted_window_dims={_braces(at['collapsed'])},"
        f" scatter_dims_to_operand_dims={_braces(at['map'])},"
        f" input_batching_dims={_braces(at['batching'])},"
        f" scatter_indices_batching_dims={_braces(at['along'])},"
        f" index_vector_dim={at['vector']}",
        _combiner(op),
    )
    assert evaluated(text, operand, indices, updates).tolist() == wanted.tolist()


def _scattered(op: str, name: str, operand: Any, indices: Any, updates: Any) -> Any:
    """Returns single elements combined into a vector."""
    text = entry(
        f"x = {_text(operand, name)} parameter(0)\ni = {_text(indices, 's32')} parameter(1)\n"
        f"u = {_text(updates, name)} parameter(2)\n"
        f"ROOT r = {_text(operand, name)} scatter(x, i, u), to_apply=f, update_window_dims={{}},"
        " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        _combiner(op, name),
    )
    return evaluated(text, operand, indices, updates)


def test_a_window_that_sticks_out_is_left_out_whole() -> None:
    text = entry(
        "x = s32[5] parameter(0)\ni = s64[4,1] parameter(1)\nu = s32[4,2] parameter(2)\n"
        "ROOT r = s32[5] scatter(x, i, u), to_apply=f, update_window_dims={1},"
        " inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        _combiner("copy(b)"),
    )
    starts = np.array([[4], [-1], [1], [2**63 - 1]], np.int64)
    found = evaluated(
        text, _array([10, 11, 12, 13, 14]), starts, _array([[9, 9]] * 2 + [[7, 8]] * 2)
    )
    assert found.tolist() == [10, 7, 8, 13, 14]


def test_scatter_rounds_at_each_step() -> None:
    # In f32, 2**24 + 1 is 2**24 each time; a sum rounded at the end would be 2**24 + 4.
    once = _scattered(
        "add(a, b)", "f32", _array([2.0**24], "f32"), _array([[0]] * 4), _array([1.0] * 4, "f32")
    )
    assert once.tolist() == [2.0**24]
    narrow = _scattered(
        "add(a, b)", "bf16", _array([256], "bf16"), _array([[0]] * 4), _array([1] * 4, "bf16")
    )
    assert narrow.tolist() == [256]


def test_windows_of_another_float_width_are_rounded() -> None:
    operand, update = _array([1, 2, 3], "bf16"), np.array([1.00390625, 257], np.float32)
    sliced = evaluated(
        entry(
            "x = bf16[3] parameter(0)\nu = f32[2] parameter(1)\ni = s32[] constant(1)\n"
            "ROOT r = bf16[3] dynamic-update-slice(x, u, i)"
        ),
        operand,
        update,
    )
    assert sliced.tolist() == [1, 1, 256]
    for op, wanted in (("copy(b)", [1, 256, 3]), ("add(a, b)", [2, 260, 3])):
        text = entry(
            "x = bf16[3] parameter(0)\nu = f32[2] parameter(1)\n"
            "i = s32[2,1] constant({{0}, {1}})\n"
            "ROOT r = bf16[3] scatter(x, i, u), to_apply=f, update_window_dims={},"
            " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
            _combiner(op, "f32"),
        )
        assert evaluated(text, operand, update).tolist() == wanted


def test_scatter_wraps_and_keeps_nan() -> None:
    wrapped = _scattered(
        "multiply(a, b)", "u8", _array([16, 3], "u8"), _array([[0], [0]]), _array([16, 7], "u8")
    )
    assert wrapped.tolist() == [0, 3]
    nan = float("nan")
    found = _scattered(
        "maximum(a, b)",
        "f32",
        _array([1.0, nan, -0.0], "f32"),
        _array([[0], [0], [1], [2]]),
        _array([nan, 5.0, 7.0, 0.0], "f32"),
    )
    assert np.isnan(found).tolist() == [True, True, False]
    assert not np.signbit(found[2])


def test_scatter_of_pred_is_logical() -> None:
    found = _scattered(
        "or(a, b)", "pred", _array([0, 0, 1], "pred"), _array([[1], [1]]), _array([1, 0], "pred")
    )
    assert found.tolist() == [False, True, True]


_SWAPPING = """
f {
  a = s32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = f32[] parameter(3)
  less = pred[] compare(b, d), direction=LT
  key = s32[] select(less, c, a)
  value = f32[] select(less, d, b)
  ROOT r = (s32[], f32[]) tuple(key, value)
}
"""


def test_scatter_of_several_arrays_combines_them_together() -> None:
    text = entry(
        "x = s32[3] parameter(0)\ny = f32[3] parameter(1)\ni = s32[4] parameter(2)\n"
        "u = s32[4] parameter(3)\nv = f32[4] parameter(4)\n"
        "ROOT r = (s32[3], f32[3]) scatter(x, y, i, u, v), to_apply=f, update_window_dims={},"
        " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        _SWAPPING,
    )
    keys, values = evaluated(
        text,
        _array([-1, -1, -1]),
        _array([0.0, 0.0, 9.0], "f32"),
        _array([0, 0, 0, 2]),
        _array([10, 11, 12, 13]),
        _array([2.0, 5.0, 3.0, 4.0], "f32"),
    )
    assert keys.tolist() == [11, -1, -1]
    assert values.tolist() == [5.0, 0.0, 9.0]


def test_a_combiner_of_arrays_is_called_for_each_element() -> None:
    combiner = """
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  aa = s32[1] reshape(a)
  twice = s32[1] add(aa, aa)
  t = s32[] reshape(twice)
  ROOT r = s32[] add(t, b)
}
"""
    text = entry(
        "x = s32[2] parameter(0)\ni = s32[3,1] parameter(1)\nu = s32[3] parameter(2)\n"
        "ROOT r = s32[2] scatter(x, i, u), to_apply=f, update_window_dims={},"
        " inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        combiner,
    )
    found = evaluated(text, _array([1, 5]), _array([[0], [1], [0]]), _array([10, 20, 30]))
    assert found.tolist() == [(1 * 2 + 10) * 2 + 30, 30]


def _live(body: str, *arrays: Any) -> Any:
    return evaluated(entry(body), *arrays)


_CUT = """
x = s32[4] parameter(0)
n = s32[] parameter(1)
c = s32[<=4] set-dimension-size(x, n), dimensions={0}
"""


def test_set_dimension_size_cuts_and_fills_up_with_zeros() -> None:
    operand = _array([1, 2, 3, 4])
    assert _live(_CUT + "ROOT r = s32[<=4] copy(c)", operand, _array(2)).tolist() == [1, 2]
    grown = (
        _CUT + "m = s32[] constant(3)\nROOT r = s32[<=4] set-dimension-size(c, m), dimensions={0}"
    )
    assert _live(grown, operand, _array(2)).tolist() == [1, 2, 0]
    assert _live(grown, operand, _array(0)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", [-1, 5, 2**31 - 1])
def test_set_dimension_size_has_bounds(size: int) -> None:
    with pytest.raises(EvaluationError, match=f"size {size} is given, 0 to 4 is wanted"):
        _live(_CUT + "ROOT r = s32[<=4] copy(c)", _array([1, 2, 3, 4]), _array(size))


def test_get_dimension_size_counts_what_is_live() -> None:
    root = "ROOT r = s32[] get-dimension-size(c), dimensions={0}"
    assert _live(_CUT + root, _array([1, 2, 3, 4]), _array(3)) == 3
    assert _live(
        "x = f32[2,5] parameter(0)\nROOT r = s32[] get-dimension-size(x), dimensions={1}",
        np.zeros((2, 5), np.float32),
    ) == np.int32(5)


def test_windows_of_a_dynamic_dimension() -> None:
    start = "i = s32[] constant(9)\n"
    whole = "ROOT r = s32[<=4] dynamic-slice(c, i), dynamic_slice_sizes={4}"
    assert _live(_CUT + start + whole, _array([1, 2, 3, 4]), _array(3)).tolist() == [1, 2, 3]
    part = "ROOT r = s32[2] dynamic-slice(c, i), dynamic_slice_sizes={2}"
    assert _live(_CUT + start + part, _array([1, 2, 3, 4]), _array(3)).tolist() == [2, 3]
    with pytest.raises(EvaluationError, match=r"a window of .* is given, at most .* is wanted"):
        _live(_CUT + start + part, _array([1, 2, 3, 4]), _array(1))
