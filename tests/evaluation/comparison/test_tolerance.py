"""Bounds of results follow from element types and from the ops that made the values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hlotool.evaluation.comparison.rounding import growth
from hlotool.evaluation.comparison.tolerance import Tolerance, chosen, tolerances, trip_count
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ops.custom_calls.registry import register_custom_call, unregister_custom_call
from hlotool.text.parser import parse
from tests.evaluating import entry

F32_ULP = 2.0**-23
BF16_ULP = 2.0**-7
ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"
MAX = "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }"


def tolerance(body: str, *called: str) -> Tolerance:
    return tolerances(parse(entry(body, *called)))[()]


def unary(op: str, shape: str = "f32[8]") -> Tolerance:
    return tolerance(f"p = {shape} parameter(0)\nROOT r = {shape} {op}(p)")


@pytest.mark.parametrize("op", ["copy", "negate", "abs"])
def test_what_only_moves_must_be_equal(op: str) -> None:
    assert unary(op).is_exact


@pytest.mark.parametrize(
    "body",
    [
        "p = s32[8] parameter(0)\nROOT r = s32[8] multiply(p, p)",
        "p = pred[8] parameter(0)\nROOT r = pred[8] not(p)",
        "p = f32[8] parameter(0)\nROOT r = pred[8] compare(p, p), direction=LT",
        "p = f32[4,2] parameter(0)\nROOT r = f32[2,4] transpose(p), dimensions={1,0}",
        "p = f32[4] parameter(0)\nq = s32[4] parameter(1)\nROOT r = bf16[4] convert(p)",
    ],
)
def test_integers_flags_and_moves_are_exact(body: str) -> None:
    assert tolerance(body).is_exact


def test_integers_of_rounded_values_say_what_they_depend_on() -> None:
    found = tolerance(
        "p = f32[8] parameter(0)\ne = f32[8] exponential(p)\nROOT r = s32[8] convert(e)"
    )
    assert found.is_exact
    assert "f32 exponential" in found.reason


def test_one_basic_op_is_one_ulp() -> None:
    found = tolerance("p = f32[8] parameter(0)\nROOT r = f32[8] multiply(p, p)")
    assert (found.relative, found.scaled) == (F32_ULP, 0.0)
    assert found.absolute == np.finfo(np.float32).tiny
    assert found.reason == "f32 multiply"


def test_narrow_types_count_in_their_own_ulp() -> None:
    found = tolerance("p = bf16[8] parameter(0)\nROOT r = bf16[8] multiply(p, p)")
    assert found.relative == BF16_ULP


def test_errors_add_up_along_a_chain() -> None:
    lines = ["p = f32[8] parameter(0)", "x0 = f32[8] multiply(p, p)"]
    lines += [f"x{n} = f32[8] multiply(x{n - 1}, p)" for n in range(1, 10)]
    lines.append("ROOT r = f32[8] copy(x9)")
    found = tolerance("\n".join(lines))
    assert found.relative == pytest.approx(10 * F32_ULP)
    assert "one of 10 roundings" in found.reason


def test_no_chain_of_basic_arithmetic_is_looser_than_1e_5() -> None:
    lines = ["p = f32[8] parameter(0)", "x0 = f32[8] add(p, p)"]
    lines += [f"x{n} = f32[8] multiply(x{n - 1}, x{n - 1})" for n in range(1, 40)]
    lines.append("ROOT r = f32[8] copy(x39)")
    found = tolerance("\n".join(lines))
    assert 9e-6 < found.relative <= 1.01e-5


def test_transcendental_functions_are_a_few_ulp() -> None:
    assert F32_ULP < unary("exponential").relative <= 16 * F32_ULP
    assert unary("sqrt").relative == F32_ULP


def test_a_sum_of_inexact_terms_is_off_by_their_size() -> None:
    found = tolerance(
        "p = f32[8] parameter(0)\ne = f32[8] exponential(p)\nROOT r = f32[8] subtract(e, p)"
    )
    assert found.scaled == unary("exponential").relative
    assert found.relative == F32_ULP


@pytest.mark.parametrize("terms", [1, 7, 784, 100_000])
def test_a_dot_grows_with_its_terms(terms: int) -> None:
    found = tolerance(
        f"p = f32[2,{terms}] parameter(0)\nq = f32[{terms},3] parameter(1)\n"
        "ROOT r = f32[2,3] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    )
    plural = "" if terms == 1 else "s"
    assert found.reason == f"f32 dot over {terms} term{plural}"
    assert found.relative == 0
    assert found.scaled == pytest.approx(growth(terms) * F32_ULP)


def test_growth_is_at_most_an_ulp_a_term() -> None:
    counts = [1, 2, 10, 100, 10_000]
    assert [growth(n) <= n for n in counts] == [True] * 5
    assert sorted(map(growth, counts)) == [growth(n) for n in counts]
    assert growth(10_000) == 4 * 100 + 1250


def test_growth_holds_a_sum_step_by_step_of_equal_numbers() -> None:
    terms = 100_000
    steps = np.cumsum(np.full(terms, 0.1, np.float32), dtype=np.float32)[-1]
    right = np.float64(np.float32(0.1)) * terms
    assert abs(float(steps) - right) / right <= growth(terms) * F32_ULP


def test_a_deep_chain_keeps_half_of_the_digits() -> None:
    lines = ["p = f32[8,8] parameter(0)", "x0 = f32[8,8] tanh(p)"]
    pairs = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    lines += [f"x{n} = f32[8,8] dot(x{n - 1}, x{n - 1}), {pairs}" for n in range(1, 60)]
    found = tolerance("\n".join([*lines, "ROOT r = f32[8,8] copy(x59)"]))
    assert found.scaled == pytest.approx(F32_ULP**0.5)


def test_a_convolution_counts_window_and_features() -> None:
    found = tolerance(
        "p = f32[1,9,9,5] parameter(0)\nk = f32[3,3,5,7] parameter(1)\n"
        "ROOT r = f32[1,7,7,7] convolution(p, k), window={size=3x3}, dim_labels=b01f_01io->b01f"
    )
    assert found.reason == "f32 convolution over 45 terms"


def test_a_reduction_that_rounds_nothing_is_exact() -> None:
    body = (
        "p = f32[8,9] parameter(0)\nz = f32[] constant(0)\n"
        "ROOT r = f32[8] reduce(p, z), dimensions={1}, to_apply="
    )
    assert tolerance(f"{body}max", MAX).is_exact
    assert tolerance(f"{body}add", ADD).reason == "f32 reduce of 9 terms"


@pytest.mark.parametrize(
    "target",
    ["MoveToHost", "LayoutConstraint", "SPMDFullToShardShape", "xla.sdy.FuncResultSharding"],
)
def test_calls_that_move_must_be_equal(target: str) -> None:
    call = f'custom-call(p), custom_call_target="{target}"'
    assert tolerance(f"p = f32[8] parameter(0)\nROOT r = f32[8] {call}").is_exact
    rounded = f"p = f32[8] parameter(0)\nm = f32[8] multiply(p, p)\nROOT r = f32[8] {call}"
    assert tolerance(rounded.replace("call(p)", "call(m)")).relative == F32_ULP


@pytest.mark.parametrize("target", ["TopK", "mhlo.topk", "__gpu$TopK"])
def test_calls_that_choose_must_be_equal(target: str) -> None:
    found = tolerances(
        parse(
            entry(
                "p = f32[8] parameter(0)\n"
                f'ROOT r = (f32[2], s32[2]) custom-call(p), custom_call_target="{target}"'
            )
        )
    )
    assert all(each.is_exact for each in found.values())


def test_calls_with_a_function_of_the_users_are_not_known_to_move() -> None:
    call = 'custom-call(p), custom_call_target="MoveToHost"'
    register_custom_call("MoveToHost", lambda operand: operand)
    try:
        assert not tolerance(f"p = f32[8] parameter(0)\nROOT r = f32[8] {call}").is_exact
    finally:
        unregister_custom_call("MoveToHost")


def test_what_is_received_is_as_exact_as_what_is_sent() -> None:
    text = entry(
        "p = f32[8] parameter(0)\na = token[] after-all()\nm = f32[8] SENT\n"
        "b = (f32[8], u32[], token[]) recv(a), channel_id=1\n"
        "d = (f32[8], token[]) recv-done(b), channel_id=1\n"
        "s = (f32[8], u32[], token[]) send(m, a), channel_id=1\n"
        "e = token[] send-done(s), channel_id=1\n"
        "ROOT r = f32[8] get-tuple-element(d), index=0"
    )
    assert tolerances(parse(text.replace("SENT", "copy(p)")))[()].is_exact
    assert tolerances(parse(text.replace("SENT", "multiply(p, p)")))[()].relative == F32_ULP


def test_rows_that_are_sent_keep_their_errors() -> None:
    body = (
        "x = f32[4,2] parameter(0)\ni = f32[4,2] parameter(1)\nn = s32[1] parameter(2)\n"
        "m = f32[4,2] multiply(x, x)\n"
        "ROOT r = f32[4,2] ragged-all-to-all(x, i, n, n, n, n), replica_groups={{0}}"
    )
    assert tolerance(body).is_exact
    assert tolerance(body.replace("all(x, i", "all(x, m")).relative == F32_ULP


@pytest.mark.parametrize(("number", "error"), [(0, 0.0), (1, F32_ULP)])
def test_a_start_has_operand_and_result(number: int, error: float) -> None:
    fused = "f { a = f32[8] parameter(0) ROOT r = f32[8] multiply(a, a) }"
    found = tolerance(
        "p = f32[8] parameter(0)\ns = ((f32[8]), f32[8], u32[]) async-start(p), calls=f\n"
        "t = (f32[8]) get-tuple-element(s), index=0\n"
        "x0 = f32[8] get-tuple-element(t), index=0\nx1 = f32[8] async-done(s)\n"
        f"ROOT r = f32[8] negate(x{number})",
        fused,
    )
    assert found.relative == error


def test_fusions_and_calls_are_looked_into() -> None:
    fused = "f { a = f32[8] parameter(0) ROOT r = f32[8] multiply(a, a) }"
    plain = tolerance("p = f32[8] parameter(0)\nROOT r = f32[8] multiply(p, p)")
    for op in ("fusion(p), kind=kLoop, calls=f", "call(p), to_apply=f"):
        assert tolerance(f"p = f32[8] parameter(0)\nROOT r = f32[8] {op}", fused) == plain


WHILE = """
body {{
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  c = s32[] constant(1)
  h = f32[8] broadcast(f32[] constant(0.5)), dimensions={{}}
  n = s32[] add(i, c)
  y = f32[8] multiply(x, h)
  ROOT t = (s32[], f32[8]) tuple(n, y)
}}
condition {{
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  c = s32[] constant({rounds})
  ROOT r = pred[] compare(i, c), direction=LT
}}
"""


@pytest.mark.parametrize("rounds", [1, 3, 40])
def test_a_loop_adds_its_body_for_each_round(rounds: int) -> None:
    called = WHILE.format(rounds=rounds).replace(
        "h = f32[8] broadcast(f32[] constant(0.5))",
        "k = f32[] constant(0.5)\n  h = f32[8] broadcast(k)",
    )
    module = parse(
        entry(
            "p = f32[8] parameter(0)\nz = s32[] constant(0)\nt = (s32[], f32[8]) tuple(z, p)\n"
            "ROOT w = (s32[], f32[8]) while(t), condition=condition, body=body",
            called,
        )
    )
    assert trip_count(module.entry.root) == rounds
    found = tolerances(module)
    assert found[0,].is_exact
    assert found[1,].relative == pytest.approx(rounds * F32_ULP)


def test_each_array_of_a_tuple_has_its_own() -> None:
    found = tolerances(
        parse(
            entry(
                "p = f32[8] parameter(0)\nt = f32[8] tanh(p)\na = token[] after-all()\n"
                "ROOT r = (f32[8], (f32[8], token[])) tuple(p, q)".replace(
                    "tuple(p, q)", "tuple(p, u)"
                ).replace("ROOT", "u = (f32[8], token[]) tuple(t, a)\nROOT")
            )
        )
    )
    assert list(found) == [(0,), (1, 0)]
    assert found[0,].is_exact
    assert not found[1, 0].is_exact


def test_user_bounds_leave_integers_exact() -> None:
    assert chosen(ELEMENT_TYPES["s8"], 1.0, 1.0).is_exact
    found = chosen(ELEMENT_TYPES["f32"], None, 0.5)
    assert (found.absolute, found.relative, found.needs_both) == (0.0, 0.5, True)


def test_real_modules_have_tolerances(model_module: Path) -> None:
    module = parse(model_module.read_text(encoding="utf-8"))
    found = tolerances(module)
    arrays = [index for index, leaf in module.entry.root.shape.leaves() if leaf.is_array]
    assert list(found) == arrays
    for one in found.values():
        assert one.reason
        assert one.relative <= 1
        assert one.scaled <= 1
