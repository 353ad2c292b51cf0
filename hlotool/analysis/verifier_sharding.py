"""Checks that the sharding of an instruction fits its shape and the devices of the module."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.analysis.faults import Faults
from hlotool.ir.attribute import INTEGERS
from hlotool.ir.instruction import Instruction
from hlotool.ir.mesh import MeshSharding
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ir.sharding import ArraySharding, NamedSharding, Sharding, TupleSharding
from hlotool.ir.tile_assignment import Iota, TileAssignment
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart


def check_sharding(
    instruction: Instruction, sharding: Sharding, partitions: int, faults: Faults
) -> None:
    """Adds where a sharding does not fit the shape, or devices are not among `partitions`.

    One partition says nothing: modules for many devices leave the count out.
    """
    shape = instruction.shape
    # What yields only a token carries the sharding of what it sends; in the text an async start
    # carries that of the instruction it wraps.
    if shape.is_token or isinstance(instruction.op, AsyncStart | AsyncContinuation):
        return
    for fault in dict.fromkeys(_faults(sharding, shape, partitions)):
        faults.add(instruction, f"{instruction.opcode}: sharding {fault}")


def _faults(sharding: Sharding, shape: Shape, partitions: int) -> Iterator[str]:
    leaves = [leaf for _, leaf in shape.leaves()]
    if not isinstance(sharding, TupleSharding):
        for leaf in leaves:
            yield from _leaf_faults(sharding, leaf, partitions)
        return
    # The reference gives an empty tuple one sharding all the same.
    wanted = len(leaves) or 1
    if not shape.is_tuple:
        yield f"is that of a tuple, the shape is {shape.plain_text}"
    elif len(sharding.elements) != wanted:
        yield f"has {len(sharding.elements)} entries, the shape has {wanted} leaves"
    else:
        for element, leaf in zip(sharding.elements, leaves, strict=False):
            yield from _leaf_faults(element, leaf, partitions)


def _leaf_faults(
    sharding: ArraySharding | NamedSharding, leaf: Shape, partitions: int
) -> Iterator[str]:
    if isinstance(sharding, NamedSharding):
        yield from _mesh_faults(sharding.mesh_sharding, leaf, partitions)
        return
    if sharding.device is not None:
        yield from _range_fault(sharding.device, partitions)
    if sharding.tiles is None:
        return
    counts = sharding.tile_counts
    if len(counts) != _rank(leaf):
        yield f"has tiles {INTEGERS.write(counts)} for {leaf.plain_text}"
    if any(size < 1 for size in sharding.tiles.dimensions):
        yield f"has an empty array of tiles {INTEGERS.write(sharding.tiles.dimensions)}"
    else:
        yield from _tile_faults(sharding.tiles, partitions)


def _tile_faults(tiles: TileAssignment, partitions: int) -> Iterator[str]:
    if isinstance(tiles.devices, Iota):
        yield from _range_fault(tiles.devices.count - 1, partitions)
        return
    devices = set(tiles.devices)
    if len(devices) < len(tiles.devices):
        yield "names a device twice"
    yield from _range_fault(min(devices), partitions)
    yield from _range_fault(max(devices), partitions)


def _mesh_faults(sharding: MeshSharding, leaf: Shape, partitions: int) -> Iterator[str]:
    if sharding.maximal_device is not None:
        yield from _range_fault(sharding.maximal_device, partitions)
        return
    if len(sharding.dimensions) > _rank(leaf):
        yield f"has axes for {len(sharding.dimensions)} dimensions of {leaf.plain_text}"
    if 1 < partitions < sharding.mesh.device_count:
        yield f"has a mesh of {sharding.mesh.device_count} devices, the module has {partitions}"


def _range_fault(device: int, partitions: int) -> Iterator[str]:
    if device < 0 or (device >= partitions > 1):
        yield f"names device {device}, the module has {partitions}"


def _rank(shape: Shape) -> int:
    return shape.rank if isinstance(shape, ArrayShape) else 0
