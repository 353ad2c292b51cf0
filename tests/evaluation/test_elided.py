import numpy as np

from hlotool.evaluation.elided import fill_elided_constants
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.text.parser import parse

TEXT = """HloModule m
ENTRY e {
  kept = f32[] constant(7)
  a = bf16[20] constant({...})
  b = s32[20] constant({...})
  c = pred[20] constant({...})
  d = s1[20] constant({...})
  z = c64[20] constant({...})
  ROOT all = (f32[], bf16[20], s32[20], pred[20], s1[20], c64[20]) tuple(kept, a, b, c, d, z)
}
"""


def test_every_constant_that_is_left_out_gets_a_value() -> None:
    module = parse(TEXT)
    assert [filled.name for filled in fill_elided_constants(module, 1)] == ["a", "b", "c", "d", "z"]
    kept, a, b, _, d, z = evaluate_module(module, [])
    assert kept == 7
    assert ((a >= 0.5) & (a <= 1.5)).all()
    assert set(np.unique(b)) == {0, 1}
    assert set(np.unique(d)) == {-1, 0}
    assert ((z.real >= 0.5) & (z.imag == 0)).all()
    assert fill_elided_constants(module, 1) == []


def test_the_same_seed_gives_the_same_numbers() -> None:
    values = []
    for seed in (1, 1, 2):
        module = parse(TEXT)
        fill_elided_constants(module, seed)
        values.append(evaluate_module(module, [])[1])
    np.testing.assert_array_equal(values[0], values[1])
    assert (values[0] != values[2]).any()
