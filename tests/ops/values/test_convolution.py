"""Values of convolution and fft, worked by hand and against loops over single products."""

import cmath
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.window import WindowDimension
from tests.evaluating import evaluated


def convolve(result: str, lhs: str, rhs: str, attributes: str, *arrays: Any) -> Any:
    return evaluated(f"{result} convolution({lhs} x, {rhs} k), {attributes}", *arrays)


def line(window: str, base: list[float], kernel: list[float], element_type: str = "f32") -> Any:
    """Returns a convolution along one dimension, without batch or features."""
    numpy_type = {"f32": np.float32, "s8": np.int8, "s64": np.int64, "u8": np.uint8}[element_type]
    x, k = (np.array(numbers, numpy_type)[None, :, None] for numbers in (base, kernel))
    count = read_size(window, len(base), len(kernel))
    result = convolve(
        f"{element_type}[1,{count},1]",
        f"{element_type}[1,{len(base)},1]",
        f"{element_type}[{len(kernel)},1,1]",
        f"window={{size={len(kernel)}{window}}}, dim_labels=b0f_0io->b0f",
        x,
        k.reshape(-1, 1, 1),
    )
    return result[0, :, 0].tolist()


def read_size(window: str, size: int, taps: int) -> int:
    parts = dict(part.split("=") for part in window.split())
    low, high = map(int, parts.get("pad", "0_0").split("_"))
    return WindowDimension(
        taps, int(parts.get("stride", 1)), low, high,
        int(parts.get("lhs_dilate", 1)), int(parts.get("rhs_dilate", 1)),
    ).output_size(size)  # fmt: skip


@pytest.mark.parametrize(
    ("window", "wanted"),
    [
        ("", [12, 23, 34]),
        (" rhs_reversal=1", [21, 32, 43]),
        (" stride=2", [12, 34]),
        (" pad=1_2", [1, 12, 23, 34, 40, 0]),
        (" pad=-1_-1", [23]),
        (" lhs_dilate=2", [10, 2, 20, 3, 30, 4]),
        (" rhs_dilate=3", [14]),
        (" pad=-1_0 lhs_dilate=2", [2, 20, 3, 30, 4]),
        (" pad=-9_0", []),
    ],
)
def test_windows(window: str, wanted: list[float]) -> None:
    assert line(window, [1, 2, 3, 4], [10, 1]) == wanted


def test_nothing_is_multiplied_in_padding_and_holes() -> None:
    assert line(" pad=1_1", [1, 2], [np.inf, 1]) == [1, np.inf, np.inf]
    assert line(" lhs_dilate=2", [1, 2, 3], [np.inf, 1]) == [np.inf, 2, np.inf, 3]
    # More taps than windows is the other way to add up.
    assert line(" pad=2_0", [1], [np.nan, np.inf, 3]) == [3]


def test_integers_stop_at_the_ends_of_their_range() -> None:
    assert line("", [100, 100, -100, -100], [1, 1], "s8") == [127, 0, -128]
    assert line("", [200, 100], [1, 1], "u8") == [255]
    # Only the sum stops: its parts go beyond the range and come back.
    assert line("", [100, 100, -100], [1, 1, 1], "s8") == [100]
    assert line("", [2**62, 1], [1, 1], "s64") == [2**62 + 1]


def test_wide_sums_of_narrow_integers() -> None:
    x, k = np.array([[[-128], [-128]]], np.int8), np.full((2, 1, 1), -128, np.int8)
    attributes = "window={size=2}, dim_labels=b0f_0io->b0f"
    assert convolve("s32[1,1,1]", "s8[1,2,1]", "s8[2,1,1]", attributes, x, k).item() == 32768
    assert convolve("s16[1,1,1]", "s8[1,2,1]", "s8[2,1,1]", attributes, x, k).item() == 32767


def test_half_floats_are_rounded_once() -> None:
    x, k = np.array([[[2048], [1], [1]]], np.float16), np.ones((3, 1, 1), np.float16)
    attributes = "window={size=3}, dim_labels=b0f_0io->b0f"
    assert convolve("f16[1,1,1]", "f16[1,3,1]", "f16[3,1,1]", attributes, x, k).item() == 2050


