"""Values of the dot family, worked by hand and against sums over single elements."""

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError, UnsupportedError
from tests.evaluating import evaluated

MATRICES = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def dot(result: str, lhs: str, rhs: str, *arrays: Any, attributes: str = MATRICES) -> Any:
    return evaluated(f"{result} dot({lhs} a, {rhs} b), {attributes}", *arrays)


def numbers(seed: int, *sizes: int) -> Any:
    """Returns small whole numbers, of which every sum is exact in any float type used here."""
    return np.random.default_rng(seed).integers(-4, 5, sizes)


def twin(
    lhs: Any, rhs: Any, batch: tuple[Any, Any], contracting: tuple[Any, Any], include: Any = None
) -> Any:
    """Returns the sums as Python adds them, one product at a time.

    `include(batch index, lhs free index, contracting index)` says which products count.
    """
    free = [
        [d for d in range(array.ndim) if d not in (*batch[side], *contracting[side])]
        for side, array in enumerate((lhs, rhs))
    ]
    sizes = [
        [lhs.shape[d] for d in dimensions]
        for dimensions in (batch[0], free[0])
    ]  # fmt: skip
    columns = [rhs.shape[d] for d in free[1]]
    terms = [lhs.shape[d] for d in contracting[0]]
    result = np.zeros([*sizes[0], *sizes[1], *columns], object)
    for b, row, column in product(*map(np.ndindex, map(tuple, (*sizes, columns)))):
        total = 0
        for term in np.ndindex(*terms):
            if include is not None and not include(b, row, term):
                continue
            one, other = [0] * lhs.ndim, [0] * rhs.ndim
            for place, index in ((batch[0], b), (free[0], row), (contracting[0], term)):
                for d, i in zip(place, index, strict=True):
                    one[d] = i
            for place, index in ((batch[1], b), (free[1], column), (contracting[1], term)):
                for d, i in zip(place, index, strict=True):
                    other[d] = i
            total += int(lhs[tuple(one)]) * int(rhs[tuple(other)])
        result[(*b, *row, *column)] = total
    return result


def test_matrices() -> None:
    a, b = np.array([[1, 2], [3, 4]], np.float32), np.array([[10], [100]], np.float32)
    assert dot("f32[2,1]", "f32[2,2]", "f32[2,1]", a, b).tolist() == [[210], [430]]


def test_outer_product_and_scalar_product() -> None:
    a, b = np.array([1, 2], np.float32), np.array([3, 4, 5], np.float32)
    outer = dot("f32[2,3]", "f32[2]", "f32[3]", a, b, attributes="operand_precision={high,high}")
    assert outer.tolist() == [[3, 4, 5], [6, 8, 10]]
    inner = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    result = dot("f32[]", "f32[3]", "f32[3]", b, b, attributes=inner)
    assert result.shape == ()
    assert result == 50


def test_order_of_batch_and_free_dimensions() -> None:
    a, b = np.zeros((2, 7, 3, 5), np.float32), np.zeros((3, 5, 11, 2), np.float32)
    a[1, 4, 2, 0], b[2, 0, 9, 1] = 3, 5
    attributes = (
        "lhs_batch_dims={2,0}, rhs_batch_dims={0,3},"
        " lhs_contracting_dims={3}, rhs_contracting_dims={1}"
    )
    result = dot("f32[3,2,7,11]", "f32[2,7,3,5]", "f32[3,5,11,2]", a, b, attributes=attributes)
    assert result[2, 1, 4, 9] == 15
    assert np.count_nonzero(result) == 1


def test_no_contracting_elements_sum_to_zero() -> None:
    a, b = np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)
    assert dot("f32[2,3]", "f32[2,0]", "f32[0,3]", a, b).tolist() == [[0] * 3] * 2


def test_no_rows() -> None:
    a, b = np.zeros((0, 2), np.float32), np.zeros((2, 3), np.float32)
    assert dot("f32[0,3]", "f32[0,2]", "f32[2,3]", a, b).shape == (0, 3)


