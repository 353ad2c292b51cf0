"""Which parameter of a fusion its root may be written over."""

import pytest

from hlotool.analysis.updates_in_place import updated_parameter
from hlotool.text.parser import parse

TEXT = """
HloModule m

ENTRY e {{
  a = f32[8,4] parameter(0)
  x = f32[1,4] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  y = f32[1,8] parameter(4)
  z = s32[] constant(0)
{lines}
}}
"""
PART = "  p = f32[1,4] dynamic-slice(a, {0}, z), dynamic_slice_sizes={{1,4}}\n"
UPDATE = "  ROOT r = f32[8,4] dynamic-update-slice(a, {}, i, z)"

CASES = [
    (UPDATE.format("x"), "a"),
    ("  b = f32[4,8] bitcast(a)\n  ROOT r = f32[4,8] dynamic-update-slice(b, y, i, z)", "a"),
    (PART.format("i") + "  s = f32[1,4] add(p, x)\n" + UPDATE.format("s"), "a"),
    (PART.format("j") + "  s = f32[1,4] add(p, x)\n" + UPDATE.format("s"), None),
    (PART.format("i") + "  s = f32[1,4] reverse(p), dimensions={1}\n" + UPDATE.format("s"), None),
    ("  n = f32[8,4] negate(a)\n" + UPDATE.replace("(a,", "(n,").format("x"), None),
    ("  ROOT n = f32[8,4] negate(a)", None),
]


@pytest.mark.parametrize(("lines", "wanted"), CASES)
def test_what_is_read_elsewhere_is_not_written_over(lines: str, wanted: str | None) -> None:
    found = updated_parameter(parse(TEXT.format(lines=lines)).entry.root)
    assert (found.name if found else None) == wanted
