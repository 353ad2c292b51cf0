"""Which instructions of a body are only moved to its outputs, so that their bits are enough."""

from __future__ import annotations

from hlotool.codegen.elements.raw_moves import raw_type
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.kernels.body import Body
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Select
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice, Gather
from hlotool.ops.shape_changing import (
    Bitcast,
    Broadcast,
    Concatenate,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from hlotool.ops.source import Constant
from hlotool.ops.unary import Copy

_MOVED = {
    Bitcast: slice(0, 1),
    Broadcast: slice(0, 1),
    Concatenate: slice(None),
    Copy: slice(0, 1),
    DynamicSlice: slice(0, 1),
    DynamicUpdateSlice: slice(0, 2),
    Gather: slice(0, 1),
    Pad: slice(0, 2),
    Reshape: slice(0, 1),
    Reverse: slice(0, 1),
    Select: slice(1, 3),
    Slice: slice(0, 1),
    Transpose: slice(0, 1),
}
"""The operands whose elements become those of the result."""


def raw_moves(body: Body) -> dict[Instruction, ElementType]:
    """Returns what is only moved to outputs, with the type of bits that it is moved as.

    It is nothing at all where some of it is also computed with.
    """
    loaded = {one for one, _, _ in body.inputs}
    found: dict[Instruction, ElementType] = {}
    waiting = [one for one, _ in body.outputs]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        held = _held(one)
        if held is None:
            return {}
        found[one] = held
        if one in loaded or isinstance(one.op, Constant):
            continue
        moved = _MOVED.get(type(one.op))
        if moved is None or not all(_is_alike(one, n) for n in one.operands[moved]):
            return {}
        waiting += one.operands[moved]
    is_apart = all(_moves(user, one) for one in found for user in body.users.get(one, ()))
    return found if is_apart else {}


def _is_alike(user: Instruction, operand: Instruction) -> bool:
    """Whether an operand's elements become those of its user without a conversion."""
    if isinstance(user.op, Bitcast):
        return _held(user) is _held(operand)
    return array_shape(user).element_type is array_shape(operand).element_type


def _held(instruction: Instruction) -> ElementType | None:
    shape = instruction.shape
    return raw_type(shape.element_type) if isinstance(shape, ArrayShape) else None


def _moves(user: Instruction, operand: Instruction) -> bool:
    """Whether a user does nothing with an operand but move its elements."""
    moved = _MOVED.get(type(user.op))
    if moved is None:
        return False
    chosen = range(len(user.operands))[moved]
    return all(n in chosen for n, one in enumerate(user.operands) if one is operand)
