"""The tiles of an array that is spread over devices: cutting them out, putting them together.

Every tile of a dimension has the size of the first one; the last ones reach over the end of
the array, or lie behind it, and are padded with zeros there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.frame import Array
from hlotool.ir.lazy import numpy as np
from hlotool.ir.mesh import AxisReference, Mesh, MeshSharding
from hlotool.ir.sharding import ArraySharding, NamedSharding

Tile = tuple[slice, ...]
"""The part of each dimension; it may reach over the end."""


def tile_of(
    dimensions: Sequence[int], sharding: ArraySharding | NamedSharding, device: int
) -> Tile:
    """Returns which part of an array of `dimensions` a device has.

    Raises `EvaluationError` for a device that the sharding does not know, or a sharding of
    another rank, and `UnsupportedError` where devices have parts of a sum.
    """
    if isinstance(sharding, NamedSharding):
        counts, places = _mesh_tile(sharding.mesh_sharding, len(dimensions), device)
    else:
        counts, places = _array_tile(sharding, len(dimensions), device)
    sizes = [-(-size // count) for size, count in zip(dimensions, counts, strict=True)]
    return tuple(slice(n * size, (n + 1) * size) for n, size in zip(places, sizes, strict=True))


def tile_counts(rank: int, sharding: ArraySharding | NamedSharding) -> tuple[int, ...]:
    """Returns into how many tiles each dimension is cut.

    Raises `EvaluationError` for a sharding of another rank.
    """
    if isinstance(sharding, ArraySharding):
        counts = sharding.tile_counts or (1,) * rank
    else:
        mesh = sharding.mesh_sharding.mesh
        axes = [dimension.axes for dimension in sharding.mesh_sharding.dimensions]
        cut = [prod(axis.extent(mesh) for axis in of_dimension) for of_dimension in axes]
        counts = (*cut, *[1] * (rank - len(cut)))
    if len(counts) != rank:
        raise EvaluationError(
            f"{sharding.text} cuts {len(counts)} dimensions, the array has {rank}"
        )
    return counts


def cut_tile(array: Array, tile: Tile) -> Array:
    """Returns the part of an array, with zeros where it reaches over the end."""
    sizes = [part.stop - part.start for part in tile]
    found = array[tile]
    if list(found.shape) == sizes:
        return found
    padded = np.zeros(sizes, array.dtype)
    padded[tuple(map(slice, found.shape))] = found
    return padded


def whole_of(dimensions: Sequence[int], tiles: Sequence[tuple[Tile, Array]]) -> Array:
    """Returns the array of `dimensions` that the tiles make up; what is padding is dropped."""
    whole = np.zeros(tuple(dimensions), tiles[0][1].dtype)
    for tile, part in tiles:
        place = whole[tile]
        place[...] = part[tuple(map(slice, place.shape))]
    return whole


def _array_tile(
    sharding: ArraySharding, rank: int, device: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns how many tiles each dimension has, and which of them the device has."""
    if sharding.word == "unreduced" or "unreduced" in sharding.subgroups:
        raise UnsupportedError(f"{sharding.text}: devices hold parts of a sum")
    counts = tile_counts(rank, sharding)
    if sharding.tiles is None:
        return counts, (0,) * rank
    numbers = sharding.tiles.numbers()
    if device not in numbers:
        raise EvaluationError(f"{sharding.text} has no tile for device {device}")
    return counts, _place(numbers.index(device), sharding.tiles.dimensions)[:rank]


def _mesh_tile(
    sharding: MeshSharding, rank: int, device: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if sharding.word == "unreduced" or sharding.unreduced:
        raise UnsupportedError(f"{sharding.text}: devices hold parts of a sum")
    mesh = sharding.mesh
    counts = tile_counts(rank, NamedSharding(sharding))
    if not sharding.dimensions:
        return counts, (0,) * rank
    numbers = mesh.numbers()
    if device not in numbers:
        raise EvaluationError(f"{sharding.text} has no tile for device {device}")
    place = _place(numbers.index(device), [size for _, size in mesh.axes])
    along = [_along(mesh, dimension.axes, place) for dimension in sharding.dimensions]
    return counts, (*along, *[0] * (rank - len(along)))


def _along(mesh: Mesh, axes: Sequence[AxisReference], place: Sequence[int]) -> int:
    """Returns the number of the tile along one dimension, its first axis the most major."""
    number = 0
    for axis in axes:
        coordinate, extent = place[mesh.place(axis.name)], axis.extent(mesh)
        if axis.is_part:
            coordinate = coordinate // (mesh.size(axis.name) // (axis.before * extent)) % extent
        number = number * extent + coordinate
    return number


def _place(number: int, sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(number, tuple(sizes))))
