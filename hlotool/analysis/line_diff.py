"""Differences between long texts of mostly different lines, as printed modules are."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_CONTEXT = 2
_MOST_BETWEEN = 400
"""Between lines that both texts have once, longer parts are shown as removed and added."""


def unified_lines(before: Sequence[str], after: Sequence[str], old: str, new: str) -> Iterator[str]:
    """Yields the lines of a unified diff; the time grows as n log n, unlike that of difflib.

    Lines that stand once in either text and in the same order are what is common; difflib has
    only what lies between them.
    """
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

    The first word of each is "equal", "replace", "delete" or "insert".
    """
    return list(_joined(_edits(before, after)))


def _edits(before: Sequence[str], after: Sequence[str]) -> Iterator[Edit]:
    position = other = 0
    for one, two in [*_anchors(before, after), (len(before), len(after))]:
        yield from _between(before, after, position, one, other, two)
        if one < len(before):
            yield "equal", one, one + 1, two, two + 1
        position, other = one + 1, two + 1


def _between(
    before: Sequence[str], after: Sequence[str], start: int, end: int, first: int, last: int
) -> Iterator[Edit]:
    if start == end and first == last:
        return
    if max(end - start, last - first) > _MOST_BETWEEN:
        yield "replace", start, end, first, last
        return
    matcher = difflib.SequenceMatcher(None, before[start:end], after[first:last], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        yield tag, start + a, start + b, first + c, first + d


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the places of the longest row of lines that both texts have once, in order."""
    once = {line for line, number in Counter(before).items() if number == 1}
    once &= {line for line, number in Counter(after).items() if number == 1}
    places = {line: number for number, line in enumerate(after) if line in once}
    pairs = [(number, places[line]) for number, line in enumerate(before) if line in once]
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


def _joined(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yields edits, equal lines that follow each other as one."""
    held: Edit | None = None
    for edit in edits:
        if held is not None and held[0] == edit[0] == "equal":
            held = "equal", held[1], edit[2], held[3], edit[4]
            continue
        if held is not None:
            yield held
        held = edit
    if held is not None:
        yield held


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
