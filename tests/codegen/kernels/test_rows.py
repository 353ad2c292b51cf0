"""Kernels whose folds are used for all elements of their row: softmax, normalization."""

from dataclasses import replace

import numpy as np
import pytest

from hlotool.codegen.kernels.folds.rows_sweep import narrower
from hlotool.runtime.llvm import host_target
from tests.codegen.kernels.fused_folds import RandomBody
from tests.codegen.kernels.module_texts import listed, reducer
from tests.codegen.kernels.one_kernel import assert_same_bits, check_near, random_arguments


def _softmax(sizes: tuple[int, ...], folded: tuple[int, ...], kind: str = "f32") -> str:
    whole = f"{kind}[{listed(sizes)}]"
    kept = [d for d in range(len(sizes)) if d not in folded]
    few = f"{kind}[{listed(sizes[d] for d in kept)}]"
    spread = f"dimensions={{{listed(kept)}}}"
    away = f"dimensions={{{listed(folded)}}}"
    return f"""HloModule rows
{reducer("add", kind)}
{reducer("maximum", kind, "greatest")}
fused {{
  x = {whole} parameter(0)
  least = {kind}[] constant(-inf)
  zero = {kind}[] constant(0)
  most = {few} reduce(x, least), {away}, to_apply=greatest
  mosts = {whole} broadcast(most), {spread}
  less = {whole} subtract(x, mosts)
  power = {whole} exponential(less)
  sum = {few} reduce(power, zero), {away}, to_apply=reducer
  sums = {whole} broadcast(sum), {spread}
  ROOT r = {whole} divide(power, sums)
}}
ENTRY main {{
  x = {whole} parameter(0)
  ROOT r = {whole} fusion(x), kind=kInput, calls=fused
}}
"""


