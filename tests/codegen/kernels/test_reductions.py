"""Reductions of every kind, against the evaluator: shapes, layouts, types, reducers, fusions."""

import ml_dtypes  # noqa: F401 - gives numpy the narrow types
import numpy as np
import pytest

import hlotool
from hlotool.text.parser import parse
from tests.codegen.kernels.module_texts import listed, reducer
from tests.codegen.kernels.one_kernel import Array, check_near, random_arguments

_SIZES = [1, 1, 2, 3, 5, 8, 10, 16, 17, 33, 40, 64, 100]
_NEUTRAL = {"add": 0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf}
_FLOAT_OPS = ["add", "multiply", "maximum", "minimum"]
_INTEGER_OPS = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]


def _argument(kind: str, sizes: list[int], random: np.random.Generator) -> Array:
    shape = parse(f"HloModule m\nENTRY e {{ ROOT p = {kind}[] parameter(0) }}").entry.root.shape
    dtype = shape.element_type.numpy  # type: ignore[attr-defined]
    found: Array
    if kind == "pred":
        return random.integers(0, 2, sizes).astype(bool)
    if kind[0] in "su":
        bits = int(kind[1:])
        low, high = (-(1 << bits - 1), 1 << bits - 1) if kind[0] == "s" else (0, 1 << bits)
        low, high = max(low, -1000), min(high, 1000)
        found = random.integers(low, high, sizes)
    elif kind[0] == "c":
        found = np.exp(1j * random.standard_normal(sizes))
    else:
        found = 1 + random.standard_normal(sizes) / 4
    return np.asarray(found.astype(dtype))


def _initial(kind: str, op: str, random: np.random.Generator) -> Array:
    (found,) = _argument(kind, [1], random)
    is_neutral = kind[0] in "fb" and random.integers(0, 2)
    return np.asarray(_NEUTRAL[op] if is_neutral else found, found.dtype)


def _layout(sizes: list[int], random: np.random.Generator) -> str:
    if not sizes:
        return ""
    order = random.permutation(len(sizes)) if random.integers(0, 2) else range(len(sizes))[::-1]
    return f"{{{listed(order)}}}"


def _case(seed: int, kind: str, op: str) -> tuple[str, list[Array]]:
    random = np.random.default_rng(seed)
    sizes = [int(random.choice(_SIZES)) for _ in range(random.integers(1, 5))]
    while np.prod(sizes) > 30_000:
        sizes[int(np.argmax(sizes))] = 7
    folded = sorted({int(d) for d in random.integers(0, len(sizes), len(sizes))})
    kept = [n for d, n in enumerate(sizes) if d not in folded]
    whole = f"{kind}[{listed(sizes)}]{_layout(sizes, random)}"
    result = f"{kind}[{listed(kept)}]{_layout(kept, random)}"
    text = f"""HloModule folding
{reducer(op, kind)}
ENTRY main {{
  x = {whole} parameter(0)
  init = {kind}[] parameter(1)
  ROOT r = {result} reduce(x, init), dimensions={{{listed(folded)}}}, to_apply=reducer
}}
"""
    return text, [_argument(kind, sizes, random), _initial(kind, op, random)]


@pytest.mark.parametrize("seed", range(12))
def test_random_shapes(seed: int) -> None:
    op = ["add", "maximum", "minimum"][seed % 3]
    text, arguments = _case(seed, "f32", op)
    check_near(text, arguments)


@pytest.mark.parametrize(
    ("kind", "op"),
    [
        *[(kind, op) for kind in ("f64", "bf16") for op in _FLOAT_OPS],
        *[(kind, op) for kind in ("f16", "f8e5m2") for op in ("add", "maximum")],
        *[(kind, op) for kind in ("c64", "c128") for op in ("add", "multiply")],
        *[(kind, op) for kind in ("s8", "u64") for op in _INTEGER_OPS],
        *[(kind, op) for kind in ("s4", "u2") for op in ("add", "maximum", "minimum")],
        *[("pred", op) for op in ("and", "or", "xor", "maximum", "minimum", "add", "multiply")],
    ],
)
def test_types_and_ops(kind: str, op: str) -> None:
    text, arguments = _case(8, kind, op)
    check_near(text, arguments)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
@pytest.mark.parametrize("kind", ["f32", "bf16", "s8", "pred", "c64"])
def test_many_random_shapes(seed: int, kind: str) -> None:
    op = "add" if kind == "c64" else ["add", "maximum", "minimum"][seed % 3]
    text, arguments = _case(seed, kind, op)
    check_near(text, arguments)


