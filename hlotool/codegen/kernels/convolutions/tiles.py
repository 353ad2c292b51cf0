"""Tiles of a convolution: which sums are held in registers at once, chosen by a cost model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from hlotool.codegen.kernels.convolutions.axes import Axis, Problem

_MOST_BODIES = 6
"""How many copies of the innermost loop a kernel may have, tap by tap at the edges."""
_MOST_STATIC_TAPS = 11
_FORM_SHARE = 0.02
"""By how much longer sums may take to need one form of tile less."""
_NEAR_BYTES = 1 << 15
"""A kernel of so many bytes is in the nearest cache whenever it is read again."""


@dataclass(frozen=True)
class Segment:
    """Tiles along an axis, `count` of them beginning at `start`, each `width` positions wide.

    Inner ones meet all taps. At an edge, the taps are written one by one (`is_static`), or the
    tile is one position wide and loops over the taps that it meets.
    """

    start: int
    width: int
    count: int
    is_inner: bool
    is_static: bool = False


@dataclass(frozen=True)
class Tiling:
    """Which axes have tiles (their numbers), the segments of each, and the channel blocks."""

    axes: tuple[int, ...]
    segments: tuple[tuple[Segment, ...], ...]
    block: int
    """How many vectors of channels a tile has at most."""
    is_packed: bool
    """Whether the kernel is brought into panels first."""
    kernel_bytes: int
    cycles: float
    """About how long all of the sums take."""

    @property
    def most_sums(self) -> int:
        """How many vectors of sums a tile has at most."""
        return self.block * prod(max(one.width for one in along) for along in self.segments)


@lru_cache(maxsize=256)
def segments_of(axis: Axis, width: int) -> tuple[Segment, ...]:
    """Returns the tiles of an axis that are `width` positions wide where that is possible."""
    inner = axis.inner()
    if len(inner) == axis.count:
        return tuple(_evenly(0, axis.count, width))
    tiles = list(_tiles(0, axis.count, width))
    static = [t for t in tiles if t.start not in inner or t.start + t.width - 1 not in inner]
    if axis.taps <= _MOST_STATIC_TAPS and len(static) <= 4:
        return tuple(_classified(tiles, inner))
    found = [Segment(0, 1, inner.start, is_inner=False)] if inner.start else []
    if len(inner):
        found += _evenly(inner.start, len(inner), width)
    after = inner.stop if len(inner) else inner.start
    if after < axis.count:
        found.append(Segment(after, 1, axis.count - after, is_inner=False))
    return tuple(found)


def _evenly(start: int, count: int, width: int) -> list[Segment]:
    return _classified(list(_tiles(start, count, width)), range(start, start + count))


def _tiles(start: int, count: int, width: int) -> Iterator[Segment]:
    # Widths differ by one at most, so that no tile is much smaller than the others.
    number = -(-count // width)
    small, larger = divmod(count, number)
    for tile in range(number):
        size = small + (tile >= number - larger)
        yield Segment(start, size, 1, is_inner=True)
        start += size


def _classified(tiles: Sequence[Segment], inner: range) -> list[Segment]:
    found: list[Segment] = []
    for tile in tiles:
        is_inner = tile.start in inner and tile.start + tile.width - 1 in inner
        last = found[-1] if found else None
        if is_inner and last is not None and last.is_inner and last.width == tile.width:
            found[-1] = Segment(last.start, last.width, last.count + 1, is_inner=True)
        else:
            found.append(Segment(tile.start, tile.width, 1, is_inner, not is_inner))
    return found


@dataclass(frozen=True)
class Machine:
    """What the cost model knows of a processor and of the numbers that are summed."""

    registers: int
    lanes: int
    parts: int
    """How many registers a vector of sums takes."""
    lhs_has_lanes: bool
    element_bytes: int


def chosen_tiling(problem: Problem, machine: Machine) -> Tiling:
    """Returns the tiles that are likely to be the fastest."""
    best: Tiling | None = None
    for candidate in _candidates(problem, machine):
        if best is None or candidate.cycles < best.cycles:
            best = candidate
    assert best is not None
    return best


def _candidates(problem: Problem, machine: Machine) -> Iterator[Tiling]:
    vectors = -(-problem.channels.count // machine.lanes)
    free = machine.registers - 2
    # Blocks are about equally wide; wider ones that make no fewer blocks are left out.
    for block in sorted({-(-vectors // -(-vectors // n)) for n in range(1, min(vectors, 8) + 1)}):
        most = (free - block * machine.parts) // (block * machine.parts)
        if most < 1 and block > 1:
            break
        most = max(most, 1)
        yield _tiling(problem, machine, (), (), block)
        for number, axis in reversed(list(enumerate(problem.axes))):
            for width in _widths(axis, most):
                segments = segments_of(axis, width)
                if _bodies(problem, (number,), (segments,)) <= _MOST_BODIES:
                    yield _tiling(problem, machine, (number,), (segments,), block)
                if width < axis.count:
                    continue
                for outer in reversed(range(number)):
                    for height in _widths(problem.axes[outer], most // width):
                        both = (segments_of(problem.axes[outer], height), segments)
                        if _bodies(problem, (outer, number), both) <= _MOST_BODIES:
                            yield _tiling(problem, machine, (outer, number), both, block)


def _widths(axis: Axis, most: int) -> list[int]:
    if axis.count == 1 or (axis.lhs and axis.rhs):
        return []
    found = {-(-axis.count // -(-axis.count // width)) for width in range(2, most + 1)}
    return sorted(found)


def _bodies(problem: Problem, axes: Sequence[int], segments: Sequence[Sequence[Segment]]) -> int:
    total = 1
    for number, along in zip(axes, segments, strict=True):
        taps = problem.axes[number].taps
        total *= sum(taps if one.is_static else 1 for one in along)
    return total


def _forms(problem: Problem, axes: Sequence[int], segments: Sequence[Sequence[Segment]]) -> int:
    """Returns how many numbers of elements there are that are summed at once."""
    total = 1
    for number, along in zip(axes, segments, strict=True):
        axis, found = problem.axes[number], set()
        for one in along:
            found.add(one.width)
            if one.is_static:
                places = range(one.start, one.start + one.width)
                found.update(
                    sum(axis.is_met(place, tap) for place in places) for tap in range(axis.taps)
                )
        total *= len(found - {0})
    return total


def _tiling(
    problem: Problem,
    machine: Machine,
    axes: tuple[int, ...],
    segments: tuple[tuple[Segment, ...], ...],
    block: int,
) -> Tiling:
    terms = problem.features[0] * prod(axis.taps for axis in problem.axes)
    vectors = -(-problem.channels.count // machine.lanes)
    blocks = -(-vectors // block)
    cycles, tiles = 0.0, 0
    for chosen in _combinations(segments):
        pixels = prod(one.width for one in chosen)
        sums = pixels * block * machine.parts
        loads = block + pixels * (block if machine.lhs_has_lanes else 1)
        step = max(sums * machine.parts / 2, loads / 2, 4.0) + 1.0
        count = prod(one.count for one in chosen)
        cycles += count * (terms * step + 20 + 4 * sums)
        tiles += count
    rest = prod(axis.count for number, axis in enumerate(problem.axes) if number not in axes)
    kernel = terms * problem.channels.count * machine.element_bytes
    run = min(problem.channels.count, block * machine.lanes) * machine.element_bytes
    is_packed, reading = _reading(problem, kernel, tiles * rest, run)
    work = cycles * blocks * rest
    total = max(work, reading) + 0.05 * work
    # Each further form of tile is more code to make.
    total *= 1.0 + _FORM_SHARE * (_forms(problem, axes, segments) - 1)
    return Tiling(axes, segments, block, is_packed, kernel, total)


def _reading(problem: Problem, kernel: int, sweeps: int, run: int) -> tuple[bool, float]:
    """Returns whether the kernel is packed first, and how many cycles reading it takes.

    Each tile reads its share of the kernel again, `run` bytes that lie side by side at a time.
    The kernel comes from a far cache at first. Where it lies, rows that are far apart push each
    other out of the near one.
    """
    first = kernel / (8.0 if run >= 128 else 6.0)
    in_place = first + kernel * (sweeps - 1) / (32.0 if kernel <= _NEAR_BYTES else 8.0)
    packed = first + kernel / 4.0 + kernel * sweeps / 40.0
    channels = problem.channels
    if problem.has_lone_weights:
        return False, first
    if channels.rhs != 1 and channels.count > 1:
        return True, packed + kernel / 2.0
    if channels.lhs or in_place <= packed:
        return False, in_place
    return True, packed


def _combinations(segments: Sequence[Sequence[Segment]]) -> Iterator[tuple[Segment, ...]]:
    if not segments:
        yield ()
        return
    for first in segments[0]:
        for others in _combinations(segments[1:]):
            yield (first, *others)