def test_infinity_times_zero() -> None:
    a, b = np.array([[0, 1], [2, 1]], np.float32), np.array([[np.inf], [1]], np.float32)
    result = dot("f32[2,1]", "f32[2,2]", "f32[2,1]", a, b)
    assert np.isnan(result[0, 0])
    assert result[1, 0] == np.inf


def test_integers_wrap() -> None:
    a, b = np.array([[100, 100]], np.int8), np.array([[100], [100]], np.int8)
    assert dot("s8[1,1]", "s8[1,2]", "s8[2,1]", a, b).tolist() == [[32]]
    assert dot("s32[1,1]", "s8[1,2]", "s8[2,1]", a, b).tolist() == [[20000]]
    assert dot("f32[1,1]", "s8[1,2]", "s8[2,1]", a, b).tolist() == [[20000]]


def test_integers_of_64_bits_are_exact() -> None:
    a = np.array([[2**62 + 1, 3]], np.int64)
    b = np.array([[1], [2**61 - 1]], np.int64)
    assert dot("s64[1,1]", "s64[1,2]", "s64[2,1]", a, b).tolist() == [
        [2**62 + 1 + 3 * 2**61 - 3 - 2**64]
    ]
    u = np.array([[2**64 - 1]], np.uint64)
    assert dot("u64[1,1]", "u64[1,1]", "u64[1,1]", u, u).tolist() == [[1]]


def test_sums_just_beyond_what_f64_holds() -> None:
    # 2^26 · 2^26 · 2 = 2^53: one more than that needs integers.
    a, b = np.array([[2**26, 2**26, 1]], np.int64), np.array([[2**26], [2**26], [1]], np.int64)
    assert dot("s64[1,1]", "s64[1,3]", "s64[3,1]", a, b).tolist() == [[2**53 + 1]]


def test_narrow_integers() -> None:
    a, b = np.array([[7, 7]], ml_dtypes.int4), np.array([[7], [2]], ml_dtypes.int4)
    assert dot("s4[1,1]", "s4[1,2]", "s4[2,1]", a, b).astype(int).tolist() == [[-1]]
    assert dot("s8[1,1]", "s4[1,2]", "s4[2,1]", a, b).tolist() == [[63]]


def test_pred_is_any_of_both() -> None:
    a, b = np.array([[True, False]]), np.array([[True, False], [True, True]])
    assert dot("pred[1,2]", "pred[1,2]", "pred[2,2]", a, b).tolist() == [[True, False]]


def test_half_floats_are_rounded_once() -> None:
    # 60000 + 60000 is no f16, nor is 2048 + 1: the sums are made in f32.
    a = np.array([[60000, 60000, -60000], [2048, 1, 1]], np.float16)
    b = np.ones((3, 1), np.float16)
    assert dot("f16[2,1]", "f16[2,3]", "f16[3,1]", a, b).tolist() == [[60000], [2050]]
    assert dot("f16[1,1]", "f16[1,3]", "f16[3,1]", a[:1] * 0 + 60000, b).tolist() == [[np.inf]]


def test_operands_keep_their_width_when_the_result_is_narrow() -> None:
    a, b = np.array([[1 + 2**-10, -1]], np.float32), np.array([[1024], [1024]], np.float32)
    result = dot("bf16[1,1]", "f32[1,2]", "f32[2,1]", a, b)
    assert result.dtype == ml_dtypes.bfloat16
    assert result.astype(float).tolist() == [[1]]


def test_eight_bit_floats() -> None:
    a = np.array([[1.5, 448]], ml_dtypes.float8_e4m3fn)
    b = np.array([[2], [448]], ml_dtypes.float8_e4m3fn)
    result = dot("f32[1,1]", "f8e4m3fn[1,2]", "f8e4m3fn[2,1]", a, b)
    assert result.tolist() == [[3 + 448 * 448]]


def test_complex_numbers_are_not_conjugated() -> None:
    a, b = np.array([[1j, 1]], np.complex64), np.array([[1j], [2]], np.complex64)
    assert dot("c64[1,1]", "c64[1,2]", "c64[2,1]", a, b).tolist() == [[1]]


