"""Ops that move elements say truly which dimensions keep their index."""

import numpy as np
import pytest

from hlotool.ir.shape import ArrayShape
from hlotool.text.parser import parse

MOVES = [
    ("f32[3,2]", "f32[2,5,3] broadcast(x), dimensions={2,0}", (2, 0)),
    ("f32[]", "f32[2,5] broadcast(x), dimensions={}", ()),
    ("f32[4,2,3]", "f32[2,3,4] transpose(x), dimensions={1,2,0}", (2, 0, 1)),
    ("f32[4,6]", "f32[4,2,3] reshape(x)", (0, None)),
    ("f32[4,2,3]", "f32[4,6] reshape(x)", (0, None, None)),
    ("f32[6,1,5]", "f32[6,5] reshape(x)", (0, None, 1)),
    ("f32[2,6,5]", "f32[3,4,5] reshape(x)", (None, None, 2)),
    ("f32[2,3]", "f32[3,2] reshape(x)", (None, None)),
    ("f32[2,3]{0,1}", "f32[3,2]{1,0} bitcast(x)", (1, 0)),
    ("f32[4,6]", "f32[4,2,3] bitcast(x)", (0, None)),
    ("f32[4]", "s32[4] bitcast-convert(x)", (0,)),
    ("f32[4,6]", "f32[4,3] slice(x), slice={[0:4],[0:6:2]}", (0, None)),
    ("f32[4,6]", "f32[4,5] slice(x), slice={[0:4],[1:6]}", (0, None)),
    ("f32[4,6]", "f32[4,2] dynamic-slice(x, i, i), dynamic_slice_sizes={4,2}", (0, None)),
    ("f32[4,6]", "f32[4,6] negate(x)", (0, 1)),
    ("f32[4,6]", "f32[4,6]{0,1} copy(x)", (0, 1)),
]


@pytest.mark.parametrize(("given", "made", "kept"), MOVES)
def test_kept_dimensions(given: str, made: str, kept: tuple[int | None, ...]) -> None:
    module = parse(
        f"HloModule m\nENTRY e {{\n x = {given} parameter(0)\n i = s32[] parameter(1)\n"
        f" ROOT r = {made}\n}}\n"
    )
    root = module.entry.root
    shapes = [operand.shape for operand in root.operands]
    assert root.op.kept_dimensions(0, shapes, root.shape) == kept
    shape = shapes[0]
    assert isinstance(shape, ArrayShape)
    if root.opcode in {"negate", "bitcast-convert"}:
        return
    for dimension, place in enumerate(kept):
        if place is not None:
            index = np.indices(shape.dimensions)[dimension].astype(np.float32)
            found = np.asarray(module.evaluate(index, np.int32(1)))
            assert (found == np.indices(found.shape)[place]).all()


@pytest.mark.parametrize(
    ("number", "kept"), [(0, (0, 1, None)), (1, (0, None, 2)), (2, ())], ids=["lhs", "rhs", "none"]
)
def test_kept_dimensions_of_a_product(number: int, kept: tuple[int | None, ...]) -> None:
    module = parse("""HloModule m
ENTRY e {
  x = f32[2,3,4] parameter(0)
  y = f32[2,4,5] parameter(1)
  s = f32[] parameter(2)
  ROOT r = f32[2,3,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
    rhs_contracting_dims={1}
}
""")
    root = module.entry.root
    shapes = [parameter.shape for parameter in module.entry.parameters]
    assert root.op.kept_dimensions(number, shapes, root.shape) == kept


def test_kept_dimensions_of_a_fold() -> None:
    module = parse("""HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[2,3,4] parameter(0)
  z = f32[] parameter(1)
  ROOT r = f32[2,4] reduce(x, z), dimensions={1}, to_apply=f
}
""")
    root = module.entry.root
    shapes = [operand.shape for operand in root.operands]
    assert root.op.kept_dimensions(0, shapes, root.shape) == (0, None, 1)
    assert root.op.kept_dimensions(1, shapes, root.shape) == ()
