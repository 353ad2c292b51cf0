"""Ops that call a computation on elements: reductions, window reductions, map and scan.

A *reducer* takes accumulators, then as many elements, all scalars, and yields the new
accumulators: one as it is, several as a tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Self

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import BOOLEAN, INTEGER, INTEGERS, ONE_DIMENSION
from hlotool.ir.cost import Access, Cost, byte_count, element_count, traffic
from hlotool.ir.element_type import PRED
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op, Role, at_least
from hlotool.ir.record import attr
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape, TupleShape
from hlotool.ir.window import WINDOW, Window, WindowDimension
from hlotool.ops.callees.folding import folded, folded_in_windows
from hlotool.ops.callees.mapping import Mapped, as_parameters
from hlotool.ops.callees.selecting import scattered_back, selected
from hlotool.ops.elementwise import check_live_sizes
from hlotool.ops.shape_checks import (
    any_dynamic,
    array,
    arrays,
    check_dimension,
    check_dimensions,
    check_same_dimensions,
    check_signature,
    check_window,
    one_or_tuple,
    same_size,
    same_sizes,
    same_type_but_float_width,
    scalar,
    scalar_of,
    windowed_sizes,
)
from hlotool.ops.tuple_values import parts


class Reduce(Op, opcode="reduce"):
    """Folds dimensions of one or more arrays away, each from an initial value of its own.

    Operands are n arrays of equal dimensions, then n scalars to start from. `to_apply` is a
    reducer of n accumulators. The order of the steps is not specified; where there is no
    element the result is the initial value. Several arrays yield a tuple.
    """

    category = Category.REDUCTION
    access = Access.FOLDED
    arity = at_least(2, step=2)
    roles = (Role("to_apply"),)
    allows_mixed_precision = True

    dimensions: tuple[int, ...] = attr(INTEGERS)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the dimensions that are left, row-major, of the types the reducer yields."""
        inputs, inits = _inputs_and_inits(operands, self.opcode)
        sizes, dynamic = inputs[0].dimensions, any_dynamic(inputs)
        check_dimensions(self.dimensions, len(sizes), "reduce: dimensions")
        yielded = _check_reducer(calls[0], inits, inputs, "reduce: to_apply")
        kept = [d for d in range(len(sizes)) if d not in self.dimensions]
        return one_or_tuple(
            [
                ArrayShape(
                    value.element_type, [sizes[d] for d in kept], None, [dynamic[d] for d in kept]
                )
                for value in yielded
            ]
        )

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns a call for each element that is folded in."""
        return traffic(sum(map(byte_count, operands)), result, flops=element_count(operands[0]))

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions that are not folded."""
        if number >= len(operands) // 2:
            return ()
        operand = array(operands[number], "reduce: operand")
        kept = [d for d in range(operand.rank) if d not in self.dimensions]
        return tuple(kept.index(d) if d in kept else None for d in range(operand.rank))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the initial values, combined with every element that is folded into them."""
        check_live_sizes(operands, self.opcode)
        half = len(operands) // 2
        inputs, inits = operands[:half], operands[half:]
        return _one_or_all(folded(frame.calls[0], inputs, inits, self.dimensions), frame)


class ReduceWindow(Op, opcode="reduce-window"):
    """Folds the elements that a window shows, for each place that the window slides to.

    Operands and `to_apply` are those of `reduce`. Padding and the holes of a dilated operand
    contribute nothing, as if they held the initial value and that were neutral. The result has
    one element for each place of the window.
    """

    category = Category.REDUCTION
    access = Access.FOLDED
    arity = at_least(2, step=2)
    roles = (Role("to_apply"),)
    allows_mixed_precision = True

    window: Window = attr(WINDOW, default=())

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the number of windows along each dimension, row-major, of the inits' types."""
        inputs, inits = _inputs_and_inits(operands, self.opcode)
        sizes, dynamic = inputs[0].dimensions, any_dynamic(inputs)
        check_window(self.window, len(sizes), "reduce-window: window")
        _check_reducer(calls[0], inits, inputs, "reduce-window: to_apply")
        windowed = windowed_sizes(sizes, self.window)
        return one_or_tuple(
            [ArrayShape(init.element_type, windowed, None, dynamic) for init in inits]
        )

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns a call for each element that a window shows."""
        places = element_count(result) // max(1, len(operands) // 2)
        shown = prod(dimension.size for dimension in self.window)
        return traffic(sum(map(byte_count, operands)), result, flops=places * shown)

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions along which the window shows one element."""
        if number >= len(operands) // 2:
            return ()
        still = WindowDimension(1)
        return tuple(d if one == still else None for d, one in enumerate(self.window))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the initial values, combined with every element that a window shows."""
        check_live_sizes(operands, self.opcode)
        half = len(operands) // 2
        inputs, inits = operands[:half], operands[half:]
        return _one_or_all(folded_in_windows(frame.calls[0], inputs, inits, self.window), frame)


class SelectAndScatter(Op, opcode="select-and-scatter"):
    """Picks one element of each window and adds a source value at its place.

    Operands are the array that the window slides over, a source with one value for each place
    of the window, and a scalar that the result is filled with first. `select` compares the
    element picked so far with the next one and says whether to keep it; `scatter` combines the
    source value with what the result holds at the picked place.
    """

    category = Category.REDUCTION
    arity = 3
    roles = (Role("select"), Role("scatter"))
    allows_mixed_precision = True

    window: Window = attr(WINDOW, default=())

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the operand."""
        operand, source, init = arrays(operands, self.opcode)
        check_window(self.window, operand.rank, "select-and-scatter: window")
        element = scalar_of(operand)
        check_signature(
            calls[0], [element, element], ArrayShape(PRED), "select-and-scatter: select"
        )
        scalar(init, "select-and-scatter: operand 2")
        _check_reducer(calls[1], [init], [source], "select-and-scatter: scatter")
        windowed = windowed_sizes(operand.dimensions, self.window)
        wanted = ArrayShape(operand.element_type, windowed, None, operand.dynamic)
        if not (
            same_sizes(source.dimensions, windowed)
            and same_type_but_float_width(source.element_type, operand.element_type)
        ):
            raise ShapeError(
                f"select-and-scatter: operand 1 is {source.plain_text},"
                f" {wanted.plain_text} is wanted"
            )
        return operand

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the initial value everywhere, combined with the sources that picked a place."""
        operand, source, init = operands
        select, scatter = frame.calls
        picked = selected(select, operand, self.window)
        if source.shape != picked.shape:
            raise EvaluationError(
                f"select-and-scatter: operand 1 has sizes {list(source.shape)},"
                f" {list(picked.shape)} is wanted: one for each place of the window"
            )
        return scattered_back(scatter, np.full(operand.shape, init), picked, source)


class Map(Op, opcode="map"):
    """Calls `to_apply` on the elements at each index of arrays with equal dimensions."""

    category = Category.ELEMENTWISE
    access = Access.SAME
    arity = at_least(1)
    roles = (Role("to_apply"),)
    allows_mixed_precision = True

    dimensions: tuple[int, ...] = attr(INTEGERS, default=(), always=True)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operands' dimensions, row-major, of the type that `to_apply` yields.

        Scalar operands stand beside arrays, as in the reference.
        """
        shapes = arrays(operands, self.opcode)
        if not shapes:
            raise ShapeError("map: at least 1 operand is wanted, none is given")
        mapped = [shape for shape in shapes if not shape.is_scalar] or shapes
        check_same_dimensions(mapped, self.opcode)
        sizes, dynamic = mapped[0].dimensions, any_dynamic(mapped)
        wanted = tuple(range(len(sizes)))
        if self.dimensions != wanted:
            raise ShapeError(
                f"map: dimensions {INTEGERS.write(self.dimensions)} are given,"
                f" {INTEGERS.write(wanted)} is wanted"
            )
        what = "map: to_apply"
        check_signature(calls[0], [scalar_of(shape) for shape in shapes], None, what)
        yielded = scalar(calls[0].result, f"{what}: the result")
        return ArrayShape(yielded.element_type, sizes, None, dynamic)

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns a call for each element."""
        return traffic(sum(map(byte_count, operands)), result, flops=element_count(result))

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimension itself; a scalar has none."""
        operand = operands[number]
        return tuple(range(operand.rank)) if isinstance(operand, ArrayShape) else ()

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what the computation yields for the elements at each index."""
        check_live_sizes(operands, self.opcode)
        (result,) = Mapped(frame.calls[0])(operands)
        return result

    def adapted(self, operands: Sequence[Shape], declared: Shape) -> Self:
        """Returns the map over all dimensions, whatever was given."""
        dimensions = tuple(range(declared.rank)) if isinstance(declared, ArrayShape) else ()
        return self if self.dimensions == dimensions else self.replace(dimensions=dimensions)


class Scan(Op, opcode="scan"):
    """Walks along a dimension of arrays and hands values from each step to the next.

    Operands are the arrays, then `num_carries` values to start from. At each step `to_apply`
    takes the arrays' slices there, without that dimension, and the carries; it yields slices of
    the outputs and the new carries. The result has the outputs, put together along the
    dimension, and the last carries. `is_reverse` walks from the end; `is_associative` promises
    that steps may be grouped in any way, `None` says nothing.
    """

    category = Category.REDUCTION
    arity = at_least(1)
    roles = (Role("to_apply", aliases=("calls",), name_of_body="calls"),)
    allows_mixed_precision = True

    dimensions: int = attr(ONE_DIMENSION)
    num_carries: int = attr(INTEGER)
    is_reverse: bool = attr(BOOLEAN, default=False)
    is_associative: bool | None = attr(BOOLEAN, default=None)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the outputs, row-major, and the carries as `to_apply` yields them."""
        if not 0 <= self.num_carries < len(operands):
            raise ShapeError(
                f"scan: num_carries is {self.num_carries}, with {len(operands)} operands at"
                f" least 0 and at most {len(operands) - 1} is wanted"
            )
        count = len(operands) - self.num_carries
        inputs = arrays(operands[:count], self.opcode)
        carries = operands[count:]
        self._check_lengths(inputs)
        what = "scan: to_apply"
        slices = [_without(shape, self.dimensions) for shape in inputs]
        result = calls[0].result
        yielded = _parts(result)
        outputs = yielded[: max(0, len(yielded) - self.num_carries)]
        wanted = [*outputs, *carries]
        check_signature(
            calls[0],
            [*slices, *carries],
            TupleShape(wanted) if result.is_tuple or len(wanted) != 1 else wanted[0],
            what,
        )
        joined = [self._joined(output, inputs[0], what) for output in outputs]
        last = [carry.with_default_layout() for carry in yielded[len(outputs) :]]
        return TupleShape([*joined, *last]) if result.is_tuple else [*joined, *last][0]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the outputs of all steps put together, and the last carries."""
        count = len(operands) - self.num_carries
        inputs, carries = operands[:count], tuple(operands[count:])
        (step,) = frame.calls
        places = range(self._live_length(inputs))
        steps = []
        for place in reversed(places) if self.is_reverse else places:
            slices = [np.take(array, place, self.dimensions) for array in inputs]
            yielded = parts(step(*as_parameters(step, [*slices, *carries])))
            split = len(yielded) - self.num_carries
            steps.append(yielded[:split])
            carries = yielded[split:]
        if self.is_reverse:
            steps.reverse()
        return _one_or_all([*self._put_together(steps, frame), *carries], frame)

    def _live_length(self, inputs: Sequence[Array]) -> int:
        lengths = {array.shape[self.dimensions] for array in inputs}
        if len(lengths) > 1:
            raise EvaluationError(
                f"scan: operands have lengths {' and '.join(map(str, sorted(lengths)))}"
                f" in dimension {self.dimensions}, equal ones are wanted"
            )
        (length,) = lengths
        return int(length)

    def _put_together(self, steps: Sequence[tuple[Value, ...]], frame: Frame) -> list[Value]:
        """Returns the outputs: the slices of all steps, along the dimension."""
        if steps:
            return [np.stack(slices, self.dimensions) for slices in zip(*steps, strict=True)]
        declared = _parts(frame.shape)
        outputs = arrays(declared[: len(declared) - self.num_carries], self.opcode)
        sizes = [
            [0 if d == self.dimensions else size for d, size in enumerate(output.dimensions)]
            for output in outputs
        ]
        return [
            np.zeros(size, output.element_type.numpy)
            for size, output in zip(sizes, outputs, strict=True)
        ]

    def adapted(self, operands: Sequence[Shape], declared: Shape) -> Self:
        """Returns the scan with `is_associative` false where it was left open."""
        return self if self.is_associative is not None else self.replace(is_associative=False)

    def _check_lengths(self, inputs: Sequence[ArrayShape]) -> None:
        dimension = self.dimensions
        for number, shape in enumerate(inputs):
            check_dimension(dimension, shape.rank, f"scan: operand {number}: dimension")
            if not same_size(shape.dimensions[dimension], inputs[0].dimensions[dimension]):
                raise ShapeError(
                    f"scan: operand {number} is {shape.plain_text}, a length of"
                    f" {inputs[0].dimensions[dimension]} in dimension {dimension} is wanted"
                )

    def _joined(self, output: Shape, first: ArrayShape, what: str) -> ArrayShape:
        dimension = self.dimensions
        part = array(output, f"{what}: a result")
        check_dimension(dimension, part.rank + 1, f"{what}: result {part.plain_text}: dimension")
        sizes, dynamic = list(part.dimensions), list(part.dynamic_flags())
        sizes.insert(dimension, first.dimensions[dimension])
        dynamic.insert(dimension, first.is_dynamic(dimension))
        return ArrayShape(part.element_type, sizes, None, dynamic)


def _inputs_and_inits(
    operands: Sequence[Shape], opcode: str
) -> tuple[list[ArrayShape], list[ArrayShape]]:
    if not operands or len(operands) % 2:
        raise ShapeError(
            f"{opcode}: {len(operands)} operands are given, inputs and as many initial values"
            " are wanted"
        )
    half = len(operands) // 2
    shapes = arrays(operands, opcode)
    check_same_dimensions(shapes[:half], opcode)
    for number, init in enumerate(shapes[half:], half):
        scalar(init, f"{opcode}: operand {number}")
    return shapes[:half], shapes[half:]


def _check_reducer(
    reducer: ProgramShape, inits: Sequence[ArrayShape], inputs: Sequence[ArrayShape], what: str
) -> list[ArrayShape]:
    """Returns the scalars that a reducer yields; raises where it does not fit, float width apart.

    A single accumulator may be yielded in a tuple of one.
    """
    elements = [scalar_of(shape) for shape in inputs]
    for element, init in zip(elements, inits, strict=True):
        if not same_type_but_float_width(element.element_type, init.element_type):
            raise ShapeError(
                f"{what}: elements are {element.plain_text}, the initial value is"
                f" {init.plain_text}, one type is wanted"
            )
    is_alone = len(inits) == 1 and not reducer.result.is_tuple
    wanted = inits[0] if is_alone else TupleShape(inits)
    check_signature(reducer, [*inits, *elements], wanted, what)
    return [scalar(part, what) for part in _parts(reducer.result)]


def _one_or_all(values: Sequence[Value], frame: Frame) -> Value:
    """Returns a tuple of the values where the declared shape is one, else the only value."""
    return tuple(values) if frame.shape.is_tuple else values[0]


def _parts(shape: Shape) -> list[Shape]:
    return list(shape.elements) if isinstance(shape, TupleShape) else [shape]


def _without(shape: ArrayShape, dimension: int) -> ArrayShape:
    kept = [d for d in range(shape.rank) if d != dimension]
    flags = shape.dynamic_flags()
    return ArrayShape(
        shape.element_type, [shape.dimensions[d] for d in kept], None, [flags[d] for d in kept]
    )
