"""Convolutions over many dimensions without those that do nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.window import DimensionLabels
from hlotool.ops.convolution import Convolution
from hlotool.passes.contracting.products import add_product, known_convolution
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.dimensions import renumbered, without
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet("convolution_4d_expander")
LEAST_DIMENSIONS = 4
"""How many spatial dimensions a convolution must have for some to be dropped."""


@patterns.rewrites(Convolution)
def drop_trivial_spatial(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, y) -> reshape(convolution(reshape(x), reshape(y)))"""
    op = known_convolution(instruction)
    if op is None or len(op.window) < LEAST_DIMENSIONS:
        return None
    base, kernel = instruction.operands
    trivial = _trivial(op, instruction)
    if not trivial:
        return None
    labels = op.dim_labels
    kept = [number for number in range(len(op.window)) if number not in trivial]
    gone_base, gone_kernel, gone_output = (
        [spatial[number] for number in trivial]
        for spatial in (labels.input_spatial, labels.kernel_spatial, labels.output_spatial)
    )
    fewer = op.replace(
        window=tuple(op.window[number] for number in kept),
        dim_labels=_without_dimensions(labels, kept, gone_base, gone_kernel, gone_output),
    )
    shape = array_shape(instruction)
    product = add_product(
        build,
        fewer,
        build.reshape(base, without(array_shape(base).dimensions, gone_base)),
        build.reshape(kernel, without(array_shape(kernel).dimensions, gone_kernel)),
        shape.element_type,
    )
    return build.reshape(product, shape.dimensions)


def _trivial(op: Convolution, instruction: Instruction) -> list[int]:
    """Returns the spatial dimensions where one element meets one tap, once."""
    base, output = array_shape(instruction.operands[0]), array_shape(instruction)
    labels = op.dim_labels
    return [
        number
        for number, dimension in enumerate(op.window)
        if dimension.size == 1
        and dimension.padding_low == 0
        and base.dimensions[labels.input_spatial[number]] == 1
        and output.dimensions[labels.output_spatial[number]] == 1
    ]


def _without_dimensions(
    labels: DimensionLabels,
    kept: list[int],
    gone_base: list[int],
    gone_kernel: list[int],
    gone_output: list[int],
) -> DimensionLabels:
    batch, feature, *base = renumbered(
        (labels.input_batch, labels.input_feature, *(labels.input_spatial[n] for n in kept)),
        gone_base,
    )
    inputs, outputs, *kernel = renumbered(
        (
            labels.kernel_input_feature,
            labels.kernel_output_feature,
            *(labels.kernel_spatial[n] for n in kept),
        ),
        gone_kernel,
    )
    out_batch, out_feature, *output = renumbered(
        (labels.output_batch, labels.output_feature, *(labels.output_spatial[n] for n in kept)),
        gone_output,
    )
    return DimensionLabels(
        batch, feature, tuple(base), inputs, outputs, tuple(kernel),
        out_batch, out_feature, tuple(output),
    )  # fmt: skip


@dataclass(frozen=True)
class Convolution4DExpander(PatternPass):
    """Drops trivial spatial dimensions of convolutions with four or more."""

    name: ClassVar[str] = "convolution_4d_expander"
    identities: ClassVar[PatternSet] = patterns