@pytest.mark.parametrize(
    ("sizes", "folded"),
    [
        ((9, 128), (1,)), ((5, 100), (1,)), ((3, 33), (1,)), ((70, 10), (1,)), ((3, 7), (1,)),
        ((1, 300), (1,)), ((2, 5, 40), (2,)), ((4, 6, 6, 20), (0, 1, 2)), ((40, 9), (0,)),
        ((4, 3, 50), (0, 2)), ((6, 5, 7), (1, 2)), ((17, 1), (1,)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shared", [[], [(0, 0)]])
def test_softmax(
    sizes: tuple[int, ...], folded: tuple[int, ...], shared: list[tuple[int, int]]
) -> None:
    text = _softmax(sizes, folded)
    check_near(text, random_arguments(text), shared, tolerance=1e-6)


@pytest.mark.parametrize("size", [3, 24, 29, 47])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_results_over_operands_have_the_same_bits(size: int, kind: str) -> None:
    # What lies above the diagonal is left out, so that rows are counted in two loops.
    sizes = (3, size, size)
    whole = f"[{listed(sizes)}]"
    masked = f"""  n = s32{whole} iota(), iota_dimension=1
  k = s32{whole} iota(), iota_dimension=2
  below = pred{whole} compare(n, k), direction=GE
  lows = {kind}{whole} broadcast(least), dimensions={{}}
  chosen = {kind}{whole} select(below, x, lows)
  most ="""
    text = _softmax(sizes, (2,), kind).replace("  most =", masked)
    text = text.replace("reduce(x,", "reduce(chosen,").replace("subtract(x,", "subtract(chosen,")
    arguments = random_arguments(text)
    apart = check_near(text, arguments).run(arguments)
    over = check_near(text, arguments, [(0, 0)]).run(arguments)
    assert_same_bits(over[0], apart[0])


@pytest.mark.parametrize(
    ("count", "width"), [(0, 1), (1, 1), (2, 2), (3, 2), (7, 4), (8, 8), (11, 8), (15, 4)]
)
def test_what_is_left_is_handled_in_the_fewest_steps(count: int, width: int) -> None:
    def steps(lanes: int) -> int:
        return count // lanes + count % lanes

    assert narrower(count, 16) == width
    assert steps(width) == min(map(steps, (1, 2, 4, 8)))
    assert narrower(count, 1) == 1


@pytest.mark.parametrize("kind", ["bf16", "f16", "f64"])
@pytest.mark.parametrize("sizes", [(5, 100), (40, 10)])
def test_softmax_of_other_types(kind: str, sizes: tuple[int, int]) -> None:
    text = _softmax(sizes, (1,), kind)
    x = np.random.default_rng(1).standard_normal(sizes)
    (argument,) = random_arguments(text)
    check_near(text, [x.astype(argument.dtype)])


def _normalization(rows: int, row: int) -> str:
    return f"""HloModule rows
{reducer("add", "f32")}
fused {{
  x = f32[{rows},{row}] parameter(0)
  scale = f32[{row}] parameter(1)
  zero = f32[] constant(0)
  part = f32[] constant({1 / row})
  parts = f32[{rows}] broadcast(part), dimensions={{}}
  sum = f32[{rows}] reduce(x, zero), dimensions={{1}}, to_apply=reducer
  mean = f32[{rows}] multiply(sum, parts)
  means = f32[{rows},{row}] broadcast(mean), dimensions={{0}}
  less = f32[{rows},{row}] subtract(x, means)
  square = f32[{rows},{row}] multiply(less, less)
  squares = f32[{rows}] reduce(square, zero), dimensions={{1}}, to_apply=reducer
  variance = f32[{rows}] multiply(squares, parts)
  inverse = f32[{rows}] rsqrt(variance)
  inverses = f32[{rows},{row}] broadcast(inverse), dimensions={{0}}
  normal = f32[{rows},{row}] multiply(less, inverses)
  scales = f32[{rows},{row}] broadcast(scale), dimensions={{1}}
  root = f32[{rows},{row}] multiply(normal, scales)
  ROOT r = (f32[{rows},{row}], f32[{rows}], f32[{rows}]) tuple(root, mean, inverse)
}}
ENTRY main {{
  x = f32[{rows},{row}] parameter(0)
  scale = f32[{row}] parameter(1)
  ROOT r = (f32[{rows},{row}], f32[{rows}], f32[{rows}]) fusion(x, scale), kind=kInput, calls=fused
}}
"""


@pytest.mark.parametrize(("rows", "row"), [(6, 128), (5, 77), (50, 12), (3, 5), (1, 2000)])
@pytest.mark.parametrize("shared", [[], [(0, 0)]])
def test_normalization_with_values_of_rows(
    rows: int, row: int, shared: list[tuple[int, int]]
) -> None:
    text = _normalization(rows, row)
    x = np.random.default_rng(2).standard_normal((rows, row)).astype("f4")
    scale = np.linspace(-1, 1, row, dtype="f4")
    check_near(text, [x, scale], shared, tolerance=1e-5)


def test_a_fold_inside_of_plain_loops() -> None:
    # The reversed rows are other ones than those that are folded.
    text = f"""HloModule rows
{reducer("add", "f32")}
fused {{
  x = f32[6,40] parameter(0)
  zero = f32[] constant(0)
  sum = f32[6] reduce(x, zero), dimensions={{1}}, to_apply=reducer
  backwards = f32[6] reverse(sum), dimensions={{0}}
  one = f32[6,40] broadcast(sum), dimensions={{0}}
  other = f32[6,40] broadcast(backwards), dimensions={{0}}
  both = f32[6,40] subtract(one, other)
  ROOT r = f32[6,40] add(both, x)
}}
ENTRY main {{
  x = f32[6,40] parameter(0)
  ROOT r = f32[6,40] fusion(x), kind=kLoop, calls=fused
}}
"""
    x = np.random.default_rng(3).standard_normal((6, 40)).astype("f4")
    check_near(text, [x])


@pytest.mark.parametrize("vector_bytes", [4, 16, 32])
@pytest.mark.parametrize(("sizes", "folded"), [((5, 70), (1,)), ((50, 9), (0,)), ((40, 6), (1,))])
def test_registers_of_other_widths(
    vector_bytes: int, sizes: tuple[int, ...], folded: tuple[int, ...]
) -> None:
    target = replace(host_target(), vector_bytes=vector_bytes, registers=16)
    text = _softmax(sizes, folded)
    check_near(text, random_arguments(text), target=target, tolerance=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_random_bodies(seed: int) -> None:
    body = RandomBody(seed)
    check_near(body.text, body.arguments(), tolerance=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_random_bodies(seed: int) -> None:
    body = RandomBody(seed)
    check_near(body.text, body.arguments(), tolerance=1e-5)
