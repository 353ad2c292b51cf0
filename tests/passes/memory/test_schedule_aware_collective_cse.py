"""Equal collectives close to each other."""

import pytest

from hlotool.passes.memory.schedule_aware_collective_cse import ScheduleAwareCollectiveCse
from tests.passes.checking import opcodes, passed

TEXT = """HloModule m, is_scheduled=true, replica_count=2
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
ENTRY e {
  x = f32[2] parameter(0)
  g = f32[4] all-gather(x), dimensions={0}, channel_id=1,
    replica_groups={{0,1}}, use_global_device_ids=true
  n = f32[4] negate(g)
  m = f32[4] sine(n)
  h = f32[4] all-gather(x), dimensions={0}, channel_id=2,
    replica_groups={{0,1}}, use_global_device_ids=true
  a = f32[2] all-reduce(x), replica_groups={}, to_apply=add
  b = f32[2] all-reduce(x), replica_groups={{0},{1}}, to_apply=add
  k = f32[4] add(h, m)
  ROOT t = (f32[4], f32[2], f32[2]) tuple(k, a, b)
}
"""


def test_equal_collectives_are_one() -> None:
    found = opcodes(passed(TEXT, ScheduleAwareCollectiveCse()))
    assert found.count("all-gather") == 1
    # Other groups, another value.
    assert found.count("all-reduce") == 2


@pytest.mark.parametrize(("distance", "left"), [(3, 1), (2, 2)])
def test_collectives_that_are_far_apart_stay(distance: int, left: int) -> None:
    module = passed(TEXT, ScheduleAwareCollectiveCse(distance_threshold=distance))
    assert opcodes(module).count("all-gather") == left


def test_control_edges_keep_collectives_apart() -> None:
    text = TEXT.replace("n = f32[4] negate(g)", "n = f32[4] negate(g), control-predecessors={g}")
    assert opcodes(passed(text, ScheduleAwareCollectiveCse())).count("all-gather") == 2
