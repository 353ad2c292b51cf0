"""Transposes taken into the dimension numbers of what they feed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.contraction import Dot
from hlotool.ops.convolution import Convolution
from hlotool.ops.shape_changing import Transpose
from hlotool.passes.contracting.products import (
    Dimensions,
    Side,
    add_product,
    dense_dot,
    known_convolution,
)
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("transpose-folding")


@patterns.rewrites(Dot)
def fold_into_dot(instruction: Instruction, build: Builder) -> Instruction | None:
    """dot(transpose(x), y) -> dot(x, y), with other dimension numbers"""
    dot = dense_dot(instruction)
    if dot is None:
        return None
    lhs, rhs = _folded(dot.lhs), _folded(dot.rhs)
    if lhs is dot.lhs and rhs is dot.rhs:
        return None
    op = dot.op.replace(
        lhs_batch_dims=lhs.batch,
        rhs_batch_dims=rhs.batch,
        lhs_contracting_dims=lhs.contracting,
        rhs_contracting_dims=rhs.contracting,
    )
    return add_product(build, op, lhs.operand, rhs.operand, dot.element_type)


def _folded(side: Side) -> Side:
    """Returns a side without its transpose; itself where free dimensions would change places."""
    match side.operand:
        case Instruction(op=Transpose(dimensions=order), operands=[source]):
            free = _through(side.free, order)
            if list(free) != sorted(free):
                return side
            batch, contracting = _through(side.batch, order), _through(side.contracting, order)
            return Side(source, batch, contracting, free)
    return side


def _through(dimensions: Sequence[int], order: Sequence[int]) -> Dimensions:
    return tuple(order[dimension] for dimension in dimensions)


@patterns.rewrites(Convolution)
def fold_into_convolution(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(transpose(x), transpose(y)) -> convolution(x, y), with other labels"""
    op = known_convolution(instruction)
    if op is None:
        return None
    base, kernel = instruction.operands
    labels = op.dim_labels
    source, order = _source(base)
    kernel_source, kernel_order = _source(kernel)
    if source is base and kernel_source is kernel:
        return None
    folded = type(labels)(
        order[labels.input_batch],
        order[labels.input_feature],
        _through(labels.input_spatial, order),
        kernel_order[labels.kernel_input_feature],
        kernel_order[labels.kernel_output_feature],
        _through(labels.kernel_spatial, kernel_order),
        labels.output_batch,
        labels.output_feature,
        labels.output_spatial,
    )
    element_type = array_shape(instruction).element_type
    return add_product(build, op.replace(dim_labels=folded), source, kernel_source, element_type)


def _source(operand: Instruction) -> tuple[Instruction, Sequence[int]]:
    """Returns what an operand transposes and how; itself where it is no transpose."""
    match operand:
        case Instruction(op=Transpose(dimensions=order), operands=[source]):
            return source, order
    return operand, range(array_shape(operand).rank)


@dataclass(frozen=True)
class TransposeFolding(PatternPass):
    """Takes transposes into the dimension numbers of dots and convolutions."""

    name: ClassVar[str] = "transpose-folding"
    identities: ClassVar[PatternSet] = patterns
