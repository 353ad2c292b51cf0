from hypothesis import given

from hlotool.ops.contraction import Dot
from hlotool.passes.contracting.batch_dot_simplification import BatchDotSimplification
from hlotool.rewriting.dimensions import sizes
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import dots, few


@few
@given(text=dots(least=1))
def test_no_batch_of_one_is_left(text: str) -> None:
    module = passed(text, BatchDotSimplification())
    (dot,) = [one for one in module.entry.instructions if isinstance(one.op, Dot)]
    assert isinstance(dot.op, Dot)
    dimensions = sizes(dot.operands[0])
    assert 1 not in [dimensions[d] for d in dot.op.lhs_batch_dims]


def test_batches_that_are_longer_stay() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[1,3,2,1] parameter(0)
  y = f32[1,2,4,3] parameter(1)
  ROOT d = f32[1,3,1,4] dot(x, y), lhs_batch_dims={0,1}, lhs_contracting_dims={2},
      rhs_batch_dims={0,3}, rhs_contracting_dims={1}
}
""",
        BatchDotSimplification(),
    )
    assert opcodes(module) == ["reshape", "reshape", "dot", "reshape"]
    (dot,) = module.entry.root.operands
    assert isinstance(dot.op, Dot)
    assert dot.op.lhs_batch_dims == (0,)
    assert dot.op.rhs_batch_dims == (2,)
    assert dot.shape.plain_text == "f32[3,1,4]"
