from itertools import accumulate

import pytest

from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.errors import ParseError
from hlotool.frontends.buffer_assignment import memory_use
from hlotool.passes.memory.memory_report import buffer_assignment_text, live_range_text
from hlotool.text.parser import parse

ASSIGNMENT = """BufferAssignment:
allocation 0: size 64, color 1, parameter 0, shape |f32[16]| at ShapeIndex {0}:
 value: <3 x{0} @1> (size=64,offset=0): f32[16]{0}
allocation 1: size 8, output shape is |(f32[2])|, maybe-live-out:
 value: <7 t{} @0> (size=8,offset=0): (f32[2]{0})
allocation 2: size 4, thread-local:
 value: <0 add.p @0> (size=4,offset=0): f32[]
allocation 3: size 96, preallocated-temp:
 value: <4 a @0> (size=64,offset=0): f32[16]{0}
 value: <5 b @0> (size=64,offset=0): f32[16]{0}
 value: <6 w{1}(phi) @0> (size=32,offset=64): f32[8]{0}
"""
RANGES = """HloLiveRange (max 4):
  InstructionSequence:
    0:x
    1:a
    2:b
    3:t
  BufferLiveRange:
    x{0}:0-4
    a{}:1-2
    b{}:2-3
    w{1}(phi):1-1
    w{1}:2-2
    t{}:3-4
  Live ranges at 2 (peak):
    x{0}: 64 bytes (cumulative: 64 bytes)
"""


@pytest.mark.parametrize("texts", [[ASSIGNMENT, RANGES], [f"{ASSIGNMENT}\n\n{RANGES}"]])
def test_allocations_and_values(texts: list[str]) -> None:
    use = memory_use(texts)
    assert [(one.size, one.kind, one.color) for one in use.allocations] == [
        (64, "parameter", 1), (8, "result", 0), (4, "thread-local", 0), (96, "temporary", 0),
    ]  # fmt: skip
    found = {
        one.instruction + one.index: (one.allocation, one.offset, one.size, one.start, one.end)
        for one in use.values
    }
    assert found == {
        "x{0}": (0, 0, 64, 0, 4),
        "t{}": (1, 0, 8, 3, 4),
        "add.p": (2, 0, 4, -1, -1),
        "a": (3, 0, 64, 1, 2),
        "b": (3, 0, 64, 2, 3),
        "w{1}": (3, 64, 32, 1, 2),
    }
    assert use.sequence == ["x", "a", "b", "t"]
    assert use.total_bytes == 172


def test_shared_memory_counts_once_in_the_curve() -> None:
    # At step 2 `a` and `b` lie in the same place: one is written over the other.
    assert memory_use([ASSIGNMENT, RANGES]).curve() == [64, 160, 160, 136]


def test_without_live_ranges_there_is_no_curve() -> None:
    use = memory_use([ASSIGNMENT])
    assert use.curve() == []
    assert len(use.values) == 6


def test_another_text() -> None:
    with pytest.raises(ParseError, match="has no buffer assignment"):
        memory_use(["HloModule m"], "m.txt")


def test_our_own_dumps_say_what_the_assignment_is() -> None:
    module = parse("""HloModule m, is_scheduled=true
ENTRY e {
  x = f32[100] parameter(0)
  a = f32[100] exponential(x)
  b = f32[100] negate(a)
  c = f32[100] add(a, b)
  d = f32[100] multiply(c, x)
  ROOT t = (f32[100], f32[100]) tuple(d, b)
}
""")
    assignment = buffer_assignment(module)
    use = memory_use(
        [buffer_assignment_text(module, assignment), live_range_text(module, assignment)]
    )
    assert use.total_bytes == assignment.total_bytes
    assert use.sequence == [one.name for one in assignment.liveness.sequence]
    changes = [0] * (assignment.liveness.end + 2)
    for allocation in assignment.allocations:
        for buffer, _ in allocation.buffers:
            changes[buffer.live_range.start] += buffer.size
            changes[buffer.live_range.end + 1] -= buffer.size
    assert use.curve() == list(accumulate(changes))[: len(use.sequence)]
