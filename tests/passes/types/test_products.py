"""The passes on the element types of dots and convolutions."""

import ml_dtypes
import numpy as np
import pytest

from hlotool.passes.pass_base import Pass
from hlotool.passes.types.bfloat16_fold import BFloat16Fold
from hlotool.passes.types.change_op_data_type import ChangeOpDataType
from hlotool.passes.types.convert_operand_folding import ConvertOperandFolding
from hlotool.passes.types.operand_upcaster import OperandUpcaster
from hlotool.passes.types.result_caster import ResultCaster
from hlotool.rewriting.builder import array_shape
from tests.passes.checking import opcodes, passed


def _dot(lhs: str, rhs: str, result: str, attributes: str = "") -> str:
    return f"""HloModule m
ENTRY e {{
  x = {lhs}[3,5] parameter(0)
  y = {rhs}[5,2] parameter(1)
  ROOT d = {result}[3,2] dot(x, y), lhs_contracting_dims={{1}},
    rhs_contracting_dims={{0}}{attributes}
}}
"""


def _widened_dot(narrow: str, wide: str, result: str) -> str:
    return f"""HloModule m
ENTRY e {{
  x = {narrow}[3,5] parameter(0)
  y = {narrow}[5,2] parameter(1)
  a = {wide}[3,5] convert(x)
  b = {wide}[5,2] convert(y)
  ROOT d = {result}[3,2] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""


_CONVOLUTION = """HloModule m
ENTRY e {
  x = s8[1,4,4,2] parameter(0)
  w = u8[3,3,2,1] parameter(1)
  a = s32[1,4,4,2] convert(x)
  b = s32[3,3,2,1] convert(w)
  ROOT c = s32[1,4,4,1] convolution(a, b), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
}
"""


@pytest.mark.parametrize(
    ("narrow", "wide", "result"),
    [("s8", "s32", "s32"), ("bf16", "f32", "f32"), ("u8", "s32", "s64"), ("f32", "f64", "f64"),
     ("f8e5m2", "f16", "f32")],
)  # fmt: skip
def test_widened_operands_are_folded_in(narrow: str, wide: str, result: str) -> None:
    module = passed(_widened_dot(narrow, wide, result), ConvertOperandFolding())
    assert opcodes(module) == ["dot"]


@pytest.mark.parametrize(
    ("narrow", "wide", "result"),
    # Rounded to f32; sums of f32 where they were of f64; narrower on purpose.
    [("s8", "f32", "f32"), ("f32", "f64", "f32"), ("f32", "bf16", "f32")],
)
def test_other_conversions_of_operands_stay(narrow: str, wide: str, result: str) -> None:
    module = passed(_widened_dot(narrow, wide, result), ConvertOperandFolding())
    assert opcodes(module) == ["convert", "convert", "dot"]


def test_operands_of_convolutions_are_folded_in_and_taken_out_again() -> None:
    extremes = [
        np.full((1, 4, 4, 2), -128, np.int8),
        np.full((3, 3, 2, 1), 255, np.uint8),
    ]
    folded = passed(_CONVOLUTION, ConvertOperandFolding(), *extremes)
    assert opcodes(folded) == ["convolution"]


@pytest.mark.parametrize(
    ("lhs", "rhs", "result", "count"),
    [("s8", "s8", "s32", 2), ("u8", "s8", "s32", 2), ("bf16", "f32", "f32", 1),
     ("f16", "f16", "f32", 2), ("f32", "f32", "f32", 0), ("f32", "f32", "bf16", 0),
     ("u8", "u8", "f32", 0)],
)  # fmt: skip
def test_operands_get_the_type_of_the_result(lhs: str, rhs: str, result: str, count: int) -> None:
    module = passed(_dot(lhs, rhs, result), OperandUpcaster())
    assert opcodes(module) == ["convert"] * count + ["dot"]


def test_an_algorithm_says_what_operands_are() -> None:
    text = _dot("bf16", "bf16", "f32", ", algorithm=dot_bf16_bf16_f32")
    assert opcodes(passed(text, OperandUpcaster())) == ["dot"]


@pytest.mark.parametrize(
    ("lhs", "result", "found"),
    [("f32", "bf16", ["dot", "convert"]), ("f64", "f32", ["dot", "convert"]),
     ("f32", "f32", ["dot"]), ("bf16", "bf16", ["dot"]), ("bf16", "f32", ["dot"]),
     ("s8", "s32", ["dot"])],
)  # fmt: skip
def test_products_are_rounded_apart(lhs: str, result: str, found: list[str]) -> None:
    module = passed(_dot(lhs, lhs, result), ResultCaster())
    assert opcodes(module) == found


def test_products_of_f16_are_made_in_f32() -> None:
    module = passed(_dot("f16", "f16", "f16"), ChangeOpDataType(), exact=True)
    assert opcodes(module) == ["convert", "convert", "dot", "convert"]
    assert opcodes(passed(_dot("f32", "f32", "f32"), ChangeOpDataType())) == ["dot"]


@pytest.mark.parametrize("one", [ChangeOpDataType(), OperandUpcaster(), BFloat16Fold()])
def test_sums_alone_change_nothing(one: Pass) -> None:
    text = "HloModule m\nENTRY e {\n  x = f16[2] parameter(0)\n  ROOT r = f16[2] add(x, x)\n}\n"
    assert opcodes(passed(text, one)) == ["add"]


def test_conversions_of_bf16_are_folded_into_products() -> None:
    text = (
        _widened_dot("bf16", "f32", "f32")
        .replace("ROOT d", "d")
        .replace("\n}", "\n  ROOT r = bf16[3,2] convert(d)\n}")
    )
    module = passed(text, BFloat16Fold(), exact=True)
    assert opcodes(module) == ["dot"]
    assert array_shape(module.entry.root).plain_text == "bf16[3,2]"


_REDUCTION = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = bf16[64] parameter(0)
  z = f32[] constant(0)
  w = f32[64] convert(x)
  s = f32[] reduce(w, z), dimensions={0}, to_apply=add
  ROOT r = bf16[] convert(s)
}
"""


def test_conversions_of_bf16_are_folded_into_reductions() -> None:
    many = np.linspace(-3, 300, 64).astype(ml_dtypes.bfloat16)
    module = passed(_REDUCTION, BFloat16Fold(), many, exact=True)
    assert opcodes(module) == ["constant", "reduce"]


def test_a_reducer_of_bf16_rounds_and_keeps_its_conversions() -> None:
    text = _REDUCTION.replace(
        "a = f32[] p", "a = bf16[] p").replace("b = f32[] p", "b = bf16[] p").replace(
        "c = f32[]", "c = bf16[]")  # fmt: skip
    assert "convert" in opcodes(passed(text, BFloat16Fold()))
