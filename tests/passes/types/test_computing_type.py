"""The passes that let ops of one floating-point type compute in another one."""

import ml_dtypes
import numpy as np
import pytest

from hlotool.errors import UsageError
from hlotool.passes.types.change_op_data_type import ChangeOpDataType
from hlotool.passes.types.element_type_converter import ElementTypeConverter
from hlotool.passes.types.float_normalization import FloatNormalizationBf16
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed

_EDGES = np.array(
    [0.0, -0.0, np.nan, np.inf, -np.inf, 256.0, 3.3e38, 1e-39, 1.5, -0.001953125], np.float32
).astype(ml_dtypes.bfloat16)


def _binary(opcode: str, attributes: str = "", result: str = "bf16") -> str:
    return f"""HloModule m
ENTRY e {{
  x = bf16[10] parameter(0)
  y = bf16[10] parameter(1)
  ROOT r = {result}[10] {opcode}(x, y){attributes}
}}
"""


@pytest.mark.parametrize(
    "opcode",
    ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder", "power", "atan2"],
)
@pytest.mark.parametrize("one", [FloatNormalizationBf16(), ElementTypeConverter()])
def test_arithmetic_is_done_in_f32_with_the_same_bits(opcode: str, one: object) -> None:
    assert isinstance(one, FloatNormalizationBf16 | ElementTypeConverter)
    module = passed(_binary(opcode), one, _EDGES, np.roll(_EDGES, 3), exact=True)
    assert opcodes(module) == ["convert", "convert", opcode, "convert"]


@pytest.mark.parametrize("kind", ["", ", type=TOTALORDER"])
def test_comparisons_yield_flags_as_before(kind: str) -> None:
    text = _binary("compare", f", direction=LT{kind}", "pred")
    module = passed(text, FloatNormalizationBf16(), _EDGES, np.roll(_EDGES, 3), exact=True)
    assert opcodes(module) == ["convert", "convert", "compare"]


@pytest.mark.parametrize("opcode", ["negate", "abs", "exponential", "sign", "floor", "logistic"])
def test_ops_of_one_operand_too(opcode: str) -> None:
    text = (
        f"HloModule m\nENTRY e {{\n  x = bf16[10] parameter(0)\n  ROOT r = bf16[10] {opcode}(x)\n}}"
    )
    module = passed(text, FloatNormalizationBf16(), _EDGES, exact=True)
    assert opcodes(module) == ["convert", opcode, "convert"]


def test_an_operand_used_twice_is_converted_once() -> None:
    text = """HloModule m
ENTRY e {
  x = bf16[10] parameter(0)
  y = bf16[10] parameter(1)
  s = bf16[10] add(x, y)
  d = bf16[10] subtract(s, x)
  ROOT r = bf16[10] subtract(y, d)
}
"""
    module = passed(text, FloatNormalizationBf16(), _EDGES, np.roll(_EDGES, 1), exact=True)
    assert opcodes(module).count("convert") == 2 + 2 * 2 + 1


def test_movement_and_supported_ops_stay() -> None:
    text = """HloModule m
ENTRY e {
  x = bf16[3,4] parameter(0)
  p = pred[4,3] parameter(1)
  t = bf16[4,3] transpose(x), dimensions={1,0}
  s = bf16[4,3] select(p, t, t)
  ROOT r = bf16[4,3] add(s, t)
}
"""
    plain = passed(text, FloatNormalizationBf16(), exact=True)
    assert opcodes(plain) == ["transpose", "select", "convert", "convert", "add", "convert"]
    supported = passed(text, FloatNormalizationBf16(supported="dot+add"), exact=True)
    assert opcodes(supported) == ["transpose", "select", "add"]


def test_reducers_compute_in_f32_and_round_each_time() -> None:
    text = """HloModule m
add {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b)
}
ENTRY e {
  x = bf16[40] parameter(0)
  z = bf16[] constant(0)
  ROOT s = bf16[] reduce(x, z), dimensions={0}, to_apply=add
}
"""
    many = np.linspace(-3, 300, 40).astype(ml_dtypes.bfloat16)
    module = passed(text, FloatNormalizationBf16(), many, exact=True)
    (reducer,) = module.entry.root.calls
    assert sum(i.opcode == "convert" for i in reducer.instructions) == 3


def test_fusion_bodies_are_left_alone() -> None:
    text = """HloModule m
body {
  a = bf16[4] parameter(0)
  ROOT c = bf16[4] add(a, a)
}
ENTRY e {
  x = bf16[4] parameter(0)
  ROOT f = bf16[4] fusion(x), kind=kLoop, calls=body
}
"""
    assert opcodes(passed(text, FloatNormalizationBf16())) == ["fusion"]


def test_types_are_options() -> None:
    text = _binary("add").replace("bf16", "f16")
    one = ElementTypeConverter(from_="f16", to="f64")
    halves = np.array([0.1, 65504, -65504, np.nan, np.inf, -0.0, 0, 1, 2, 6e-8], np.float16)
    module = passed(text, one, halves, halves[::-1], exact=True)
    assert opcodes(module) == ["convert", "convert", "add", "convert"]
    assert opcodes(passed(text, ElementTypeConverter(from_="f16", to="f16"))) == ["add"]


@pytest.mark.parametrize(
    "one",
    [
        ElementTypeConverter(from_="f31"),
        ElementTypeConverter(to="s32"),
        FloatNormalizationBf16(supported="addd"),
        ChangeOpDataType(from_=""),
    ],
)
def test_unknown_names_are_errors(one: ElementTypeConverter) -> None:
    with pytest.raises(UsageError, match="is no"):
        one.run(parse(_binary("add")), Journal())
