"""Rounding to every float format and back, against ml_dtypes and numpy."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.ir.element_type import (
    BF16,
    ELEMENT_TYPES,
    F4E2M1FN,
    F8E4M3B11FNUZ,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    ElementType,
    FloatFormat,
)
from hlotool.ir.float_format import (
    decode,
    default_payload,
    encode,
    is_nan,
    largest_bits,
    nan_bits,
    nan_payload,
    sign_bit,
)

FLOATS = [element_type for element_type in ELEMENT_TYPES.values() if element_type.is_float]
NARROW = [element_type for element_type in FLOATS if element_type.bits <= 16]


def format_of(element_type: ElementType) -> FloatFormat:
    assert element_type.float_format is not None
    return element_type.float_format


def numbers_of(element_type: ElementType) -> list[float]:
    """The finite numbers of a type, in order, zero once."""
    every = (decode(bits, format_of(element_type)) for bits in range(1 << element_type.bits))
    return sorted({number for number in every if math.isfinite(number)})


@pytest.mark.parametrize("element_type", NARROW, ids=repr)
def test_every_pattern_means_what_ml_dtypes_says(element_type: ElementType) -> None:
    patterns = np.arange(1 << element_type.bits, dtype=f"u{element_type.storage_bytes}")
    # ml_dtypes flags the widening of a NaN of some types as invalid.
    with np.errstate(invalid="ignore"):
        wanted = patterns.view(element_type.numpy).astype(np.float64)
    found = np.array([decode(bits, format_of(element_type)) for bits in patterns.tolist()])
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize("element_type", NARROW, ids=repr)
def test_encode_undoes_decode(element_type: ElementType) -> None:
    float_format = format_of(element_type)
    for bits in range(1 << element_type.bits):
        if not is_nan(bits, float_format):
            assert encode(decode(bits, float_format), float_format) == bits


@pytest.mark.parametrize("element_type", [t for t in NARROW if t.bits <= 8], ids=repr)
def test_a_number_rounds_to_its_nearest_neighbour(element_type: ElementType) -> None:
    float_format = format_of(element_type)
    numbers = numbers_of(element_type)
    for low, high in itertools.pairwise(numbers):
        half = (low + high) / 2
        assert decode(encode(math.nextafter(half, -math.inf), float_format), float_format) == low
        assert decode(encode(math.nextafter(half, math.inf), float_format), float_format) == high


@pytest.mark.parametrize(
    "element_type", [t for t in NARROW if t.bits <= 8 and t is not F8E8M0FNU], ids=repr
)
def test_half_way_is_even(element_type: ElementType) -> None:
    float_format = format_of(element_type)
    numbers = numbers_of(element_type)
    for low, high in itertools.pairwise(numbers):
        bits = encode((low + high) / 2, float_format)
        assert decode(bits, float_format) in {low, high}
        assert bits % 2 == 0


def test_powers_of_two_round_up_half_way() -> None:
    for value, wanted in (
        (1.5, 2.0),
        (3.0, 4.0),
        (6.0, 8.0),
        (1.4999, 1.0),
        (2.0**-130, 2.0**-127),
    ):
        assert decode(encode(value, format_of(F8E8M0FNU)), format_of(F8E8M0FNU)) == wanted


@given(st.floats(width=64, allow_nan=False))
def test_wide_types_round_as_numpy_does(value: float) -> None:
    with np.errstate(all="ignore"):
        double = np.float64(value)
        assert encode(value, format_of(F64)) == int(double.view(np.uint64))
        assert encode(value, format_of(F32)) == int(double.astype(np.float32).view(np.uint32))
        assert encode(value, format_of(F16)) == int(double.astype(np.float16).view(np.uint16))


@given(st.floats(width=32, allow_nan=False))
def test_bf16_rounds_singles_as_ml_dtypes_does(value: float) -> None:
    with np.errstate(all="ignore"):
        wanted = np.array([value], np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)
    assert encode(value, format_of(BF16)) == int(wanted[0])


def test_rounding_happens_once() -> None:
    # A little over half way; as a single it would be half way, and then round to even.
    assert decode(encode(1 + 2.0**-11 + 2.0**-40, format_of(F16)), format_of(F16)) > 1
    assert decode(encode(1 + 2.0**-8 + 2.0**-40, format_of(BF16)), format_of(BF16)) > 1


def test_exact_fractions_round_too() -> None:
    assert encode(Fraction(1, 3), format_of(F64)) == encode(1 / 3, format_of(F64))
    half_way = Fraction(1) + Fraction(1, 1 << 53)
    assert decode(encode(half_way, format_of(F64)), format_of(F64)) == 1
    above = half_way + Fraction(1, 10**400)
    assert decode(encode(above, format_of(F64)), format_of(F64)) == math.nextafter(1, 2)


@pytest.mark.parametrize(
    ("element_type", "value", "wanted"),
    [
        (F8E5M2, 61439.0, 57344.0),
        (F8E5M2, 61440.0, math.inf),
        (F8E4M3FN, 464.0, 448.0),
        (F8E4M3FN, 465.0, math.nan),
        (F8E4M3FN, math.inf, math.nan),
        (F8E4M3B11FNUZ, 31.0, math.nan),
        (F8E4M3B11FNUZ, -math.inf, math.nan),
        (F8E4M3B11FNUZ, -1e-9, 0.0),
        (F4E2M1FN, 1e30, 6.0),
        (F4E2M1FN, -math.inf, -6.0),
        (F4E2M1FN, math.nan, -0.0),
        (F8E8M0FNU, 0.0, math.nan),
        (F8E8M0FNU, -1.0, math.nan),
        (F8E8M0FNU, 2.0**127 * 1.5, math.nan),
        (F16, 65519.99, 65504.0),
        (F16, 65520.0, math.inf),
    ],
)
def test_what_does_not_fit(element_type: ElementType, value: float, wanted: float) -> None:
    found = decode(encode(value, format_of(element_type)), format_of(element_type))
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize("element_type", FLOATS, ids=repr)
def test_the_largest_number_is_finite_and_the_next_pattern_is_not(
    element_type: ElementType,
) -> None:
    float_format = format_of(element_type)
    largest = largest_bits(float_format)
    assert math.isfinite(decode(largest, float_format))
    if (largest + 1) & ~sign_bit(float_format):
        assert not math.isfinite(decode(largest + 1, float_format))


def test_nan_payloads() -> None:
    single = format_of(F32)
    assert nan_bits(single) == 0x7FC00000
    assert nan_bits(single, negative=True, payload=1) == 0xFF800001
    assert nan_payload(0xFF800001, single) == 1
    assert nan_payload(nan_bits(single, payload=default_payload(single)), single) is None
    assert nan_bits(format_of(F8E4M3FN), negative=True) == 0xFF
    assert nan_payload(0xFF, format_of(F8E4M3FN)) is None
    for payload in (0, 0x800000):
        with pytest.raises(ValueError, match="not within 0x1 and 0x7fffff"):
            nan_bits(single, payload=payload)
    with pytest.raises(ValueError, match="has no NaN with a payload"):
        nan_bits(format_of(F8E4M3FN), payload=1)
