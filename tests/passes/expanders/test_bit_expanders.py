import ml_dtypes
import numpy as np
import pytest

from hlotool.ir.instruction import Instruction
from hlotool.passes.expanders.bitcast_dtypes import BitcastDtypesExpander
from hlotool.passes.expanders.stochastic_convert import StochasticConvertDecomposer
from hlotool.rewriting.builder import array_shape
from tests.passes.checking import opcodes, passed


def _bitcast(operand: str, result: str) -> str:
    return f"""HloModule m
ENTRY e {{
  x = {operand} parameter(0)
  ROOT y = {result} bitcast-convert(x)
}}
"""


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("u32[3]", "u8[3,4]"),
        ("f32[2,3]{0,1}", "bf16[2,3,2]"),
        ("f64[3]", "s16[3,4]"),
        ("s8[3]", "u4[3,2]"),
        ("u4[3]", "s2[3,2]"),
        ("u8[3]", "f4e2m1fn[3,2]"),
        ("u64[]", "u8[8]"),
        ("f16[0]", "u8[0,2]"),
    ],
)
def test_bits_are_shifted_apart_and_together(wide: str, narrow: str) -> None:
    for text in (_bitcast(wide, narrow), _bitcast(narrow, wide)):
        module = passed(text, BitcastDtypesExpander())
        assert {"shift-left", "shift-right-logical"} & set(opcodes(module))
        for one in module.entry.instructions:
            if one.opcode == "bitcast-convert":
                assert _width(one) == _width(one.operands[0])


def _width(instruction: Instruction) -> int:
    return array_shape(instruction).element_type.bits


def test_bits_keep_their_pieces() -> None:
    numbers = np.array([0x01020304, 0xFFFEFDFC, 0], np.uint32)
    passed(_bitcast("u32[3]", "u8[3,4]"), BitcastDtypesExpander(), numbers)


@pytest.mark.parametrize("pair", [("f32[3]", "s32[3]"), ("c64[3]", "u64[3]"), ("u8[3]", "u8[3]")])
def test_conversions_that_keep_the_width_stay(pair: tuple[str, str]) -> None:
    assert opcodes(passed(_bitcast(*pair), BitcastDtypesExpander())) == ["bitcast-convert"]


_NUMBERS = [1.5, -1.5, 0.0, -0.0, np.nan, np.inf, -np.inf, 0.25, -200.75, 1e9, 3.0, -0.999]


@pytest.mark.parametrize("result", ["s8", "s32", "u16", "s64"])
@pytest.mark.parametrize("element_type", ["f16", "bf16", "f32", "f64", "f8e5m2", "f8e3m4"])
def test_stochastic_convert(element_type: str, result: str) -> None:
    name = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}.get(
        element_type, element_type.replace("f8", "float8_")
    )
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    bits = 8 * dtype.itemsize
    count = len(_NUMBERS)
    text = f"""HloModule m
ENTRY e {{
  x = {element_type}[{count}] parameter(0)
  r = u{bits}[{count}] parameter(1)
  ROOT y = {result}[{count}] stochastic-convert(x, r)
}}
"""
    with np.errstate(over="ignore"):
        numbers = np.array(_NUMBERS).astype(dtype)
    most = (1 << bits) - 1
    for random in (0, most, most // 2, most // 4):
        words = np.full(count, random, f"u{bits // 8}")
        module = passed(text, StochasticConvertDecomposer(), numbers, words)
        assert "stochastic-convert" not in opcodes(module)
