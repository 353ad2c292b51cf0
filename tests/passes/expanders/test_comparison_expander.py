from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.passes.expanders.comparison import ComparisonExpander
from tests.passes.checking import opcodes, passed

_FLOATS = [name for name, one in ELEMENT_TYPES.items() if one.is_float]


def _module(element_type: str, direction: str, kind: str = "TOTALORDER") -> str:
    return f"""HloModule m
ENTRY e {{
  x = {element_type}[256] parameter(0)
  y = {element_type}[256] parameter(1)
  ROOT r = pred[256] compare(x, y), direction={direction}, type={kind}
}}
"""


def _patterns(element_type: str) -> tuple[Any, Any]:
    """Returns pairs of floats with bits of every kind."""
    one = ELEMENT_TYPES[element_type]
    rng = np.random.default_rng(1)
    width = one.numpy.itemsize
    raw = rng.integers(0, 1 << min(one.bits, 63), 256, np.uint64).astype(f"u{width}")
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1, -1]).astype(one.numpy)
    floats = raw.view(one.numpy).copy()
    floats[:64] = np.repeat(edges, 8)
    others = np.roll(floats, 5)
    others[:64] = np.tile(edges, 8)
    return floats, others


@pytest.mark.parametrize("element_type", _FLOATS)
def test_total_order_is_an_order_of_integers(element_type: str) -> None:
    for direction in ("LT", "GE", "EQ"):
        module = passed(
            _module(element_type, direction), ComparisonExpander(), *_patterns(element_type)
        )
        compared = module.entry.root
        assert compared.opcode == "compare"
        assert all(operand.shape.text[0] != "f" for operand in compared.operands)


def test_other_comparisons_stay() -> None:
    assert opcodes(passed(_module("f32", "LT", "FLOAT"), ComparisonExpander())) == ["compare"]
    text = _module("s32", "LT", "SIGNED")
    assert opcodes(passed(text, ComparisonExpander())) == ["compare"]


def test_floats_of_two_widths_are_compared_in_the_wider_one() -> None:
    text = """HloModule m
ENTRY e {
  x = bf16[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT r = pred[3] compare(x, y), direction=LE, type=TOTALORDER
}
"""
    narrow = np.array([1, -0.0, np.nan], ml_dtypes.bfloat16)
    passed(text, ComparisonExpander(), narrow, np.array([1, 0, np.inf], np.float32))
