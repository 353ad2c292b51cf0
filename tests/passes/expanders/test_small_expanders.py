import numpy as np
import pytest

from hlotool.ops.shape_changing import Concatenate
from hlotool.passes.expanders.assumed_gather_indices import AssumeGatherIndicesInBoundRewriteToCopy
from hlotool.passes.expanders.convolution_pred import ConvolutionPredExpander
from hlotool.passes.expanders.real_imag import RealImagExpander
from hlotool.passes.expanders.variadic_splitter import VariadicOpSplitter
from tests.passes.checking import opcodes, passed

_CONVOLUTION = """HloModule m
ENTRY e {
  x = pred[2,8,3] parameter(0)
  k = pred[3,3,4] parameter(1)
  ROOT y = pred[2,8,4] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f
}
"""


def test_truth_values_are_convolved_as_f16() -> None:
    rng = np.random.default_rng(2)
    x, k = rng.random((2, 8, 3)) < 0.2, rng.random((3, 3, 4)) < 0.3
    module = passed(_CONVOLUTION, ConvolutionPredExpander(), x, k)
    assert opcodes(module) == ["convert", "convert", "convolution", "convert"]


def test_other_convolutions_stay() -> None:
    module = passed(_CONVOLUTION.replace("pred", "f32"), ConvolutionPredExpander())
    assert opcodes(module) == ["convolution"]


def _part(opcode: str, element_type: str, result: str, size: str = "3") -> str:
    return f"""HloModule m
ENTRY e {{
  x = {element_type}[{size}] parameter(0)
  ROOT y = {result}[{size}] {opcode}(x)
}}
"""


@pytest.mark.parametrize("size", ["3", "", "0"])
def test_parts_of_real_numbers(size: str) -> None:
    assert opcodes(passed(_part("real", "f32", "f32", size), RealImagExpander())) == []
    found = opcodes(passed(_part("imag", "bf16", "bf16", size), RealImagExpander()))
    assert set(found) <= {"constant", "broadcast"}


def test_parts_of_complex_numbers_and_of_dynamic_arrays_stay() -> None:
    assert opcodes(passed(_part("imag", "c64", "f32"), RealImagExpander())) == ["imag"]
    text = _part("imag", "f32", "f32", "<=3")
    assert opcodes(passed(text, RealImagExpander(), np.zeros(2, np.float32))) == ["imag"]


@pytest.mark.parametrize("count", [5, 7, 9, 28])
def test_long_concatenations_become_trees(count: int) -> None:
    lines = "\n".join(f"  p{n} = s8[2] parameter({n})" for n in range(count))
    names = ", ".join(f"p{n}" for n in range(count))
    text = f"""HloModule m
ENTRY e {{
{lines}
  ROOT y = s8[{2 * count}] concatenate({names}), dimensions={{0}}
}}
"""
    module = passed(text, VariadicOpSplitter(most_operands=3))
    joins = [one for one in module.entry.instructions if isinstance(one.op, Concatenate)]
    assert len(joins) > 1
    assert max(len(one.operands) for one in joins) <= 3
    assert len(opcodes(passed(text, VariadicOpSplitter()))) == 1


def test_a_promise_of_indices_is_a_copy() -> None:
    text = """HloModule m
ENTRY e {
  i = s32[4]{0} parameter(0)
  j = s32[4]{0} custom-call(i), custom_call_target="AssumeGatherIndicesInBound"
  ROOT k = s32[4]{0} custom-call(j), custom_call_target="Pin"
}
"""
    module = passed(text, AssumeGatherIndicesInBoundRewriteToCopy())
    assert opcodes(module) == ["copy", "custom-call"]
    acting = text.replace('InBound"', 'InBound", custom_call_has_side_effect=true')
    module = passed(acting, AssumeGatherIndicesInBoundRewriteToCopy())
    assert opcodes(module) == ["custom-call", "custom-call"]
