"""Differences between long texts of mostly different lines, as printed modules are."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

_CONTEXT = 2


def unified_lines(before: Sequence[str], after: Sequence[str], old: str, new: str) -> Iterator[str]:
    """Yields the lines of a unified diff; the time grows as n log n, unlike that of difflib."""
    blocks = list(_hunks(line_edits(before, after)))
    if blocks:
        yield f"--- {old}"
        yield f"+++ {new}"
    for block in blocks:
        yield from _shown(block, before, after)


Edit = tuple[str, int, int, int, int]
"""As difflib has them: what is done, and the range of lines in both texts."""


def line_edits(before: Sequence[str], after: Sequence[str]) -> list[Edit]:
    """Returns what makes `after` of `before`, equal lines too: ranges of lines, in order.

    The first word of each is "equal", "replace", "delete" or "insert". What both begin and end
    with is common, then the longest row of lines that both have once and in the same order; and
    so on between these. `lineEdits` of the pages does the same.
    """
    edits: list[Edit] = []
    line = other = 0
    for start, end, first, last in _different(before, after):
        if line < start:
            edits.append(("equal", line, start, other, first))
        kind = "insert" if start == end else "delete" if first == last else "replace"
        edits.append((kind, start, end, first, last))
        line, other = end, last
    if line < len(before):
        edits.append(("equal", line, len(before), other, len(after)))
    return edits


_Part = tuple[int, int, int, int]
"""A range of lines in both texts."""


def _different(before: Sequence[str], after: Sequence[str]) -> Iterator[_Part]:
    """Yields the parts that have no line in common, in order."""
    waiting: list[_Part] = [(0, len(before), 0, len(after))]
    while waiting:
        part = start, end, first, last = _without_equal_ends(before, after, waiting.pop())
        if start == end and first == last:
            continue
        anchors = _anchors(before, after, part)
        if not anchors:
            yield part
            continue
        # The last part first, since what waits is taken from its end.
        for line, other in reversed(anchors):
            waiting.append((line + 1, end, other + 1, last))
            end, last = line, other
        waiting.append((start, end, first, last))


def _without_equal_ends(before: Sequence[str], after: Sequence[str], part: _Part) -> _Part:
    start, end, first, last = part
    while start < end and first < last and before[start] == after[first]:
        start, first = start + 1, first + 1
    while start < end and first < last and before[end - 1] == after[last - 1]:
        end, last = end - 1, last - 1
    return start, end, first, last


def _anchors(before: Sequence[str], after: Sequence[str], part: _Part) -> list[tuple[int, int]]:
    """Returns the places of the longest row of lines that both parts have once, in order."""
    start, end, first, last = part
    once = {line for line, number in Counter(before[start:end]).items() if number == 1}
    once &= {line for line, number in Counter(after[first:last]).items() if number == 1}
    places = {after[number]: number for number in range(first, last) if after[number] in once}
    pairs = [
        (number, places[before[number]]) for number in range(start, end) if before[number] in once
    ]
    # The longest increasing subsequence, by the last places of the shortest rows so far.
    ends: list[int] = []
    rows: list[int] = []
    previous = [-1] * len(pairs)
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous[index] = rows[length - 1] if length else -1
        ends[length : length + 1] = [place]
        rows[length : length + 1] = [index]
    found = []
    index = rows[-1] if rows else -1
    while index >= 0:
        found.append(pairs[index])
        index = previous[index]
    return found[::-1]


def _hunks(edits: list[Edit]) -> Iterator[list[Edit]]:
    """Yields edits that belong together, with some equal lines around them."""
    block: list[Edit] = []
    for edit in edits:
        tag, start, end, first, last = edit
        if tag != "equal":
            block.append(edit)
            continue
        if block and end - start > 2 * _CONTEXT:
            block.append((tag, start, start + _CONTEXT, first, first + _CONTEXT))
            if any(one[0] != "equal" for one in block):
                yield block
            block = []
        cut = 0 if block else max(0, end - start - _CONTEXT)
        block.append((tag, start + cut, end, first + cut, last))
    if any(one[0] != "equal" for one in block):
        tag, start, end, first, last = block[-1]
        if tag == "equal":
            size = min(_CONTEXT, end - start)
            block[-1] = tag, start, start + size, first, first + size
        yield block


def _shown(block: list[Edit], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    _, start, _, first, _ = block[0]
    _, _, end, _, last = block[-1]
    yield f"@@ -{start + 1},{end - start} +{first + 1},{last - first} @@"
    for tag, a, b, c, d in block:
        if tag == "equal":
            yield from (f" {line}" for line in before[a:b])
            continue
        yield from (f"-{line}" for line in before[a:b])
        yield from (f"+{line}" for line in after[c:d])
