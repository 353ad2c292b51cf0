"""What of an operand a fusion still needs when it writes elements of its result."""

import pytest

from hlotool.analysis.reads_in_place import Reads, reads_of
from hlotool.text.parser import parse

SOFTMAX = """HloModule m
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
fused {
  x = f32[8,8] parameter(0)
  scale = f32[8] parameter(1)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  most = f32[8] reduce(x, low), dimensions={1}, to_apply=max
  mosts = f32[8,8] broadcast(most), dimensions={0}
  less = f32[8,8] subtract(x, mosts)
  power = f32[8,8] exponential(less)
  total = f32[8] reduce(power, zero), dimensions={1}, to_apply=sum
  totals = f32[8,8] broadcast(total), dimensions={0}
  parts = f32[8,8] divide(power, totals)
  scales = f32[8,8] broadcast(scale), dimensions={1}
  ROOT r = f32[8,8] multiply(parts, scales)
}
ENTRY e {
  p = f32[8,8] parameter(0)
  q = f32[8] parameter(1)
  ROOT f = f32[8,8] fusion(p, q), kind=kInput, calls=fused
}
"""


def reads(*changes: tuple[str, str]) -> Reads:
    text = SOFTMAX
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return reads_of(parse(text).entry.root.calls[0], 0)


def test_a_softmax_needs_its_row() -> None:
    assert reads() is Reads.ROW
    column = [
        ("x, low), dimensions={1}", "x, low), dimensions={0}"),
        ("power, zero), dimensions={1}", "power, zero), dimensions={0}"),
        ("(most), dimensions={0}", "(most), dimensions={1}"),
        ("(total), dimensions={0}", "(total), dimensions={1}"),
    ]
    assert reads(*column) is Reads.ROW


def test_values_of_rows_are_computed_with() -> None:
    assert reads(
        ("(total)", "(half)"), ("  totals", "  half = f32[8] negate(total)\n  totals")
    ) is (Reads.ROW)


@pytest.mark.parametrize(
    "change",
    [
        # The row that is folded is not the one that it is used for.
        ("(most), dimensions={0}", "(most), dimensions={1}"),
        # Rows and columns are folded.
        ("power, zero), dimensions={1}", "power, zero), dimensions={0}"),
        # The fold of something else is of other rows.
        ("(scale), dimensions={1}", "(most), dimensions={1}"),
        # Elements of other places are read.
        ("subtract(x, mosts)", "reverse(x), dimensions={1}"),
        # A fold is folded again, as the value that another one starts from.
        (
            "reduce(power, zero), dimensions={1}",
            "reduce(power, least), dimensions={1}",
        ),
    ],
)
def test_what_is_needed_in_other_places(change: tuple[str, str]) -> None:
    least = "  least = f32[] reduce(most, low), dimensions={0}, to_apply=max\n  total = "
    more = [("  total = ", least)] if "least" in change[1] else []
    assert reads(change, *more) is Reads.MORE


def test_elements_in_their_own_places() -> None:
    others = (
        ("reduce(x, low)", "reduce(scales, low)"),
        ("reduce(power, zero)", "reduce(scales, zero)"),
    )
    first = SOFTMAX.index("  scales"), SOFTMAX.index("  ROOT r = f32[8,8] multiply")
    scales = SOFTMAX[slice(*first)]
    assert reads(*others, (scales, ""), ("  most =", f"{scales}  most =")) is Reads.ELEMENT
