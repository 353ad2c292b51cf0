"""Values of ops that change how numbers are held."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import UnsupportedError
from hlotool.ir.element_type import ELEMENT_TYPES, F32, ElementType, FloatFormat
from hlotool.ir.float_format import decode, encode
from tests.ops.values.arrays import computed, held, of_patterns, patterns, same

INF, NAN = math.inf, math.nan
INTEGERS = [t for t in ELEMENT_TYPES.values() if t.is_integer]
FLOATS = [t for t in ELEMENT_TYPES.values() if t.is_float]
quick = settings(derandomize=True, deadline=None, max_examples=60)


def converted(values: Any, source: str, target: str) -> Any:
    found = computed("convert", source, held(values, source), result=target)
    assert found.dtype == ELEMENT_TYPES[target].numpy
    return found


@pytest.mark.parametrize(
    ("source", "target", "values", "wanted"),
    [
        ("s32", "s8", [300, -129, 127], [44, 127, 127]),
        ("s8", "u64", [-1], [2**64 - 1]),
        ("u8", "s64", [255], [255]),
        ("u8", "s1", [1, 2], [-1, 0]),
        ("s1", "s32", [-1, 0], [-1, 0]),
        ("s1", "u8", [-1], [255]),
        ("u1", "s32", [1], [1]),
        ("s64", "u4", [-1, 2**62 + 5], [15, 5]),
        ("s4", "s2", [5, -3], [1, 1]),
        ("pred", "s8", [True, False], [1, 0]),
        ("pred", "s1", [True, False], [-1, 0]),
        ("f32", "s32", [3e9, -3e9, 1.9, -1.9, NAN, INF],
         [2**31 - 1, -(2**31), 1, -1, 0, 2**31 - 1]),
        ("f32", "u8", [-1.9, 255.9, 256, -INF, -0.0], [0, 255, 255, 0, 0]),
        ("f64", "s64", [2.0**63, -(2.0**63), 2.0**53 + 2, -INF],
         [2**63 - 1, -(2**63), 2**53 + 2, -(2**63)]),
        ("f64", "u64", [2.0**64, 2.0**63, -1, 2.0**64 - 2048],
         [2**64 - 1, 2**63, 0, 2**64 - 2048]),
        ("f64", "s32", [2147483647.5, 2147483646.9], [2**31 - 1, 2147483646]),
        ("f32", "s1", [0.5, -1, 1, -5], [0, -1, 0, -1]),
        ("f32", "u2", [3.9, 4], [3, 3]),
        ("f16", "u64", [INF, 65504], [2**64 - 1, 65504]),
        ("f8e4m3fn", "s4", [NAN, 448, -448], [0, 7, -8]),
        ("f4e2m1fn", "u8", [6, -6], [6, 0]),
        ("c64", "s32", [2.5 + 7j], [2]),
    ],
)  # fmt: skip
def test_to_integers(source: str, target: str, values: list[Any], wanted: list[int]) -> None:
    assert [int(value) for value in converted(values, source, target)] == wanted


@pytest.mark.parametrize(
    ("source", "values", "wanted"),
    [
        ("f32", [0.0, -0.0, NAN, 1e-45, -INF], [False, False, True, True, True]),
        ("s64", [0, 2**40], [False, True]),
        ("s2", [0, -2], [False, True]),
        ("f4e2m1fn", [0.0, -0.0, 0.5], [False, False, True]),
        ("c64", [0, 1j, -0.0], [False, True, False]),
    ],
)
def test_to_pred(source: str, values: list[Any], wanted: list[bool]) -> None:
    assert converted(values, source, "pred").tolist() == wanted


@pytest.mark.parametrize(
    ("source", "target", "values", "wanted"),
    [
        ("s32", "f16", [70000, -65520, 65519], [INF, -INF, 65504]),
        ("s64", "f32", [2**24 + 1, 2**60 + 2**36 + 1], [2.0**24, 2.0**60 + 2.0**37]),
        ("s64", "bf16", [2**60 + 2**52 + 1, 2**60 + 2**52], [2.0**60 + 2.0**53, 2.0**60]),
        ("u64", "f64", [2**64 - 1, 2**53 + 1], [2.0**64, 2.0**53]),
        ("u64", "bf16", [2**64 - 1], [2.0**64]),
        ("s32", "f8e4m3fn", [464, 465, -500], [448, NAN, NAN]),
        ("s32", "f4e2m1fn", [100, -100, 5], [6, -6, 4]),
        ("s32", "f8e8m0fnu", [3, 0, -1, 5], [4, NAN, NAN, 4]),
        ("pred", "bf16", [True, False], [1, 0]),
        ("f32", "f8e4m3fn", [464, 465, INF, -0.0], [448, NAN, NAN, -0.0]),
        ("f32", "f8e5m2", [61439, 61440, -INF], [57344, INF, -INF]),
        ("f32", "bf16", [3.4e38, -3.4e38, 1.00390625], [INF, -INF, 1]),
        ("f32", "f4e2m1fn", [INF, -INF, NAN, -0.0, 0.25, 0.75, 5, 5.01],
         [6, -6, -0.0, -0.0, 0, 1, 4, 6]),
        ("f32", "f6e2m3fn", [INF, 7.5, 100, -NAN], [7.5, 7.5, 7.5, -0.0]),
        ("f32", "f6e3m2fn", [-INF, 28], [-28, 28]),
        ("f32", "f8e4m3fnuz", [-0.0, INF, 241, 249], [0.0, NAN, 240, NAN]),
        ("f32", "f8e5m2fnuz", [-0.0, 61440], [0.0, NAN]),
        ("f32", "f8e4m3b11fnuz", [-1e-30, 31], [0.0, NAN]),
        ("f32", "f8e8m0fnu", [1.4, 1.5, 0, -1, INF, 2.0**-127 * 1.25],
         [1, 2, NAN, NAN, NAN, 2.0**-127]),
        ("f64", "f8e5m2", [1 + 2.0**-3 + 1e-15, 1 + 2.0**-3], [1.25, 1]),
        ("f64", "f16", [65520 - 1e-10, 1 + 2.0**-11 + 1e-14], [65504, 1 + 2.0**-10]),
        ("f64", "bf16", [1 + 2.0**-8 + 1e-14], [1 + 2.0**-7]),
        ("f64", "f32", [1e39, 1e-46], [INF, 0.0]),
        ("c128", "f32", [1.5 - 2j], [1.5]),
    ],
)  # fmt: skip
def test_to_floats(source: str, target: str, values: list[Any], wanted: list[float]) -> None:
    assert same(converted(values, source, target), wanted)


def test_to_complex() -> None:
    found = converted([1.5, -0.0], "f64", "c64")
    assert found.tolist() == [1.5, 0]
    assert same(found.imag, [0.0, 0.0])
    assert converted([1e300 + 1j], "c128", "c64").tolist() == [complex(INF, 1)]
    assert converted([-3], "s8", "c128").tolist() == [-3]


def test_the_same_type_is_kept_bit_by_bit() -> None:
    nans = of_patterns([0x7FA00001, 0xFFC12345], F32)
    assert patterns(computed("convert", "f32", nans)) == patterns(nans)


@quick
@given(st.sampled_from(FLOATS), st.lists(st.floats(), min_size=1, max_size=20), st.data())
def test_doubles_are_rounded_once(
    target: ElementType, anywhere: list[float], data: st.DataObject
) -> None:
    form = target.float_format
    assert form is not None
    # Also numbers half-way between neighbours, and next to these.
    bits = data.draw(st.lists(st.integers(0, (1 << target.bits - 2) - 1), max_size=10))
    ties = [decode(b, form) / 2 + decode(b + 1, form) / 2 for b in bits]
    values = [v for tie in ties for v in (tie, np.nextafter(tie, INF), np.nextafter(tie, -INF))]
    values += anywhere
    found = patterns(converted(values, "f64", target.name))
    for value, pattern in zip(values, found, strict=True):
        wanted = encode(abs(value) if math.isnan(value) else float(value), form)
        if math.isnan(value):
            assert math.isnan(decode(pattern, form)) == math.isnan(decode(wanted, form))
        else:
            assert pattern == wanted, value


@quick
@given(st.sampled_from(FLOATS), st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_wide_integers_are_rounded_once(target: ElementType, values: list[int]) -> None:
    form = target.float_format
    assert form is not None
    # Numbers next to a tie: all but a few high bits are 0 or 1.
    values += [(v >> k << k) + d for v in values for k in (40, 58) for d in (0, 1) if v > 0]
    found = patterns(converted(values, "s64", target.name))
    assert found == [encode(Fraction(value) if value else 0.0, form) for value in values]


@quick
@given(st.sampled_from(INTEGERS), st.lists(st.floats(), min_size=1))
def test_integers_saturate(target: ElementType, values: list[float]) -> None:
    bits = target.bits
    low, high = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if target.is_signed else (0, (1 << bits) - 1)
    )
    values = [*values, low, low - 0.5, high, float(high) + 1, np.nextafter(float(high), 0)]

    def wanted(value: float) -> int:
        if math.isnan(value):
            return 0
        return min(max(math.trunc(min(max(value, -1e30), 1e30)), low), high)

    found = converted(values, "f64", target.name)
    assert [int(value) for value in found] == [wanted(float(value)) for value in values]


@pytest.mark.parametrize(
    ("source", "operand", "target", "size", "wanted"),
    [
        ("f32", [1.0, -2.0], "u32", "[2]", [0x3F800000, 0xC0000000]),
        ("f32", [1.0], "u8", "[1,4]", [[0, 0, 0x80, 0x3F]]),
        ("u16", [[0x3344, 0x1122], [1, 0]], "u32", "[2]", [0x11223344, 1]),
        ("u8", [[255] * 8], "s64", "[1]", [-1]),
        ("u8", [0x9F], "s4", "[1,2]", [[-1, -7]]),
        ("s4", [[-1, -7]], "u8", "[1]", [0x9F]),
        ("u8", [0b11100100], "u2", "[1,4]", [[0, 1, 2, 3]]),
        ("u8", [0b00000101], "s1", "[1,8]", [[-1, 0, -1, 0, 0, 0, 0, 0]]),
        ("s1", [[-1, 0]], "u2", "[1]", [1]),
        ("u4", [7, 8, 11], "f4e2m1fn", "[3]", [6, -0.0, -1.5]),
        ("f4e2m1fn", [[1.5, -6.0]], "u8", "[1]", [0xF3]),
        ("u64", [0x400000003F800000], "c64", "[1]", [1 + 2j]),
        ("pred", [True, False], "u8", "[2]", [1, 0]),
        ("u8", [2, 0], "pred", "[2]", [True, False]),
        ("f16", [1.0], "bf16", "[1]", [0.0078125]),
        ("c128", [1 + 2j], "c128", "[1]", [1 + 2j]),
    ],
)
def test_bits_read_as_another_type(
    source: str, operand: list[Any], target: str, size: str, wanted: list[Any]
) -> None:
    array = held(operand, source)
    result = target + size
    found = computed("bitcast-convert", source, array, shape=result)
    assert found.dtype == ELEMENT_TYPES[target].numpy
    assert found.tolist() == wanted


@quick
@given(
    st.binary(min_size=16, max_size=16),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4, 8]),
)
def test_bits_like_bytes_in_memory(raw: bytes, one: int, other: int) -> None:
    array = np.frombuffer(raw, f"<u{one}").reshape(-1, max(1, other // one))
    pieces = f",{one // other}" if other < one else ""
    rows, columns = array.shape
    kept = f"{rows},{columns}" if other <= one else f"{rows}"
    found = computed("bitcast-convert", f"u{8 * one}", array, shape=f"s{8 * other}[{kept}{pieces}]")
    assert found.tobytes() == raw


def reduced(values: Any, name: str, exponent_bits: int, mantissa_bits: int) -> Any:
    attributes = f", exponent_bits={exponent_bits}, mantissa_bits={mantissa_bits}"
    return computed("reduce-precision", name, held(values, name), attributes=attributes)


@pytest.mark.parametrize(
    ("name", "exponent_bits", "mantissa_bits", "values", "wanted"),
    [
        ("f32", 5, 10, [65519, 65520, 6e-5, -6e-5, NAN, -INF], [65504, INF, 0, -0.0, NAN, -INF]),
        ("f32", 8, 0, [NAN, 1.5, 3, -1.25], [NAN, 2, 2, -1]),
        ("f32", 8, 23, [1e-45, 3e38], held([1e-45, 3e38], "f32")),
        ("f32", 8, 7, [3.4e38, 1.00390625, 1.01171875], [INF, 1, 1.015625]),
        ("f64", 8, 23, [1e39, 1e-39, 1 + 2.0**-24], [INF, 0, 1]),
        ("f16", 5, 10, [6e-8, 65504], held([6e-8, 65504], "f16")),
        ("f16", 2, 1, [1, 3, 0.5, 1.25, 4, -0.4], [1, 3, 0, 1, INF, -0.0]),
        ("bf16", 5, 10, [1e5, 1.0078125, 2.0**-14], [INF, 1.0078125, 2.0**-14]),
        ("f32", 1, 3, [1, 2, 0.5, -1.9], [0, INF, 0, -0.0]),
        ("f8e4m3fn", 4, 2, [448, 1.125, 416, NAN], [448, 1, 384, NAN]),
        ("f8e4m3fn", 4, 1, [448, 320], [NAN, 256]),
        ("f8e4m3fnuz", 3, 3, [-0.001953125, 240], [0, NAN]),
        ("f8e8m0fnu", 5, 0, [2.0**-30, 2.0**15, 2.0**16], [NAN, 2.0**15, NAN]),
    ],
)
def test_precision_is_reduced(
    name: str, exponent_bits: int, mantissa_bits: int, values: list[float], wanted: Any
) -> None:
    assert same(reduced(values, name, exponent_bits, mantissa_bits), wanted)


@quick
@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_subnormal=False), min_size=1),
    st.integers(2, 8),
    st.integers(0, 23),
)
def test_reduced_precision_like_a_small_format(
    values: list[float], exponent_bits: int, mantissa_bits: int
) -> None:
    # A format with exponents to spare rounds the mantissa; its range is that of the small one.
    spare = FloatFormat(11, max(mantissa_bits, 1), 1023, 0)
    bias = (1 << exponent_bits - 1) - 1

    def wanted(value: float) -> float:
        if not mantissa_bits and math.isfinite(value) and value:
            fraction, exponent = math.frexp(abs(value))
            # Exponents of f32 are odd for powers 2^0, 2^2: the tie goes to an even one.
            up = fraction > 0.75 or (fraction == 0.75 and (exponent - 1 + 127) % 2 == 1)
            near = math.copysign(math.ldexp(1, exponent if up else exponent - 1), value)
        else:
            near = decode(encode(value, spare), spare)
        if abs(near) >= 2.0 ** (bias + 1):
            return math.copysign(INF, near)
        return math.copysign(0, near) if abs(near) < 2.0 ** (1 - bias) else near

    assert same(
        reduced(values, "f32", exponent_bits, mantissa_bits), [wanted(value) for value in values]
    )


def chanced(values: Any, name: str, random: Any, target: str) -> Any:
    bits = held(random, f"u{ELEMENT_TYPES[name].bits}")
    return computed(
        "stochastic-convert", name, held(values, name), bits, result=target,
        types=(name, f"u{ELEMENT_TYPES[name].bits}"),
    )  # fmt: skip


def test_chance_rounds_up_or_down() -> None:
    most = 2**32 - 1
    values = [1.5, 1.5, -1.5, 1.5, 1.5, 2, -0.25]
    random = [0, most, 0, 2**31 - 1, 2**31, 0, 2**30]
    assert chanced(values, "f32", random, "s32").tolist() == [2, 1, -2, 2, 1, 2, 0]
    edges = [NAN, INF, -INF, 127.5, -127.5, -300]
    assert chanced(edges, "f32", [0] * 6, "s8").tolist() == [0, 127, -128, 127, -128, -128]
    assert chanced([0.5, 0.5], "f64", [2**63 - 1, 2**63], "s64").tolist() == [1, 0]
    assert chanced([0.75, 0.75], "f8e5m2", [191, 192], "s16").tolist() == [1, 0]


@quick
@given(st.lists(st.tuples(st.floats(-300, 300, width=16), st.integers(0, 65535)), min_size=1))
def test_chance_like_fractions(pairs: list[tuple[float, int]]) -> None:
    def wanted(value: float, random: int) -> int:
        whole, rest = divmod(abs(Fraction(value)), 1)
        size = int(whole) + (random < int(rest * 65536))
        return min(max(-size if value < 0 else size, -128), 127)

    values, random = zip(*pairs, strict=True)
    assert chanced(values, "f16", random, "s8").tolist() == [wanted(*pair) for pair in pairs]


def test_chance_is_not_defined_for_floats() -> None:
    with pytest.raises(UnsupportedError, match="stochastic-convert to bf16 is not defined"):
        chanced([1.5], "f32", [0], "bf16")
