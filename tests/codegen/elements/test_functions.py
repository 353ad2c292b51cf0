"""Functions and arithmetic of complex numbers as element rules, against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.codegen.math.functions import COMPLEX_FUNCTIONS, FUNCTIONS
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.op import OPCODES
from tests.codegen.elements.computing import (
    Array,
    compiled,
    differences,
    edge_values,
    module_of,
    same_numbers,
)
from tests.evaluating import evaluated

COUNT = 301
REAL = [opcode for opcode in FUNCTIONS if opcode in OPCODES]


def results_of(name: str, opcodes: list[str]) -> list[str]:
    """Returns instructions with these opcodes on p0 or on p0 and p1."""
    component = ELEMENT_TYPES[name].component.name
    return [
        f"{component if opcode == 'abs' else name}[{COUNT}]"
        f" {opcode}({'p0, p1' if OPCODES[opcode].arity == 2 else 'p0'})"
        for opcode in opcodes
    ]


@pytest.mark.parametrize("name", ["f16", "bf16", "f8e4m3fn", "f8e5m2fnuz", "f8e8m0fnu"])
def test_narrow_floats_are_rounded_once_as_far_as_f32_tells(name: str) -> None:
    arrays = [edge_values(name, COUNT, seed) for seed in (1, 2)]
    text = module_of([name] * 2, [(COUNT,)] * 2, results_of(name, REAL))
    found, wanted = _both(text, arrays)
    for opcode, ours, theirs in zip(REAL, found, wanted, strict=True):
        # A result next to a tie of the narrow type may fall on its other side.
        differing = ~same_numbers(ours, theirs)
        assert differing.sum() <= 2, opcode
        np.testing.assert_allclose(*_finite(ours, theirs), rtol=0.3, err_msg=opcode)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_functions_are_nearly_those_of_the_evaluator(name: str) -> None:
    arrays = [edge_values(name, COUNT, seed) for seed in (1, 2)]
    text = module_of([name] * 2, [(COUNT,)] * 2, results_of(name, REAL))
    found, wanted = _both(text, arrays)
    tolerance = 8 * np.finfo(ELEMENT_TYPES[name].numpy).eps
    for opcode, ours, theirs in zip(REAL, found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, err_msg=opcode)
        one, other = _finite(ours, theirs)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(other), err_msg=opcode)


def test_complex_arithmetic() -> None:
    generator = np.random.default_rng(3)
    parts = generator.standard_normal((4, COUNT)) * 2.0 ** generator.integers(-9, 9, (4, COUNT))
    arrays = [(parts[2 * n] + 1j * parts[2 * n + 1]).astype(np.complex64) for n in range(2)]
    opcodes = [opcode for opcode in COMPLEX_FUNCTIONS if opcode != "logistic"]
    text = module_of(["c64"] * 2, [(COUNT,)] * 2, results_of("c64", opcodes))
    found, wanted = _both(text, arrays)
    for opcode, ours, theirs in zip(opcodes, found, wanted, strict=True):
        usable = np.isfinite(theirs)
        assert np.array_equal(np.isfinite(ours), usable), opcode
        one, other = ours[usable], theirs[usable]
        assert np.all(np.abs(one - other) <= 2e-5 * np.abs(other)), opcode


@pytest.mark.parametrize("name", ["c64", "c128"])
def test_quotients_of_infinities_and_zeros(name: str) -> None:
    numbers = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])
    grid = np.array(np.meshgrid(*[numbers] * 4)).reshape(4, -1)
    arrays = []
    for real, imaginary in (grid[:2], grid[2:]):
        whole = np.empty(len(real), ELEMENT_TYPES[name].numpy)
        whole.real, whole.imag = real, imaginary
        arrays.append(whole)
    result = f"{name}[{grid.shape[1]}] divide(p0, p1)"
    assert differences([name, name], arrays, [result], 8) == []


def test_power_of_integers_with_constant_exponents() -> None:
    for exponent in (0, 1, 2, 7, -1, -2):
        text = f"""
HloModule m
ENTRY main {{
  p0 = s32[{COUNT}] parameter(0)
  c = s32[] constant({exponent})
  b = s32[{COUNT}] broadcast(c), dimensions={{}}
  ROOT r = s32[{COUNT}] power(p0, b)
}}
"""
        values = np.concatenate([np.arange(-3, 4), edge_values("s32", COUNT - 7)]).astype(np.int32)
        (found,) = compiled(text, values, lanes=8)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found, evaluated(text, values))


@pytest.mark.parametrize(
    ("name", "divisor"),
    [(name, divisor) for name in ("s8", "s4", "s32", "s64") for divisor in (-1, -3, 0, 1, 7)]
    + [(name, divisor) for name in ("u16", "u32") for divisor in (0, 1, 7)],
)
def test_division_by_constants(name: str, divisor: int) -> None:
    text = f"""
HloModule m
ENTRY main {{
  p0 = {name}[{COUNT}] parameter(0)
  c = {name}[] constant({divisor})
  b = {name}[{COUNT}] broadcast(c), dimensions={{}}
  q = {name}[{COUNT}] divide(p0, b)
  r = {name}[{COUNT}] remainder(p0, b)
  ROOT all = tuple(q, r)
}}
"""
    values = edge_values(name, COUNT)
    for ours, theirs in zip(*_both(text, [values]), strict=True):
        assert same_numbers(ours, np.asarray(theirs)).all()


def test_mapped_computations_take_parameters_of_another_width() -> None:
    text = f"""
HloModule m
scaled {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  p = f32[] multiply(x, y)
  ROOT r = f32[] add(p, x)
}}
ENTRY main {{
  p0 = bf16[{COUNT}] parameter(0)
  p1 = f32[{COUNT}] parameter(1)
  ROOT r = f32[{COUNT}] map(p0, p1), dimensions={{0}}, to_apply=scaled
}}
"""
    arrays = [edge_values("bf16", COUNT), edge_values("f32", COUNT)]
    (found,) = compiled(text, *arrays, lanes=8)
    with np.errstate(all="ignore"):
        assert same_numbers(found, evaluated(text, *arrays)).all()


def _both(text: str, arrays: list[Array]) -> tuple[list[Array], list[Array]]:
    with np.errstate(all="ignore"):
        wanted = [np.asarray(one) for one in evaluated(text, *arrays)]
        return compiled(text, *arrays, lanes=8), wanted


def _finite(ours: Array, theirs: Array) -> tuple[Array, Array]:
    one, other = ours.astype(np.float64), theirs.astype(np.float64)
    usable = np.isfinite(one) & np.isfinite(other)
    return one[usable], other[usable]
