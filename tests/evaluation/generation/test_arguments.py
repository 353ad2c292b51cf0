"""Generated arguments: the numbers of each type, and what they depend on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hlotool.evaluation.generation.arguments import edge_arguments, generated_arguments
from hlotool.evaluation.interpreter.run import check_arguments, evaluate_module
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.text.parser import parse
from tests.evaluation.constraints.generating import argument, made, module_of

ALL_TYPES = sorted(ELEMENT_TYPES)


@pytest.mark.parametrize("name", ALL_TYPES)
def test_plain_numbers_are_small_and_differ(name: str) -> None:
    module = module_of(f"x = {name}[300] parameter(0)\nROOT y = {name}[300] copy(x)")
    (found,) = made(module).values
    assert len({value.tobytes() for value in found}) > 1
    if name == "s1":
        assert set(found.tolist()) == {-1, 0}
    elif not name.startswith(("f4", "pred")):
        assert np.abs(found.astype(np.complex128)).max() <= 8
    (zeros,) = made(module, zeros=True).values
    # Powers of two are never zero.
    assert (zeros.astype(np.complex128) == (name == "f8e8m0fnu")).all()
    assert (edge_arguments(module, 0).values[0].dtype, zeros.dtype) == (found.dtype, found.dtype)


def test_large_range_reaches_far() -> None:
    module = module_of(
        """
      x = f32[4000] parameter(0)
      i = s64[4000] parameter(1)
      u = u64[4000] parameter(2)
      c = c64[4000] parameter(3)
      ROOT t = (f32[4000], s64[4000], u64[4000], c64[4000]) tuple(x, i, u, c)"""
    )
    x, i, u, c = made(module, large_range=True).values
    exponents = np.log10(np.abs(x))
    assert exponents.max() > 35
    assert exponents.min() < -35
    assert 0.4 < np.mean(x > 0) < 0.6
    assert i.min() < -(2**62)
    assert i.max() > 2**62
    assert u.max() > 2**63
    assert np.abs(c.imag).max() > 1e35


def test_edges_stand_where_nothing_is_wanted() -> None:
    module = module_of(
        """
      x = f32[500] parameter(0)
      i = s32[500] parameter(1)
      l = f32[500] parameter(2)
      y = f32[500] log(l)
      ROOT t = (f32[500], s32[500], f32[500]) tuple(x, i, y)"""
    )
    x, i, constrained = edge_arguments(module, 0).values
    assert np.isnan(x).any()
    assert {math.inf, -math.inf} <= set(x.tolist())
    assert (np.signbit(x) & (x == 0)).any()
    assert ((x != 0) & (np.abs(x) < 1e-38)).any()
    assert {-(2**31), 2**31 - 1, -1, 0} <= set(i.tolist())
    assert np.isfinite(constrained).all()
    assert constrained.min() > 0


def test_four_bit_floats_take_all_their_numbers() -> None:
    module = module_of("x = f4e2m1fn[300] parameter(0)\nROOT y = f4e2m1fn[300] copy(x)")
    assert len(set(made(module).values[0].astype(np.float64).tolist())) == 15


def test_products_of_many_layers_stay_finite() -> None:
    weights = "w = f32[1024,1024] parameter(1)"
    layers = "\n".join(
        f"x{n + 1} = f32[8,1024] dot(x{n}, w), lhs_contracting_dims={{1}},"
        " rhs_contracting_dims={0}"
        for n in range(8)
    )
    body = f"x0 = f32[8,1024] parameter(0)\n{weights}\n{layers}\nROOT y = f32[8,1024] copy(x8)"
    module = module_of(body)
    result = evaluate_module(module, made(module).values)
    assert 1e-3 < np.abs(result).max() < 1e3


def test_tokens_have_no_value() -> None:
    body = """
      t = token[] parameter(0)
      x = f32[] parameter(1)
      ROOT a = f32[] add-dependency(x, t)"""
    assert made(module_of(body)).values[0] is None


def test_numbers_depend_on_seed_and_parameter_alone() -> None:
    one = "x = f32[9] parameter(0)\nROOT y = f32[9] negate(x)"
    two = "x = f32[9] parameter(0)\nz = s32[4] parameter(1)\nROOT y = f32[9] negate(x)"
    first = argument(one)
    np.testing.assert_array_equal(first, argument(one))
    np.testing.assert_array_equal(first, argument(two))
    assert not np.array_equal(first, argument(one, seed=1))


@pytest.mark.parametrize("name", ["f32", "bf16", "f8e5m2"])
def test_wishes_that_leave_zero_alone(name: str) -> None:
    body = f"""
      x = {name}[4] parameter(0)
      n = {name}[4] negate(x)
      a = {name}[4] sqrt(x)
      b = {name}[4] sqrt(n)
      ROOT c = {name}[4] add(a, b)"""
    (found,) = made(module_of(body)).values
    np.testing.assert_array_equal(np.asarray(found, np.float32), np.zeros(4, np.float32))


def test_wishes_that_contradict_are_noted() -> None:
    body = """
      i = s32[] parameter(0)
      x = f32[4] parameter(1)
      ten = s32[] constant(10)
      j = s32[] subtract(i, ten)
      a = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
      b = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}
      ROOT c = f32[1] add(a, b)"""
    found = made(module_of(body))
    assert len(found.notes) == 1
    assert "parameter i: a wants 0 to 3" in found.notes[0] or (
        "parameter i: b wants 10 to 13" in found.notes[0]
    )
    assert 0 <= found.values[0] <= 13


def test_real_modules_get_arguments_that_fit(corpus_module: Path) -> None:
    module = parse(corpus_module.read_text(encoding="utf-8"))
    check_arguments(module, generated_arguments(module, 1).values)


def test_buffers_have_the_numbers_of_their_arrays() -> None:
    module = module_of("x = b(f32[3]) parameter(0)\nROOT y = b(f32[3]) copy(x)")
    (found,) = made(module).values
    assert (found.shape, found.dtype) == ((3,), np.float32)


def test_powers_of_two_stay_within_bounds() -> None:
    module = module_of("x = f8e8m0fnu[99] parameter(0)\nROOT y = f8e8m0fnu[99] atanh(x)")
    assert made(module).values[0].astype(np.float64).max() < 1


@pytest.mark.parametrize("narrow", ["u1", "s2", "u2", "s4"])
def test_sorted_indices_fit_a_type_that_is_narrower_than_the_array(narrow: str) -> None:
    module = parse(
        f"HloModule m\nENTRY e {{\n  x = f32[50] parameter(0)\n  i = {narrow}[3,4] parameter(1)\n"
        "  ROOT g = f32[3,4] gather(x, i), offset_dims={}, collapsed_slice_dims={0},\n"
        "    start_index_map={0}, index_vector_dim=2, slice_sizes={1}, indices_are_sorted=true\n}"
    )
    most = {"u1": 1, "s2": 1, "u2": 3, "s4": 7}[narrow]
    for seed in range(20):
        found = generated_arguments(module, seed).values[1].astype(int)
        assert found.min() >= 0
        assert found.max() <= most
