import ml_dtypes
import numpy as np
import pytest

from hlotool.passes.expanders.logistic import LogisticExpander
from tests.passes.checking import opcodes, passed


def _module(element_type: str, size: str = "7") -> str:
    return f"""HloModule m
ENTRY e {{
  x = {element_type}[{size}] parameter(0)
  ROOT y = {element_type}[{size}] logistic(x)
}}
"""


_EDGES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 12.5, -12.5]


@pytest.mark.parametrize("element_type", ["f32", "f64"])
def test_a_logistic_is_the_inverse_of_one_more_than_an_exponential(element_type: str) -> None:
    dtype = {"f32": np.float32, "f64": np.float64}[element_type]
    module = passed(_module(element_type), LogisticExpander(), np.array(_EDGES, dtype))
    assert opcodes(module) == ["constant", "broadcast", "negate", "exponential", "add", "divide"]


@pytest.mark.parametrize("element_type", ["f16", "bf16", "f8e4m3fn", "f8e5m2"])
def test_narrow_floats_are_computed_in_f32(element_type: str) -> None:
    names = {"f16": "float16", "bf16": "bfloat16"}
    name = names.get(element_type, element_type.replace("f8", "float8_"))
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    module = passed(_module(element_type), LogisticExpander(), np.array(_EDGES, dtype))
    assert opcodes(module).count("convert") == 2


@pytest.mark.parametrize("size", ["", "0"])
def test_scalars_and_no_elements_and_complex_numbers(size: str) -> None:
    assert "logistic" not in opcodes(passed(_module("f32", size), LogisticExpander()))
    assert "logistic" not in opcodes(passed(_module("c64", size), LogisticExpander()))


def test_dynamic_dimensions_stay() -> None:
    module = passed(_module("f32", "<=7"), LogisticExpander(), np.zeros(3, np.float32))
    assert opcodes(module) == ["logistic"]
