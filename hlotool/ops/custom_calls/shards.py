"""Custom calls where a module goes over from arrays to the tiles of one device, and back.

On one device, and wherever dimensions stay the same, they change nothing. Devices of one
replica make up an array: a tile belongs to a partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from hlotool.errors import UnsupportedError
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ir.sharding import ArraySharding, NamedSharding, TupleSharding
from hlotool.ops.custom_calls.registry import Yields, custom_call, fault, unsupported
from hlotool.ops.custom_calls.results import declared_results
from hlotool.ops.custom_calls.shardy import shardy_shardings
from hlotool.ops.numerics.tiles import cut_tile, tile_counts, tile_of, whole_of

_Sharding = ArraySharding | NamedSharding


@custom_call("SPMDFullToShardShape", yields=Yields.IN_PLACE)
def full_to_shard_shape(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns this device's tile of the operand, by the operand's sharding."""
    (operand,) = operands
    (wanted,) = _declared(frame)
    if wanted.dimensions == operand.shape:
        return operand
    return _cut(operand, _sharding(frame.instruction.operands[0], frame), wanted, frame)


@custom_call("SPMDShardToFullShape", yields=Yields.IN_PLACE)
def shard_to_full_shape(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the array of which all partitions have tiles, by the sharding of the call."""
    (operand,) = operands
    (wanted,) = _declared(frame)
    if wanted.dimensions == operand.shape:
        return operand
    return _joined(operand, _sharding(frame.instruction, frame), wanted, frame)


@custom_call("xla.sdy.GlobalToLocalShape", yields=Yields.IN_PLACE)
def global_to_local_shape(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns this device's tiles of the operands, by the manual axes of `in_shardings`."""
    return _each(_cut, operands, "xla.sdy.in_shardings", frame)


@custom_call("xla.sdy.LocalToGlobalShape", yields=Yields.IN_PLACE)
def local_to_global_shape(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the arrays of which all partitions have tiles, by those of `out_shardings`."""
    return _each(_joined, operands, "xla.sdy.out_shardings", frame)


def _each(
    change: Callable[[Array, _Sharding, ArrayShape, Frame], Array],
    operands: Sequence[Value],
    attribute: str,
    frame: Frame,
) -> Value:
    """Returns the operands, each changed by its sharding in an attribute if it has one."""
    wanted = _declared(frame)
    shardings = _shardy(operands, wanted, attribute, frame)
    results = tuple(
        operand if sharding is None else change(operand, sharding, shape, frame)
        for operand, sharding, shape in zip(operands, shardings, wanted, strict=True)
    )
    return results if isinstance(frame.shape, TupleShape) else results[0]


def _shardy(
    operands: Sequence[Value], wanted: Sequence[ArrayShape], attribute: str, frame: Frame
) -> Sequence[_Sharding | None]:
    """Returns the sharding of each operand, `None` for one that keeps its dimensions."""
    if len(operands) != len(wanted):
        raise fault(frame, f"{len(operands)} operands are given, {len(wanted)} are wanted")
    is_kept = [
        operand.shape == shape.dimensions for operand, shape in zip(operands, wanted, strict=True)
    ]
    if all(is_kept):
        return [None] * len(operands)
    found = shardy_shardings(frame, attribute)
    if len(found) != len(operands):
        raise fault(frame, f"{attribute} has {len(found)} shardings, {len(operands)} are wanted")
    return [None if kept else one for kept, one in zip(is_kept, found, strict=True)]


def _cut(operand: Array, sharding: _Sharding, wanted: ArrayShape, frame: Frame) -> Array:
    found = cut_tile(operand, tile_of(operand.shape, sharding, frame.device.partition))
    if found.shape != wanted.dimensions:
        raise _other_tiles(sharding, operand.shape, wanted.dimensions, frame)
    return found


def _joined(operand: Array, sharding: _Sharding, wanted: ArrayShape, frame: Frame) -> Array:
    device = frame.device
    count = prod(tile_counts(wanted.rank, sharding))
    if device.partitions < count:
        raise fault(
            frame,
            f"there are {count} tiles, and {device.partitions} partitions run",
            [f"run with --num-partitions {count}"],
        )
    dimensions, partitions = wanted.dimensions, range(device.partitions)
    tiles = [tile_of(dimensions, sharding, partition) for partition in partitions]
    if tuple(part.stop - part.start for part in tiles[0]) != operand.shape:
        raise _other_tiles(sharding, dimensions, operand.shape, frame)
    members = [(device.replica, partition) for partition in partitions]
    parts = device.exchange(frame, members, operand)
    # Where devices have the same tile, that of the first one counts.
    firsts: dict[tuple[int, ...], int] = {}
    for number, tile in enumerate(tiles):
        firsts.setdefault(tuple(part.start for part in tile), number)
    return whole_of(dimensions, [(tiles[number], parts[number]) for number in firsts.values()])


def _declared(frame: Frame) -> list[ArrayShape]:
    shapes = declared_results(frame)
    found = [shape for shape in shapes if isinstance(shape, ArrayShape)]
    if len(found) != len(shapes):
        raise fault(frame, f"{frame.shape.plain_text} is declared, arrays are wanted")
    return found


def _sharding(instruction: Instruction, frame: Frame) -> _Sharding:
    sharding = instruction.annotations.sharding
    if sharding is None or isinstance(sharding, TupleSharding):
        found = "no sharding" if sharding is None else "the sharding of a tuple"
        raise fault(frame, f"{instruction.name} has {found}, tiles are wanted")
    return sharding


def _other_tiles(
    sharding: _Sharding, whole: Sequence[int], part: Sequence[int], frame: Frame
) -> UnsupportedError:
    return unsupported(
        frame,
        f"{sharding.text} does not cut {list(whole)} into tiles of {list(part)};"
        " a sharding that is manual along some axes only is not evaluated",
    )
