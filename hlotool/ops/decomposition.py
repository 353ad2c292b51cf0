"""Ops on matrices as a whole, and batch normalization: what backends expand into simpler ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import BOOLEAN, INTEGER, REAL, choice
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape, TupleShape
from hlotool.ops.numerics.linear_algebra import (
    adjoint,
    lower_factor,
    lower_solution,
    upper_solution,
)
from hlotool.ops.numerics.widths import doubled, narrowed
from hlotool.ops.shape_checks import (
    FLOAT_KINDS,
    FLOAT_OR_COMPLEX_KINDS,
    array,
    arrays,
    check_dimension,
    check_kind,
    same_size,
    same_sizes,
)

if TYPE_CHECKING:
    from hlotool.ir.frame import Array

UNSET_TRANSPOSE = "TRANSPOSE_INVALID"
TRANSPOSES = (UNSET_TRANSPOSE, "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


class Cholesky(Op, opcode="cholesky"):
    """Writes each positive definite matrix as a triangular one times its adjoint.

    With `lower`, a = l·lᴴ with l lower triangular; without, a = uᴴ·u. Only that triangle of the
    operand is read; what the result has in the other one is not specified.
    """

    category = Category.CONTRACTION
    arity = 1
    allows_mixed_precision = True

    lower: bool = attr(BOOLEAN, default=False)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the operand."""
        return _square_matrices(operands[0], "cholesky: operand 0")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the factors, computed in f64 or c128 and rounded once, zero beside them.

        A matrix that is not positive definite has a factor of NaN alone.
        """
        wide = doubled(operands[0])
        _check_live_square(wide, self.opcode)
        if self.lower:
            return _rounded(lower_factor(wide), frame.shape)
        # a = uᴴ·u says the same as aᵀ = uᵀ·(uᵀ)ᴴ.
        turned = lower_factor(np.swapaxes(wide, -1, -2))
        return _rounded(np.swapaxes(turned, -1, -2), frame.shape)


class TriangularSolve(Op, opcode="triangular-solve"):
    """Solves a·x = b, or x·a = b without `left_side`, for triangular matrices a.

    Only the triangle of a that `lower` names is read; with `unit_diagonal` its diagonal counts
    as ones. `transpose_a` has a transposed, or conjugated too, before it is used.
    """

    category = Category.CONTRACTION
    arity = 2
    allows_mixed_precision = True

    left_side: bool = attr(BOOLEAN, default=False)
    lower: bool = attr(BOOLEAN, default=False)
    unit_diagonal: bool = attr(BOOLEAN, default=False)
    transpose_a: str = attr(choice(TRANSPOSES), default=UNSET_TRANSPOSE)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of b."""
        a = _square_matrices(operands[0], "triangular-solve: operand 0")
        b = array(operands[1], "triangular-solve: operand 1")
        if b.element_type is not a.element_type or b.rank != a.rank:
            raise ShapeError(
                f"triangular-solve: operand 1 is {b.plain_text}, element type and rank of"
                f" {a.plain_text} are wanted"
            )
        if not same_sizes(a.dimensions[:-2], b.dimensions[:-2]):
            raise ShapeError(
                f"triangular-solve: operand 1 is {b.plain_text}, the batch dimensions of"
                f" {a.plain_text} are wanted"
            )
        shared = b.rank - (2 if self.left_side else 1)
        if not same_size(a.dimensions[-1], b.dimensions[shared]):
            raise ShapeError(
                f"triangular-solve: operand 1 is {b.plain_text}, size {a.dimensions[-1]} in"
                f" dimension {shared} is wanted"
            )
        if self.transpose_a == UNSET_TRANSPOSE:
            raise ShapeError(
                f"triangular-solve: transpose_a is unset, one of {', '.join(TRANSPOSES[1:])}"
                " is wanted"
            )
        return b

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the solutions, computed in f64 or c128 and rounded once.

        A zero on the diagonal divides: infinities and NaN follow from it.
        """
        if self.transpose_a == UNSET_TRANSPOSE:
            raise EvaluationError(
                f"triangular-solve: transpose_a is unset, one of {', '.join(TRANSPOSES[1:])}"
                " is wanted"
            )
        a, b = (doubled(operand) for operand in operands)
        _check_live_square(a, self.opcode)
        shared = b.shape[-2 if self.left_side else -1]
        if a.shape[-1] != shared or a.shape[:-2] != b.shape[:-2]:
            raise EvaluationError(
                f"triangular-solve: operands of {list(a.shape)} and {list(b.shape)} live elements"
                " are given, sizes that fit together are wanted"
            )
        is_lower = self.lower
        if self.transpose_a == "ADJOINT":
            a, is_lower = adjoint(a), not is_lower
        elif self.transpose_a == "TRANSPOSE":
            a, is_lower = np.swapaxes(a, -1, -2), not is_lower
        if not self.left_side:
            # x·a = b says the same as aᵀ·xᵀ = bᵀ.
            a, is_lower, b = np.swapaxes(a, -1, -2), not is_lower, np.swapaxes(b, -1, -2)
        solve = lower_solution if is_lower else upper_solution
        solution = solve(a, b, unit_diagonal=self.unit_diagonal)
        if not self.left_side:
            solution = np.swapaxes(solution, -1, -2)
        return _rounded(solution, frame.shape)


def _check_live_square(matrices: Array, opcode: str) -> None:
    if matrices.shape[-1] != matrices.shape[-2]:
        raise EvaluationError(
            f"{opcode}: an operand of {list(matrices.shape)} live elements is given, square"
            " matrices are wanted"
        )


def _rounded(wide: Array, shape: Shape) -> Array:
    assert isinstance(shape, ArrayShape)
    return narrowed(wide, shape.element_type)


def _square_matrices(shape: Shape, what: str) -> ArrayShape:
    found = array(shape, what)
    check_kind(found, FLOAT_OR_COMPLEX_KINDS, what)
    if found.rank < 2 or not same_size(found.dimensions[-1], found.dimensions[-2]):
        raise ShapeError(f"{what} is {found.plain_text}, square matrices are wanted")
    return found


class BatchNorm(Op):
    """Base of batch normalization: moments over all dimensions but the feature dimension."""

    category = Category.REDUCTION
    allows_mixed_precision = True

    epsilon: float = attr(REAL)
    feature_index: int = attr(INTEGER)

    def features(self, shapes: Sequence[ArrayShape], vectors: Sequence[int]) -> ArrayShape:
        """Returns the shape of one value a feature; `vectors` numbers operands that have it.

        Raises `ShapeError` where operands do not fit operand 0.
        """
        operand, what = shapes[0], self.opcode
        for number, shape in enumerate(shapes):
            check_kind(shape, FLOAT_KINDS, f"{what}: operand {number}")
        check_dimension(self.feature_index, operand.rank, f"{what}: feature_index")
        size = operand.dimensions[self.feature_index]
        for number in vectors:
            if not same_sizes(shapes[number].dimensions, [size]):
                raise ShapeError(
                    f"{what}: operand {number} is {shapes[number].plain_text}, one dimension of"
                    f" the {size} features is wanted"
                )
        dynamic = operand.is_dynamic(self.feature_index)
        return ArrayShape(operand.element_type, [size], None, [dynamic])

    def along_features(self, vector: Array, array: Array) -> Array:
        """Returns one value a feature, in f64, so that it spreads over an array."""
        count = array.shape[self.feature_index]
        if vector.size != count:
            raise EvaluationError(
                f"{self.opcode}: {vector.size} live values are given,"
                f" {count} are wanted: one a feature"
            )
        return vector.astype(np.float64).reshape(
            [-1 if d == self.feature_index else 1 for d in range(array.ndim)]
        )

    def summed_dimensions(self, rank: int) -> tuple[int, ...]:
        """Returns all dimensions but that of the features."""
        return tuple(d for d in range(rank) if d != self.feature_index)


class BatchNormTraining(BatchNorm, opcode="batch-norm-training"):
    """Normalizes by the mean and variance of the operand itself, then scales and shifts.

    Operands are the array, scale and offset; the result is the array, the mean and the variance
    of each feature. `epsilon` is added to the variance.
    """

    arity = 3

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the operand and those of mean and variance."""
        shapes = arrays(operands, self.opcode)
        moment = self.features(shapes, (1, 2))
        return TupleShape([shapes[0], moment, moment])

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns array, mean and variance, computed in f64 and rounded once."""
        wide = operands[0].astype(np.float64)
        scale, offset = (self.along_features(vector, wide) for vector in operands[1:])
        dimensions = self.summed_dimensions(wide.ndim)
        mean = _mean(wide, dimensions)
        variance = _mean(np.square(wide - mean), dimensions)
        normal = (wide - mean) / np.sqrt(variance + self.epsilon) * scale + offset
        return _all_rounded([normal, mean.ravel(), variance.ravel()], frame.shape)


class BatchNormInference(BatchNorm, opcode="batch-norm-inference"):
    """Normalizes by a given mean and variance, then scales and shifts.

    Operands are the array, scale, offset, mean and variance.
    """

    arity = 5

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the operand."""
        shapes = arrays(operands, self.opcode)
        self.features(shapes, (1, 2, 3, 4))
        return shapes[0]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the array, computed in f64 and rounded once."""
        wide = operands[0].astype(np.float64)
        scale, offset, mean, variance = (
            self.along_features(vector, wide) for vector in operands[1:]
        )
        normal = (wide - mean) / np.sqrt(variance + self.epsilon) * scale + offset
        return _rounded(normal, frame.shape)


class BatchNormGrad(BatchNorm, opcode="batch-norm-grad"):
    """Yields the gradients of a batch normalization by its operand, scale and offset.

    Operands are the array, scale, mean, variance and the gradient by the output.
    """

    arity = 5

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the operand and those of the gradients of scale and offset."""
        shapes = arrays(operands, self.opcode)
        gradient = self.features(shapes, (1, 2, 3))
        if not same_sizes(shapes[4].dimensions, shapes[0].dimensions):
            raise ShapeError(
                f"batch-norm-grad: operand 4 is {shapes[4].plain_text}, the dimensions of"
                f" {shapes[0].plain_text} are wanted"
            )
        return TupleShape([shapes[0], gradient, gradient])

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the three gradients, computed in f64 and rounded once."""
        wide = operands[0].astype(np.float64)
        output_gradient = operands[4].astype(np.float64)
        scale, mean, variance = (self.along_features(vector, wide) for vector in operands[1:4])
        dimensions = self.summed_dimensions(wide.ndim)
        centered = wide - mean
        inverse = 1 / np.sqrt(variance + self.epsilon)
        correlated = output_gradient * centered
        by_scale = np.sum(correlated, dimensions, keepdims=True) * inverse
        by_offset = np.sum(output_gradient, dimensions, keepdims=True)
        # Mean and variance depend on the operand themselves: what they change is taken off.
        rest = (
            output_gradient
            - _mean(output_gradient, dimensions)
            - centered * inverse**2 * _mean(correlated, dimensions)
        )
        gradients = [scale * inverse * rest, by_scale.ravel(), by_offset.ravel()]
        return _all_rounded(gradients, frame.shape)


def _mean(wide: Array, dimensions: tuple[int, ...]) -> Array:
    # The mean of numpy warns about no elements; here it is 0/0 as any other.
    count = math.prod(wide.shape[dimension] for dimension in dimensions)
    mean: Array = np.sum(wide, dimensions, keepdims=True) / count
    return mean


def _all_rounded(wide: Sequence[Array], shape: Shape) -> tuple[Array, ...]:
    assert isinstance(shape, TupleShape)
    return tuple(map(_rounded, wide, shape.elements))
