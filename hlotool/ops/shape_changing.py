"""Ops that move elements to other indices, known before the module runs, and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.attribute import INTEGER, INTEGERS, ONE_DIMENSION, SLICES
from hlotool.ir.cost import Access, Cost, byte_count, traffic
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op, at_least
from hlotool.ir.record import attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, ProgramShape, Shape
from hlotool.ir.window import PADDING, PaddingDimension
from hlotool.ops.numerics.memory import reinterpreted
from hlotool.ops.numerics.physical_size import divided_up, physical_bytes
from hlotool.ops.numerics.reshaping import reshaped_sizes
from hlotool.ops.shape_checks import (
    INTEGER_KINDS,
    array,
    arrays,
    check_dimension,
    check_dimensions,
    check_kind,
    check_length,
    common_element_type,
    merged_dimensions,
    physical_order,
    same_size,
    scalar,
    unchanged_dimensions,
)


class Broadcast(Op, opcode="broadcast"):
    """Repeats its operand along new dimensions.

    `dimensions` says for each dimension of the operand which one of the result it becomes.
    """

    category = Category.MOVEMENT
    drawn = Drawn.BROADCAST
    access = Access.MOVED
    moved_operands = slice(0, 1)
    arity = 1

    dimensions: tuple[int, ...] = attr(INTEGERS, default=(), always=True)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape if it is a scalar; no other result follows from operands."""
        operand = array(operands[0], "broadcast: operand")
        if operand.is_scalar and not self.dimensions:
            return operand
        return super().infer_shape(operands, calls)

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless each dimension of the operand has one of equal size."""
        operand = array(operands[0], "broadcast: operand")
        result = array(declared, "broadcast: result")
        check_same_element_type(operand, result, self.opcode)
        check_length(self.dimensions, operand.rank, "broadcast: dimensions")
        check_dimensions(self.dimensions, result.rank, "broadcast: dimensions")
        for size, dimension in zip(operand.dimensions, self.dimensions, strict=True):
            if not same_size(size, result.dimensions[dimension]):
                raise ShapeError(
                    f"broadcast: {operand.plain_text} does not fit dimensions"
                    f" {INTEGERS.write(self.dimensions)} of {result.plain_text}"
                )

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimension of the result that each one becomes."""
        return self.dimensions

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operand, seen at every index along the new dimensions."""
        operand = operands[0]
        result = array(frame.shape, "broadcast: result")
        sizes = list(result.dimensions)
        aligned = [1] * len(sizes)
        for size, dimension in zip(operand.shape, self.dimensions, strict=True):
            sizes[dimension] = aligned[dimension] = size
        if UNBOUNDED in sizes:
            raise EvaluationError(f"broadcast: the sizes of {result.plain_text} are not known")
        # Dimensions come in any order in old texts.
        order = sorted(range(operand.ndim), key=lambda d: self.dimensions[d])
        return np.broadcast_to(operand.transpose(order).reshape(aligned), sizes)


class Reshape(Op, opcode="reshape"):
    """Gives the elements, in row-major order of their indices, other dimensions."""

    category = Category.MOVEMENT
    access = Access.MOVED
    moved_operands = slice(0, 1)
    arity = 1
    infers_shape = False

    inferred_dimension: int = attr(INTEGER, default=-1)

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where the number or type of elements changes."""
        operand = array(operands[0], "reshape: operand")
        result = array(declared, "reshape: result")
        check_same_element_type(operand, result, self.opcode)
        if self.inferred_dimension != -1:
            check_dimension(self.inferred_dimension, result.rank, "reshape: inferred_dimension")
        check_same_count(operand, result, self.opcode)

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions that stay as they are between those that are regrouped."""
        operand, shape = array(operands[0], "reshape: operand"), array(result, "reshape: result")
        return unchanged_dimensions(operand, shape, range(operand.rank), range(shape.rank))

    def is_free(self, operands: Sequence[Shape], result: Shape) -> bool:
        """Whether no element moves in memory: both shapes are row-major."""
        shapes = (operands[0], result)
        return all(shape == shape.with_default_layout() for shape in shapes)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the elements with other dimensions; dynamic ones hold those that are live."""
        operand = operands[0]
        shape = array(frame.operand_shapes[0], "reshape: operand")
        result = array(frame.shape, "reshape: result")
        return operand.reshape(reshaped_sizes(operand, shape, result, self.inferred_dimension))


