import numpy as np

from hlotool.ops.ordering import Sort
from hlotool.passes.expanders.stable_sort import StableSortExpander
from tests.passes.checking import opcodes, passed

_LESS = """
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  p = s32[] parameter(2)
  q = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
_KEYS = np.array([[2, 1, 2, 1, 1], [0, 0, 0, 0, 0]], np.float32)


def test_a_stable_sort_compares_places_last() -> None:
    text = """HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[2,5] parameter(0)
  ROOT s = f32[2,5] sort(x), dimensions={1}, is_stable=true, to_apply=less
}
"""
    module = passed(text, StableSortExpander(), _KEYS)
    assert opcodes(module) == ["iota", "sort", "get-tuple-element"]
    (sort,) = [one for one in module.entry.instructions if isinstance(one.op, Sort)]
    assert isinstance(sort.op, Sort)
    assert not sort.op.is_stable


def test_several_operands_keep_their_tuple() -> None:
    text = f"""HloModule m
{_LESS}
ENTRY e {{
  x = f32[2,5] parameter(0)
  y = s32[2,5] parameter(1)
  ROOT s = (f32[2,5], s32[2,5]) sort(x, y), dimensions={{1}}, is_stable=true, to_apply=less
}}
"""
    module = passed(text, StableSortExpander(), _KEYS, np.arange(10, dtype=np.int32).reshape(2, 5))
    assert module.entry.root.opcode == "tuple"


def test_numbers_of_places_that_are_there_are_used() -> None:
    text = f"""HloModule m
{_LESS}
ENTRY e {{
  x = f32[2,5] parameter(0)
  y = s32[2,5] iota(), iota_dimension=1
  ROOT s = (f32[2,5], s32[2,5]) sort(x, y), dimensions={{1}}, is_stable=true, to_apply=less
}}
"""
    assert opcodes(passed(text, StableSortExpander(), _KEYS)) == ["iota", "sort"]
    narrow = text.replace("s32", "s2").replace("[2,5]", "[2,9]")
    keys = np.zeros((2, 9), np.float32)
    assert opcodes(passed(narrow, StableSortExpander(), keys)).count("iota") == 2


def test_a_sort_that_need_not_be_stable_stays() -> None:
    text = f"""HloModule m
{_LESS}
ENTRY e {{
  x = f32[0] parameter(0)
  y = s32[0] parameter(1)
  ROOT s = (f32[0], s32[0]) sort(x, y), dimensions={{0}}, to_apply=less
}}
"""
    assert opcodes(passed(text, StableSortExpander())) == ["sort"]
    stable = text.replace("{0}, to_apply", "{0}, is_stable=true, to_apply")
    assert "iota" in opcodes(passed(stable, StableSortExpander()))
