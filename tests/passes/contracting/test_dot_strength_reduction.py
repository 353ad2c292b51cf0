import numpy as np
import pytest
from hypothesis import given

from hlotool.passes.contracting.dot_strength_reduction import DotStrengthReduction
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import dots, few

MATRICES = """HloModule m
ENTRY e {
  x = f32[3,2] parameter(0)
  y = f32[2,4] parameter(1)
  ROOT d = f32[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


@few
@given(text=dots())
def test_all_short_dots_go(text: str) -> None:
    module = passed(text, DotStrengthReduction(longest_sum=9))
    assert "dot" not in opcodes(module)


@few
@given(text=dots())
def test_values_stay_where_some_dots_stay(text: str) -> None:
    passed(text, DotStrengthReduction())


def test_matrices_are_multiplied_as_such() -> None:
    assert opcodes(passed(MATRICES, DotStrengthReduction())) == ["dot"]


def test_sums_of_few_terms_are_written_out_where_the_option_says_so() -> None:
    module = passed(MATRICES, DotStrengthReduction(longest_sum=2))
    assert opcodes(module) == [
        "broadcast", "transpose", "broadcast", "multiply", "constant", "reduce"
    ]  # fmt: skip


@pytest.mark.parametrize("narrow", ["bf16", "f16", "f8e4m3fn"])
def test_narrow_floats_are_summed_in_f32_and_rounded_once(narrow: str) -> None:
    module = passed(
        f"""HloModule m
ENTRY e {{
  x = {narrow}[3] parameter(0)
  y = {narrow}[3] parameter(1)
  ROOT d = {narrow}[] dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
}}
""",
        DotStrengthReduction(),
    )
    assert opcodes(module) == ["convert", "convert", "multiply", "constant", "reduce", "convert"]
    assert module.entry.root.operands[0].shape.plain_text == "f32[]"


def test_integers_wrap_as_before() -> None:
    text = """HloModule m
ENTRY e {
  x = s8[3] parameter(0)
  y = u8[3,2] parameter(1)
  ROOT d = s16[2] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""
    x = np.array([-128, 127, -1], np.int8)
    y = np.array([[255, 0], [255, 1], [255, 255]], np.uint8)
    assert "dot" not in opcodes(passed(text, DotStrengthReduction(), x, y))


def test_infinities_and_nan_come_through() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2,4] parameter(1)
  ROOT d = f32[4] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""
    y = np.array([[np.inf, np.nan, -0.0, 1e38], [0, 1, -0.0, 1e38]], np.float32)
    passed(text, DotStrengthReduction(), np.array([1, 9], np.float32), y)


def test_packed_nibbles_stay() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = s8[3] parameter(0)
  y = s8[3] parameter(1)
  ROOT d = s32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0},
      operand_precision={packed_nibble,packed_nibble}
}
""",
        DotStrengthReduction(),
    )
    assert opcodes(module) == ["dot"]
