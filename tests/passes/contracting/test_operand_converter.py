import pytest

from hlotool.passes.contracting.operand_converter import OperandConverter
from tests.passes.checking import opcodes, passed


def mixed(one: str, other: str, result: str) -> str:
    return f"""HloModule m
ENTRY e {{
  x = {one}[2,3] parameter(0)
  y = {other}[3,4] parameter(1)
  ROOT d = {result}[2,4] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""


@pytest.mark.parametrize(
    ("one", "other", "result", "wanted"),
    [
        ("f16", "f32", "f32", ["f32", "f32"]),
        ("f32", "bf16", "f32", ["f32", "f32"]),
        ("f16", "bf16", "bf16", ["f32", "f32"]),
        ("f8e4m3fn", "f8e5m2", "f32", ["f32", "f32"]),
        ("f32", "f64", "f64", ["f64", "f64"]),
        ("s8", "s32", "s32", ["s32", "s32"]),
        ("s16", "u8", "s32", ["s16", "s16"]),
        ("u8", "u16", "u16", ["u16", "u16"]),
    ],
)
def test_both_have_one_type_after(one: str, other: str, result: str, wanted: list[str]) -> None:
    root = passed(mixed(one, other, result), OperandConverter()).entry.root
    assert [o.shape.plain_text.split("[")[0] for o in root.operands] == wanted


@pytest.mark.parametrize(
    ("one", "other", "result"), [("f32", "f32", "f32"), ("s8", "u8", "s32"), ("s8", "s8", "s32")]
)
def test_these_stay(one: str, other: str, result: str) -> None:
    assert opcodes(passed(mixed(one, other, result), OperandConverter())) == ["dot"]
