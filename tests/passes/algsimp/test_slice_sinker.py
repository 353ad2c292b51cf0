from hlotool.passes.algsimp.slice_sinker import SliceSinker
from tests.passes.checking import opcodes, passed


def test_parts_that_cover_the_whole_are_computed_at_once() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[8,9] parameter(0)
  y = f32[8,9] parameter(1)
  a = f32[6,9] slice(x), slice={[0:6], [0:9]}
  b = f32[6,9] slice(y), slice={[0:6], [0:9]}
  c = f32[2,9] slice(x), slice={[6:8], [0:9]}
  d = f32[2,9] slice(y), slice={[6:8], [0:9]}
  s = f32[6,9] add(a, b)
  t = f32[2,9] add(c, d)
  ROOT r = (f32[6,9], f32[2,9]) tuple(s, t)
}
""",
        SliceSinker(),
    )
    assert opcodes(module) == ["add", "slice", "slice", "tuple"]


def test_slices_sink_through_a_chain() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[5] slice(x), slice={[0:5]}
  b = f32[3] slice(x), slice={[5:8]}
  c = f32[5] exponential(a)
  d = f32[3] exponential(b)
  e = s32[5] convert(c)
  f = s32[3] convert(d)
  ROOT r = (s32[5], s32[3]) tuple(e, f)
}
""",
        SliceSinker(),
    )
    assert opcodes(module) == ["exponential", "convert", "slice", "slice", "tuple"]


def test_parts_that_leave_something_out_stay() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[5] slice(x), slice={[0:5]}
  b = f32[2] slice(x), slice={[6:8]}
  c = f32[5] exponential(a)
  d = f32[2] exponential(b)
  ROOT r = (f32[5], f32[2]) tuple(c, d)
}
"""
    module = passed(text, SliceSinker())
    assert opcodes(module) == ["slice", "slice", "exponential", "exponential", "tuple"]


def test_one_part_taken_twice_does_not_count_twice() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[5] slice(x), slice={[0:5]}
  b = f32[5] slice(x), slice={[0:5]}
  c = f32[5] exponential(a)
  d = f32[5] exponential(b)
  ROOT r = (f32[5], f32[5]) tuple(c, d)
}
"""
    assert "exponential exponential" in " ".join(opcodes(passed(text, SliceSinker())))


def test_operands_that_are_cut_differently_stay() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[4] slice(x), slice={[0:4]}
  b = f32[4] slice(x), slice={[4:8]}
  c = f32[4] add(a, b)
  d = f32[4] add(b, a)
  ROOT r = (f32[4], f32[4]) tuple(c, d)
}
"""
    assert opcodes(passed(text, SliceSinker())) == ["slice", "slice", "add", "add", "tuple"]


def test_a_slice_keeps_name_and_layout_of_what_it_stands_for() -> None:
    module = passed(
        """HloModule m
ENTRY e {
  x = f32[4,2] parameter(0)
  a = f32[3,2] slice(x), slice={[0:3], [0:2]}
  b = f32[1,2] slice(x), slice={[3:4], [0:2]}
  c = f32[3,2]{0,1} negate(a), metadata={op_name="minus"}
  d = f32[1,2] negate(b)
  ROOT r = (f32[3,2]{0,1}, f32[1,2]) tuple(c, d)
}
""",
        SliceSinker(),
    )
    first = module.entry.root.operands[0]
    assert (first.name, str(first.shape)) == ("c", "f32[3,2]{0,1}")
    assert first.annotations.metadata.op_name == "minus"
