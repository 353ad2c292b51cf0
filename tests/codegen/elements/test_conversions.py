"""Conversions between element types, of numbers and of bits, against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.ir.element_type import ELEMENT_TYPES, ElementType, Kind
from tests.codegen.elements.computing import differences, edge_values

COUNT = 601
NAMES = list(ELEMENT_TYPES)
FLOATS = [name for name, one in ELEMENT_TYPES.items() if one.is_float]


def _is_converted(one: ElementType, other: ElementType) -> bool:
    # Of complex numbers the imaginary part is lost where there is no room for it.
    return not one.is_complex or other.is_complex or other.kind is Kind.PRED


def conversions(name: str) -> list[str]:
    """Returns conversions of p0 to all types."""
    one = ELEMENT_TYPES[name]
    return [f"{to}[{COUNT}] convert(p0)" for to in NAMES if _is_converted(one, ELEMENT_TYPES[to])]


@pytest.mark.parametrize("name", NAMES)
def test_each_type_to_each_other(name: str) -> None:
    assert differences([name], [edge_values(name, COUNT)], conversions(name), 8) == []


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2, 4, 16, 64])
@pytest.mark.parametrize("name", NAMES)
def test_each_type_to_each_other_in_all_lanes(name: str, lanes: int) -> None:
    assert differences([name], [edge_values(name, COUNT)], conversions(name), lanes) == []


@pytest.mark.parametrize("name", ["f32", "f64", "f16", "s64"])
def test_halves_without_instructions_for_them(name: str) -> None:
    values = [edge_values(name, COUNT)]
    results = [f"{to}[{COUNT}] convert(p0)" for to in ("f16", "f8e5m2", "f32", "s32")]
    assert differences([name], values, results, 8, frozenset()) == []


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_all_patterns_of_16_bits(name: str) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(ELEMENT_TYPES[name].numpy)
    count = len(values)
    results = [f"{to}[{count}] convert(p0)" for to in (*FLOATS, "s8", "u32", "s64", "pred")]
    opcodes = ("negate", "abs", "sign", "floor", "round-nearest-afz")
    results += [f"{name}[{count}] {opcode}(p0)" for opcode in opcodes]
    assert differences([name], [values], results, 8) == []


@pytest.mark.parametrize("name", ["f32", "f64", "u64"])
def test_many_random_numbers_become_narrow_floats(name: str) -> None:
    generator = np.random.default_rng(0)
    count = 20_000
    if name == "u64":
        values = generator.integers(0, 1 << 64, count, np.uint64) >> generator.integers(
            0, 64, count, np.uint64
        )
    else:
        # Few bits, so that many lie half way between two numbers of the type.
        short = generator.integers(0, 1 << 12, count) / 1024.0
        near = short + generator.integers(-1, 2, count) * 1e-13
        signed = near * generator.choice([1, -1], count)
        scaled = signed * 2.0 ** generator.integers(-160, 140, count)
        with np.errstate(over="ignore"):
            values = scaled.astype(ELEMENT_TYPES[name].numpy)
    results = [f"{to}[{count}] convert(p0)" for to in FLOATS if ELEMENT_TYPES[to].bits < 32]
    assert differences([name], [values], results, 16) == []


@pytest.mark.parametrize("name", NAMES)
def test_bits_are_read_as_another_type_of_the_width(name: str) -> None:
    bits = ELEMENT_TYPES[name].bits
    results = [
        f"{to}[{COUNT}] bitcast-convert(p0)"
        for to, other in ELEMENT_TYPES.items()
        if other.bits == bits
    ]
    assert differences([name], [edge_values(name, COUNT)], results, 8) == []


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("s32", "u8"), ("u64", "f32"), ("f64", "s64"), ("f32", "bf16"), ("u16", "f8e4m3fn"),
        ("u8", "s4"), ("f16", "u2"), ("s8", "f4e2m1fn"), ("u4", "s1"), ("bf16", "s8"),
    ],
)  # fmt: skip
def test_pieces_of_bits(wide: str, narrow: str, lanes: int) -> None:
    pieces = ELEMENT_TYPES[wide].bits // ELEMENT_TYPES[narrow].bits
    split = f"{narrow}[37,{pieces}] bitcast-convert(p0)"
    if pieces == 1:
        split = f"{narrow}[37] bitcast-convert(p0)"
    assert differences([wide], [edge_values(wide, 37)], [split], lanes) == []
    sizes = (37, pieces) if pieces > 1 else (37,)
    parts = edge_values(narrow, 37 * pieces).reshape(sizes)
    assert differences([narrow], [parts], [f"{wide}[37] bitcast-convert(p0)"], lanes) == []


@pytest.mark.parametrize("name", FLOATS)
def test_precision_is_reduced(name: str) -> None:
    widths = [(5, 2), (4, 3), (8, 7), (5, 10), (2, 1), (8, 23), (3, 0), (1, 5), (11, 52)]
    results = [
        f"{name}[{COUNT}] reduce-precision(p0), exponent_bits={e}, mantissa_bits={m}"
        for e, m in widths
    ]
    assert differences([name], [edge_values(name, COUNT)], results, 8) == []


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "f8e5m2"])
def test_stochastic_rounding_to_integers(name: str) -> None:
    random = f"u{ELEMENT_TYPES[name].bits}"
    arrays = [edge_values(name, COUNT, 1), edge_values(random, COUNT, 2)]
    results = [
        f"{to}[{COUNT}] stochastic-convert(p0, p1)" for to in ("s4", "s8", "u16", "s32", "u64")
    ]
    assert differences([name, random], arrays, results, 8) == []


@pytest.mark.parametrize("lanes", [1, 8])
def test_counts_of_every_type(lanes: int) -> None:
    names = [name for name in NAMES if name != "pred"]
    results = [f"{name}[70,5] iota(), iota_dimension={d}" for name in names for d in (0, 1)]
    assert differences([], [], results, lanes) == []
