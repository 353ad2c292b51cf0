"""Devices laid out as an array: listed one by one, or counted up, reshaped and transposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

MOST_LISTED = 1 << 24
"""How many devices are written out at most; a text may count up any number of them."""
_MOST = (1 << 63) - 1


def counted(sizes: Sequence[int]) -> int:
    """Returns how many devices an array of `sizes` has; raises `ValueError` beyond 64 bits."""
    if 0 in sizes:
        return 0
    count = 1
    for size in sizes:
        count *= size
        if count > _MOST:
            raise ValueError(f"{_listed(sizes)} is more devices than 64 bits can count")
    return count


@dataclass(frozen=True, slots=True)
class Iota:
    """The numbers 0 to n-1 as an array of `sizes`, its dimensions permuted, then flattened.

    Make one with `of`: equal arrays then have equal values as long as the text has no shorter
    form of them.
    """

    sizes: tuple[int, ...]
    permutation: tuple[int, ...]

    @staticmethod
    def of(sizes: Sequence[int], permutation: Sequence[int] | None = None) -> Iota:
        """Returns the shortest form; raises `ValueError` where there is no such array."""
        if any(size < 0 for size in sizes):
            raise ValueError(f"{_listed(sizes)} has a negative size")
        order = range(len(sizes)) if permutation is None else permutation
        counted(sizes)
        if sorted(order) != list(range(len(sizes))):
            raise ValueError(f"T({_comma(order)}) does not permute {_listed(sizes)}")
        # Dimensions of size 1 say nothing, and neighbours that stay neighbours are one.
        runs: list[list[int]] = []
        rank_of = {d: rank for rank, d in enumerate(d for d, n in enumerate(sizes) if n != 1)}
        for dimension in order:
            if dimension in rank_of:
                if runs and rank_of[dimension] == rank_of[runs[-1][-1]] + 1:
                    runs[-1].append(dimension)
                else:
                    runs.append([dimension])
        merged = sorted(runs)
        if len(merged) < 2:
            return Iota((prod(sizes),), (0,))
        return Iota(
            tuple(prod(sizes[d] for d in run) for run in merged),
            tuple(merged.index(run) for run in runs),
        )

    @property
    def is_identity(self) -> bool:
        """Whether the numbers come in order."""
        return len(self.sizes) == 1

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return prod(self.sizes)

    @property
    def text(self) -> str:
        """The text behind `<=`: `[8]` or `[2,4]T(1,0)`."""
        sizes = _listed(self.sizes)
        return sizes if self.is_identity else f"{sizes}T({_comma(self.permutation)})"

    def numbers(self) -> tuple[int, ...]:
        """Returns the numbers in order; raises `ValueError` where they are too many to list."""
        if self.count > MOST_LISTED:
            raise ValueError(f"{self.count} devices are too many to list")
        numbers = [0]
        for dimension in self.permutation:
            stride = prod(self.sizes[dimension + 1 :])
            steps = range(0, self.sizes[dimension] * stride, stride)
            numbers = [number + step for number in numbers for step in steps]
        return tuple(numbers)


Devices = Iota | tuple[int, ...]
"""Device numbers in row-major order of some array."""


@dataclass(frozen=True, slots=True)
class TileAssignment:
    """An array of devices: each tile of a value goes to the device in its place."""

    dimensions: tuple[int, ...]
    devices: Devices

    @staticmethod
    def of(dimensions: Sequence[int], devices: Devices) -> TileAssignment:
        """Returns the array; raises `ValueError` where the number of devices does not fit."""
        count = devices.count if isinstance(devices, Iota) else len(devices)
        shown = _listed(dimensions)
        if any(size < 0 for size in dimensions):
            raise ValueError(f"{shown} has a negative size")
        wanted = counted(dimensions)
        if count != wanted:
            raise ValueError(f"{shown} needs {wanted} devices, {count} given")
        return TileAssignment(tuple(dimensions), devices)

    @property
    def text(self) -> str:
        """The text behind `devices=`: `[2,2]<=[4]` or `[2,2]0,1,2,3`."""
        shown = _listed(self.dimensions)
        if isinstance(self.devices, Iota):
            return f"{shown}<={self.devices.text}"
        return shown + _comma(self.devices)

    def numbers(self) -> tuple[int, ...]:
        """Returns the device numbers in row-major order."""
        return self.devices.numbers() if isinstance(self.devices, Iota) else self.devices

    def reshaped(self, dimensions: Sequence[int]) -> TileAssignment:
        """Returns the same devices in the same order as an array of other dimensions."""
        return TileAssignment.of(dimensions, self.devices)

    def transposed(self, order: Sequence[int]) -> TileAssignment:
        """Returns the array with its dimensions in another order.

        What was counted up stays so where the dimensions can be cut out of those of the `Iota`.
        """
        dimensions = tuple(self.dimensions[d] for d in order)
        moved = [d for d in order if self.dimensions[d] != 1]
        if moved == sorted(moved):
            return TileAssignment(dimensions, self.devices)
        cut = _cut(self.devices, self.dimensions) if isinstance(self.devices, Iota) else None
        if cut is not None:
            pieces, sizes = cut
            chosen = [piece for d in order for piece in pieces[d]]
            return TileAssignment(dimensions, _iota_of_pieces(sizes, chosen))
        numbers = self.numbers()
        indices = _transposed_indices(self.dimensions, order)
        return TileAssignment(dimensions, tuple(numbers[index] for index in indices))

    def with_sorted_runs(self, run: int) -> TileAssignment:
        """Returns the array with each `run` devices in a row in ascending order.

        What was counted up stays so where a run can be cut out of the `Iota`.
        """
        if run < 2:
            return self
        rest = prod(self.dimensions) // run
        cut = _cut(self.devices, (rest, run)) if isinstance(self.devices, Iota) else None
        if cut is not None:
            (outer, inner), sizes = cut
            chosen = [*outer, *sorted(inner)]
            return TileAssignment(self.dimensions, _iota_of_pieces(sizes, chosen))
        numbers = self.numbers()
        cuts = range(0, len(numbers), run)
        devices = (device for at in cuts for device in sorted(numbers[at : at + run]))
        return TileAssignment(self.dimensions, tuple(devices))


def _transposed_indices(sizes: Sequence[int], order: Sequence[int]) -> list[int]:
    indices = [0]
    for dimension in order:
        stride = prod(sizes[dimension + 1 :])
        steps = [stride * step for step in range(sizes[dimension])]
        indices = [index + step for index in indices for step in steps]
    return indices


_Piece = tuple[int, int]
"""A dimension of an `Iota`, and which factor of it, counted from the major end."""


def _cut(
    iota: Iota, dimensions: Sequence[int]
) -> tuple[list[list[_Piece]], dict[_Piece, int]] | None:
    """Cuts the dimensions of an iota into factors that make up `dimensions`.

    Returns the factors of each dimension, major first, and the size of each factor, or `None`
    where the sizes do not divide each other.
    """
    pieces: list[list[_Piece]] = []
    sizes: dict[_Piece, int] = {}
    sources = iter(iota.permutation)
    source, factor, rest = -1, 0, 1
    for dimension in dimensions:
        pieces.append([])
        needed = dimension
        while needed > 1:
            if rest == 1:
                source, factor = next(sources), 0
                rest = iota.sizes[source]
            taken = min(needed, rest)
            if needed % taken or rest % taken:
                return None
            pieces[-1].append((source, factor))
            sizes[source, factor] = taken
            needed, rest, factor = needed // taken, rest // taken, factor + 1
    return pieces, sizes


def _iota_of_pieces(sizes: dict[_Piece, int], chosen: Sequence[_Piece]) -> Iota:
    in_order = sorted(sizes)
    places = {piece: place for place, piece in enumerate(in_order)}
    return Iota.of([sizes[piece] for piece in in_order], [places[piece] for piece in chosen])


def _comma(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _listed(numbers: Sequence[int]) -> str:
    return f"[{_comma(numbers)}]"
