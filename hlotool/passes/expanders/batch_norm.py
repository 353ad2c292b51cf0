"""Batch normalization, written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.instruction import Instruction
from hlotool.ops.decomposition import (
    BatchNorm,
    BatchNormGrad,
    BatchNormInference,
    BatchNormTraining,
)
from hlotool.ops.elementwise import Add
from hlotool.ops.unary import Rsqrt
from hlotool.passes.expanders.expander import Expander, computing_type
from hlotool.passes.pass_base import option
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.terms import Term


@dataclass(frozen=True)
class BatchNormExpander(Expander):
    """Writes batch normalizations and their gradients as sums and products.

    Floats narrower than f32 are computed in f32.
    """

    name: ClassVar[str] = "batchnorm_expander"

    training: bool = option(default=True, words="whether to write out batch-norm-training")
    inference: bool = option(default=True, words="whether to write out batch-norm-inference")
    grad: bool = option(default=True, words="whether to write out batch-norm-grad")

    def takes(self, instruction: Instruction) -> bool:
        """Whether the instruction is a batch normalization that the options name."""
        match instruction.op:
            case BatchNormTraining():
                return self.training
            case BatchNormInference():
                return self.inference
            case BatchNormGrad():
                return self.grad
        return False

    def expanded(self, instruction: Instruction, build: Builder) -> Instruction:
        """batch-norm-training(x, scale, offset) -> (x - mean) / sqrt(variance) * scale + offset"""
        match instruction.op:
            case BatchNormTraining():
                return _trained(_Features(instruction, build), instruction)
            case BatchNormInference():
                return _inferred(_Features(instruction, build), instruction)
        return _gradients(_Features(instruction, build), instruction)


class _Features:
    """The operands of a batch normalization in the type computed in, and sums over the batch."""

    def __init__(self, instruction: Instruction, build: Builder) -> None:
        assert isinstance(instruction.op, BatchNorm)
        self.build = build
        self.op = instruction.op
        shape = array_shape(instruction.operands[0])
        self.element_type = computing_type(shape.element_type)
        self.shape = shape.with_element_type(self.element_type)
        self.operands = [
            Term(build, operand).converted(self.element_type) for operand in instruction.operands
        ]
        self.summed = self.op.summed_dimensions(shape.rank)
        self.count = 1
        for dimension in self.summed:
            self.count *= shape.dimensions[dimension]

    def spread(self, vector: Term) -> Term:
        """Returns one value a feature at every index."""
        return vector.broadcast([self.op.feature_index], self.shape)

    def total(self, array: Term) -> Term:
        """Returns the sum of each feature."""
        return array.folded(Add(), 0, self.summed)

    def mean(self, array: Term) -> Term:
        """Returns the mean of each feature; of no elements it is NaN."""
        return self.total(array) / self.count

    def inverse(self, variance: Term) -> Term:
        """Returns what a variance divides by."""
        return (variance + self.op.epsilon).changed(Rsqrt())

    def normal(self, centered: Term, variance: Term, scale: Term, offset: Term) -> Term:
        """Returns what differs from the mean, normalized."""
        factor = self.inverse(variance) * scale
        return centered * self.spread(factor) + self.spread(offset)


def _trained(features: _Features, instruction: Instruction) -> Instruction:
    x, scale, offset = features.operands
    mean = features.mean(x)
    centered = x - features.spread(mean)
    variance = features.mean(centered * centered)
    normal = features.normal(centered, variance, scale, offset)
    results = [one.instruction for one in (normal, mean, variance)]
    return features.build.joined(results, instruction.shape)


def _inferred(features: _Features, instruction: Instruction) -> Instruction:
    x, scale, offset, mean, variance = features.operands
    normal = features.normal(x - features.spread(mean), variance, scale, offset)
    return normal.converted(array_shape(instruction).element_type).instruction


def _gradients(features: _Features, instruction: Instruction) -> Instruction:
    x, scale, mean, variance, by_output = features.operands
    centered = x - features.spread(mean)
    inverse = features.inverse(variance)
    correlated = features.total(by_output * centered)
    by_scale, by_offset = correlated * inverse, features.total(by_output)
    # Mean and variance depend on the operand themselves: what they change is taken off.
    taken = centered * features.spread(inverse * by_scale / features.count)
    rest = by_output - features.spread(by_offset / features.count) - taken
    by_operand = rest * features.spread(scale * inverse)
    results = [one.instruction for one in (by_operand, by_scale, by_offset)]
    return features.build.joined(results, instruction.shape)
