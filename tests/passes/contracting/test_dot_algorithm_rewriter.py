from typing import Any

import numpy as np
import pytest

from hlotool.ir.module import Module
from hlotool.passes.contracting.dot_algorithm_rewriter import DotAlgorithmRewriter
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, values_of


def with_algorithm(algorithm: str, element_type: str = "f32") -> Module:
    return parse(f"""HloModule m
ENTRY e {{
  x = {element_type}[3,4] parameter(0)
  y = {element_type}[4,2] parameter(1)
  ROOT d = f32[3,2] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}},
      algorithm={algorithm}
}}
""")


@pytest.mark.parametrize(
    ("algorithm", "count", "error"),
    [
        ("dot_bf16_bf16_f32_x3", 3, 2e-4),
        ("dot_bf16_bf16_f32_x6", 6, 2e-6),
        ("dot_bf16_bf16_f32_x9", 9, 1e-6),
        ("dot_tf32_tf32_f32_x3", 3, 4e-6),
    ],
)
def test_parts_give_the_product(algorithm: str, count: int, error: float) -> None:
    module = with_algorithm(algorithm)
    assert changed_by(module, DotAlgorithmRewriter())
    assert opcodes(module).count("dot") == count
    numbers = np.random.default_rng(1)
    x = numbers.uniform(0.5, 1, (3, 4)).astype(np.float32)
    y = numbers.uniform(0.5, 1, (4, 2)).astype(np.float32)
    (found,) = values_of(module, [x, y])
    np.testing.assert_allclose(found, x.astype(np.float64) @ y, rtol=error)


def test_infinities_largest_numbers_and_nan_come_through() -> None:
    module = with_algorithm("dot_bf16_bf16_f32_x6")
    changed_by(module, DotAlgorithmRewriter())
    largest = np.finfo(np.float32).max
    x = np.array([[np.inf, 1, 1, 1], [largest, 0, 0, 0], [np.nan, 0, 0, 0]], np.float32)
    y = np.array([[1, -1], [0, 0], [0, 0], [0, 0]], np.float32)
    (found,) = values_of(module, [x, y])
    wanted: Any = [[np.inf, -np.inf], [largest, -largest], [np.nan, np.nan]]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("algorithm", "element_type"),
    [("dot_bf16_bf16_f32", "f32"), ("dot_f32_f32_f32", "f32"), ("dot_bf16_bf16_f32_x3", "bf16")],
)
def test_these_stay(algorithm: str, element_type: str) -> None:
    assert not changed_by(with_algorithm(algorithm, element_type), DotAlgorithmRewriter())
