import pytest
from hypothesis import given

from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.dot_decomposer import DotDecomposer
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import dots, few


@few
@given(text=dots())
def test_every_dot_comes_into_one_form(text: str) -> None:
    module = passed(text, DotDecomposer())
    (dot,) = [one for one in module.entry.instructions if isinstance(one.op, Dot)]
    assert isinstance(dot.op, Dot)
    batch = tuple(range(len(dot.op.lhs_batch_dims)))
    assert dot.op.lhs_batch_dims == dot.op.rhs_batch_dims == batch
    assert len(dot.op.lhs_contracting_dims) == len(dot.op.rhs_contracting_dims) == 1


def test_roles_are_merged() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,3,4,5] parameter(0)
  y = f32[5,2,6,4] parameter(1)
  ROOT d = f32[2,3,6] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2,3},
      rhs_batch_dims={1}, rhs_contracting_dims={3,0}
}
""",
        DotDecomposer(),
    )
    dot = module.entry.root
    assert opcodes(module) == ["reshape", "transpose", "reshape", "dot"]
    assert [operand.shape.plain_text for operand in dot.operands] == ["f32[2,3,20]", "f32[2,20,6]"]


def test_declared_width_and_precision_stay() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = s8[2,3] parameter(0)
  y = s8[2,3] parameter(1)
  ROOT d = s32[] dot(x, y), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1},
      operand_precision={high,high}
}
""",
        DotDecomposer(),
    )
    (dot,) = [one for one in module.entry.instructions if isinstance(one.op, Dot)]
    assert isinstance(dot.op, Dot)
    assert dot.shape.plain_text == "s32[]"
    assert dot.op.operand_precision == ("high", "high")


@pytest.mark.parametrize(
    "line",
    [
        "ROOT d = f32[2,3] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
        "ROOT d = f32[2,<=3] dot(x, z), lhs_contracting_dims={0,1}, rhs_contracting_dims={1,0}",
    ],
    ids=["canonical", "dynamic"],
)
def test_these_stay(line: str) -> None:
    sizes = ("4,2", "3,4") if "y" in line else ("4,5,2", "5,4,<=3")
    module = passed(
        f"""HloModule m
ENTRY e {{
  x = f32[{sizes[0]}] parameter(0)
  {"y" if "y" in line else "z"} = f32[{sizes[1]}] parameter(1)
  {line}
}}
""",
        DotDecomposer(),
    )
    assert opcodes(module) == ["dot"]


def test_sparse_dots_stay() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,2,4] parameter(0)
  y = f32[2,8,3] parameter(1)
  p = u16[2,2,1] parameter(2)
  ROOT d = f32[2,3] dot(x, y, p), lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1},
      sparsity=L.2@2:4
}
""",
        DotDecomposer(),
    )
    assert opcodes(module) == ["dot"]
