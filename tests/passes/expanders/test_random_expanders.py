import numpy as np
import pytest
from numpy.typing import NDArray

from hlotool.evaluation.api import evaluate
from hlotool.passes.expanders.rng import RngExpander
from hlotool.passes.expanders.rng_bit_generator import RngBitGeneratorExpander
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, passed

_MOST = (1 << 64) - 1


def _bits(algorithm: str, state: int, shape: str) -> str:
    return f"""HloModule m
ENTRY e {{
  s = u64[{state}] parameter(0)
  ROOT r = (u64[{state}], {shape}) rng-bit-generator(s), algorithm={algorithm}
}}
"""


@pytest.mark.parametrize("shape", ["u32[3,5]", "u64[7]", "s8[4,3]", "u4[6]", "u16[]", "s64[0]",
                                   "s32[3,5,7]"])  # fmt: skip
@pytest.mark.parametrize(
    ("algorithm", "state"),
    [("rng_three_fry", 2), ("rng_philox", 3), ("rng_philox", 2), ("rng_default", 2)],
)
def test_bits_are_those_of_the_op(algorithm: str, state: int, shape: str) -> None:
    for numbers in ([1, 2, 3], [_MOST, _MOST, _MOST], [1 << 40, _MOST - 1, 0]):
        given = np.array(numbers[:state], np.uint64)
        module = passed(_bits(algorithm, state, shape), RngBitGeneratorExpander(), given)
        assert "rng-bit-generator" not in opcodes(module)


def test_bits_alone() -> None:
    text = """HloModule m
ENTRY e {
  s = u64[2] parameter(0)
  ROOT r = u32[4] rng-bit-generator(s), algorithm=rng_three_fry
}
"""
    passed(text, RngBitGeneratorExpander(), np.array([1, 2], np.uint64))


def test_a_state_that_no_algorithm_has_stays() -> None:
    text = _bits("rng_default", 4, "u32[2]").replace("u64[4]", "u32[4]")
    module = parse(text)
    assert not changed_by(module, RngBitGeneratorExpander())


def _drawn(shape: str, distribution: str, *bounds: float, seed: int = 0) -> NDArray[np.generic]:
    element_type = shape.split("[", maxsplit=1)[0]
    module = parse(f"""HloModule m
ENTRY e {{
  a = {element_type}[] constant({bounds[0]})
  b = {element_type}[] constant({bounds[1]})
  ROOT r = {shape} rng(a, b), distribution={distribution}
}}
""")
    assert changed_by(module, RngExpander())
    found = opcodes(module)
    assert "rng" not in found
    assert "rng-get-and-update-state" in found
    drawn: NDArray[np.generic] = evaluate(module, seed=seed)
    return drawn


@pytest.mark.parametrize("element_type", ["f16", "bf16", "f32", "f64"])
def test_uniform_floats_fill_their_range(element_type: str) -> None:
    drawn = _drawn(f"{element_type}[40,50]", "rng_uniform", -2, 6).astype(np.float64)
    assert drawn.shape == (40, 50)
    assert drawn.min() >= -2
    assert drawn.max() < 6
    assert abs(drawn.mean() - 2) < 0.2
    assert abs(drawn.std() - 8 / np.sqrt(12)) < 0.15


@pytest.mark.parametrize("element_type", ["f16", "f32", "f64"])
def test_normal_floats_have_mean_and_deviation(element_type: str) -> None:
    drawn = _drawn(f"{element_type}[4000]", "rng_normal", 3, 2).astype(np.float64)
    assert abs(drawn.mean() - 3) < 0.15
    assert abs(drawn.std() - 2) < 0.1
    assert abs((np.abs(drawn - 3) < 2).mean() - 0.683) < 0.03


@pytest.mark.parametrize("element_type", ["s8", "u8", "s32", "u32", "s64", "u64", "s4"])
def test_uniform_integers_take_each_value(element_type: str) -> None:
    low = -3 if element_type[0] == "s" else 1
    drawn = _drawn(f"{element_type}[600]", "rng_uniform", low, 7).astype(np.int64)
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == list(range(low, 7))
    assert counts.min() > 300 / len(values)


def test_wide_ranges_empty_ranges_and_no_elements() -> None:
    least, most = -(1 << 31), (1 << 31) - 1
    drawn = _drawn("s32[500]", "rng_uniform", least, most).astype(np.float64)
    assert drawn.std() > 1e9
    assert (_drawn("s32[5]", "rng_uniform", 4, 4) == 4).all()
    assert _drawn("f32[]", "rng_normal", 0, 1).shape == ()
    assert _drawn("f32[0,2]", "rng_uniform", 0, 1).shape == (0, 2)


def test_two_draws_differ() -> None:
    module = parse("""HloModule m
ENTRY e {
  a = f32[] constant(0)
  b = f32[] constant(1)
  x = f32[8] rng(a, b), distribution=rng_uniform
  y = f32[8] rng(a, b), distribution=rng_uniform, control-predecessors={x}
  ROOT t = (f32[8], f32[8]) tuple(x, y)
}
""")
    assert changed_by(module, RngExpander())
    first, second = evaluate(module)
    assert len({*first.tolist(), *second.tolist()}) == 16
    assert np.array_equal(evaluate(module)[0], first)


def test_truth_values_stay() -> None:
    module = parse("""HloModule m
ENTRY e {
  a = pred[] constant(false)
  b = pred[] constant(true)
  ROOT x = pred[8] rng(a, b), distribution=rng_uniform
}
""")
    assert not changed_by(module, RngExpander())
