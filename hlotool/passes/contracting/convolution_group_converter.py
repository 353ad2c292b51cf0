"""Convolutions with groups, as convolutions that have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.window import DimensionLabels, WindowDimension
from hlotool.ops.convolution import Convolution
from hlotool.passes.contracting.products import Dimensions, add_product, known_convolution
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite

patterns = PatternSet("convolution-group-converter")


@patterns.rewrites(Convolution)
def groups_to_spatial(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, y), feature_group_count=g -> reshape(convolution(reshape(x), reshape(y)))

    The groups become a spatial dimension. Its base is dilated so far, and its window moves on
    so much, that at each place the window shows the group of that place with its own kernel
    only; nothing is multiplied with what other groups hold.
    """
    op = known_convolution(instruction)
    if op is None or op.feature_group_count == op.batch_group_count == 1:
        return None
    labels = op.dim_labels
    count = op.feature_group_count * op.batch_group_count
    from_batch = op.batch_group_count > 1
    split = (
        labels.input_batch if from_batch else labels.input_feature,
        labels.kernel_output_feature,
        labels.output_feature,
    )
    groups = WindowDimension(count, stride=max(1, count - 1), base_dilation=count)
    ungrouped = op.replace(
        window=(*op.window, groups),
        dim_labels=_with_groups(labels, *split),
        feature_group_count=1,
        batch_group_count=1,
    )
    base, kernel = (
        _split(build, operand, dimension, count)
        for operand, dimension in zip(instruction.operands, split[:2], strict=True)
    )
    shape = array_shape(instruction)
    product = add_product(build, ungrouped, base, kernel, shape.element_type)
    return build.reshape(product, shape.dimensions)


def _split(build: Builder, operand: Instruction, dimension: int, count: int) -> Instruction:
    """Returns an operand with a dimension cut into groups, and the number of the group before."""
    sizes = list(array_shape(operand).dimensions)
    sizes[dimension : dimension + 1] = [count, sizes[dimension] // count]
    return build.reshape(operand, sizes)


def _with_groups(
    labels: DimensionLabels, in_input: int, in_kernel: int, in_output: int
) -> DimensionLabels:
    """Returns labels with one more spatial dimension right before the one that is split."""
    return DimensionLabels(
        _moved(labels.input_batch, in_input),
        _moved(labels.input_feature, in_input),
        _spatial(labels.input_spatial, in_input),
        _moved(labels.kernel_input_feature, in_kernel),
        _moved(labels.kernel_output_feature, in_kernel),
        _spatial(labels.kernel_spatial, in_kernel),
        _moved(labels.output_batch, in_output),
        _moved(labels.output_feature, in_output),
        _spatial(labels.output_spatial, in_output),
    )


def _moved(dimension: int, inserted: int) -> int:
    return dimension + (dimension >= inserted)


def _spatial(dimensions: Dimensions, inserted: int) -> Dimensions:
    return (*(_moved(dimension, inserted) for dimension in dimensions), inserted)


@dataclass(frozen=True)
class ConvolutionGroupConverter(Pass):
    """Makes the groups of features or batches of convolutions a spatial dimension."""

    name: ClassVar[str] = "convolution-group-converter"

    def run(self, module: Module, journal: Journal) -> bool:
        """Reshapes operands and results of convolutions with groups."""
        return rewrite(module, patterns, journal)
