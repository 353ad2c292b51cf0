"""Dots and convolutions of known sizes: what they are made of, and how like ones are added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.ir.element_type import ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.rewriting.builder import Builder, array_shape

Dimensions: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Side:
    """One operand of a dot, and which of its dimensions play which role."""

    operand: Instruction
    batch: Dimensions
    contracting: Dimensions
    free: Dimensions

    def sizes(self, dimensions: Sequence[int]) -> list[int]:
        """Returns the sizes of some dimensions of the operand."""
        sizes = array_shape(self.operand).dimensions
        return [sizes[dimension] for dimension in dimensions]


@dataclass(frozen=True)
class DenseDot:
    """A dot without sparse dimensions whose sizes are all known."""

    op: Dot
    lhs: Side
    rhs: Side
    element_type: ElementType


def dense_dot(instruction: Instruction) -> DenseDot | None:
    """Returns the parts of a dot of known sizes; `None` for any other instruction."""
    op = instruction.op
    if not isinstance(op, Dot) or op.sparsity or not has_known_sizes(instruction):
        return None
    lhs, rhs = instruction.operands
    lhs_free = op.lhs_free_dimensions(array_shape(lhs).rank)
    rhs_free = op.rhs_free_dimensions(array_shape(rhs).rank)
    return DenseDot(
        op,
        Side(lhs, op.lhs_batch_dims, op.lhs_contracting_dims, tuple(lhs_free)),
        Side(rhs, op.rhs_batch_dims, op.rhs_contracting_dims, tuple(rhs_free)),
        array_shape(instruction).element_type,
    )


def known_convolution(instruction: Instruction) -> Convolution | None:
    """Returns the op of a convolution of known sizes; `None` for any other instruction."""
    op = instruction.op
    return op if isinstance(op, Convolution) and has_known_sizes(instruction) else None


def has_known_sizes(instruction: Instruction) -> bool:
    """Whether an instruction and its operands are arrays without dynamic dimensions."""
    shapes = [instruction.shape, *(operand.shape for operand in instruction.operands)]
    return all(isinstance(shape, ArrayShape) and shape.is_static for shape in shapes)


def add_product(
    build: Builder, op: Op, lhs: Instruction, rhs: Instruction, element_type: ElementType
) -> Instruction:
    """Returns a new dot or convolution with sums of an element type."""
    inferred = op.infer_shape([lhs.shape, rhs.shape], ())
    assert isinstance(inferred, ArrayShape)
    return build.add(op, lhs, rhs, shape=inferred.with_element_type(element_type))
