from hlotool.passes.algsimp.reshape_mover import ReshapeMover
from hlotool.passes.pipeline import parse_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from tests.passes.checking import opcodes, passed


def test_reshapes_of_all_operands_become_one_behind_the_op() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,6] parameter(0)
  y = f32[2,6] parameter(1)
  a = f32[12] reshape(x)
  b = f32[12] reshape(y)
  ROOT r = pred[12] compare(a, b), direction=LT
}
""",
        ReshapeMover(),
    )
    assert opcodes(module) == ["compare", "reshape"]


def test_a_reshape_sinks_through_a_chain_with_scalars_of_all_kinds() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,6] parameter(0)
  p = pred[] parameter(1)
  low = f32[] constant(-1)
  c = f32[] constant(3)
  a = f32[12] reshape(x)
  d = f32[12] broadcast(c), dimensions={}
  s = f32[12] multiply(a, d)
  t = f32[12] clamp(low, s, c)
  u = f32[12] select(p, t, d)
  v = s32[12] convert(u)
  ROOT r = s32[3,4] reshape(v)
}
""",
        ReshapeMover(),
    )
    assert module.entry.root.operands[0].opcode == "reshape"
    assert opcodes(module)[-2:] == ["reshape", "reshape"]


def test_transposes_move_with_their_order() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,3,4] parameter(0)
  y = f32[2,3,4] parameter(1)
  a = f32[4,2,3] transpose(x), dimensions={2,0,1}
  b = f32[4,2,3] transpose(y), dimensions={2,0,1}
  ROOT r = f32[4,2,3] subtract(a, b)
}
""",
        ReshapeMover(),
    )
    assert opcodes(module) == ["subtract", "transpose"]


def test_what_is_rearranged_in_different_ways_stays() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[2,2] parameter(0)
  y = f32[2,2] parameter(1)
  z = f32[1,2,2] parameter(2)
  a = f32[2,2] transpose(x), dimensions={1,0}
  b = f32[2,2] reshape(z)
  s = f32[2,2] add(a, b)
  ROOT r = f32[2,2] add(s, y)
}
"""
    assert opcodes(passed(text, ReshapeMover())) == ["transpose", "reshape", "add", "add"]


def test_a_reshape_that_another_op_needs_stays() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[2,6] parameter(0)
  a = f32[12] reshape(x)
  n = f32[12] negate(a)
  s = f32[4] slice(a), slice={[0:4]}
  ROOT t = (f32[12], f32[4]) tuple(n, s)
}
"""
    assert opcodes(passed(text, ReshapeMover())) == ["reshape", "negate", "slice", "tuple"]


def test_users_of_one_reshape_move_together() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[2,6] parameter(0)
  y = f32[2,6] parameter(1)
  a = f32[12] reshape(x)
  b = f32[12] reshape(y)
  n = f32[12] negate(a)
  s = f32[12] add(a, b)
  ROOT t = f32[12] multiply(n, s)
}
""",
        ReshapeMover(),
    )
    assert opcodes(module) == ["negate", "add", "multiply", "reshape"]


def test_no_elements_are_moved_too() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[0,6] parameter(0)
  a = f32[3,0] reshape(x)
  ROOT n = f32[3,0] negate(a)
}
""",
        ReshapeMover(),
    )
    assert opcodes(module) == ["negate", "reshape"]


def test_a_transpose_stays_before_a_conversion_to_a_wider_type() -> None:
    text = """HloModule m
ENTRY e {
  x = s8[2,3] parameter(0)
  a = s8[3,2] transpose(x), dimensions={1,0}
  ROOT r = s32[3,2] convert(a)
}
"""
    assert opcodes(passed(text, ReshapeMover())) == ["transpose", "convert"]
    narrow = text.replace("s8", "s64")
    assert opcodes(passed(narrow, ReshapeMover())) == ["convert", "transpose"]


def test_conversions_and_rearrangements_do_not_change_places_for_ever() -> None:
    runner = Runner()
    module = parse(
        """HloModule m
ENTRY e {
  x = bf16[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  a = f32[2,3] convert(x)
  b = f32[3,2] transpose(a), dimensions={1,0}
  c = f32[3,2] transpose(y), dimensions={1,0}
  d = f32[3,2] add(b, c)
  e = bf16[3,2] convert(d)
  f = f32[3,2] convert(e)
  ROOT r = f32[6] reshape(f)
}
"""
    )
    runner.run(parse_pipeline("fix(reshape-mover,convert-mover)", "p"), module)
    assert not runner.warnings
