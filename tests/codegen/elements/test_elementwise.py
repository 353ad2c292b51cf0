"""Elementwise ops whose results are exact, in loops of lanes, against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.ir.element_type import ELEMENT_TYPES, Kind
from hlotool.ops.shape_checks import wider
from tests.codegen.elements.computing import (
    compiled,
    differences,
    edge_values,
    module_of,
)

COUNT = 601
"""More than the bit patterns of a byte, and no multiple of any number of lanes."""
NAMES = list(ELEMENT_TYPES)
FLOATS = [name for name, one in ELEMENT_TYPES.items() if one.is_float]
_INTEGER_BINARY = (
    "add", "subtract", "multiply", "divide", "remainder", "power", "mulhi", "maximum", "minimum",
    "and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic",
)  # fmt: skip
BINARY = {
    Kind.PRED: ("add", "multiply", "maximum", "minimum", "and", "or", "xor"),
    Kind.SIGNED: _INTEGER_BINARY,
    Kind.UNSIGNED: _INTEGER_BINARY,
    Kind.FLOAT: ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"),
    Kind.COMPLEX: ("add", "subtract"),
}
UNARY = {
    Kind.PRED: ("not",),
    Kind.SIGNED: ("negate", "abs", "sign", "not", "popcnt", "count-leading-zeros"),
    Kind.UNSIGNED: ("negate", "not", "popcnt", "count-leading-zeros"),
    Kind.FLOAT: (
        "negate", "abs", "sign", "ceil", "floor", "round-nearest-afz", "round-nearest-even",
    ),
    Kind.COMPLEX: ("negate",),
}  # fmt: skip


def exact_results(name: str) -> list[str]:
    """Returns instructions on p0 and p1 of an element type whose results are exact."""
    element_type = ELEMENT_TYPES[name]
    shape = f"{name}[{COUNT}]"
    found = [f"{shape} {opcode}(p0, p1)" for opcode in BINARY[element_type.kind]]
    found += [f"{shape} {opcode}(p0)" for opcode in UNARY[element_type.kind]]
    directions = ["EQ", "NE", "GE", "GT", "LE", "LT"][: 2 if element_type.is_complex else 6]
    kinds = ["", ", type=TOTALORDER"] if element_type.is_float else [""]
    found += [
        f"pred[{COUNT}] compare(p0, p1), direction={direction}{kind}"
        for direction in directions
        for kind in kinds
    ]
    if element_type.is_float:
        found.append(f"pred[{COUNT}] is-finite(p0)")
    if element_type.is_float or element_type.is_complex:
        parts = f"{element_type.component.name}[{COUNT}]"
        found += [f"{parts} real(p0)", f"{parts} imag(p0)"]
    if name in {"f32", "f64"}:
        found.append(f"{'c64' if name == 'f32' else 'c128'}[{COUNT}] complex(p0, p1)")
    return found


def check_exact(name: str, lanes: int, native: frozenset[str] | None = None) -> None:
    """Asserts that exact ops on edge values yield what the evaluator yields."""
    arrays = [edge_values(name, COUNT, seed) for seed in (1, 2)]
    assert differences([name, name], arrays, exact_results(name), lanes, native) == []


@pytest.mark.parametrize("name", NAMES)
def test_exact_ops_have_the_bits_of_the_evaluator(name: str) -> None:
    check_exact(name, 8)


@pytest.mark.parametrize("lanes", [1, 3, 16])
@pytest.mark.parametrize("name", ["f32", "bf16", "s32", "u8", "pred", "c64"])
def test_results_are_the_same_for_any_number_of_lanes(name: str, lanes: int) -> None:
    check_exact(name, lanes)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2, 4, 16, 32, 64])
@pytest.mark.parametrize("name", NAMES)
def test_all_types_in_all_numbers_of_lanes(name: str, lanes: int) -> None:
    check_exact(name, lanes)


@pytest.mark.parametrize("native", [frozenset[str](), frozenset({"maximum"})])
@pytest.mark.parametrize("name", ["f32", "f64", "f16", "bf16", "f8e5m2"])
def test_results_do_not_depend_on_what_the_target_has(name: str, native: frozenset[str]) -> None:
    check_exact(name, 8, native)


@pytest.mark.parametrize("name", NAMES)
def test_select_and_clamp(name: str) -> None:
    arrays = [edge_values(name, COUNT, seed) for seed in (1, 2, 3)]
    flags = edge_values("pred", COUNT, 4)
    results = [f"{name}[{COUNT}] select(p3, p0, p1)"]
    if not ELEMENT_TYPES[name].is_complex:
        results.append(f"{name}[{COUNT}] clamp(p0, p1, p2)")
    types = [name, name, name, "pred"]
    assert differences(types, [*arrays, flags], results, 8) == []


@pytest.mark.parametrize("name", ["f32", "bf16", "f8e4m3fn", "s32", "u8", "pred"])
def test_scalars_hold_for_all_elements(name: str) -> None:
    values = edge_values(name, COUNT, 1)
    low, high = (edge_values(name, COUNT, seed)[7].reshape(()) for seed in (2, 3))
    for flag in (True, False):
        arrays = [values, low, high, np.array(flag)]
        results = [
            f"{name}[{COUNT}] clamp(p1, p0, p2)",
            f"{name}[{COUNT}] select(p3, p0, p0)",
        ]
        assert differences([name, name, name, "pred"], arrays, results, 8) == []


@pytest.mark.parametrize("one", ["bf16", "f8e4m3fn", "f64"])
@pytest.mark.parametrize("other", ["f16", "f32", "f8e8m0fnu", "f8e5m2"])
def test_floats_of_two_widths_are_computed_in_the_wider_type(one: str, other: str) -> None:
    result = wider(ELEMENT_TYPES[one], ELEMENT_TYPES[other]).name
    arrays = [edge_values(one, COUNT, 1), edge_values(other, COUNT, 2)]
    opcodes = ("add", "multiply", "maximum", "minimum", "remainder")
    results = [f"{result}[{COUNT}] {opcode}(p0, p1)" for opcode in opcodes]
    results += [
        f"{result}[{COUNT}] select(p2, p0, p1)",
        f"{one}[{COUNT}] clamp(p1, p0, p1)",
        f"pred[{COUNT}] compare(p0, p1), direction=LT",
    ]
    flags = edge_values("pred", COUNT, 3)
    assert differences([one, other, "pred"], [*arrays, flags], results, 8) == []


@pytest.mark.parametrize("number", ["0", "-0.0", "1.5", "-2", "inf", "-inf", "nan"])
def test_extremes_with_a_constant(number: str) -> None:
    text = f"""