class DynamicReshape(Op, opcode="dynamic-reshape"):
    """Reshapes to sizes known only when the module runs; one operand for each follows the array.

    The dimensions of the result bound them.
    """

    category = Category.MOVEMENT
    arity = at_least(1)
    infers_shape = False

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless each dimension has an integer, and no elements change."""
        operand = array(operands[0], "dynamic-reshape: operand 0")
        result = array(declared, "dynamic-reshape: result")
        check_same_element_type(operand, result, self.opcode)
        check_length(operands[1:], result.rank, "dynamic-reshape: list of sizes")
        for number, size in enumerate(operands[1:], start=1):
            what = f"dynamic-reshape: operand {number}"
            check_kind(scalar(size, what), INTEGER_KINDS, what)
        check_same_count(operand, result, self.opcode)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the elements in the sizes given; raises `EvaluationError` out of bounds."""
        operand, *given = operands
        result = array(frame.shape, "dynamic-reshape: result")
        sizes = [int(size) for size in given]
        for size, bound in zip(sizes, result.dimensions, strict=True):
            if size < 0 or (size > bound and bound != UNBOUNDED):
                raise EvaluationError(
                    f"dynamic-reshape: size {size} is given,"
                    f" one within {result.plain_text} is wanted"
                )
        if prod(sizes) != operand.size:
            raise EvaluationError(
                f"dynamic-reshape: sizes {sizes} hold {prod(sizes)} elements,"
                f" the {operand.size} of the operand are wanted"
            )
        return operand.reshape(sizes)


class Transpose(Op, opcode="transpose"):
    """Permutes dimensions: dimension i of the result is `dimensions[i]` of the operand."""

    category = Category.MOVEMENT
    access = Access.MOVED
    moved_operands = slice(0, 1)
    arity = 1

    dimensions: tuple[int, ...] = attr(INTEGERS)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the permuted shape, with the layout for which no element moves in memory."""
        operand = array(operands[0], "transpose: operand")
        if sorted(self.dimensions) != list(range(operand.rank)):
            raise ShapeError(
                f"transpose: dimensions {INTEGERS.write(self.dimensions)}"
                f" do not permute rank {operand.rank}"
            )
        sizes, dynamic = operand.dimensions, operand.dynamic_flags()
        old_order = physical_order(operand, "transpose: operand")
        order = [self.dimensions.index(d) for d in old_order]
        cuts = [(self.dimensions.index(d), at) for d, at in operand.layout.split_configs]
        return ArrayShape(
            operand.element_type,
            [sizes[d] for d in self.dimensions],
            operand.layout.replace(minor_to_major=order, split_configs=cuts),
            [dynamic[d] for d in self.dimensions],
        )

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns where each dimension has gone."""
        return tuple(self.dimensions.index(d) for d in range(len(self.dimensions)))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operand with its dimensions in the other order."""
        return operands[0].transpose(self.dimensions)


class Bitcast(Op, opcode="bitcast"):
    """Takes the bytes of its operand, in the order they have in memory, as another array."""

    category = Category.MOVEMENT
    runs_code = False
    access = Access.MOVED
    arity = 1
    infers_shape = False

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where operand and result do not take equally many bytes."""
        operand, result = (
            array(shape.array if isinstance(shape, BufferShape) else shape, f"bitcast: {what}")
            for shape, what in ((operands[0], "operand"), (declared, "result"))
        )
        if UNBOUNDED in operand.dimensions or UNBOUNDED in result.dimensions:
            return
        taken = physical_bytes(operand, "bitcast: operand")
        wanted = physical_bytes(result, "bitcast: result")
        if taken != wanted:
            raise ShapeError(
                f"bitcast: {operand.text} takes {taken} bytes, {result.text} takes {wanted}"
            )

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions that stay as they are in memory."""
        operand, shape = operands[0], result
        if not isinstance(operand, ArrayShape) or not isinstance(shape, ArrayShape):
            return ()
        if operand.element_type.bits != shape.element_type.bits:
            return (None,) * operand.rank
        return unchanged_dimensions(
            operand,
            shape,
            operand.layout.minor_to_major[::-1],
            shape.layout.minor_to_major[::-1],
        )

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the bytes of the operand in its layout, read in the layout of the result."""
        operand, result = (
            shape.array if isinstance(shape, BufferShape) else array(shape, "bitcast: shape")
            for shape in (frame.operand_shapes[0], frame.shape)
        )
        value = operands[0]
        if operand.is_scalar and result.is_scalar:
            # Computations of scalars are also run on many elements at a time.
            one, other = (
                ArrayShape(shape.element_type, [value.size]) for shape in (operand, result)
            )
            return reinterpreted(value.reshape(-1), one, other).reshape(value.shape)
        if value.shape == operand.dimensions:
            return reinterpreted(value, operand, result)
        if operand.with_layout(result.layout).text == result.text == operand.text:
            return value
        raise EvaluationError(
            f"bitcast: {list(value.shape)} of {operand.plain_text} are live, all are wanted"
        )


