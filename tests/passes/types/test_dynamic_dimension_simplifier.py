import numpy as np
import pytest

from hlotool.passes.types.dynamic_dimension_simplifier import DynamicDimensionSimplifier
from tests.passes.checking import opcodes, passed

_HEAD = """HloModule m
ENTRY e {
  x = f32[5,6] parameter(0)
  n = s32[] parameter(1)
  d = f32[5,<=6] set-dimension-size(x, n), dimensions={1}
"""


def _left(body: str) -> list[str]:
    x = np.zeros((5, 6), np.float32)
    return opcodes(passed(f"{_HEAD}{body}\n}}\n", DynamicDimensionSimplifier(), x, np.int32(4)))


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("  ROOT s = s32[] get-dimension-size(d), dimensions={1}", []),
        ("  ROOT s = s32[] get-dimension-size(d), dimensions={0}", ["constant"]),
        ("""  e = f32[5,<=6] negate(d)
  f = f32[5,<=6] add(e, d)
  t = f32[<=6,5] transpose(f), dimensions={1,0}
  c = f32[<=6,5] copy(t)
  ROOT s = s32[] get-dimension-size(c), dimensions={0}""", []),
        ("""  f = f32[<=5,<=6] set-dimension-size(d, n), dimensions={0}
  ROOT s = s32[] get-dimension-size(f), dimensions={1}""", []),
        ("""  s = s32[] get-dimension-size(d), dimensions={1}
  ROOT r = f32[5,<=6] set-dimension-size(d, s), dimensions={1}""", ["set-dimension-size"]),
        ("  ROOT r = f32[5,<=6] set-dimension-size(d, n), dimensions={1}", ["set-dimension-size"]),
    ],
)  # fmt: skip
def test_sizes_come_from_where_they_were_set(body: str, left: list[str]) -> None:
    assert _left(body) == left


@pytest.mark.parametrize(
    ("body", "count"),
    [
        # what was cut off does not come back
        ("""  m = s32[] constant(6)
  ROOT r = f32[5,<=6] set-dimension-size(d, m), dimensions={1}""", 3),
        # a static dimension becomes dynamic here
        ("""  s = s32[] constant(5)
  ROOT r = f32[<=5,<=6] set-dimension-size(d, s), dimensions={0}""", 3),
        ("""  r = f32[<=30] reshape(d)
  ROOT s = s32[] get-dimension-size(r), dimensions={0}""", 3),
    ],
)  # fmt: skip
def test_other_sizes_stay(body: str, count: int) -> None:
    assert len(_left(body)) == count


@pytest.mark.parametrize(
    ("declared", "size", "left"),
    [
        ("f32[5,6]", "constant(6)", []),
        ("f32[5,<=6]", "constant(5)", ["constant", "set-dimension-size"]),
        ("f32[5,<=6]", "constant(6)", ["constant", "set-dimension-size"]),
    ],
)
def test_a_size_set_to_all_of_a_static_array_is_nothing(
    declared: str, size: str, left: list[str]
) -> None:
    text = f"""HloModule m
ENTRY e {{
  x = f32[5,6] parameter(0)
  n = s32[] {size}
  ROOT r = {declared} set-dimension-size(x, n), dimensions={{1}}
}}
"""
    module = passed(text, DynamicDimensionSimplifier(), np.ones((5, 6), np.float32))
    assert opcodes(module) == left