@pytest.mark.parametrize("op", ["maximum", "minimum"])
@pytest.mark.parametrize(("sizes", "folded"), [((7, 100), 1), ((100, 7), 0), ((9, 5), 1)])
def test_extremes_of_zeros_and_nans(op: str, sizes: tuple[int, int], folded: int) -> None:
    random = np.random.default_rng(5)
    values = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, -1.0 if op == "maximum" else 1.0], "f4")
    x = values[random.choice(6, sizes, p=[0.04, 0.4, 0.01, 0.01, 0.04, 0.5])]
    x[:2, :5] = values[1]
    x[:, :2] = values[5]
    text = f"""HloModule folding
{reducer(op, "f32")}
ENTRY main {{
  x = f32[{sizes[0]},{sizes[1]}] parameter(0)
  init = f32[] parameter(1)
  ROOT r = f32[{sizes[1 - folded]}] reduce(x, init), dimensions={{{folded}}}, to_apply=reducer
}}
"""
    initial = np.array(-np.inf if op == "maximum" else np.inf, "f4")
    found = check_near(text, [x, initial])
    wanted = hlotool.evaluate(text, x, initial)
    (mine,) = found.run([x, initial])
    np.testing.assert_array_equal(np.signbit(mine)[mine == 0], np.signbit(wanted)[wanted == 0])


def test_no_elements_leave_the_initial_value() -> None:
    text = f"""HloModule folding
{reducer("add", "f32")}
ENTRY main {{
  x = f32[5,0,3] parameter(0)
  init = f32[] parameter(1)
  ROOT r = f32[5,3] reduce(x, init), dimensions={{1}}, to_apply=reducer
}}
"""
    check_near(text, [np.zeros((5, 0, 3), "f4"), np.array(2.5, "f4")])


