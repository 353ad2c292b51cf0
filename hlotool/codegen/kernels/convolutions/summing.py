"""What the loops of a convolution's tile know: where it lies, and what is summed in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hlotool.codegen.indexing.index import Counter
from hlotool.codegen.kernels.convolutions.axes import Problem
from hlotool.codegen.kernels.convolutions.sums import Sums
from hlotool.codegen.kernels.convolutions.tiles import Segment
from hlotool.codegen.kernels.pointers import Pointer
from hlotool.codegen.kernels.results import ResultEmitter
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.numbers.element import Parts


@dataclass(frozen=True)
class Block:
    """Channels that a tile has: the first of them, and how many each vector holds."""

    number: Value
    first: Value
    widths: tuple[int, ...]

    @property
    def starts(self) -> list[int]:
        """Where each vector begins, from the first channel on."""
        return [sum(self.widths[:number]) for number in range(len(self.widths))]


@dataclass
class Tile:
    """A tile while it is written: its segments, where they begin, and its positions."""

    block: Block
    segments: dict[int, Segment]
    origins: dict[int, Value]
    """Positions of the first element along every axis."""
    pixels: list[dict[int, int]] = field(default_factory=list)
    """Offsets of each element from the origins, along the axes that have tiles."""


Totals = dict[int, list[Parts]]
"""Sums by the number of the tile's element, then by vector."""


@dataclass
class Summing:
    """What all tiles of one phase of a convolution have in common."""

    emitter: ResultEmitter
    problem: Problem
    sums: Sums
    operands: tuple[Pointer, Pointer]
    """Where both begin."""
    ahead: int
    """How many rows before they are needed those of a kernel far away are asked for; or 0."""
    kept: Pointer
    """Where the sums of a tile are kept on the stack."""
    calls: bool
    """Whether tiles are summed by functions that kernels share."""
    counters: dict[tuple[str, int], Counter] = field(default_factory=dict)

    def counter(self, value: Value, extent: int) -> Counter:
        """Returns the counter that a value is: always the same one, so that indices are equal."""
        return self.counters.setdefault((value.name, extent), Counter(extent, value, splits=False))


class TilePart:
    """What writes a part of the code of one tile."""

    def __init__(self, summing: Summing, tile: Tile) -> None:
        self._summing = summing
        self._emitter = summing.emitter
        self._function = summing.emitter.function
        self._problem = summing.problem
        self._sums = summing.sums
        self._tile = tile
