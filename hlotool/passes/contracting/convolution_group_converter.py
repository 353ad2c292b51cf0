"""Convolutions with groups, as convolutions that have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.element_type import S32
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ir.window import DimensionLabels, WindowDimension
from hlotool.ops.convolution import Convolution
from hlotool.ops.elementwise import Compare, Divide
from hlotool.passes.contracting.products import Dimensions, add_product, known_convolution
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite


def groups_to_spatial(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, y), feature_group_count=n -> reshape(convolution(reshape(x), reshape(y)))

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


def batches_to_features(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, y), batch_group_count=n -> convolution(x', y), feature_group_count=n"""
    op = known_convolution(instruction)
    if op is None or op.batch_group_count == 1:
        return None
    base, kernel = instruction.operands
    count, labels = op.batch_group_count, op.dim_labels
    parted = _split(build, base, labels.input_batch, count)
    # The number of the group goes right before the features.
    rest = [d for d in range(array_shape(parted).rank) if d != labels.input_batch]
    feature = rest.index(_moved(labels.input_feature, labels.input_batch))
    rest.insert(feature, labels.input_batch)
    moved = build.transpose(parted, rest)
    sizes = list(array_shape(moved).dimensions)
    sizes[feature : feature + 2] = [sizes[feature] * sizes[feature + 1]]
    grouped = op.replace(feature_group_count=count, batch_group_count=1)
    element_type = array_shape(instruction).element_type
    return add_product(build, grouped, build.reshape(moved, sizes), kernel, element_type)


def groups_to_blocks(instruction: Instruction, build: Builder) -> Instruction | None:
    """convolution(x, y), feature_group_count=n -> convolution(x, select(same group, y, 0))"""
    op = known_convolution(instruction)
    if op is None or op.feature_group_count == 1:
        return None
    base, kernel = instruction.operands
    count, labels = op.feature_group_count, op.dim_labels
    inputs, outputs = labels.kernel_input_feature, labels.kernel_output_feature
    shape = array_shape(kernel)
    sizes = list(shape.dimensions)
    repeated = [*sizes[:inputs], count, *sizes[inputs:]]
    kept = [_moved(dimension, inputs) for dimension in range(shape.rank)]
    spread = build.broadcast(kernel, kept, ArrayShape(shape.element_type, repeated))
    in_group, out_group = sizes[inputs], sizes[outputs] // count
    sizes[inputs] *= count
    blocks = build.reshape(spread, sizes)
    whole = array_shape(blocks)
    if whole.element_count:
        numbers = [
            _group_numbers(build, whole, dimension, size)
            for dimension, size in ((inputs, in_group), (outputs, out_group))
        ]
        is_own = build.add(Compare("EQ"), *numbers)
        blocks = build.select(is_own, blocks, build.full(0, whole))
    plain = op.replace(feature_group_count=1)
    return add_product(build, plain, base, blocks, array_shape(instruction).element_type)


def _group_numbers(build: Builder, shape: ArrayShape, dimension: int, size: int) -> Instruction:
    """Returns for each element to which group of `size` elements along a dimension it belongs."""
    places = shape.with_element_type(S32)
    return build.add(Divide(), build.iota(dimension, places), build.full(size, places))


@dataclass(frozen=True)
class ConvolutionGroupConverter(Pass):
    """Makes convolutions with groups of features or batches plain ones."""

    name: ClassVar[str] = "convolution-group-converter"

    block_diagonal: bool = option(
        default=False,
        words="one kernel for all groups, zero but in blocks, by which infinities reach other"
        " groups; else the groups become a spatial dimension",
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Rewrites every convolution that has groups."""
        patterns = PatternSet(self.name)
        if self.block_diagonal:
            patterns.rewrites(Convolution)(batches_to_features)
            patterns.rewrites(Convolution)(groups_to_blocks)
        else:
            patterns.rewrites(Convolution)(groups_to_spatial)
        return rewrite(module, patterns, journal)
