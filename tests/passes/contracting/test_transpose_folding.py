from hypothesis import given
from hypothesis import strategies as st

from hlotool.passes.contracting.convolution_canonicalization import ConvolutionCanonicalization
from hlotool.passes.contracting.dot_decomposer import DotDecomposer
from hlotool.passes.contracting.transpose_folding import TransposeFolding
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import convolutions, dots, few


@few
@given(text=st.one_of(dots(), convolutions()))
def test_values_stay(text: str) -> None:
    module = parse(text)
    ConvolutionCanonicalization().run(module, Journal())
    DotDecomposer().run(module, Journal())
    passed(print_module(module), TransposeFolding())


def test_free_dimensions_keep_their_order() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,3,4,5] parameter(0)
  y = f32[5,6] parameter(1)
  t = f32[5,4,3,2] transpose(x), dimensions={3,2,1,0}
  u = f32[6,5] transpose(y), dimensions={1,0}
  ROOT d = f32[4,3,2,6] dot(t, u), lhs_contracting_dims={0}, rhs_contracting_dims={1}
}
""",
        TransposeFolding(),
    )
    assert [operand.name for operand in module.entry.root.operands] == ["t", "y"]


def test_a_transpose_with_other_users_is_read_past() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  y = f32[5,6] parameter(0)
  u = f32[6,5] transpose(y), dimensions={1,0}
  d = f32[6,6] dot(u, u), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = (f32[6,6], f32[6,5]) tuple(d, u)
}
""",
        TransposeFolding(),
    )
    dot = module.entry.root.operands[0]
    assert [operand.name for operand in dot.operands] == ["y", "y"]


def test_transposes_of_a_convolution_go() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[3,2,8] parameter(0)
  y = f32[4,3,3] parameter(1)
  t = f32[2,8,3] transpose(x), dimensions={1,2,0}
  u = f32[3,3,4] transpose(y), dimensions={2,1,0}
  ROOT c = f32[2,6,4] convolution(t, u), window={size=3}, dim_labels=b0f_0io->b0f
}
""",
        TransposeFolding(),
    )
    assert opcodes(module) == ["convolution"]
