"""Ops on matrices as a whole, and batch normalization: what backends expand into simpler ops."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.attribute import BOOLEAN, INTEGER, REAL, choice
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape, TupleShape
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

UNSET_TRANSPOSE = "TRANSPOSE_INVALID"
TRANSPOSES = (UNSET_TRANSPOSE, "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


class Cholesky(Op, opcode="cholesky"):
    """Writes each positive definite matrix as a triangular one times its adjoint.

    With `lower`, a = l·lᴴ with l lower triangular; without, a = uᴴ·u. Only that triangle of the
    operand is read; what the result has in the other one is not specified.
    """

    arity = 1
    allows_mixed_precision = True

    lower: bool = attr(BOOLEAN, default=False)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the operand."""
        return _square_matrices(operands[0], "cholesky: operand 0")


class TriangularSolve(Op, opcode="triangular-solve"):
    """Solves a·x = b, or x·a = b without `left_side`, for triangular matrices a.

    Only the triangle of a that `lower` names is read; with `unit_diagonal` its diagonal counts
    as ones. `transpose_a` has a transposed, or conjugated too, before it is used.
    """

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


def _square_matrices(shape: Shape, what: str) -> ArrayShape:
    found = array(shape, what)
    check_kind(found, FLOAT_OR_COMPLEX_KINDS, what)
    if found.rank < 2 or not same_size(found.dimensions[-1], found.dimensions[-2]):
        raise ShapeError(f"{what} is {found.plain_text}, square matrices are wanted")
    return found


class BatchNorm(Op):
    """Base of batch normalization: moments over all dimensions but the feature dimension."""

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
