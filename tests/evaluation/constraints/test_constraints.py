"""Generated arguments: what functions and uses of whole arrays want, wherever they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hlotool.evaluation.interpreter.run import evaluate_module
from tests.evaluation.constraints.generating import ADD, SEEDS, argument, made, module_of


def reducer(opcode: str, element_type: str = "f32") -> str:
    return ADD.replace("add(", f"{opcode}(").replace("f32", element_type)


LOG = "body { p = f32[50] parameter(0)\n ROOT y = f32[50] log(p) }"


@pytest.mark.parametrize(
    ("use", "called"),
    [
        ("ROOT y = f32[50] log(x)", ""),
        ("ROOT y = f32[50] call(x), to_apply=body", LOG),
        ("ROOT y = f32[50] fusion(x), kind=kLoop, calls=body", LOG),
        (
            ("s = ((f32[50]), f32[50], s32[]) async-start(x), calls=body\n"
            "ROOT d = f32[50] async-done(s)"),
            LOG,
        ),
        (("c = pred[] constant(1)\n z = f32[50] copy(x)\n"
         "ROOT y = f32[50] conditional(c, x, z), true_computation=body, false_computation=f"),
         LOG + "\nf { ROOT p = f32[50] parameter(0) }"),
        (("t = (f32[50], f32[50]) tuple(x, x)\n o = (f32[50], f32[50]) opt-barrier(t)\n"
         "e = f32[50] get-tuple-element(o), index=1\n ROOT y = f32[50] log(e)"), ""),
        (("s = (f32[50], f32[50], u32[]) copy-start(x)\n d = f32[50] copy-done(s)\n"
         "ROOT y = f32[50] log(d)"), ""),
        ("ROOT y = f32[50] map(x), dimensions={0}, to_apply=g",
         "g { p = f32[] parameter(0)\n ROOT y = f32[] log(p) }"),
        ("r = f32[50] sort(x), dimensions={0}, to_apply=lt\n ROOT y = f32[50] log(r)",
         ("lt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
         "ROOT c = pred[] compare(a, b), direction=LT }")),
        (("two = f32[] constant(2)\n b = f32[50] broadcast(two), dimensions={}\n"
         "m = f32[50] multiply(x, b)\n d = f32[50] divide(m, b)\n ROOT y = f32[50] log(d)"), ""),
        (("m = f32[50] multiply(x, x)\n n = f32[50] negate(m)\n q = f32[50] negate(n)\n"
         "ROOT y = f32[50] rsqrt(q)"), ""),
        ("a = f32[50] abs(x)\n ROOT y = f32[50] log(a)", ""),
        (("m = f32[50] maximum(x, x)\n n = f32[50] minimum(m, x)\n s = f32[50] sqrt(n)\n"
         "ROOT y = f32[50] log(s)"), ""),
        (("z = f32[] constant(0)\n p = f32[52] pad(x, z), padding=1_1\n"
         "s = f32[50] slice(p), slice={[1:51]}\n ROOT y = f32[50] log(s)"), ""),
    ],
)  # fmt: skip
def test_uses_are_found_wherever_numbers_go(use: str, called: str) -> None:
    module = module_of(f"x = f32[50] parameter(0)\n{use}", *filter(None, [called]))
    found = made(module)
    result = evaluate_module(module, found.values)
    assert np.isfinite(result).all()
    assert len(set(found.values[0])) > 40


@pytest.mark.parametrize("opcode", ["log", "sqrt"])
def test_products_below_zero_have_factors_on_both_sides(opcode: str) -> None:
    body = f"""
      a = f32[50] parameter(0)
      b = f32[50] parameter(1)
      m = f32[50] multiply(a, b)
      n = f32[50] negate(m)
      ROOT y = f32[50] {opcode}(n)"""
    module = module_of(body)
    found = made(module)
    assert found.notes == ()
    assert np.isfinite(evaluate_module(module, found.values)).all()
    assert all(len(set(values)) > 40 for values in found.values)


def test_parts_of_tuples_have_their_own_bounds() -> None:
    body = """
      p = (s32[], (f32[8], f32[8])) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      q = (f32[8], f32[8]) get-tuple-element(p), index=1
      x = f32[8] get-tuple-element(q), index=0
      y = f32[8] get-tuple-element(q), index=1
      l = f32[8] log(y)
      s = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
      ROOT r = (f32[8], f32[2]) tuple(l, s)"""
    for seed in SEEDS:
        index, (plain, positive) = argument(body, seed=seed)
        assert 0 <= index <= 6
        assert positive.min() > 0
        assert plain.min() < 0


def test_what_a_loop_leaves_alone_is_seen_behind_it() -> None:
    computations = """
      condition { s = (s32[], f32[9]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(3)
        ROOT c = pred[] compare(i, n), direction=LT }
      body { s = (s32[], f32[9]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        x = f32[9] get-tuple-element(s), index=1
        one = s32[] constant(1)
        j = s32[] add(i, one)
        ROOT t = (s32[], f32[9]) tuple(j, x) }"""
    body = """
      i = s32[] parameter(0)
      x = f32[9] parameter(1)
      t = (s32[], f32[9]) tuple(i, x)
      w = (s32[], f32[9]) while(t), condition=condition, body=body
      y = f32[9] get-tuple-element(w), index=1
      ROOT l = f32[9] log(y)"""
    assert argument(body, computations, number=1).min() > 0
    assert -5 <= argument(body, computations) <= 3


@pytest.mark.parametrize(
    "opcode",
    ["log", "log-plus-one", "sqrt", "rsqrt", "acos", "asin", "acosh", "atanh", "exponential",
     "exponential-minus-one", "cosh", "sinh"],
)  # fmt: skip
@pytest.mark.parametrize("element_type", ["f32", "f64", "bf16", "f16", "f8e5m2", "f8e4m3fn"])
def test_functions_have_finite_values(opcode: str, element_type: str) -> None:
    module = module_of(
        f"x = {element_type}[99] parameter(0)\nROOT y = {element_type}[99] {opcode}(x)"
    )
    for options in ({}, {"large_range": True}, {"zeros": True}):
        values = made(module, **options).values
        if opcode == "sqrt" or not options.get("large_range"):
            result = evaluate_module(module, values).astype(np.float64)
            assert np.isfinite(result).all(), (opcode, element_type, options)


@pytest.mark.parametrize("opcode", ["divide", "remainder"])
@pytest.mark.parametrize("element_type", ["s32", "u8", "s4", "s2", "f32", "bf16", "f8e4m3fn"])
def test_divisors_are_not_zero(opcode: str, element_type: str) -> None:
    check_divisors(opcode, element_type)


def test_complex_divisors_are_not_zero() -> None:
    check_divisors("divide", "c64")


def check_divisors(opcode: str, element_type: str) -> None:
    body = f"""
      x = {element_type}[200] parameter(0)
      y = {element_type}[200] parameter(1)
      ROOT z = {element_type}[200] {opcode}(x, y)"""
    dividend, divisor = made(module_of(body)).values
    assert (divisor != 0).all()
    assert (dividend == 0).any() or element_type in {"f32", "bf16", "c64", "f8e4m3fn"}


def test_variances_stay_positive_below_a_small_constant() -> None:
    body = """
      v = f32[64] parameter(0)
      e = f32[] constant(0.001)
      es = f32[64] broadcast(e), dimensions={}
      s = f32[64] add(v, es)
      ROOT r = f32[64] rsqrt(s)"""
    found = argument(body)
    assert 0 < found.min() < 0.2
    assert found.max() <= 1


def test_bases_are_positive_where_exponents_are_not_whole() -> None:
    body = """
      x = f32[50] parameter(0)
      y = f32[50] parameter(1)
      ROOT z = f32[50] power(x, y)"""
    assert argument(body).min() > 0
    square = """
      x = f32[50] parameter(0)
      two = f32[] constant(2)
      y = f32[50] broadcast(two), dimensions={}
      ROOT z = f32[50] power(x, y)"""
    assert argument(square).min() < 0


def test_steps_of_an_optimizer_are_counted_from_one() -> None:
    body = """
      t = s32[] parameter(0)
      f = f32[] convert(t)
      b = f32[] constant(0.9)
      p = f32[] power(b, f)
      one = f32[] constant(1)
      d = f32[] subtract(one, p)
      ROOT s = f32[] sqrt(d)"""
    assert all(argument(body, seed=seed) >= 0 for seed in SEEDS)


def test_batch_norm_variances_are_positive() -> None:
    body = """
      x = f32[9,4] parameter(0)
      m = f32[4] parameter(1)
      v = f32[4] parameter(2)
      ROOT y = f32[9,4] batch-norm-inference(x, m, m, m, v), epsilon=0, feature_index=1"""
    assert argument(body, number=2).min() > 0


def test_ends_of_clamps_and_of_random_numbers_are_in_order() -> None:
    body = """
      a = f32[] parameter(0)
      x = f32[5] parameter(1)
      b = f32[] parameter(2)
      ROOT y = f32[5] clamp(a, x, b)"""
    uniform = """
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT y = s32[5] rng(a, b), distribution=rng_uniform"""
    for seed in SEEDS:
        low, _, high = made(module_of(body), seed).values
        assert low <= high
        low, high = made(module_of(uniform), seed).values
        assert low < high


@pytest.mark.parametrize(
    ("opcode", "element_type", "wanted"),
    [("add", "f32", 0), ("multiply", "f32", 1), ("maximum", "f32", -math.inf),
     ("minimum", "bf16", math.inf), ("maximum", "s32", -(2**31)), ("minimum", "u8", 255),
     ("minimum", "s64", 2**63 - 1), ("maximum", "f8e4m3fn", -448), ("or", "pred", 0),
     ("and", "pred", 1), ("add", "c64", 0)],
)  # fmt: skip
def test_reductions_start_from_what_changes_nothing(
    opcode: str, element_type: str, wanted: float
) -> None:
    body = f"""
      x = {element_type}[4,5] parameter(0)
      i = {element_type}[] parameter(1)
      ROOT y = {element_type}[4] reduce(x, i), dimensions={{1}}, to_apply=add"""
    assert argument(body, reducer(opcode, element_type), number=1) == wanted
    windows = body.replace(
        "[4] reduce(x, i), dimensions={1}", "[4,4] reduce-window(x, i), window={size=1x2}"
    )
    assert argument(windows, reducer(opcode, element_type), number=1) == wanted


def test_reductions_of_another_kind_start_anywhere() -> None:
    body = """
      x = f32[4] parameter(0)
      i = f32[] parameter(1)
      ROOT y = f32[] reduce(x, i), dimensions={0}, to_apply=add"""
    found = {float(argument(body, reducer("subtract"), number=1, seed=seed)) for seed in SEEDS}
    assert len(found) == len(SEEDS)


@pytest.mark.parametrize("element_type", ["f32", "c64", "f64"])
@pytest.mark.parametrize("is_symmetrized", [False, True])
def test_factored_matrices_are_positive_definite(
    element_type: str, *, is_symmetrized: bool
) -> None:
    half = """
      t = f32[3,5,5] transpose(x), dimensions={0,2,1}
      a = f32[3,5,5] add(x, t)
      h = f32[] constant(0.5)
      hs = f32[3,5,5] broadcast(h), dimensions={}
      m = f32[3,5,5] multiply(a, hs)"""
    prepared = half if is_symmetrized and element_type != "c64" else "m = f32[3,5,5] copy(x)"
    body = f"x = f32[3,5,5] parameter(0)\n{prepared}\nROOT y = f32[3,5,5] cholesky(m), lower=true"
    found = argument(body.replace("f32", element_type))
    np.testing.assert_array_equal(found, np.conj(np.swapaxes(found, 1, 2)))
    assert np.linalg.eigvalsh(found).min() > 0.9
    assert np.linalg.cond(found).max() < 100


def test_triangles_are_far_from_singular() -> None:
    body = """
      a = f32[6,6] parameter(0)
      b = f32[6,2] parameter(1)
      ROOT x = f32[6,2] triangular-solve(a, b), left_side=true, lower=true,
        transpose_a=NO_TRANSPOSE"""
    found = argument(body)
    assert np.abs(np.diag(found)).min() >= 1
    assert np.linalg.cond(np.tril(found)) < 100


def test_matrices_serve_two_uses() -> None:
    body = """
      a = f32[6,6] parameter(0)
      b = f32[6,2] parameter(1)
      x = f32[6,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
      c = f32[6,6] cholesky(a), lower=true
      ROOT r = (f32[6,2], f32[6,6]) tuple(x, c)"""
    found = argument(body)
    assert np.linalg.eigvalsh(found).min() > 0.9
    assert np.linalg.cond(np.tril(found)) < 100


KEYS = """
  k = {t}[3,40] parameter(0)
  v = f32[3,40] parameter(1)
  ROOT s = ({t}[3,40], f32[3,40]) sort(k, v), dimensions={{1}}, is_stable={stable}, to_apply=lt"""
LESS = """
  lt {{ a = {t}[] parameter(0)
    b = {t}[] parameter(1)
    c = f32[] parameter(2)
    d = f32[] parameter(3)
    ROOT r = pred[] compare(a, b), direction=LT }}"""


@pytest.mark.parametrize("element_type", ["s32", "u8", "f32", "bf16", "f8e5m2", "s64"])
def test_keys_of_an_unstable_sort_differ(element_type: str) -> None:
    for seed in SEEDS:
        less = LESS.format(t=element_type)
        found = argument(KEYS.format(t=element_type, stable="false"), less, seed=seed)
        assert [len(set(row)) for row in found.astype(np.float64).tolist()] == [40] * 3


def test_keys_that_cannot_differ_are_noted() -> None:
    text = KEYS.format(t="s4", stable="false")
    found = made(module_of(text, LESS.format(t="s4")))
    assert found.notes == (
        (
            "parameter k: s wants different numbers along dimension 1:"
            " s4 has only 16 such numbers, not 40"
        ),
    )
    stable = made(module_of(text.replace("false", "true"), LESS.format(t="s4")))
    assert stable.notes == ()


def test_groups_fill_the_ragged_dimension() -> None:
    body = """
      x = f32[12,4] parameter(0)
      w = f32[3,4,2] parameter(1)
      g = s32[3] parameter(2)
      ROOT y = f32[12,2] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1},
        lhs_ragged_dims={0}, rhs_group_dims={0}"""
    found = {tuple(argument(body, number=2, seed=seed)) for seed in SEEDS}
    assert len(found) > 1
    assert all(sum(sizes) == 12 and min(sizes) >= 0 for sizes in found)


def test_sizes_stay_within_bounds() -> None:
    body = """
      x = f32[9] parameter(0)
      n = s32[] parameter(1)
      ROOT y = f32[<=9] set-dimension-size(x, n), dimensions={0}"""
    for seed in SEEDS:
        assert 0 <= argument(body, number=1, seed=seed) <= 9


def test_sizes_of_a_reshape_have_the_right_product() -> None:
    body = """
      x = f32[<=6] parameter(0)
      a = s32[] parameter(1)
      b = s32[] parameter(2)
      ROOT y = f32[<=2,<=3] dynamic-reshape(x, a, b)"""
    values = made(module_of(body)).values
    assert [values[0].shape, int(values[1]), int(values[2])] == [(6,), 2, 3]


def test_dynamic_dimensions_of_one_bound_have_one_size() -> None:
    module = module_of(
        """
      x = f32[<=50,3] parameter(0)
      y = f32[<=50,3] parameter(1)
      ROOT z = f32[<=50,3] add(x, y)"""
    )
    sizes = set()
    for seed in SEEDS:
        x, y = made(module, seed).values
        assert x.shape == y.shape
        sizes.add(x.shape)
    assert len(sizes) > 2
