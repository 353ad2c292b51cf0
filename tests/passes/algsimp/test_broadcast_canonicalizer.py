from hlotool.ops.shape_changing import Broadcast
from hlotool.passes.algsimp.broadcast_canonicalizer import BroadcastCanonicalizer
from tests.passes.checking import opcodes, passed


def test_dimensions_are_sorted_and_the_operand_is_transposed() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = bf16[2,3,4] parameter(0)
  ROOT r = bf16[4,5,2,3] broadcast(x), dimensions={2,3,0}
}
""",
        BroadcastCanonicalizer(),
    )
    assert opcodes(module) == ["transpose", "broadcast"]
    assert module.entry.root.op == Broadcast((0, 2, 3))


def test_sorted_dimensions_stay() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[2,0] parameter(0)
  c = f32[] parameter(1)
  a = f32[2,3,0] broadcast(x), dimensions={0,2}
  b = f32[2,3,0] broadcast(c), dimensions={}
  ROOT r = f32[2,3,0] add(a, b)
}
"""
    assert opcodes(passed(text, BroadcastCanonicalizer())) == ["broadcast", "broadcast", "add"]