def test_feature_groups() -> None:
    x = np.arange(8, dtype=np.float32)
    attributes = "window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=2"
    result = convolve(
        "f32[1,3,4]", "f32[1,4,2]", "f32[2,1,4]",
        attributes, x.reshape(1, 4, 2), x.reshape(2, 1, 4),
    )  # fmt: skip
    assert result[0, 0].tolist() == [8, 10, 20, 24]


def test_batch_groups() -> None:
    x = np.arange(8, dtype=np.float32)
    attributes = "window={size=2}, dim_labels=b0f_0io->b0f, batch_group_count=2"
    result = convolve(
        "f32[1,3,4]", "f32[2,4,1]", "f32[2,1,4]",
        attributes, x.reshape(2, 4, 1), x.reshape(2, 1, 4),
    )  # fmt: skip
    assert result[0, 0].tolist() == [4, 5, 38, 47]


def test_no_spatial_dimensions() -> None:
    x, k = np.array([[1, 2]], np.float32), np.array([[3], [4]], np.float32)
    result = convolve("f32[1,1]", "f32[1,2]", "f32[2,1]", "dim_labels=bf_io->bf", x, k)
    assert result.tolist() == [[11]]


@pytest.mark.parametrize(
    ("result", "lhs", "rhs"),
    [
        ("f32[0,2,3]", "f32[0,3,2]", "f32[2,2,3]"),
        ("f32[1,2,0]", "f32[1,3,2]", "f32[2,2,0]"),
        ("f32[1,2,3]", "f32[1,3,0]", "f32[2,0,3]"),
        ("f32[1,0,3]", "f32[1,0,2]", "f32[2,2,3]"),
    ],
)
def test_no_elements(result: str, lhs: str, rhs: str) -> None:
    sizes = [tuple(map(int, text[4:-1].split(","))) for text in (result, lhs, rhs)]
    arrays = [np.ones(size, np.float32) for size in sizes[1:]]
    value = convolve(result, lhs, rhs, "window={size=2}, dim_labels=b0f_0io->b0f", *arrays)
    assert value.shape == sizes[0]
    assert not value.any()


def test_packed_nibbles() -> None:
    # 0x2F holds -1 low and 2 high, 0x73 holds 3 and 7.
    attributes = (
        "window={size=1}, dim_labels=b0f_0io->b0f, operand_precision={packed_nibble,packed_nibble}"
    )
    x, k = np.array([[[0x2F]]], np.int8), np.array([[[0x73]]], np.int8)
    assert convolve("s8[1,1,1]", "s8[1,1,1]", "s8[1,1,1]", attributes, x, k).item() == 11
    one = np.array([[[1]]], np.float32)
    with pytest.raises(UnsupportedError, match="convolution: operand_precision packed_nibble"):
        convolve("f32[1,1,1]", "f32[1,1,1]", "f32[1,1,1]", attributes, one, one)


def test_large_batches_are_worked_on_in_parts() -> None:
    x = np.ones((300, 64, 64, 8), np.float32)
    x[299] = 2
    k = np.ones((2, 1, 8, 8), np.float32)
    result = convolve(
        "f32[300,63,64,8]", "f32[300,64,64,8]", "f32[2,1,8,8]",
        "window={size=2x1}, dim_labels=b01f_01io->b01f", x, k,
    )  # fmt: skip
    assert (result[:299] == 16).all()
    assert (result[299] == 32).all()