@pytest.mark.parametrize(
    ("sizes", "folded"),
    [
        ((300_001,), (0,)), ((70_000, 3), (0,)), ((9_000, 40), (0,)), ((3, 100_000), (1,)),
        ((600, 5, 70), (0, 2)), ((2, 50_000, 2), (1,)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("op", ["add", "maximum"])
def test_long_folds_are_cut_into_pieces(
    sizes: tuple[int, ...], folded: tuple[int, ...], op: str
) -> None:
    kept = [n for d, n in enumerate(sizes) if d not in folded]
    text = f"""HloModule folding
{reducer(op, "f32")}
ENTRY main {{
  x = f32[{listed(sizes)}] parameter(0)
  init = f32[] parameter(1)
  ROOT r = f32[{listed(kept)}] reduce(x, init),
    dimensions={{{listed(folded)}}}, to_apply=reducer
}}
"""
    x = np.random.default_rng(1).standard_normal(sizes).astype("f4")
    found = check_near(text, [x, np.array(0.25, "f4")], tolerance=1e-5)
    assert found.kernel.phases, "the fold is not cut"


_ARGMAX = """greatest {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  k = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  first = pred[] or(more, nan)
  x = f32[] select(first, a, b)
  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, k), direction=LT
  tie = pred[] and(same, before)
  kept = pred[] or(first, tie)
  n = s32[] select(kept, i, k)
  ROOT r = (f32[], s32[]) tuple(x, n)
}
"""


@pytest.mark.parametrize("dimension", [0, 1])
@pytest.mark.parametrize("sizes", [(7, 150), (150, 7), (40, 33), (3, 5), (2, 70_000)])
def test_greatest_element_and_its_index(sizes: tuple[int, int], dimension: int) -> None:
    kept = sizes[1 - dimension]
    text = f"""HloModule folding
{_ARGMAX}
fused {{
  x = f32[{sizes[0]},{sizes[1]}] parameter(0)
  number = s32[{sizes[0]},{sizes[1]}] iota(), iota_dimension={dimension}
  least = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[{kept}], s32[{kept}]) reduce(x, number, least, zero),
    dimensions={{{dimension}}}, to_apply=greatest
}}
ENTRY main {{
  x = f32[{sizes[0]},{sizes[1]}] parameter(0)
  ROOT r = (f32[{kept}], s32[{kept}]) fusion(x), kind=kInput, calls=fused
}}
"""
    random = np.random.default_rng(2)
    x = random.integers(0, 4, sizes).astype("f4")
    x[random.random(sizes) < 0.02] = np.nan
    x[:, :1] = -np.inf
    check_near(text, [x], tolerance=0.0)


@pytest.mark.parametrize(("sizes", "dimension"), [((30, 40), 0), ((30, 40), 1), ((5, 90), 1)])
def test_a_reducer_of_any_kind_goes_in_order(sizes: tuple[int, int], dimension: int) -> None:
    kept = sizes[1 - dimension]
    text = f"""HloModule folding
mixing {{
  a = f32[] parameter(0)
  n = s32[] parameter(1)
  b = f32[] parameter(2)
  m = s32[] parameter(3)
  half = f32[] constant(0.5)
  less = f32[] multiply(a, half)
  x = f32[] add(less, b)
  two = s32[] constant(2)
  twice = s32[] multiply(n, two)
  y = s32[] add(twice, m)
  ROOT r = (f32[], s32[]) tuple(x, y)
}}
ENTRY main {{
  x = f32[{sizes[0]},{sizes[1]}] parameter(0)
  y = s32[{sizes[0]},{sizes[1]}] parameter(1)
  start = f32[] parameter(2)
  number = s32[] parameter(3)
  ROOT r = (f32[{kept}], s32[{kept}]) reduce(x, y, start, number),
    dimensions={{{dimension}}}, to_apply=mixing
}}
"""
    random = np.random.default_rng(3)
    arguments = [
        random.standard_normal(sizes).astype("f4"), random.integers(0, 9, sizes).astype("i4"),
        np.array(3, "f4"), np.array(1, "i4"),
    ]  # fmt: skip
    check_near(text, arguments, tolerance=0.0)


@pytest.mark.parametrize(
    ("sizes", "folded"),
    [((13, 40), (1,)), ((40, 13), (0,)), ((6, 9, 20), (0, 2)), ((64, 10), (1,)), ((5, 6, 7), (1,))],
)
def test_elementwise_work_before_behind_and_stored(
    sizes: tuple[int, ...], folded: tuple[int, ...]
) -> None:
    kept = [n for d, n in enumerate(sizes) if d not in folded]
    whole, few = (listed(one) for one in (sizes, kept))
    rows = [d for d in range(len(sizes)) if d not in folded]
    text = f"""HloModule folding
{reducer("add", "f32")}
{reducer("maximum", "f32", "greatest")}
fused {{
  x = f32[{whole}] parameter(0)
  y = f32[{few}] parameter(1)
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  spread = f32[{whole}] broadcast(y), dimensions={{{listed(rows)}}}
  less = f32[{whole}] subtract(x, spread)
  power = f32[{whole}] exponential(less)
  sum = f32[{few}] reduce(power, zero), dimensions={{{listed(folded)}}},
    to_apply=reducer
  most = f32[{few}] reduce(less, least), dimensions={{{listed(folded)}}},
    to_apply=greatest
  root = f32[{few}] divide(sum, most)
  ROOT r = (f32[{few}], f32[{whole}], f32[{few}]) tuple(root, power, most)
}}
ENTRY main {{
  x = f32[{whole}] parameter(0)
  y = f32[{few}] parameter(1)
  ROOT r = (f32[{few}], f32[{whole}], f32[{few}]) fusion(x, y), kind=kInput, calls=fused
}}
"""
    random = np.random.default_rng(4)
    x = random.standard_normal(sizes).astype("f4")
    y = random.standard_normal(kept).astype("f4")
    check_near(text, [x, y])


def test_a_fold_of_folds_comes_in_phases() -> None:
    text = f"""HloModule folding
{reducer("add", "f32")}
{reducer("maximum", "f32", "greatest")}
fused {{
  x = f32[30,50] parameter(0)
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  most = f32[30] reduce(x, least), dimensions={{1}}, to_apply=greatest
  spread = f32[30,50] broadcast(most), dimensions={{0}}
  less = f32[30,50] subtract(x, spread)
  power = f32[30,50] exponential(less)
  sum = f32[30] reduce(power, zero), dimensions={{1}}, to_apply=reducer
  log = f32[30] log(sum)
  both = f32[30] add(log, most)
  ROOT r = f32[] reduce(both, zero), dimensions={{0}}, to_apply=reducer
}}
ENTRY main {{
  x = f32[30,50] parameter(0)
  ROOT r = f32[] fusion(x), kind=kInput, calls=fused
}}
"""
    x = np.random.default_rng(6).standard_normal((30, 50)).astype("f4")
    found = check_near(text, [x])
    assert len(found.kernel.phases) == 1


def _nested(rows: int, middle: int, row: int, use: str = "inner") -> str:
    whole, few = f"f32[{rows},{middle},{row}]", f"[{rows},{middle}]"
    return f"""HloModule folding
{reducer("add", "f32")}
{_ARGMAX}
fused {{
  x = f32[{rows},{row}] parameter(0)
  y = f32[{middle},{row}] parameter(1)
  zero = f32[] constant(0)
  none = s32[] constant(0)
  xs = {whole} broadcast(x), dimensions={{0,2}}
  ys = {whole} broadcast(y), dimensions={{1,2}}
  product = {whole} multiply(xs, ys)
  inner = f32{few} reduce(product, zero), dimensions={{2}}, to_apply=reducer
  number = s32{few} iota(), iota_dimension=1
  used = f32{few} negate({use})
  ROOT r = (f32[{rows}], s32[{rows}]) reduce(used, number, zero, none), dimensions={{1}},
    to_apply=greatest
}}
ENTRY main {{
  x = f32[{rows},{row}] parameter(0)
  y = f32[{middle},{row}] parameter(1)
  ROOT r = (f32[{rows}], s32[{rows}]) fusion(x, y), kind=kInput, calls=fused
}}
"""


@pytest.mark.parametrize("sizes", [(60, 7, 5), (3, 50, 4), (33, 2, 3), (1, 40, 6), (20, 1, 7)])
def test_a_short_fold_is_computed_inside_the_one_that_needs_it(sizes: tuple[int, int, int]) -> None:
    text = _nested(*sizes)
    found = check_near(text, random_arguments(text))
    assert found.kernel.workspace_bytes == 0
    assert not any("phase" in phase.function.name for phase in found.kernel.phases)


def test_a_long_fold_and_one_that_is_needed_twice_come_first() -> None:
    long = _nested(10, 6, 200)
    assert check_near(long, random_arguments(long)).kernel.workspace_bytes >= 4 * 10 * 6
    # The values are used in another order as well.
    twice = _nested(30, 7, 5, "both").replace(
        "  used =",
        "  turned = f32[30,7] reverse(inner), dimensions={1}\n"
        "  both = f32[30,7] add(inner, turned)\n  used =",
    )
    assert check_near(twice, random_arguments(twice)).kernel.workspace_bytes >= 4 * 30 * 7


def test_folds_of_rows_and_of_columns_in_one_body() -> None:
    text = f"""HloModule folding
{reducer("add", "f32")}
fused {{
  x = f32[20,30] parameter(0)
  zero = f32[] constant(0)
  rows = f32[20] reduce(x, zero), dimensions={{1}}, to_apply=reducer
  columns = f32[30] reduce(x, zero), dimensions={{0}}, to_apply=reducer
  one = f32[20,30] broadcast(rows), dimensions={{0}}
  other = f32[20,30] broadcast(columns), dimensions={{1}}
  sum = f32[20,30] add(one, other)
  ROOT r = f32[20,30] add(sum, x)
}}
ENTRY main {{
  x = f32[20,30] parameter(0)
  ROOT r = f32[20,30] fusion(x), kind=kInput, calls=fused
}}
"""
    x = np.random.default_rng(7).standard_normal((20, 30)).astype("f4")
    check_near(text, [x])


def test_results_of_rows_and_of_columns() -> None:
    text = f"""HloModule folding
{reducer("add", "f32")}
{_ARGMAX}
fused {{
  x = f32[20,30] parameter(0)
  zero = f32[] constant(0)
  none = s32[] constant(0)
  number = s32[20,30] iota(), iota_dimension=1
  rows = f32[20] reduce(x, zero), dimensions={{1}}, to_apply=reducer
  columns = f32[30] reduce(x, zero), dimensions={{0}}, to_apply=reducer
  most = (f32[20], s32[20]) reduce(x, number, zero, none), dimensions={{1}}, to_apply=greatest
  place = s32[20] get-tuple-element(most), index=1
  other = f32[20,30] broadcast(columns), dimensions={{1}}
  sum = f32[20,30] add(other, x)
  twice = f32[20] add(rows, rows)
  ROOT r = (f32[20], f32[30], f32[20,30], f32[20], s32[20]) tuple(rows, columns, sum, twice, place)
}}
ENTRY main {{
  x = f32[20,30] parameter(0)
  ROOT r = (f32[20], f32[30], f32[20,30], f32[20], s32[20]) fusion(x), kind=kInput, calls=fused
}}
"""
    x = np.random.default_rng(8).standard_normal((20, 30)).astype("f4")
    found = check_near(text, [x])
    assert len(found.kernel.phases) >= 3


def test_two_results_that_are_read_both_ways() -> None:
    text = """HloModule m, is_scheduled=true
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
f {
  p0 = f32[64,64,5]{2,1,0} parameter(0)
  p1 = f32[64,64,5]{2,1,0} parameter(1)
  zero = f32[] constant(0)
  a = f32[64,64]{1,0} reduce(p0, zero), dimensions={2}, to_apply=sum
  b = f32[64,64]{1,0} reduce(p1, zero), dimensions={2}, to_apply=sum
  ta = f32[64,64]{1,0} transpose(a), dimensions={1,0}
  tb = f32[64,64]{1,0} transpose(b), dimensions={1,0}
  x = f32[64,64]{1,0} add(a, ta)
  y = f32[64,64]{1,0} multiply(b, tb)
  ROOT r = f32[64,64]{1,0} subtract(x, y)
}
ENTRY e {
  p0 = f32[64,64,5]{2,1,0} parameter(0)
  p1 = f32[64,64,5]{2,1,0} parameter(1)
  ROOT r = f32[64,64]{1,0} fusion(p0, p1), kind=kLoop, calls=f
}
"""
    check_near(text, [np.random.default_rng(n).standard_normal((64, 64, 5), "f4") for n in (0, 1)])
