"""Moving conversions past data movement, so that the narrower type is moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hlotool.analysis.lossless import holds_all
from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape
from hlotool.ops.conversion import Convert
from hlotool.ops.elementwise import Select
from hlotool.ops.indexing import DynamicSlice, DynamicUpdateSlice, Gather
from hlotool.ops.numerics.widths import converted
from hlotool.ops.shape_changing import (
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
from hlotool.passes.pattern_pass import PatternPass
from hlotool.passes.types.data_movement import moved_operands, moved_with
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

_NARROWEST = 8
"""Narrower elements may lie packed in memory, which movement is not cheaper for."""

patterns = PatternSet("convert-mover")


@patterns.rewrites(
    Concatenate, Copy, DynamicSlice, DynamicUpdateSlice, Gather, Pad, Reshape, Reverse, Select,
    Slice, Transpose,
)  # fmt: skip
def widen_after_movement(instruction: Instruction, builder: Builder) -> Instruction | None:
    """transpose(convert(x: s8) to s32) -> convert(transpose(x)) to s32"""
    moved = [instruction.operands[number] for number in moved_operands(instruction)]
    if not moved:
        return None
    wide = array_shape(instruction).element_type
    narrow = _common_source(moved, wide)
    if narrow is None or _grows(instruction, moved):
        return None
    sources = [_narrowed(operand, narrow, builder) for operand in moved]
    known = [source for source in sources if source is not None]
    if len(known) != len(sources):
        return None
    return builder.convert(moved_with(instruction, known, builder), wide)


@patterns.rewrites(Convert)
def narrow_before_movement(instruction: Instruction, builder: Builder) -> Instruction | None:
    """convert(transpose(x: f32)) to bf16 -> transpose(convert(x) to bf16)"""
    (movement,) = instruction.operands
    narrow = array_shape(instruction).element_type
    if not _NARROWEST <= narrow.bits < array_shape(movement).element_type.bits:
        return None
    if not isinstance(
        movement.op, (Broadcast, Concatenate, Copy, Pad, Reshape, Reverse, Transpose)
    ):
        return None
    moved = [movement.operands[number] for number in moved_operands(movement)]
    if len(movement.users) > 1 or _shrinks(movement, moved) or movement.has_control_edges:
        return None
    sources = [builder.convert(operand, narrow) for operand in moved]
    return moved_with(movement, sources, builder)


def _common_source(moved: list[Instruction], wide: ElementType) -> ElementType | None:
    """Returns the one type that the operands are conversions from, each for this use alone."""
    conversions = [one for one in moved if isinstance(one.op, Convert)]
    types = {array_shape(one.operands[0]).element_type for one in conversions}
    if len(types) != 1:
        return None
    (narrow,) = types
    if not (_NARROWEST <= narrow.bits < wide.bits and holds_all(wide, narrow)):
        return None
    is_shared = any(len(one.users) > 1 or one.has_control_edges for one in conversions)
    return None if is_shared else narrow


def _narrowed(operand: Instruction, narrow: ElementType, builder: Builder) -> Instruction | None:
    """Returns the operand in a narrower type: what was widened, or a constant that fits."""
    if isinstance(operand.op, Convert):
        return operand.operands[0]
    shape = operand.shape
    match operand.op:
        case Constant(literal=literal) if isinstance(shape, ArrayShape) and not literal.elided:
            wide = literal.array()
            with np.errstate(all="ignore"):
                fitting = converted(wide, shape.element_type, narrow)
            back = Literal.from_array(converted(fitting, narrow, shape.element_type), shape)
            if back != literal:
                return None
            return builder.literal(Literal.from_array(fitting, shape.with_element_type(narrow)))
    return None


def _grows(movement: Instruction, moved: list[Instruction]) -> bool:
    converted_before = sum(
        array_shape(one).element_count for one in moved if isinstance(one.op, Convert)
    )
    return array_shape(movement).element_count > converted_before


def _shrinks(movement: Instruction, moved: list[Instruction]) -> bool:
    before = sum(array_shape(one).element_count for one in moved)
    # The value that pads is one more element, be there padding or not.
    return before > array_shape(movement).element_count + isinstance(movement.op, Pad)


@dataclass(frozen=True)
class ConvertMover(PatternPass):
    """Moves conversions so that data movement runs on the narrower type."""

    name: ClassVar[str] = "convert-mover"
    is_exact: ClassVar[bool] = True
    identities: ClassVar[PatternSet] = patterns