def test_live_elements_of_a_dynamic_dimension() -> None:
    a, b = np.array([[1, 2]], np.float32), np.array([[1], [10], [np.nan], [np.inf]], np.float32)
    assert dot("f32[1,1]", "f32[1,<=4]", "f32[4,1]", a, b).tolist() == [[21]]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, ...]:
    sizes = st.integers(0, 3)
    batch, contracting, left, right = (
        draw(st.lists(sizes, max_size=most)) for most in (2, 2, 2, 1)
    )
    lhs_roles = [("b", i) for i in range(len(batch))] + [("c", i) for i in range(len(contracting))]
    rhs_roles = list(lhs_roles)
    lhs_roles += [("f", i) for i in range(len(left))]
    rhs_roles += [("f", i) for i in range(len(right))]
    lhs_order, rhs_order = draw(st.permutations(lhs_roles)), draw(st.permutations(rhs_roles))
    known = {"b": batch, "c": contracting}
    lhs_sizes = [{**known, "f": left}[role][i] for role, i in lhs_order]
    rhs_sizes = [{**known, "f": right}[role][i] for role, i in rhs_order]
    dims = [
        tuple(order.index((role, i)) for i in range(len(known[role])))
        for role in "bc"
        for order in (lhs_order, rhs_order)
    ]
    free = [left[i] for role, i in lhs_order if role == "f"] + right
    return lhs_sizes, rhs_sizes, (dims[0], dims[1]), (dims[2], dims[3]), [*batch, *free]


def written(dims: tuple[Any, Any], role: str) -> str:
    one, other = (",".join(map(str, some)) for some in dims)
    return f"lhs_{role}_dims={{{one}}}, rhs_{role}_dims={{{other}}}"


@settings(derandomize=True, deadline=None, max_examples=60)
@given(pairs(), st.sampled_from([("s32", np.int32), ("f32", np.float32), ("f64", np.float64)]))
def test_against_single_products(pair: tuple[Any, ...], element_type: tuple[str, Any]) -> None:
    lhs_sizes, rhs_sizes, batch, contracting, result_sizes = pair
    name, numpy_type = element_type
    a, b = (numbers(i, *s).astype(numpy_type) for i, s in enumerate((lhs_sizes, rhs_sizes)))
    texts = [f"{name}[{','.join(map(str, s))}]" for s in (result_sizes, lhs_sizes, rhs_sizes)]
    attributes = f"{written(batch, 'batch')}, {written(contracting, 'contracting')}"
    result = dot(*texts, a, b, attributes=attributes)
    assert result.tolist() == twin(a, b, batch, contracting).astype(float).tolist()


PACKED = f"{MATRICES}, operand_precision={{packed_nibble,packed_nibble}}"


def test_packed_nibbles() -> None:
    # 0x2F holds -1 low and 2 high, 0x73 holds 3 and 7: -1·3 + 2·7.
    a, b = np.array([[0x2F]], np.int8), np.array([[0x73]], np.int8)
    assert dot("s8[1,1]", "s8[1,1]", "s8[1,1]", a, b, attributes=PACKED).tolist() == [[11]]


def test_packed_nibbles_of_floats_mean_nothing() -> None:
    one = np.array([[1]], np.float32)
    with pytest.raises(UnsupportedError, match="packed_nibble can be evaluated for integers"):
        dot("f32[1,1]", "f32[1,1]", "f32[1,1]", one, one, attributes=PACKED)


def sparse(result: str, lhs: str, rhs: str, words: str, sparsity: str, *arrays: Any) -> Any:
    text = f"{result} dot({lhs} a, {rhs} b, {words}), {MATRICES}, sparsity={sparsity}"
    return evaluated(text, *arrays)