class Reverse(Op, opcode="reverse"):
    """Turns the order of elements round along some dimensions."""

    category = Category.MOVEMENT
    access = Access.MOVED
    moved_operands = slice(0, 1)
    arity = 1

    dimensions: tuple[int, ...] = attr(INTEGERS)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, layout included."""
        operand = array(operands[0], "reverse: operand")
        check_dimensions(self.dimensions, operand.rank, "reverse: dimensions")
        return operand

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operand turned round."""
        return np.flip(operands[0], self.dimensions)


class Pad(Op, opcode="pad"):
    """Surrounds an array with a scalar, and puts it between elements.

    Negative padding at an edge cuts elements off, after those between are there.
    """

    category = Category.MOVEMENT
    access = Access.MOVED
    moved_operands = slice(0, 2)
    arity = 2

    padding: tuple[PaddingDimension, ...] = attr(PADDING)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the padded shape, row-major."""
        operand = array(operands[0], "pad: operand 0")
        value = scalar(operands[1], "pad: operand 1")
        check_length(self.padding, operand.rank, "pad: padding")
        element_type = common_element_type([operand, value], self.opcode)
        sizes = map(_padded, operand.dimensions, self.padding)
        return ArrayShape(element_type, tuple(sizes), None, operand.dynamic)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the scalar everywhere but where an element of the operand lies."""
        operand, value = operands
        element_type = array(frame.shape, "pad: result").element_type
        sizes = tuple(map(_padded, operand.shape, self.padding))
        padded = np.full(sizes, value.astype(element_type.numpy))
        places = list(map(_places, operand.shape, sizes, self.padding))
        inside = operand[tuple(taken for taken, _ in places)]
        padded[tuple(put for _, put in places)] = inside.astype(element_type.numpy, copy=False)
        return padded


def _places(size: int, padded: int, padding: PaddingDimension) -> tuple[slice, slice]:
    """Returns which elements of a dimension are not cut off, and where they come to lie."""
    step = padding.interior + 1
    first = divided_up(max(0, -padding.low), step)
    count = divided_up(max(0, padded - padding.low), step)
    last = max(first, min(size, count))
    start = padding.low + first * step
    end = padding.low + (last - 1) * step + 1 if last > first else start
    return slice(first, last), slice(start, end, step)


def _padded(size: int, padding: PaddingDimension) -> int:
    if padding.interior < 0:
        raise ShapeError(f"pad: interior padding {padding.interior} is negative")
    if size == UNBOUNDED:
        return UNBOUNDED
    between = max(0, size - 1) * padding.interior
    padded = padding.low + size + between + padding.high
    if padded < 0:
        raise ShapeError(f"pad: padding {PADDING.write((padding,))} leaves less than 0 of {size}")
    return padded


