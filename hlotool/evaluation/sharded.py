"""Arguments and results of modules that are already partitioned: tiles of global arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlotool.errors import EvaluationError
from hlotool.evaluation.values import holds, shown
from hlotool.ir.frame import Array, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ir.sharding import ArraySharding, NamedSharding, Sharding, TupleSharding
from hlotool.ops.numerics import tiles


def sharded_arguments(
    module: Module, global_arrays: Sequence[Value], partitions: int, replicas: int = 1
) -> list[list[Value]]:
    """Returns the arguments of each device: of replica 0 those of all partitions, and so on.

    A value that fits the parameter goes to every device as it is. Where the parameter has a
    `sharding` and the value is the array that it cuts, each partition gets its tile. Raises
    `EvaluationError` for another value.
    """
    parameters = module.entry.parameters
    if len(global_arrays) != len(parameters):
        raise EvaluationError(
            f"module {module.name} has {len(parameters)} parameters,"
            f" {len(global_arrays)} arguments are given"
        )
    spread = [
        _spread(value, parameter, partitions)
        for value, parameter in zip(global_arrays, parameters, strict=True)
    ]
    of_partitions = [[values[partition] for values in spread] for partition in range(partitions)]
    return [list(arguments) for _ in range(replicas) for arguments in of_partitions]


def assembled(
    values_of_devices: Sequence[Array], sharding: Sharding, dimensions: Sequence[int]
) -> Array:
    """Returns the global array of `dimensions` whose tiles the devices hold.

    Values are in the order of partitions. Raises `EvaluationError` where devices that hold the
    same tile differ in it, or where tiles do not fit.
    """
    if isinstance(sharding, TupleSharding):
        raise EvaluationError(f"{sharding.text} is the sharding of a tuple, not of an array")
    found: dict[tuple[int, ...], tuple[tiles.Tile, Array, int]] = {}
    for device, value in enumerate(values_of_devices):
        tile = _tile(dimensions, sharding, device)
        if tile is None:
            continue
        sizes = tuple(part.stop - part.start for part in tile)
        if value.shape != sizes:
            raise EvaluationError(
                f"partition {device} holds {shown(value)},"
                f" its tile has dimensions [{','.join(map(str, sizes))}]"
            )
        begin = tuple(part.start for part in tile)
        _, other, first = found.setdefault(begin, (tile, value, device))
        if not _same_bits(other, value):
            raise EvaluationError(f"partitions {first} and {device} differ in the tile they share")
    if not found:
        raise EvaluationError(f"no partition holds a tile of {sharding.text}")
    return tiles.whole_of(dimensions, [(tile, value) for tile, value, _ in found.values()])


def _spread(value: Value, parameter: Instruction, partitions: int) -> list[Value]:
    sharding = parameter.annotations.sharding
    return _spread_value(value, parameter.shape, sharding, parameter, partitions)


def _spread_value(
    value: Value,
    shape: Shape,
    sharding: Sharding | None,
    parameter: Instruction,
    partitions: int,
) -> list[Value]:
    if isinstance(shape, TupleShape) and isinstance(value, tuple):
        return _spread_tuple(value, shape, sharding, parameter, partitions)
    if not isinstance(shape, ArrayShape) or holds(shape, np.shape(value)):
        return [value] * partitions
    if isinstance(sharding, ArraySharding | NamedSharding):
        found = _tiles(np.asarray(value), shape, sharding, partitions)
        if found is not None:
            return list(found)
    cut = f" cut as {sharding.text}" if sharding is not None else ""
    raise EvaluationError(
        f"argument {parameter.op.parameter_number} is {shown(value)},"
        f" parameter {parameter.name} is {shape.plain_text}{cut}",
        parameter.location,
    )


def _spread_tuple(
    value: tuple[Value, ...],
    shape: TupleShape,
    sharding: Sharding | None,
    parameter: Instruction,
    partitions: int,
) -> list[Value]:
    if len(value) != len(shape.elements):
        raise EvaluationError(
            f"argument {parameter.op.parameter_number} has {len(value)} parts,"
            f" parameter {parameter.name} is {shape.plain_text}",
            parameter.location,
        )
    leaves = [sum(1 for _ in element.leaves()) for element in shape.elements]
    columns, taken = [], 0
    for part, element, count in zip(value, shape.elements, leaves, strict=True):
        own = sharding
        if isinstance(sharding, TupleSharding):
            own = TupleSharding(sharding.elements[taken : taken + count])
            if not isinstance(element, TupleShape):
                own = own.elements[0]
        taken += count
        columns.append(_spread_value(part, element, own, parameter, partitions))
    return [tuple(column[partition] for column in columns) for partition in range(partitions)]


def _tiles(
    array: Array, shape: ArrayShape, sharding: ArraySharding | NamedSharding, partitions: int
) -> list[Array] | None:
    """Returns the tile of each partition, `None` where tiles are not of `shape`."""
    if array.ndim != shape.rank:
        return None
    found = []
    for partition in range(partitions):
        tile = _tile(array.shape, sharding, partition)
        # A device without a tile computes as well, on nothing that anybody reads.
        part = (
            np.zeros(shape.dimensions, array.dtype) if tile is None else tiles.cut_tile(array, tile)
        )
        if not holds(shape, part.shape):
            return None
        found.append(part)
    return found


def _tile(
    dimensions: Sequence[int], sharding: ArraySharding | NamedSharding, device: int
) -> tiles.Tile | None:
    # Only one device holds what is maximal.
    if isinstance(sharding, ArraySharding) and sharding.word == "maximal":
        if sharding.device != device:
            return None
        return tuple(slice(0, size) for size in dimensions)
    return tiles.tile_of(dimensions, sharding, device)


def _same_bits(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()