def test_sparse_left_operand() -> None:
    # The row is 0 1 0 2 | 3 0 4 0: positions 1, 3, 0, 2 in two bits each, from the low ones.
    word = 1 | 3 << 2 | 0 << 4 | 2 << 6
    a, b = (
        np.array([[1, 2, 3, 4]], np.float32),
        np.array([[9], [10], [9], [20], [30], [9], [40], [9]], np.float32),
    )
    assert sparse(
        "f32[1,1]",
        "f32[1,4]",
        "f32[8,1]",
        "u16[1,1] m",
        "L.1@2:4",
        a,
        b,
        np.array([[word]], np.uint16),
    ).tolist() == [[10 + 40 + 90 + 160]]


def test_nothing_is_multiplied_where_no_value_is_stored() -> None:
    a, b = np.array([[1, 2]], np.float32), np.array([[np.nan], [10], [np.inf], [20]], np.float32)
    word = np.array([[1 | 3 << 2]], np.uint16)
    result = sparse("f32[1,1]", "f32[1,2]", "f32[4,1]", "u16[1,1] m", "L.1@2:4", a, b, word)
    assert result.tolist() == [[50]]


def test_both_operands_sparse() -> None:
    # 0 1 0 2 times 5 6 0 0: only the elements at position 1 meet.
    left, right = np.array([[1 | 3 << 2]], np.uint16), np.array([[0 | 1 << 2]], np.uint16)
    result = sparse(
        "f32[1,1]", "f32[1,2]", "f32[2,1]", "u16[1,1] m, u16[1,1] n", "L.1@2:4_R.0@2:4",
        np.array([[1, 2]], np.float32), np.array([[5], [6]], np.float32), left, right,
    )  # fmt: skip
    assert result.tolist() == [[6]]