HloModule m
ENTRY main {{
  p0 = f32[{COUNT}] parameter(0)
  c = f32[] constant({number})
  b = f32[{COUNT}] broadcast(c), dimensions={{}}
  m0 = f32[{COUNT}] maximum(p0, b)
  m1 = f32[{COUNT}] maximum(b, p0)
  m2 = f32[{COUNT}] minimum(p0, b)
  m3 = f32[{COUNT}] minimum(b, p0)
  ROOT all = tuple(m0, m1, m2, m3)
}}
"""
    values = edge_values("f32", COUNT)
    found = compiled(text, values, lanes=8)
    bound = np.full(COUNT, np.float32(number))
    results = [f"f32[{COUNT}] {opcode}(p0, p1)" for opcode in ("maximum", "minimum")]
    wanted = compiled(module_of(["f32"] * 2, [(COUNT,)] * 2, results), values, bound, lanes=8)
    for ours, theirs in zip(found, [wanted[0], wanted[0], wanted[1], wanted[1]], strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(
            np.signbit(ours)[~np.isnan(ours)], np.signbit(theirs)[~np.isnan(ours)]
        )


def test_selected_elements_keep_the_bits_of_nan() -> None:
    patterns = np.array([0x7F81, 0xFF82, 0x7FFF, 0x3F80] * 5, np.uint16)
    values = patterns.view(ELEMENT_TYPES["bf16"].numpy)
    text = module_of(["bf16", "pred"], [(20,), (20,)], ["bf16[20] select(p1, p0, p0)"])
    (found,) = compiled(text, values, np.arange(20) % 3 == 0, lanes=8)
    np.testing.assert_array_equal(found.view(np.uint16), patterns)
