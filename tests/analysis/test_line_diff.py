import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.analysis.line_diff import unified_lines

LINES = st.lists(st.sampled_from([*"abcdefgh", "}", ""]), max_size=30)


def applied(before: list[str], diff: list[str]) -> list[str]:
    """Returns the text that a unified diff makes of another."""
    made: list[str] = []
    position = 0
    for line in diff[2:]:
        if line.startswith("@@"):
            start = int(line.split()[1].split(",")[0][1:]) - 1
            made += before[position:start]
            position = start
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert line[1:] == before[position]
            position += 1
            made += [line[1:]] * line.startswith(" ")
    return made + before[position:]


@settings(derandomize=True, deadline=None, max_examples=300)
@given(LINES, LINES)
def test_the_diff_makes_one_text_of_the_other(before: list[str], after: list[str]) -> None:
    diff = list(unified_lines(before, after, "old", "new"))
    assert applied(before, diff) == after
    assert bool(diff) == (before != after)


def test_it_is_what_difflib_shows() -> None:
    before = [f"line {n}" for n in range(40)]
    after = [*before[:10], "new", *before[10:20], *before[21:]]
    expected = list(difflib.unified_diff(before, after, "old", "new", n=2, lineterm=""))
    assert list(unified_lines(before, after, "old", "new")) == expected


def test_every_second_of_many_lines_changes() -> None:
    # difflib alone takes half a minute for these.
    before = [f"%x.{n} = f32[2] negate(%x.{n - 1})" for n in range(20_000)]
    after = [line.replace("negate", "abs") if n % 2 else line for n, line in enumerate(before)]
    diff = list(unified_lines(before, after, "old", "new"))
    assert sum(line.startswith("-%") for line in diff) == 10_000
