"""Custom calls that tell a compiler something about a value and leave it as it is.

Two of them mark where a module goes over from arrays to the tiles of one device, and back:
on many devices these move elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ir.sharding import ArraySharding, NamedSharding, TupleSharding
from hlotool.ops.custom_calls.registry import call_of, custom_call
from hlotool.ops.numerics.contexts import context
from hlotool.ops.numerics.tiles import Tile, assembled, cut_tile, tile_counts, tile_of


@custom_call(
    "Sharding",
    "annotate_device_placement",
    "AssumeGatherIndicesInBound",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "Pin",
    "PinToDevice",
    "PinToDeviceSram",
    "PinToDeviceSramForced",
    "ShardBarrier*",
    "Unpin",
    "xla.sdy.*",
)
def marker(operands: Sequence[Value], _frame: Frame) -> Value:
    """Returns the operand, or the tuple of the operands."""
    return operands[0] if len(operands) == 1 else tuple(operands)


@custom_call("HostExecute")
def host_execute(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns what the called computation yields for the operands."""
    if len(frame.calls) != 1:
        raise EvaluationError(f"HostExecute: one computation wanted, {len(frame.calls)} called")
    return frame.calls[0](*operands)


@custom_call("AllocateBuffer", "CreateBuffer")
def allocate_buffer(_operands: Sequence[Value], frame: Frame) -> Value:
    """Returns zeros; what stands in a new buffer is left to the implementation."""
    return context(frame.shape)


@custom_call("SPMDFullToShardShape")
def full_to_shard_shape(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns this device's tile of the operand, by the operand's sharding.

    An operand without a sharding, and one whose dimensions are those declared, stays whole.
    """
    (operand,) = operands
    dimensions = _dimensions(frame)
    if dimensions == operand.shape:
        return operand
    sharding = _sharding(frame.instruction.operands[0])
    tile = _tile(operand.shape, sharding, frame.device.partition, frame)
    found = cut_tile(operand, tile)
    if found.shape != dimensions:
        raise _other_tiles(sharding, operand.shape, dimensions, frame)
    return found


@custom_call("SPMDShardToFullShape")
def shard_to_full_shape(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the array of which all partitions have tiles, by the sharding of the call.

    An operand that has the dimensions declared is whole already.
    """
    (operand,) = operands
    dimensions = _dimensions(frame)
    if dimensions == operand.shape:
        return operand
    sharding = _sharding(frame.instruction)
    device = frame.device
    tiles = [
        _tile(dimensions, sharding, partition, frame) for partition in range(device.partitions)
    ]
    _check_all_there(dimensions, sharding, frame)
    if tuple(part.stop - part.start for part in tiles[0]) != operand.shape:
        raise _other_tiles(sharding, dimensions, operand.shape, frame)
    members = [(device.replica, partition) for partition in range(device.partitions)]
    parts = device.exchange(frame, members, operand)
    return _whole(dimensions, tiles, parts)


def _whole(dimensions: Sequence[int], tiles: Sequence[Tile], parts: Sequence[Array]) -> Array:
    # Where devices have the same tile, that of the first one counts.
    firsts: dict[tuple[tuple[int, int], ...], int] = {}
    for number, tile in enumerate(tiles):
        firsts.setdefault(tuple((part.start, part.stop) for part in tile), number)
    chosen = [(tiles[number], parts[number]) for number in firsts.values()]
    return assembled(dimensions, chosen)


def _dimensions(frame: Frame) -> tuple[int, ...]:
    if not isinstance(frame.shape, ArrayShape):
        target = call_of(frame).custom_call_target
        raise EvaluationError(f"{target}: an array is wanted, {frame.shape} is declared")
    return frame.shape.dimensions


def _sharding(instruction: Instruction) -> ArraySharding | NamedSharding:
    sharding = instruction.annotations.sharding
    if sharding is None or isinstance(sharding, TupleSharding):
        found = "no sharding" if sharding is None else "the sharding of a tuple"
        raise EvaluationError(f"custom-call: {instruction.name} has {found}, tiles are wanted")
    return sharding


def _tile(
    dimensions: Sequence[int],
    sharding: ArraySharding | NamedSharding,
    device: int,
    frame: Frame,
) -> Tile:
    try:
        return tile_of(dimensions, sharding, device)
    except ValueError as error:
        target = call_of(frame).custom_call_target
        raise EvaluationError(f"{target}: {error}") from None


def _check_all_there(
    dimensions: Sequence[int], sharding: ArraySharding | NamedSharding, frame: Frame
) -> None:
    wanted, partitions = 1, frame.device.partitions
    for count in tile_counts(len(dimensions), sharding):
        wanted *= count
    if partitions < wanted:
        target = call_of(frame).custom_call_target
        raise EvaluationError(
            f"{target}: there are {wanted} tiles, and {partitions} partitions run",
            notes=[f"run with --num-partitions {wanted}"],
        )


def _other_tiles(
    sharding: ArraySharding | NamedSharding,
    whole: Sequence[int],
    part: Sequence[int],
    frame: Frame,
) -> UnsupportedError:
    target = call_of(frame).custom_call_target
    return UnsupportedError(
        f"{target}: {sharding.text} does not cut {list(whole)} into tiles of {list(part)};"
        " a sharding that is manual along some axes only is not evaluated"
    )