class Concatenate(Op, opcode="concatenate"):
    """Puts arrays one behind the other along one dimension."""

    category = Category.MOVEMENT
    access = Access.MOVED
    moved_operands = slice(None)
    arity = at_least(1)

    dimensions: int = attr(ONE_DIMENSION)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape with the sizes along the dimension added up, row-major."""
        pieces = arrays(operands, self.opcode)
        element_type = common_element_type(pieces, self.opcode)
        joined = self.dimensions
        for piece in pieces:
            check_dimension(joined, piece.rank, "concatenate: dimension")
        lengths = [piece.dimensions[joined] for piece in pieces]
        length = UNBOUNDED if UNBOUNDED in lengths else sum(lengths)
        try:
            sizes, dynamic = merged_dimensions(
                [_with_size(piece, joined, length) for piece in pieces], self.opcode
            )
        except ShapeError:
            shown = " and ".join(dict.fromkeys(piece.plain_text for piece in pieces))
            raise ShapeError(
                f"concatenate: operands {shown} may differ in dimension {joined} only"
            ) from None
        return ArrayShape(element_type, sizes, None, dynamic)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operands as one array."""
        wanted = array(frame.shape, "concatenate: result").element_type.numpy
        pieces = [operand.astype(wanted, copy=False) for operand in operands]
        joined = self.dimensions
        if len({piece.shape[:joined] + piece.shape[joined + 1 :] for piece in pieces}) > 1:
            shown = " and ".join(str(list(piece.shape)) for piece in pieces)
            raise EvaluationError(
                f"concatenate: operands have sizes {shown}, which may differ"
                f" in dimension {joined} only"
            )
        return np.concatenate(pieces, self.dimensions)


def _with_size(shape: ArrayShape, dimension: int, size: int) -> ArrayShape:
    sizes = list(shape.dimensions)
    sizes[dimension] = size
    return ArrayShape(shape.element_type, sizes, shape.layout, shape.dynamic)


class Slice(Op, opcode="slice"):
    """Takes every stride-th element of a range of each dimension."""

    category = Category.MOVEMENT
    access = Access.MOVED
    moved_operands = slice(0, 1)
    arity = 1
    infers_shape = False

    slice: tuple[tuple[int, int, int], ...] = attr(SLICES)
    """For each dimension the first index, the one behind the last, and the stride."""

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the part, row-major."""
        operand = array(operands[0], "slice: operand")
        check_length(self.slice, operand.rank, "slice: slice")
        sizes = [
            _sliced(size, *bounds)
            for size, bounds in zip(operand.dimensions, self.slice, strict=True)
        ]
        # One element is there whatever a dynamic size turns out to be.
        dynamic = [
            operand.is_dynamic(d) and operand.dimensions[d] != UNBOUNDED and sizes[d] != 1
            for d in range(operand.rank)
        ]
        return ArrayShape(operand.element_type, sizes, None, dynamic)

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns the reading of the elements that are taken."""
        return traffic(byte_count(result), result)

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions that are taken whole."""
        operand = array(operands[number], "slice: operand")
        return tuple(
            d if bounds == (0, size, 1) else None
            for d, (bounds, size) in enumerate(zip(self.slice, operand.dimensions, strict=True))
        )

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the part; of a dynamic dimension what is live of it."""
        return operands[0][tuple(slice(*bounds) for bounds in self.slice)]


def _sliced(size: int, low: int, high: int, stride: int) -> int:
    if not 0 <= low <= high or (size != UNBOUNDED and high > size):
        raise ShapeError(f"slice: [{low}:{high}] is no range of a dimension of size {size}")
    if stride < 1:
        raise ShapeError(f"slice: stride is {stride}, 1 or more is wanted")
    return divided_up(high - low, stride)


def check_same_element_type(operand: ArrayShape, result: ArrayShape, opcode: str) -> None:
    """Raises `ShapeError` where the result has another element type than the operand."""
    if operand.element_type is not result.element_type:
        raise ShapeError(
            f"{opcode}: {operand.plain_text} becomes {result.plain_text},"
            " equal element types are wanted"
        )


def check_same_count(operand: ArrayShape, result: ArrayShape, opcode: str) -> None:
    """Raises `ShapeError` where numbers of elements differ; an unbounded array may have any."""
    if UNBOUNDED in operand.dimensions or UNBOUNDED in result.dimensions:
        return
    if operand.element_count != result.element_count:
        raise ShapeError(
            f"{opcode}: {operand.plain_text} has {operand.element_count} elements,"
            f" {result.plain_text} has {result.element_count}"
        )
