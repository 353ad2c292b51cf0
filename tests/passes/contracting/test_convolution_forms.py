"""The passes that give convolutions other dimensions."""

import numpy as np
import pytest
from hypothesis import given

from hlotool.ops.convolution import Convolution
from hlotool.passes.contracting.convolution_4d_expander import Convolution4DExpander
from hlotool.passes.contracting.convolution_canonicalization import ConvolutionCanonicalization
from hlotool.passes.contracting.convolution_group_converter import ConvolutionGroupConverter
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import convolutions, few


@few
@given(text=convolutions())
def test_dimensions_come_in_one_order(text: str) -> None:
    module = passed(text, ConvolutionCanonicalization())
    (op,) = [one.op for one in module.entry.instructions if isinstance(one.op, Convolution)]
    last = len(op.window) + 1
    labels = op.dim_labels
    assert (labels.input_batch, labels.input_feature) == (0, last)
    assert (labels.kernel_input_feature, labels.kernel_output_feature) == (last - 1, last)
    assert (labels.output_batch, labels.output_feature) == (0, last)


def test_only_what_moves_is_transposed() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,3,8] parameter(0)
  y = f32[3,3,4] parameter(1)
  ROOT c = f32[2,4,6] convolution(x, y), window={size=3}, dim_labels=bf0_0io->bf0
}
""",
        ConvolutionCanonicalization(),
    )
    assert opcodes(module) == ["transpose", "convolution", "transpose"]


@pytest.mark.parametrize(
    "one",
    [ConvolutionGroupConverter(), ConvolutionGroupConverter(block_diagonal=True)],
    ids=lambda one: one.text,
)
@few
@given(text=convolutions())
def test_no_groups_are_left(one: ConvolutionGroupConverter, text: str) -> None:
    module = passed(text, one)
    (op,) = [one.op for one in module.entry.instructions if isinstance(one.op, Convolution)]
    assert op.feature_group_count == op.batch_group_count == 1


@pytest.mark.parametrize("kind", ["feature", "batch"])
def test_an_infinity_stays_in_its_group(kind: str) -> None:
    x_sizes = "[1,4,4]" if kind == "feature" else "[2,4,2]"
    text = f"""HloModule m
ENTRY e {{
  x = f32{x_sizes} parameter(0)
  y = f32[2,2,4] parameter(1)
  ROOT c = f32[1,3,4] convolution(x, y), window={{size=2}},
      dim_labels=b0f_0io->b0f, {kind}_group_count=2
}}
"""
    x = np.ones([int(size) for size in x_sizes[1:-1].split(",")], np.float32)
    x.reshape(-1)[0] = np.inf
    module = passed(text, ConvolutionGroupConverter(), x, np.ones((2, 2, 4), np.float32))
    assert opcodes(module) == ["reshape", "reshape", "convolution", "reshape"]


FOUR_DIMENSIONS = """HloModule m
ENTRY e {
  x = f32[2,3,1,5,1,4] parameter(0)
  y = f32[1,2,1,2,3,7] parameter(1)
  ROOT c = f32[2,7,1,4,OUT,3] convolution(x, y), window={size=1x2x1x2 pad=0_0x0_0xPADx0_0},
      dim_labels=bf0123_0123io->bf0123
}
"""


def test_trivial_dimensions_go() -> None:
    text = FOUR_DIMENSIONS.replace("OUT", "1").replace("PAD", "0_0")
    module = passed(text, Convolution4DExpander())
    assert opcodes(module) == ["reshape", "reshape", "convolution", "reshape"]
    (convolution,) = module.entry.root.operands
    assert isinstance(convolution.op, Convolution)
    assert len(convolution.op.window) == 2


def test_dimensions_with_padding_stay() -> None:
    text = FOUR_DIMENSIONS.replace("OUT", "3").replace("PAD", "1_1")
    module = passed(text, Convolution4DExpander())
    (convolution,) = module.entry.root.operands
    assert isinstance(convolution.op, Convolution)
    assert len(convolution.op.window) == 3


def test_convolutions_of_few_dimensions_stay() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,1,8] parameter(0)
  y = f32[1,8,4] parameter(1)
  ROOT c = f32[2,1,4] convolution(x, y), window={size=1}, dim_labels=b0f_0io->b0f
}
""",
        Convolution4DExpander(),
    )
    assert opcodes(module) == ["convolution"]
