"""Dumped buffer assignments: allocations, places and live ranges of values, memory over time."""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from hlotool.errors import ParseError

_ALLOCATION = re.compile(r"allocation ([0-9]{1,18}): size ([0-9]{1,18})(?:, (.*?))?:?$")
_COLOR = re.compile(r"color ([0-9]{1,18})")
_VALUE = re.compile(
    r" value: <([0-9]{1,18}) (.+?)(\{[0-9,]*\})?(?: ?\(phi\))? @[0-9]{1,18}>"
    r" \(size=([0-9]{1,18}),offset=([0-9]{1,18})\): (.*)$"
)
_STEP = re.compile(r"    ([0-9]{1,18}):(.+)$")
_RANGE = re.compile(r"    (.+?)(?:\(phi\))?(\{[0-9,]*\})(?:\(phi\))?:([0-9]{1,18})-([0-9]{1,18})$")
_PEAK = re.compile(r"  Live ranges at ([0-9]{1,18}) \(peak\):$")
_KINDS = {
    "thread-local": "thread-local",
    "constant": "constant",
    "parameter": "parameter",
    "output shape": "result",
    "maybe-live-out": "result",
    "preallocated-temp": "temporary",
}
"""What an allocation is for, by the first of these words that its line has."""


@dataclass(frozen=True, slots=True)
class DumpedAllocation:
    """A piece of memory."""

    number: int
    size: int
    """In bytes."""
    kind: str
    """`parameter`, `result`, `constant`, `temporary`, `thread-local` or nothing."""
    color: int
    """The number of the memory space."""
    words: str
    """What its line says behind the size."""


@dataclass(frozen=True, slots=True)
class DumpedValue:
    """A value in an allocation, needed from step `start` to step `end`, both included."""

    number: int
    instruction: str
    index: str
    """Which part of a tuple, such as `{0}`; empty for arrays, `{}` for tuples as such."""
    allocation: int
    offset: int
    size: int
    shape: str
    start: int = -1
    """-1, as `end`, where no live range is known, as of values that only exist per element."""
    end: int = -1


@dataclass
class MemoryUse:
    """How a module uses memory."""

    allocations: list[DumpedAllocation] = field(default_factory=list)
    values: list[DumpedValue] = field(default_factory=list)
    sequence: list[str] = field(default_factory=list)
    """The names of instructions in the order in which they run."""

    @property
    def total_bytes(self) -> int:
        """The bytes of all allocations."""
        return sum(allocation.size for allocation in self.allocations)

    def curve(self) -> list[int]:
        """Returns the bytes in use at each step; memory that several values share counts once."""
        changes = [0] * (len(self.sequence) + 1)
        by_allocation: dict[int, list[DumpedValue]] = {}
        for value in self.values:
            if value.start >= 0:
                by_allocation.setdefault(value.allocation, []).append(value)
        for values in by_allocation.values():
            for step, change in _changes_of_use(values):
                if step < len(changes):
                    changes[step] += change
        return list(accumulate(changes[: len(self.sequence)]))


def memory_use(texts: Iterable[str], name: str = "<string>") -> MemoryUse:
    """Returns what texts say of one module: that of the assignment, and that of live ranges.

    Older versions write both into one file. Raises `ParseError` where no allocation is found.
    """
    found = MemoryUse()
    ranges: dict[tuple[str, str], tuple[int, int]] = {}
    for text in texts:
        _read(text, found, ranges)
    if not found.allocations:
        raise ParseError(f"{name} has no buffer assignment: no line says `allocation 0: size ...`")
    found.values = [_with_range(value, ranges) for value in found.values]
    return found


def _read(text: str, found: MemoryUse, ranges: dict[tuple[str, str], tuple[int, int]]) -> None:
    is_of_ranges = False
    for line in text.splitlines():
        if line.startswith("HloLiveRange"):
            is_of_ranges = True
        elif not is_of_ranges:
            _read_assignment(line, found)
        elif _PEAK.match(line):
            # What follows is said above already.
            return
        elif (match := _STEP.match(line)) is not None and int(match[1]) == len(found.sequence):
            found.sequence.append(match[2])
        elif (match := _RANGE.match(line)) is not None:
            _note_range(ranges, (match[1], match[2]), int(match[3]), int(match[4]))


def _read_assignment(line: str, found: MemoryUse) -> None:
    match = _VALUE.match(line)
    if match is not None and found.allocations:
        number, instruction, index, size, offset, shape = match.groups()
        allocation = found.allocations[-1].number
        found.values.append(
            DumpedValue(
                int(number), instruction, index or "", allocation, int(offset), int(size), shape
            )
        )
        return
    match = _ALLOCATION.match(line)
    # Summaries at the end name the allocations again, largest first.
    if match is not None and int(match[1]) == len(found.allocations):
        words = match[3] or ""
        color = _COLOR.search(words)
        kind = next((kind for word, kind in _KINDS.items() if word in words), "")
        found.allocations.append(
            DumpedAllocation(
                int(match[1]), int(match[2]), kind, int(color[1]) if color else 0, words
            )
        )


def _note_range(
    ranges: dict[tuple[str, str], tuple[int, int]], key: tuple[str, str], start: int, end: int
) -> None:
    if start <= end:
        first, last = ranges.get(key, (start, end))
        ranges[key] = min(first, start), max(last, end)


def _with_range(value: DumpedValue, ranges: dict[tuple[str, str], tuple[int, int]]) -> DumpedValue:
    start, end = ranges.get((value.instruction, value.index or "{}"), (-1, -1))
    return DumpedValue(
        value.number, value.instruction, value.index, value.allocation, value.offset,
        value.size, value.shape, start, end,
    )  # fmt: skip


def _changes_of_use(values: Sequence[DumpedValue]) -> Iterator[tuple[int, int]]:
    """Yields at which steps how many more or fewer bytes of one allocation are in use."""
    beginning: dict[int, list[DumpedValue]] = {}
    ending: dict[int, list[DumpedValue]] = {}
    for value in values:
        beginning.setdefault(value.start, []).append(value)
        ending.setdefault(value.end + 1, []).append(value)
    live: list[tuple[int, int, int]] = []
    before = 0
    for step in sorted(beginning.keys() | ending.keys()):
        for value in ending.get(step, ()):
            live.remove(_extent(value))
        for value in beginning.get(step, ()):
            insort(live, _extent(value))
        used = _covered(live)
        if used != before:
            yield step, used - before
            before = used


def _extent(value: DumpedValue) -> tuple[int, int, int]:
    return value.offset, value.offset + value.size, value.number


def _covered(extents: Iterable[tuple[int, int, int]]) -> int:
    """Returns how many bytes lie in one or more extents, which are sorted."""
    total = end = 0
    for first, last, _ in extents:
        total += max(0, last - max(first, end))
        end = max(end, last)
    return total
