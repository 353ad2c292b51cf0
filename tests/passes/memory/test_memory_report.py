"""Reports of memory, in the reference's forms."""

from pathlib import Path

import pytest

from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.passes.memory.memory_report import (
    buffer_assignment_text,
    human_size,
    live_range_text,
    memory_usage_text,
    values_text,
)
from hlotool.text.parser import parse

SUM = """HloModule m, is_scheduled=true
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
ENTRY e {
  a = f32[32,128] parameter(0), metadata={op_name="a"}
  zero = f32[] constant(0)
  n = f32[32,128] negate(a)
  r = f32[] reduce(n, zero), dimensions={0,1}, to_apply=add, metadata={op_name="jit(f)/sum"}
  ROOT t = (f32[], f32[32,128]) tuple(r, n)
}
"""


def test_allocations() -> None:
    module = parse(SUM)
    assert (
        buffer_assignment_text(module, buffer_assignment(module))
        == """BufferAssignment:
allocation 0: size 16384, maybe-live-out:
 value: <4 n @0> (size=16384,offset=0): f32[32,128]{1,0}
allocation 1: size 16384, parameter 0, shape |f32[32,128]| at ShapeIndex {}:
 value: <3 a @0> (size=16384,offset=0): f32[32,128]{1,0}
allocation 2: size 16, output shape is |(f32[], f32[32,128])|, maybe-live-out:
 value: <7 t{} @0> (size=16,offset=0): (f32[], f32[32,128]{1,0})
allocation 3: size 4, maybe-live-out:
 value: <6 r @0> (size=4,offset=0): f32[]
allocation 4: size 4, constant:
 value: <5 zero @0> (size=4,offset=0): f32[]
allocation 5: size 4, thread-local:
 value: <0 p @0> (size=4,offset=0): f32[]
allocation 6: size 4, thread-local:
 value: <1 q @0> (size=4,offset=0): f32[]
allocation 7: size 4, thread-local:
 value: <2 s @0> (size=4,offset=0): f32[]
"""
    )


def test_values_with_positions_and_uses() -> None:
    module = parse(SUM)
    text = values_text(module, buffer_assignment(module))
    assert text.startswith("\nTotal bytes used: 32804 (32.0KiB)\n\nUsed values:\n<0 p @0>\n")
    assert (
        """<4 n @0>
 positions:
  n
  t {1}
 uses:
  r, operand 0
  t, operand 1
 from instruction: %n = f32[32,128]{1,0} negate(%a)
"""
        in text
    )
    assert (
        """<7 t{} @0>
 positions:
  t {}
 uses:
  (none)
 from instruction: %t = (f32[], f32[32,128]{1,0}) tuple(%r, %n)
"""
        in text
    )


def test_live_ranges_and_the_peak() -> None:
    module = parse(SUM)
    assert (
        live_range_text(module, buffer_assignment(module))
        == """HloLiveRange (max 5):
  InstructionSequence:
    0:a
    1:zero
    2:n
    3:r
    4:t
  BufferLiveRange:
    a{}:0-5
    n{}:2-5
    zero{}:1-3
    r{}:3-5
    t{}:4-5
  Live ranges at 4 (peak):
    a{}: 16384 bytes (cumulative: 16384 bytes)
    n{}: 16384 bytes (cumulative: 32768 bytes)
    t{}: 16 bytes (cumulative: 32784 bytes)
    r{}: 4 bytes (cumulative: 32788 bytes)
  Stack trace breakdown for peak usage: 32 788 bytes
    e (100.0%, total: 32 788 bytes, current: 0 bytes, remaining: 32 788 bytes)
      ├── a (50.0%, total: 16 384 bytes, current: 16 384 bytes, remaining: 16 404 bytes)
      ├── n (50.0%, total: 16 384 bytes, current: 16 384 bytes, remaining: 20 bytes)
      ├── t (0.0%, total: 16 bytes, current: 16 bytes, remaining: 4 bytes)
      └── jit(f)/sum (0.0%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)
"""
    )


def test_memory_that_is_used_one_after_the_other() -> None:
    module = parse(
        """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[100] parameter(0)
  a = f32[100] negate(x)
  b = f32[100] sine(a)
  c = f32[50] slice(b), slice={[0:50]}
  d = f32[50] cosine(c)
  ROOT r = f32[10] slice(d), slice={[0:10]}
}
"""
    )
    text = memory_usage_text(module, buffer_assignment(module))
    assert text.startswith("Memory Space: default (color=0)\nTotal bytes: 1040 (1.0KiB)\n")
    assert (
        """  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
       400B( 67%);       400B;            0;                2; 2\N{MULTIPLICATION SIGN}f32[100]
       600B(100%);       200B;          400;                2; 2\N{MULTIPLICATION SIGN}f32[50]
"""
        in text
    )
    assert text.endswith("f32[10]\n\n\n")


DUMPED = Path(__file__).parents[3] / "testdata/models/dump"


def test_what_the_reference_reports_of_a_layer() -> None:
    name = "module_0000.jit_layer.cpu_after_optimizations.txt"
    module = parse((DUMPED / name).read_text(encoding="utf-8"))
    assignment = buffer_assignment(module)
    lines = buffer_assignment_text(module, assignment).splitlines()
    assert lines[:4] == [
        "BufferAssignment:",
        "allocation 0: size 32768, parameter 1, shape |f32[64,128]| at ShapeIndex {}:",
        " value: <68 w.1 @0> (size=32768,offset=0): f32[64,128]{1,0}",
        "allocation 1: size 16384, output shape is |f32[32,128]|, maybe-live-out:",
    ]
    assert lines[-5:] == [
        "allocation 12: size 16640, preallocated-temp:",
        " value: <70 ynn_fusion.1 @0> (size=128,offset=16384): f32[32]{0}",
        " value: <71 broadcast_subtract_fusion @0> (size=16384,offset=0): f32[32,128]{1,0}",
        " value: <72 ynn_fusion @0> (size=128,offset=16512): f32[32]{0}",
        " value: <73 add_rsqrt_fusion @0> (size=128,offset=16512): f32[32]{0}",
    ]
    ranges = live_range_text(module, assignment)
    assert "    ynn_fusion.1{}:6-10\n    broadcast_subtract_fusion{}:7-8\n" in ranges


def test_values_of_loops_are_at_all_their_places() -> None:
    module = parse(
        """HloModule m, is_scheduled=true
condition {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[]) parameter(0)
  j = s32[] get-tuple-element(s), index=0
  next = s32[] add(j, j)
  ROOT t = (s32[]) tuple(next)
}
ENTRY e {
  one = s32[] constant(1)
  first = s32[] negate(one)
  init = (s32[]) tuple(first)
  w = (s32[]) while(init), condition=condition, body=body
  ROOT r = s32[] get-tuple-element(w), index=0
}
"""
    )
    text = values_text(module, buffer_assignment(module))
    positions = text.partition(" first @0>\n positions:\n")[2].partition(" uses:")[0]
    assert {line.strip() for line in positions.splitlines()} == {
        "first", "init {0}", "w {0}", "r.1", "s {0}", "i", "s.1 {0}", "j",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0B"), (1023, "1023B"), (1024, "1.0KiB"), (75036, "73.3KiB"), (5 << 40, "5.0TiB")],
)
def test_sizes_in_words(size: int, text: str) -> None:
    assert human_size(size) == text
