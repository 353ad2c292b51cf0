"""Recognizing that each device takes just its own piece of an array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.ir.frame import Frame, Place, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.indexing import DynamicSlice
from hlotool.ops.shape_changing import Bitcast, Broadcast, Concatenate, Reshape, Slice
from hlotool.ops.source import Constant, DeviceNumber, Iota
from hlotool.ops.unary import Copy
from hlotool.passes.collectives.device_groups import MOST_DEVICES, Groups, devices_of
from hlotool.rewriting.builder import array_shape

_MOST_STEPS = 64
_MOST_ELEMENTS = 4 * MOST_DEVICES
_COMPUTED = (
    Bitcast, Broadcast, Concatenate, Constant, Copy, DeviceNumber, DynamicSlice, Elementwise,
    Iota, Reshape, Slice,
)  # fmt: skip
"""What an index is computed with that depends on nothing but the device."""


def sliced_dimension(instruction: Instruction) -> int | None:
    """Returns the one dimension that a dynamic-slice takes less than all of."""
    if not isinstance(instruction.op, DynamicSlice):
        return None
    whole, part = array_shape(instruction.operands[0]), array_shape(instruction)
    cut = [d for d in range(whole.rank) if whole.dimensions[d] != part.dimensions[d]]
    is_known = whole.is_static and part.is_static and part.element_count > 0
    return cut[0] if len(cut) == 1 and is_known else None


def pieces_taken(instruction: Instruction, module: Module) -> dict[Place, int] | None:
    """Returns which piece each device takes with a dynamic-slice, counted from the first one.

    `None` where the start of the slice is not known, or is no multiple of its size.
    """
    dimension = sliced_dimension(instruction)
    if dimension is None:
        return None
    whole, part = array_shape(instruction.operands[0]), array_shape(instruction)
    size, piece = whole.dimensions[dimension], part.dimensions[dimension]
    starts = device_values(instruction.operands[1 + dimension], module)
    if starts is None or size % piece:
        return None
    clamped = {place: min(max(int(start), 0), size - piece) for place, start in starts.items()}
    if any(start % piece for start in clamped.values()):
        return None
    return {place: start // piece for place, start in clamped.items()}


def takes_own_piece(instruction: Instruction, groups: Groups, module: Module) -> bool:
    """Whether each device takes the piece that has its place in its group, of as many pieces."""
    pieces = pieces_taken(instruction, module)
    dimension = sliced_dimension(instruction)
    if pieces is None or dimension is None:
        return False
    whole, part = array_shape(instruction.operands[0]), array_shape(instruction)
    count = whole.dimensions[dimension] // part.dimensions[dimension]
    return all(
        len(group) == count and all(pieces.get(place) == i for i, place in enumerate(group))
        for group in groups
    )


def device_values(instruction: Instruction, module: Module) -> dict[Place, Value] | None:
    """Returns what an instruction yields on each device; `None` where it depends on more."""
    devices = devices_of(module)
    steps = _steps(instruction)
    if steps is None or len(devices) > MOST_DEVICES:
        return None
    with np.errstate(all="ignore"):
        return {device.place: _value(steps, device) for device in devices}


def _value(steps: Sequence[Instruction], device: LoneDevice) -> Value:
    values: dict[Instruction, Value] = {}
    for step in steps:
        operands = [values[operand] for operand in step.operands]
        values[step] = step.op.evaluate(operands, Frame(step, (), device))
    return values[steps[-1]]


def _steps(instruction: Instruction) -> list[Instruction] | None:
    """Returns what an instruction is computed with, operands first, where it is little."""
    entered: dict[Instruction, None] = {}
    done: dict[Instruction, None] = {}
    waiting = [instruction]
    while waiting:
        current = waiting[-1]
        if current in entered:
            done[waiting.pop()] = None
            continue
        if not _is_computed(current) or len(entered) > _MOST_STEPS:
            return None
        entered[current] = None
        waiting += [operand for operand in current.operands if operand not in entered]
    return list(done)


def _is_computed(instruction: Instruction) -> bool:
    shape, op = instruction.shape, instruction.op
    if not isinstance(shape, ArrayShape) or shape.element_count > _MOST_ELEMENTS:
        return False
    return isinstance(op, _COMPUTED) and not (isinstance(op, Constant) and op.literal.elided)
