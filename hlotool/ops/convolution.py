"""Convolution and Fourier transform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import INTEGER, INTEGERS, PRECISIONS, choice
from hlotool.ir.cost import Access, Cost, byte_count, element_count, traffic
from hlotool.ir.element_type import C64, C128, F32, F64, ElementType
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.lazy import scipy_fft
from hlotool.ir.op import Op
from hlotool.ir.record import REQUIRED, attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape
from hlotool.ir.window import DIMENSION_LABELS, WINDOW, DimensionLabels, Window
from hlotool.ops.numerics.convolving import convolved
from hlotool.ops.numerics.matrix_products import computing_type, stored_sums, unpacked
from hlotool.ops.shape_checks import (
    array,
    arrays,
    check_dimensions,
    check_window,
    is_sum_of_products,
    same_size,
    same_sizes,
    wider,
    windowed_sizes,
)

if TYPE_CHECKING:
    from hlotool.ir.frame import Array

CONVOLUTION_KINDS = ("unset", "fprop", "dgrad", "wgrad")
"""What a convolution is to the layer it comes from: forward, input or weight gradient."""
FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
_COMPLEX_OF = {F32: C64, F64: C128}


class Convolution(Op, opcode="convolution"):
    """Slides a kernel over an array and sums products over the kernel and input features.

    `dim_labels` says which dimension of input, kernel and output is batch, feature or spatial;
    the window has a dimension for each spatial one. With `feature_group_count` the features of
    input and output fall into groups that do not mix; with `batch_group_count` the batch does,
    and the groups become output features. Padding and holes count as zero.
    """

    category = Category.CONTRACTION
    access = Access.SUMMED
    arity = 2

    window: Window = attr(WINDOW, default=())
    dim_labels: DimensionLabels = attr(DIMENSION_LABELS, default=REQUIRED)
    feature_group_count: int = attr(INTEGER, default=1)
    batch_group_count: int = attr(INTEGER, default=1)
    convolution_kind: str = attr(choice(CONVOLUTION_KINDS), default="unset", aliases=("conv_kind",))
    operand_precision: tuple[str, ...] = attr(PRECISIONS, default=())

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the output as `dim_labels` orders it, row-major, of the wider type."""
        lhs, rhs = arrays(operands, self.opcode)
        self._check_ranks(lhs, rhs)
        self._check_kernel(rhs)
        self._check_groups(lhs, rhs)
        labels = self.dim_labels
        batch = lhs.dimensions[labels.input_batch]
        spatial = [lhs.dimensions[d] for d in labels.input_spatial]
        sizes, dynamic = [0] * lhs.rank, [False] * lhs.rank
        sizes[labels.output_batch] = (
            batch if batch == UNBOUNDED else batch // self.batch_group_count
        )
        dynamic[labels.output_batch] = lhs.is_dynamic(labels.input_batch)
        sizes[labels.output_feature] = rhs.dimensions[labels.kernel_output_feature]
        dynamic[labels.output_feature] = rhs.is_dynamic(labels.kernel_output_feature)
        for number, size in enumerate(windowed_sizes(spatial, self.window)):
            sizes[labels.output_spatial[number]] = size
            dynamic[labels.output_spatial[number]] = lhs.is_dynamic(
                labels.input_spatial[number]
            ) or rhs.is_dynamic(labels.kernel_spatial[number])
        return ArrayShape(wider(lhs.element_type, rhs.element_type), sizes, None, dynamic)

    def fits(self, declared: Shape, inferred: Shape) -> bool:
        """Whether the declared type may hold the sums: integers may have a wider one."""
        return is_sum_of_products(declared, inferred)

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns a product and a sum for each place of the kernel, padding included."""
        kernel = operands[1]
        assert isinstance(kernel, ArrayShape)
        features = kernel.dimensions[self.dim_labels.kernel_output_feature]
        flops = 2 * element_count(result) * (element_count(kernel) // max(1, features))
        return traffic(sum(map(byte_count, operands)), result, flops=flops)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the sums; integers stop at the ends of the result's range."""
        wide = computing_type(frame.operand_shapes, frame.shape)
        lhs, rhs = (operand.astype(wide, copy=False) for operand in operands)
        parts = unpacked([lhs, rhs], self.operand_precision, self.opcode)
        sums = self.sums(*parts[0])
        for part in parts[1:]:
            sums = sums + self.sums(*part)
        return stored_sums(sums, frame.shape, saturate=True)

    def sums(self, lhs: Array, rhs: Array) -> Array:
        """Returns the sums of operands of one computing type, in that type."""
        labels = self.dim_labels
        inputs = rhs.shape[labels.kernel_input_feature] * self.feature_group_count
        if (
            lhs.shape[labels.input_feature] != inputs
            or lhs.shape[labels.input_batch] % self.batch_group_count
            or rhs.shape[labels.kernel_output_feature]
            % (self.feature_group_count * self.batch_group_count)
        ):
            raise EvaluationError(
                f"convolution: operands of {list(lhs.shape)} and {list(rhs.shape)} live elements"
                " are given, whole groups are wanted"
            )
        kernel_sizes = [rhs.shape[d] for d in labels.kernel_spatial]
        window = tuple(
            replace(dimension, size=size)
            for dimension, size in zip(self.window, kernel_sizes, strict=True)
        )
        sums = convolved(self._grouped_base(lhs), self._grouped_kernel(rhs), window)
        # [groups, batch, spatial, outputs] with the groups before the outputs.
        joined = np.moveaxis(sums, 0, -2)
        joined = joined.reshape(*joined.shape[:-2], joined.shape[-2] * joined.shape[-1])
        own = (labels.output_batch, *labels.output_spatial, labels.output_feature)
        return np.moveaxis(joined, range(lhs.ndim), own)

    def _grouped_base(self, lhs: Array) -> Array:
        """Returns the input as [groups, batch, spatial, features]."""
        labels = self.dim_labels
        base = lhs.transpose(labels.input_batch, *labels.input_spatial, labels.input_feature)
        batch, *spatial, features = base.shape
        if self.batch_group_count > 1:
            count = self.batch_group_count
            return base.reshape(count, batch // count, *spatial, features)
        count = self.feature_group_count
        grouped = base.reshape(batch, *spatial, count, features // count)
        return np.ascontiguousarray(np.moveaxis(grouped, -2, 0))

    def _grouped_kernel(self, rhs: Array) -> Array:
        """Returns the kernel as [groups, spatial, input features, output features]."""
        labels = self.dim_labels
        kernel = rhs.transpose(
            *labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature
        )
        turned = tuple(number for number, dim in enumerate(self.window) if dim.reversal)
        kernel = np.flip(kernel, turned)
        count = self.feature_group_count * self.batch_group_count
        *others, outputs = kernel.shape
        grouped = kernel.reshape(*others, count, outputs // count)
        return np.ascontiguousarray(np.moveaxis(grouped, -2, 0))

    def _check_ranks(self, lhs: ArrayShape, rhs: ArrayShape) -> None:
        labels = self.dim_labels
        rank = len(labels.input_spatial) + 2
        for number, shape in enumerate((lhs, rhs)):
            if shape.rank != rank:
                raise ShapeError(
                    f"convolution: operand {number} is {shape.plain_text}, with dim_labels"
                    f" {DIMENSION_LABELS.write(labels)} rank {rank} is wanted"
                )
        sides = (
            (labels.input_batch, labels.input_feature, *labels.input_spatial),
            (labels.kernel_input_feature, labels.kernel_output_feature, *labels.kernel_spatial),
            (labels.output_batch, labels.output_feature, *labels.output_spatial),
        )
        for name, side in zip(("input", "kernel", "output"), sides, strict=True):
            check_dimensions(side, rank, f"convolution: {name} dimensions of dim_labels")

    def _check_kernel(self, rhs: ArrayShape) -> None:
        spatial = self.dim_labels.kernel_spatial
        check_window(self.window, len(spatial), "convolution: window")
        for number, dimension in enumerate(spatial):
            if not same_size(rhs.dimensions[dimension], self.window[number].size):
                raise ShapeError(
                    f"convolution: operand 1 is {rhs.plain_text}, the window's size"
                    f" {self.window[number].size} in dimension {dimension} is wanted"
                )

    def _check_groups(self, lhs: ArrayShape, rhs: ArrayShape) -> None:
        features, batches = self.feature_group_count, self.batch_group_count
        for name, count in (("feature", features), ("batch", batches)):
            if count < 1:
                raise ShapeError(
                    f"convolution: {name}_group_count is {count}, at least 1 is wanted"
                )
        if features > 1 and batches > 1:
            raise ShapeError(
                f"convolution: feature_group_count is {features} and batch_group_count is"
                f" {batches}, one of them must be 1"
            )
        labels = self.dim_labels
        given = lhs.dimensions[labels.input_feature]
        taken = rhs.dimensions[labels.kernel_input_feature]
        if UNBOUNDED not in {given, taken} and given != taken * features:
            raise ShapeError(
                f"convolution: the input has {given} features, {features} groups of the kernel's"
                f" {taken} are wanted"
            )
        for name, size, count in (
            ("output features", rhs.dimensions[labels.kernel_output_feature], features),
            ("output features", rhs.dimensions[labels.kernel_output_feature], batches),
            ("input batches", lhs.dimensions[labels.input_batch], batches),
        ):
            if size != UNBOUNDED and size % count:
                raise ShapeError(
                    f"convolution: {size} {name} are given, a multiple of {count} groups is wanted"
                )


class Fft(Op, opcode="fft"):
    """Transforms the last dimensions, as many as `fft_length` has, to or from frequencies.

    FFT goes from complex to complex with e^(-2πi·jk/n), IFFT back, divided by the lengths.
    RFFT takes reals and yields the half of the frequencies that tells the other; IRFFT goes
    back. `fft_length` has the sizes on the side of the reals.
    """

    category = Category.CONTRACTION
    arity = 1
    allows_mixed_precision = True

    fft_type: str = attr(choice(FFT_TYPES))
    fft_length: tuple[int, ...] = attr(INTEGERS)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's dimensions and layout, the last halved or doubled for reals."""
        operand = array(operands[0], "fft: operand 0")
        length = self.fft_length
        if not 1 <= len(length) <= min(3, operand.rank):
            raise ShapeError(
                f"fft: fft_length {INTEGERS.write(length)} of operand {operand.plain_text} has"
                f" {len(length)} entries, 1 to {min(3, operand.rank)} are wanted"
            )
        element_type = self._result_type(operand)
        wanted, result = self._transformed_sizes()
        given = operand.dimensions[operand.rank - len(length) :]
        if not same_sizes(given, wanted):
            raise ShapeError(
                f"fft: operand is {operand.plain_text}, for {self.fft_type} of fft_length"
                f" {INTEGERS.write(length)} last dimensions {INTEGERS.write(wanted)} are wanted"
            )
        last = UNBOUNDED if operand.dimensions[-1] == UNBOUNDED else result[-1]
        sizes = (*operand.dimensions[:-1], last)
        return ArrayShape(element_type, sizes, operand.layout, operand.dynamic)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the transform, computed in c128 and rounded once."""
        (operand,) = operands
        assert isinstance(frame.shape, ArrayShape)
        result_type = frame.shape.element_type.numpy
        length = self.fft_length
        wanted, result = self._transformed_sizes()
        given = operand.shape[operand.ndim - len(length) :]
        if given != wanted:
            raise EvaluationError(
                f"fft: dimensions {INTEGERS.write(given)} to transform are given,"
                f" {INTEGERS.write(wanted)} are wanted"
            )
        if not operand.size:
            return np.zeros((*operand.shape[:-1], result[-1]), result_type)
        wide = operand.astype(np.float64 if self.fft_type == "RFFT" else np.complex128)
        dimensions = tuple(range(operand.ndim - len(length), operand.ndim))
        transform = {
            "FFT": scipy_fft.fftn,
            "IFFT": scipy_fft.ifftn,
            "RFFT": scipy_fft.rfftn,
            "IRFFT": scipy_fft.irfftn,
        }[self.fft_type]
        return transform(wide, length, dimensions).astype(result_type)

    def _transformed_sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the sizes of the last dimensions of operand and result."""
        *kept, last = self.fft_length
        half = last // 2 + 1 if last else 0
        halved = (*kept, half)
        return (
            halved if self.fft_type == "IRFFT" else self.fft_length,
            halved if self.fft_type == "RFFT" else self.fft_length,
        )

    def _result_type(self, operand: ArrayShape) -> ElementType:
        element_type = operand.element_type
        if self.fft_type == "RFFT":
            if element_type not in _COMPLEX_OF:
                raise ShapeError(
                    f"fft: operand of RFFT is {operand.plain_text}, f32 or f64 is wanted"
                )
            return _COMPLEX_OF[element_type]
        if not element_type.is_complex:
            raise ShapeError(
                f"fft: operand of {self.fft_type} is {operand.plain_text},"
                " complex elements are wanted"
            )
        return element_type.component if self.fft_type == "IRFFT" else element_type