dimensions = st.builds(
    WindowDimension,
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(-2, 3),
    st.integers(-2, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.booleans(),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    """Draws window, groups, sizes of features and space, and the orders of all dimensions."""
    window = draw(st.lists(dimensions, max_size=2))
    features, batches = draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    batch, inputs, outputs = (draw(st.integers(1, 2)) for _ in range(3))
    space = [draw(st.integers(1, 5)) for _ in window]
    orders = [draw(st.permutations(range(len(window) + 2))) for _ in range(3)]
    return window, features, batches, (batch, inputs, outputs), space, orders


def sums(x: Any, k: Any, window: Any, features: int, batches: int) -> Any:
    """Returns [batch, feature, space...] of [batch, feature, space...] and [in, out, taps...]."""
    inputs, outputs = k.shape[:2]
    batch = x.shape[0] // batches
    sizes = [dim.output_size(size) for dim, size in zip(window, x.shape[2:], strict=True)]
    result = np.zeros([batch, outputs, *sizes], np.int64)
    for b, z, *position in np.ndindex(*result.shape):
        first_feature = z // (outputs // features) * inputs
        first_batch = z // (outputs // batches) * batch
        for i, *tap in np.ndindex(inputs, *k.shape[2:]):
            places = [
                o * dim.stride + t * dim.window_dilation - dim.padding_low
                for o, t, dim in zip(position, tap, window, strict=True)
            ]
            if any(p % dim.base_dilation for p, dim in zip(places, window, strict=True)):
                continue
            read = [p // dim.base_dilation for p, dim in zip(places, window, strict=True)]
            if any(not 0 <= r < n for r, n in zip(read, x.shape[2:], strict=True)):
                continue
            turned = [
                dim.size - 1 - t if dim.reversal else t for t, dim in zip(tap, window, strict=True)
            ]
            result[(b, z, *position)] += (
                x[(first_batch + b, first_feature + i, *read)] * k[(i, z, *turned)]
            )
    return result


def window_text(window: Any) -> str:
    if not window:
        return ""
    parts = {
        "size": [str(dim.size) for dim in window],
        "stride": [str(dim.stride) for dim in window],
        "pad": [f"{dim.padding_low}_{dim.padding_high}" for dim in window],
        "lhs_dilate": [str(dim.base_dilation) for dim in window],
        "rhs_dilate": [str(dim.window_dilation) for dim in window],
        "rhs_reversal": [str(int(dim.reversal)) for dim in window],
    }
    texts = [f"{name}={'x'.join(numbers)}" for name, numbers in parts.items()]
    return f"window={{{' '.join(texts)}}}, "


@settings(derandomize=True, deadline=None, max_examples=60)
@given(cases(), st.sampled_from([("f32", np.float32), ("s32", np.int32)]))
def test_against_single_products(case: tuple[Any, ...], element_type: tuple[str, Any]) -> None:
    window, features, batches, (batch, inputs, outputs), space, orders = case
    name, numpy_type = element_type
    generator = np.random.default_rng(0)
    x = generator.integers(-4, 5, (batch * batches, inputs * features, *space))
    taps = [dim.size for dim in window]
    k = generator.integers(-4, 5, (inputs, outputs * features * batches, *taps))
    wanted = sums(x, k, window, features, batches).transpose(orders[2])
    letters = ("bf012", "io012", "bf012")
    labels = ["".join(own[d] for d in order) for own, order in zip(letters, orders, strict=True)]
    arrays = [array.transpose(order) for array, order in zip((x, k), orders[:2], strict=True)]
    texts = [f"{name}[{','.join(map(str, array.shape))}]" for array in (wanted, *arrays)]
    attributes = (
        f"{window_text(window)}dim_labels={labels[0]}_{labels[1]}->{labels[2]},"
        f" feature_group_count={features}, batch_group_count={batches}"
    )
    result = convolve(*texts, attributes, *(array.astype(numpy_type) for array in arrays))
    assert result.tolist() == wanted.tolist()


def transform(kind: str, length: Any, result: str, operand: str, array: Any) -> Any:
    sizes = ",".join(map(str, length))
    return evaluated(f"{result} fft({operand} x), fft_type={kind}, fft_length={{{sizes}}}", array)


def frequencies(array: Any, count: int, sign: int) -> Any:
    """Returns the transform of the last `count` dimensions by its definition."""
    sizes = array.shape[array.ndim - count :]
    result = np.zeros(array.shape, complex)
    for place in np.ndindex(*array.shape):
        outer, inner = place[: array.ndim - count], place[array.ndim - count :]
        for other in product(*map(range, sizes)):
            turns = sum(j * k / n for j, k, n in zip(inner, other, sizes, strict=True))
            result[place] += array[(*outer, *other)] * cmath.exp(sign * 2j * cmath.pi * turns)
    return result


def test_transforms_by_hand() -> None:
    x = np.array([1, 2j, 0, 0], np.complex64)
    assert transform("FFT", [4], "c64[4]", "c64[4]", x).tolist() == [1 + 2j, 3, 1 - 2j, -1]
    back = np.array([1 + 2j, 3, 1 - 2j, -1], np.complex64)
    assert transform("IFFT", [4], "c64[4]", "c64[4]", back).tolist() == x.tolist()
    real = np.array([1, 2, 3, 4], np.float32)
    assert transform("RFFT", [4], "c64[3]", "f32[4]", real).tolist() == [10, -2 + 2j, -2]
    half = np.array([10 + 7j, -2 + 2j, -2 + 5j], np.complex64)
    assert transform("IRFFT", [4], "f32[4]", "c64[3]", half).tolist() == [1, 2, 3, 4]


lengths = st.lists(st.integers(1, 5), min_size=1, max_size=3)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(lengths, st.integers(0, 2), st.sampled_from(["FFT", "IFFT", "RFFT", "IRFFT"]))
def test_transforms_by_definition(length: list[int], batch: int, kind: str) -> None:
    generator = np.random.default_rng(1)
    sizes = (batch, *length)
    x = generator.normal(size=sizes) + 1j * generator.normal(size=sizes)
    if "R" in kind:
        x = x.real + 0j
    count, half = len(length), length[-1] // 2 + 1
    if kind in {"FFT", "RFFT"}:
        wanted = frequencies(x, count, -1)
        given_array, wanted = x, wanted if kind == "FFT" else wanted[..., :half]
    else:
        given_array, wanted = frequencies(x, count, -1), x
        given_array = given_array if kind == "IFFT" else given_array[..., :half]
    types = {"RFFT": ("c128", "f64"), "IRFFT": ("f64", "c128")}.get(kind, ("c128", "c128"))
    if kind == "RFFT":
        given_array = given_array.real
    if kind == "IRFFT":
        wanted = wanted.real
    result, operand = (
        f"{name}[{','.join(map(str, array.shape))}]"
        for name, array in zip(types, (wanted, given_array), strict=True)
    )
    value = transform(kind, length, result, operand, given_array)
    np.testing.assert_allclose(value, wanted, atol=1e-12)


def test_single_precision_is_rounded_once() -> None:
    x = np.random.default_rng(2).normal(size=1000).astype(np.float32)
    result = transform("RFFT", [1000], "c64[501]", "f32[1000]", x)
    exact = transform("RFFT", [1000], "c128[501]", "f64[1000]", x.astype(np.float64))
    assert result.tolist() == exact.astype(np.complex64).tolist()


def test_transforms_of_nothing() -> None:
    x = np.zeros((0, 3), np.float32)
    assert transform("RFFT", [3], "c64[0,2]", "f32[0,3]", x).shape == (0, 2)
    y = np.zeros((0, 2), np.complex64)
    assert transform("IRFFT", [3], "f32[0,3]", "c64[0,2]", y).shape == (0, 3)
    z = np.zeros((2, 0), np.complex64)
    assert transform("FFT", [0], "c64[2,0]", "c64[2,0]", z).shape == (2, 0)


def test_transforms_of_part_of_a_dimension() -> None:
    x = np.zeros(3, np.complex64)
    with pytest.raises(EvaluationError, match=r"dimensions \{3\} to transform are given"):
        transform("FFT", [4], "c64[<=4]", "c64[<=4]", x)


def test_eight_bit_floats() -> None:
    x = np.array([[[448], [448]]], ml_dtypes.float8_e4m3fn)
    k = np.array([[[1]], [[-0.5]]], ml_dtypes.float8_e4m3fn)
    attributes = "window={size=2}, dim_labels=b0f_0io->b0f"
    result = convolve("f32[1,1,1]", "f8e4m3fn[1,2,1]", "f8e4m3fn[2,1,1]", attributes, x, k)
    assert result.item() == 224


def test_live_elements_that_do_not_fall_into_groups() -> None:
    x, k = np.ones((3, 1), np.float32), np.ones((1, 2), np.float32)
    with pytest.raises(EvaluationError, match="live elements are given, whole groups"):
        convolve(
            "f32[<=2,2]", "f32[<=4,1]", "f32[1,2]", "dim_labels=bf_io->bf, batch_group_count=2",
            x, k,
        )  # fmt: skip


def test_live_elements_of_a_dynamic_dimension() -> None:
    x, k = np.array([[[1], [2]]], np.float32), np.array([[[10]], [[1]]], np.float32)
    attributes = "window={size=2 pad=0_1}, dim_labels=b0f_0io->b0f"
    result = convolve("f32[1,<=4,1]", "f32[1,<=4,1]", "f32[2,1,1]", attributes, x, k)
    assert result.ravel().tolist() == [12, 20]
