"""Convolutions with their dimensions in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.window import DimensionLabels
from hlotool.ops.convolution import Convolution
from hlotool.passes.contracting.products import add_product, known_convolution
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("convolution-canonicalization")


@patterns.rewrites(Convolution)
def order_dimensions(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, y) -> transpose(convolution(transpose(x), transpose(y)))"""
    op = known_convolution(instruction)
    if op is None:
        return None
    labels = op.dim_labels
    canonical = _canonical(len(labels.input_spatial))
    if labels == canonical:
        return None
    base, kernel = instruction.operands
    moved_base = build.transpose(
        base, (labels.input_batch, *labels.input_spatial, labels.input_feature)
    )
    moved_kernel = build.transpose(
        kernel,
        (*labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature),
    )
    product = add_product(
        build,
        op.replace(dim_labels=canonical),
        moved_base,
        moved_kernel,
        array_shape(instruction).element_type,
    )
    order = (labels.output_batch, *labels.output_spatial, labels.output_feature)
    return build.transpose(product, [order.index(d) for d in range(len(order))])


def _canonical(count: int) -> DimensionLabels:
    """Returns the labels with the features last and the batch, or nothing, before the rest."""
    spatial, kernel = tuple(range(1, count + 1)), tuple(range(count))
    return DimensionLabels(0, count + 1, spatial, count, count + 1, kernel, 0, count + 1, spatial)


@dataclass(frozen=True)
class ConvolutionCanonicalization(PatternPass):
    """Puts batch, spatial and feature dimensions of convolutions in this order."""

    name: ClassVar[str] = "convolution-canonicalization"
    identities: ClassVar[PatternSet] = patterns