def test_more_than_one_word_of_positions() -> None:
    a = np.arange(1, 11, dtype=np.float32)[None]
    positions = [0, 1] * 5
    words = [0, 0]
    for number, position in enumerate(positions):
        words[number // 8] |= position << number % 8 * 2
    b = np.zeros((20, 1), np.float32)
    for number, position in enumerate(positions):
        b[number // 2 * 4 + position] = 10.0**number
    result = sparse(
        "f64[1,1]", "f64[1,10]", "f64[20,1]", "u16[1,2] m", "L.1@2:4",
        a.astype(np.float64), b.astype(np.float64), np.array([words], np.uint16),
    )  # fmt: skip
    assert result[0, 0] == sum((n + 1) * 10.0**n for n in range(10))


def test_positions_of_the_wrong_size() -> None:
    with pytest.raises(EvaluationError, match="one u16 for 8 values along dimension 1 is wanted"):
        sparse(
            "f32[1,1]", "f32[1,2]", "f32[4,1]", "u16[1,2] m", "L.1@2:4",
            np.zeros((1, 2), np.float32), np.zeros((4, 1), np.float32), np.zeros((1, 2), np.uint16),
        )  # fmt: skip


def ragged(result: str, shapes: str, attributes: str, *arrays: Any) -> Any:
    lhs, rhs, sizes = shapes.split()
    return evaluated(f"{result} ragged-dot({lhs} a, {rhs} b, {sizes} g), {attributes}", *arrays)


ROWS = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"
PARTS = f"{MATRICES}, lhs_ragged_dims={{1}}"


def test_rows_meet_the_matrix_of_their_group() -> None:
    a, b = (
        np.array([[1], [2], [3], [np.inf]], np.float32),
        np.array([[[10]], [[np.nan]], [[100]]], np.float32),
    )
    result = ragged(
        "f32[4,1]", "f32[4,1] f32[3,1,1] s32[3]", ROWS, a, b, np.array([1, 0, 2], np.int32)
    )
    assert result.tolist() == [[10], [200], [300], [0]]


def test_groups_that_reach_beyond_the_rows() -> None:
    a, b = np.array([[1], [2]], np.float32), np.array([[[10]], [[100]]], np.float32)
    result = ragged(
        "f32[2,1]", "f32[2,1] f32[2,1,1] s64[2]", ROWS, a, b, np.array([1, 9], np.int64)
    )
    assert result.tolist() == [[10], [200]]


def test_negative_group_sizes() -> None:
    a, b = np.array([[1], [2]], np.float32), np.array([[[10]], [[100]]], np.float32)
    with pytest.raises(EvaluationError, match="a group has size -1, 0 or more is wanted"):
        ragged("f32[2,1]", "f32[2,1] f32[2,1,1] s32[2]", ROWS, a, b, np.array([-1, 2], np.int32))


def test_groups_of_contracting_elements() -> None:
    a, b = np.array([[1, 2, 3, np.inf]], np.float32), np.array([[10], [20], [30], [0]], np.float32)
    result = ragged(
        "f32[3,1,1]", "f32[1,4] f32[4,1] s32[3]", PARTS, a, b, np.array([2, 0, 1], np.int32)
    )
    assert result.tolist() == [[[50]], [[0]], [[90]]]


def test_groups_of_the_batch_change_nothing() -> None:
    attributes = (
        "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},"
        " rhs_contracting_dims={1}, lhs_ragged_dims={0}"
    )
    a, b = numbers(1, 4, 2, 3).astype(np.float32), numbers(2, 4, 3, 5).astype(np.float32)
    result = ragged(
        "f32[4,2,5]", "f32[4,2,3] f32[4,3,5] s32[2]", attributes, a, b, np.array([1, 2], np.int32)
    )
    assert result.tolist() == np.einsum("bmk,bkn->bmn", a, b).tolist()


group_sizes = st.lists(st.integers(0, 3), min_size=1, max_size=3)
two_lists = st.lists(group_sizes, min_size=2, max_size=2)


def group_of(element: int, sizes: Any) -> int:
    """Returns the number of the group that an element is in, or -1 behind the last."""
    for number, size in enumerate(sizes):
        if element < size:
            return number
        element -= size
    return -1


@settings(derandomize=True, deadline=None, max_examples=40)
@given(sizes=two_lists, of_batch=st.booleans(), rows=st.integers(0, 5))
def test_rows_against_single_products(*, sizes: Any, of_batch: bool, rows: int) -> None:
    groups = min(map(len, sizes))
    given_sizes = np.array(
        [one[:groups] for one in sizes] if of_batch else sizes[0][:groups], np.int32
    )
    a, b = numbers(1, 2, rows, 3), numbers(2, 2, groups, 3, 2)
    attributes = (
        "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},"
        " rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={1}"
    )
    prefix = "2," if of_batch else ""
    result = ragged(
        f"f32[2,{rows},2]", f"f32[2,{rows},3] f32[2,{groups},3,2] s32[{prefix}{groups}]",
        attributes, a.astype(np.float32), b.astype(np.float32), given_sizes,
    )  # fmt: skip
    for batch, row in np.ndindex(2, rows):
        group = group_of(row, given_sizes[batch] if of_batch else given_sizes)
        wanted = [0, 0] if group < 0 else (a[batch, row] @ b[batch, group]).tolist()
        assert result[batch, row].tolist() == wanted


@settings(derandomize=True, deadline=None, max_examples=40)
@given(sizes=two_lists, of_batch=st.booleans(), terms=st.integers(0, 5))
def test_parts_against_single_products(*, sizes: Any, of_batch: bool, terms: int) -> None:
    groups = min(map(len, sizes))
    given_sizes = np.array(
        [one[:groups] for one in sizes] if of_batch else sizes[0][:groups], np.int32
    )
    a, b = numbers(1, 3, 2, terms), numbers(2, terms, 2, 4)
    attributes = (
        "lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={1},"
        " rhs_contracting_dims={0}, lhs_ragged_dims={2}"
    )
    prefix = "2," if of_batch else ""
    result = ragged(
        f"f32[{groups},2,3,4]", f"f32[3,2,{terms}] f32[{terms},2,4] s32[{prefix}{groups}]",
        attributes, a.astype(np.float32), b.astype(np.float32), given_sizes,
    )  # fmt: skip

    for group in range(groups):

        def is_inside(batch: Any, _: Any, term: Any, group: int = group) -> bool:
            of_this = given_sizes[batch] if of_batch else given_sizes
            return group_of(term[0], of_this) == group

        wanted = twin(a, b, ((1,), (1,)), ((2,), (0,)), is_inside)
        assert result[group].tolist() == wanted.tolist()


def test_ragged_batch_of_contracting_dimensions() -> None:
    # The sizes depend on an outer contracting dimension: 1 and 2 of 3 elements.
    a = np.array([[[1, 2, 3], [4, 5, np.inf]]], np.float32)
    b = np.ones((2, 3, 1), np.float32)
    attributes = "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}, lhs_ragged_dims={2}"
    sizes = np.array([[1, 2], [2, 0]], np.int32)
    result = ragged("f32[2,1,1]", "f32[1,2,3] f32[2,3,1] s32[2,2]", attributes, a, b, sizes)
    assert result.tolist() == [[[1 + 4 + 5]], [[2 + 3]]]


def test_scaled_operands() -> None:
    a, b = np.array([[1, 2, 3, 4]], ml_dtypes.float8_e4m3fn), np.ones((4, 1), np.float32)
    scale = np.array([[2, 0.5]], ml_dtypes.float8_e8m0fnu)
    result = evaluated(
        "f32[1,1] scaled-dot(f8e4m3fn[1,4] a, f32[4,1] b, f8e8m0fnu[1,2] s, f32[] t),"
        f" {MATRICES}",
        a, b, scale, np.float32(3),
    )  # fmt: skip
    assert result.tolist() == [[3 * (2 * 1 + 2 * 2 + 0.5 * 3 + 0.5 * 4)]]


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.sampled_from([1, 2, 4]), st.sampled_from([1, 3]), st.sampled_from([1, 2, 4]))
def test_scaled_against_single_products(left: int, rows: int, right: int) -> None:
    a, b = numbers(1, 3, 4), numbers(2, 4, 2)
    s, t = (2.0 ** numbers(seed, *sizes) for seed, sizes in ((3, (rows, left)), (4, (right, 1))))
    result = evaluated(
        f"f32[3,2] scaled-dot(f32[3,4] a, f32[4,2] b, f32[{rows},{left}] s, f32[{right},1] t),"
        f" {MATRICES}",
        a.astype(np.float32), b.astype(np.float32), s.astype(np.float32), t.astype(np.float32),
    )  # fmt: skip
    for row, column in np.ndindex(3, 2):
        wanted = sum(
            a[row, k] * s[row * rows // 3, k * left // 4] * b[k, column] * t[k * right // 4, 0]
            for k in range(4)
        )
        assert result[row, column] == pytest.approx(wanted, rel=1e-6)


def test_pred_in_groups_and_among_zeros() -> None:
    a, b = np.array([[True, True]]), np.array([[True], [False]])
    sizes = np.array([1, 1], np.int32)
    parts = ragged("pred[2,1,1]", "pred[1,2] pred[2,1] s32[2]", PARTS, a, b, sizes)
    assert parts.ravel().tolist() == [True, False]
    b = np.array([[False], [True], [True], [False]])
    for word, wanted in ((1 | 2 << 2, True), (0 | 3 << 2, False)):
        words = np.array([[word]], np.uint16)
        found = sparse("pred[1,1]", "pred[1,2]", "pred[4,1]", "u16[1,1] m", "L.1@2:4", a, b, words)
        assert found.tolist() == [[wanted]]


@pytest.mark.parametrize(("live", "wanted"), [(0, 0), (1, 20), (2, 20 + 80), (3, 20 + 80 + 150)])
def test_a_short_dynamic_dimension_may_end_inside_a_group(live: int, wanted: int) -> None:
    # 0 1 0 2 | 3 0 4 0, cut behind the first values.
    word = 1 | 3 << 2 | 0 << 4 | 2 << 6
    metadata = np.full((1, min(live, 1)), word, np.uint16)
    found = sparse(
        "f32[1,1]", "f32[1,<=4]", "f32[8,1]", "u16[1,<=1] m", "L.1@2:4",
        np.array([[1, 2, 3, 4]], np.float32)[:, :live],
        np.arange(10, 90, 10, dtype=np.float32)[:, None], metadata,
    )  # fmt: skip
    assert found.tolist() == [[wanted]]
