"""Ops that read and write parts of an array at indices known only when the module runs."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import EvaluationError, ShapeError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import BOOLEAN, INTEGER, INTEGERS, ONE_DIMENSION
from hlotool.ir.cost import Access, Cost, byte_count, element_count, traffic
from hlotool.ir.element_type import S32
from hlotool.ir.frame import Array, Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op, Role, at_least
from hlotool.ir.record import REQUIRED, attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape
from hlotool.ops.callees.scattering import scattered
from hlotool.ops.index_vectors import DimensionMap, IndexVectors
from hlotool.ops.numerics.gathering import Starts, window_places
from hlotool.ops.numerics.widths import rounded
from hlotool.ops.shape_checks import (
    INTEGER_KINDS,
    array,
    arrays,
    check_dimension,
    check_dimensions,
    check_kind,
    check_length,
    check_same_dimensions,
    check_signature,
    common_element_type,
    one_or_tuple,
    same_size,
    scalar_of,
    whole_dimensions,
)
from hlotool.ops.tuple_values import single_or_tuple


class DynamicSlice(Op, opcode="dynamic-slice"):
    """Takes a part of an array; operands after it give the first index of each dimension.

    The start is moved so far that the part lies inside. One vector may hold all indices.
    """

    category = Category.INDEXING
    access = Access.MOVED
    moved_operands = slice(0, 1)
    arity = at_least(1)
    infers_shape = False

    dynamic_slice_sizes: tuple[int, ...] = attr(INTEGERS)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the part, row-major."""
        operand, *starts = arrays(operands, self.opcode)
        _check_starts(operand, starts, self.opcode)
        sizes = self.dynamic_slice_sizes
        check_length(sizes, operand.rank, "dynamic-slice: dynamic_slice_sizes")
        _check_sizes(sizes, operand, f"{self.opcode}: dynamic_slice_sizes {INTEGERS.write(sizes)}")
        return ArrayShape(operand.element_type, sizes, None, _whole_dynamic(operand, sizes))

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns the reading of the part and of its place."""
        return traffic(byte_count(result) + sum(map(byte_count, operands[1:])), result)

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions that are taken whole."""
        if number:
            return super().kept_dimensions(number, operands, result)
        operand = array(operands[0], "dynamic-slice: operand 0")
        return whole_dimensions(self.dynamic_slice_sizes, operand.dimensions)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the part; a part as long as a dynamic dimension has what is live of it."""
        operand, *starts = operands
        declared = array(frame.operand_shapes[0], "dynamic-slice: operand 0")
        sizes = _live_window(self.dynamic_slice_sizes, operand, declared, self.opcode)
        return operand[_part(operand, starts, sizes)]


class DynamicUpdateSlice(Op, opcode="dynamic-update-slice"):
    """Yields an array with a part of it replaced by the second operand.

    Operands after these give the first index of each dimension, or one vector all of them. The
    start is moved so far that the part lies inside.
    """

    category = Category.INDEXING
    access = Access.UPDATED
    moved_operands = slice(0, 2)
    arity = at_least(2)
    infers_shape = False

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the first operand, layout included."""
        operand, update, *starts = arrays(operands, self.opcode)
        _check_starts(operand, starts, self.opcode)
        common_element_type([operand, update], self.opcode)
        check_length(update.dimensions, operand.rank, "dynamic-update-slice: shape of operand 1")
        # A size that is not known may fit.
        sizes = [0 if size == UNBOUNDED else size for size in update.dimensions]
        _check_sizes(sizes, operand, f"{self.opcode}: operand 1, {update.plain_text},")
        grown = _whole_dynamic(update, operand.dimensions)
        dynamic = [one or other for one, other in zip(operand.dynamic_flags(), grown, strict=True)]
        return ArrayShape(operand.element_type, operand.dimensions, operand.layout, dynamic)

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns the writing of the part alone: the array is changed in its place."""
        return traffic(sum(map(byte_count, operands[1:])), operands[1])

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns the dimensions that are replaced from end to end."""
        if number > 1:
            return super().kept_dimensions(number, operands, result)
        operand, update = array(result, "result"), array(operands[number], "operand")
        return whole_dimensions(operand.dimensions, update.dimensions)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the first operand with a part replaced."""
        operand, update, *starts = operands
        if any(size > bound for size, bound in zip(update.shape, operand.shape, strict=True)):
            raise EvaluationError(
                f"dynamic-update-slice: an update of sizes {list(update.shape)} is given,"
                f" at most {list(operand.shape)} is wanted"
            )
        element_type = array(
            frame.operand_shapes[0], "dynamic-update-slice: operand 0"
        ).element_type
        if element_type.is_float:
            update = rounded(update, element_type)
        result = operand.copy()
        result[_part(operand, starts, update.shape)] = update
        return result


def _part(operand: Array, starts: Sequence[Array], sizes: Sequence[int]) -> tuple[slice, ...]:
    """Returns the part of these sizes that begins as near to `starts` as it lies inside."""
    numbers = [int(number) for start in starts for number in start.reshape(-1)]
    part = []
    for start, size, bound in zip(numbers, sizes, operand.shape, strict=True):
        first = max(0, min(start, bound - size))
        part.append(slice(first, first + size))
    return tuple(part)


def _live_window(
    sizes: Sequence[int], operand: Array, declared: ArrayShape, opcode: str
) -> list[int]:
    """Returns the sizes of a window: one as long as a dynamic dimension has what is live of it.

    Raises `EvaluationError` where there are less elements than a window has.
    """
    whole = _whole_dynamic(declared, sizes)
    live = [
        min(size, there) if is_whole else size
        for size, there, is_whole in zip(sizes, operand.shape, whole, strict=True)
    ]
    if any(size > there for size, there in zip(live, operand.shape, strict=True)):
        raise EvaluationError(
            f"{opcode}: a window of {live} is given, at most {list(operand.shape)} is wanted"
        )
    return live


def _check_starts(operand: ArrayShape, starts: Sequence[ArrayShape], opcode: str) -> None:
    for start in starts:
        check_kind(start, INTEGER_KINDS, f"{opcode}: a start index")
    if len(starts) == 1 and starts[0].rank == 1:
        if not same_size(starts[0].dimensions[0], operand.rank):
            raise ShapeError(
                f"{opcode}: start indices are {starts[0].plain_text},"
                f" a vector of {operand.rank} is wanted"
            )
        return
    check_length(starts, operand.rank, f"{opcode}: list of start indices")
    for start in starts:
        if not start.is_scalar:
            raise ShapeError(f"{opcode}: a start index is {start.plain_text}, a scalar is wanted")


def _check_sizes(sizes: Sequence[int], operand: ArrayShape, what: str) -> None:
    for size, bound in zip(sizes, operand.dimensions, strict=True):
        if size < 0 or (size > bound and bound != UNBOUNDED):
            raise ShapeError(f"{what} is no part of {operand.plain_text}")


def _whole_dynamic(operand: ArrayShape, sizes: Sequence[int]) -> list[bool]:
    # A part that is shorter than a dynamic dimension has its own size; one as long is dynamic too.
    whole = zip(operand.dimensions, operand.dynamic_flags(), sizes, strict=True)
    return [flag and bound == size for bound, flag, size in whole]


class Gather(Op, opcode="gather"):
    """Takes many windows of one size out of an array, each at a start that indices give.

    The second operand holds index vectors along `index_vector_dim`; `start_index_map` says
    which dimension each of their numbers counts. A start is moved so far that the window lies
    inside. `offset_dims` are the dimensions of the result that run through a window.
    """

    category = Category.INDEXING
    access = Access.MOVED
    moved_operands = slice(0, 1)
    arity = 2

    offset_dims: tuple[int, ...] = attr(INTEGERS)
    collapsed_slice_dims: tuple[int, ...] = attr(INTEGERS)
    start_index_map: tuple[int, ...] = attr(INTEGERS)
    operand_batching_dims: tuple[int, ...] = attr(INTEGERS, default=())
    start_indices_batching_dims: tuple[int, ...] = attr(INTEGERS, default=())
    index_vector_dim: int = attr(INTEGER, default=REQUIRED)
    slice_sizes: tuple[int, ...] = attr(INTEGERS, default=REQUIRED)
    indices_are_sorted: bool = attr(BOOLEAN, default=False)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns index dimensions in order, with window dimensions at `offset_dims`; row-major."""
        operand, start_indices = arrays(operands, self.opcode)
        indices = IndexVectors(start_indices, self.index_vector_dim, self.opcode)
        dimensions = self.dimension_map()
        dimensions.check(operand, indices)
        check_length(self.slice_sizes, operand.rank, "gather: slice_sizes")
        shown = INTEGERS.write(self.slice_sizes)
        _check_sizes(self.slice_sizes, operand, f"gather: slice_sizes {shown}")
        self._check_single()
        window = dimensions.window_dimensions(operand)
        check_length(self.offset_dims, len(window), "gather: offset_dims")
        rank = len(indices.batch) + len(window)
        check_dimensions(self.offset_dims, rank, "gather: offset_dims", increasing=True)
        dynamic = _whole_dynamic(operand, self.slice_sizes)
        offsets = iter([(self.slice_sizes[d], dynamic[d]) for d in window])
        batch = iter(indices.batch)
        pairs = [next(offsets if d in self.offset_dims else batch) for d in range(rank)]
        sizes, flags = [size for size, _ in pairs], [flag for _, flag in pairs]
        return ArrayShape(operand.element_type, sizes, None, flags)

    def dimension_map(self) -> DimensionMap:
        """Returns the part of the attributes that a gather shares with a scatter."""
        return DimensionMap(
            self.opcode,
            ("collapsed_slice_dims", "start_index_map", "operand_batching_dims",
             "start_indices_batching_dims"),
            (self.collapsed_slice_dims, self.start_index_map, self.operand_batching_dims,
             self.start_indices_batching_dims),
        )  # fmt: skip

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns the reading of the windows and of their places."""
        return traffic(byte_count(result) + byte_count(operands[1]), result)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the windows, each moved inside; zeros for windows without any element."""
        operand, indices = operands
        declared = array(frame.operand_shapes[0], "gather: operand 0")
        sizes = _live_window(self.slice_sizes, operand, declared, self.opcode)
        dimensions = self.dimension_map()
        window = dimensions.window_dimensions(declared)
        starts = {
            dimension: np.clip(start, 0, operand.shape[dimension] - sizes[dimension])
            for dimension, start in dimensions.starts(indices, self.index_vector_dim).items()
        }
        batch = _without(indices.shape, self.index_vector_dim)
        offsets = iter([sizes[d] for d in window])
        outer = iter(batch)
        rank = len(batch) + len(window)
        result = [next(offsets if d in self.offset_dims else outer) for d in range(rank)]
        if any(sizes[d] == 0 for d in (*self.collapsed_slice_dims, *self.operand_batching_dims)):
            return np.zeros(result, operand.dtype)
        places = window_places(starts, sizes, window, self.offset_dims, batch)
        return np.broadcast_to(operand[tuple(places)], result)

    def _check_single(self) -> None:
        for dimension in (*self.collapsed_slice_dims, *self.operand_batching_dims):
            if self.slice_sizes[dimension] > 1:
                raise ShapeError(
                    f"gather: slice_sizes {INTEGERS.write(self.slice_sizes)} must be 1"
                    f" in dimension {dimension}, which the result does not have"
                )


def _without(sizes: Sequence[int], dimension: int) -> list[int]:
    return [size for d, size in enumerate(sizes) if d != dimension]


def _inside(
    starts: Starts, sizes: Sequence[int], bounds: Sequence[int], batch: Sequence[int]
) -> Array:
    """Returns for each window of `batch` whether all of it lies inside of `bounds`."""
    is_inside = np.ones(batch, bool)
    for dimension, (size, bound) in enumerate(zip(sizes, bounds, strict=True)):
        start = starts.get(dimension, np.zeros(batch, np.int64))
        is_inside &= (start >= 0) & (start <= bound - size)
    return is_inside


class Scatter(Op, opcode="scatter"):
    """Combines windows of updates into an array, each at a start that indices give.

    Operands are n arrays, the indices, and n arrays of updates. Index vectors are read as by
    gather, but a window that does not lie inside is left out. `to_apply` gets the elements
    that are there and then the updates. `update_window_dims` run through a window.
    """

    category = Category.INDEXING
    access = Access.UPDATED
    arity = at_least(3, step=2)
    roles = (Role("to_apply"),)

    update_window_dims: tuple[int, ...] = attr(INTEGERS)
    inserted_window_dims: tuple[int, ...] = attr(INTEGERS)
    scatter_dims_to_operand_dims: tuple[int, ...] = attr(INTEGERS)
    input_batching_dims: tuple[int, ...] = attr(INTEGERS, default=())
    scatter_indices_batching_dims: tuple[int, ...] = attr(INTEGERS, default=())
    index_vector_dim: int = attr(INTEGER, default=REQUIRED)
    indices_are_sorted: bool = attr(BOOLEAN, default=False)
    unique_indices: bool = attr(BOOLEAN, default=False)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the array, layout included, or of several the tuple."""
        shapes = arrays(operands, self.opcode)
        count, rest = divmod(len(shapes), 2)
        if not count or not rest:
            raise ShapeError(
                f"scatter: {len(shapes)} operands, n arrays, indices and n updates are wanted"
            )
        inputs, updates = shapes[:count], shapes[count + 1 :]
        check_same_dimensions(inputs, self.opcode)
        check_same_dimensions(updates, self.opcode)
        for pair in zip(inputs, updates, strict=True):
            common_element_type(pair, self.opcode)
        self._check_updates(inputs[0], shapes[count], updates[0])
        (combiner,) = calls
        scalars = [scalar_of(shape) for shape in (*inputs, *updates)]
        result = one_or_tuple(scalars[:count])
        check_signature(combiner, scalars, result, "scatter: to_apply")
        return one_or_tuple(inputs)

    def dimension_map(self) -> DimensionMap:
        """Returns the part of the attributes that a scatter shares with a gather."""
        return DimensionMap(
            self.opcode,
            ("inserted_window_dims", "scatter_dims_to_operand_dims", "input_batching_dims",
             "scatter_indices_batching_dims"),
            (self.inserted_window_dims, self.scatter_dims_to_operand_dims,
             self.input_batching_dims, self.scatter_indices_batching_dims),
        )  # fmt: skip

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns the reading and writing of the windows alone: arrays change in their place."""
        count = len(operands) // 2
        updates = operands[count + 1 :]
        written = sum(map(byte_count, updates))
        return Cost(
            flops=element_count(updates[0]),
            bytes_read=2 * written + byte_count(operands[count]),
            bytes_written=written,
        )

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the arrays with the windows that lie inside combined, in row-major order."""
        count = len(operands) // 2
        inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
        shapes = arrays(frame.operand_shapes, self.opcode)[:count]
        _check_live([*inputs], self.opcode)
        _check_live([*updates], self.opcode)
        places, is_inside = self._places(inputs[0], indices, updates[0], shapes[0])
        results = scattered(
            frame.calls[0],
            [shape.element_type for shape in shapes],
            [array.reshape(-1) for array in inputs],
            places[is_inside],
            [update[is_inside] for update in updates],
        )
        whole = [flat.reshape(inputs[0].shape) for flat in results]
        return single_or_tuple(whole)

    def _places(
        self, operand: Array, indices: Array, update: Array, declared: ArrayShape
    ) -> tuple[Array, Array]:
        """Returns for each update its place among all elements, and whether its window counts."""
        batch = _without(indices.shape, self.index_vector_dim)
        outer = [size for d, size in enumerate(update.shape) if d not in self.update_window_dims]
        if outer != batch:
            raise EvaluationError(
                f"scatter: updates have sizes {list(update.shape)},"
                f" a window for each of {batch} index vectors is wanted"
            )
        dimensions = self.dimension_map()
        window = dimensions.window_dimensions(declared)
        sizes = self.window_sizes(declared, update.shape)
        starts = dimensions.starts(indices, self.index_vector_dim)
        is_inside = _inside(starts, sizes, operand.shape, batch)
        # Whatever lies outside is not used, and must not overflow.
        kept = {dimension: np.where(is_inside, start, 0) for dimension, start in starts.items()}
        along = window_places(kept, sizes, window, self.update_window_dims, batch)
        place: Array = np.zeros([1] * update.ndim, np.int64)
        for index, bound in zip(along, operand.shape, strict=True):
            place = place * bound + index
        spread = [1 if d in self.update_window_dims else n for d, n in enumerate(update.shape)]
        return (
            np.broadcast_to(place, update.shape),
            np.broadcast_to(is_inside.reshape(spread), update.shape),
        )

    def window_sizes(self, operand: ArrayShape, update_sizes: Sequence[int]) -> list[int]:
        """Returns the size of a window in each dimension of the operand."""
        sizes = [1] * operand.rank
        window = self.dimension_map().window_dimensions(operand)
        for ours, theirs in zip(self.update_window_dims, window, strict=True):
            sizes[theirs] = update_sizes[ours]
        return sizes

    def _check_updates(self, operand: ArrayShape, index: ArrayShape, update: ArrayShape) -> None:
        indices = IndexVectors(index, self.index_vector_dim, self.opcode)
        dimensions = self.dimension_map()
        dimensions.check(operand, indices)
        window = dimensions.window_dimensions(operand)
        rank = len(indices.batch) + len(window)
        if update.rank != rank:
            raise ShapeError(f"scatter: updates are {update.plain_text}, rank {rank} is wanted")
        check_length(self.update_window_dims, len(window), "scatter: update_window_dims")
        check_dimensions(
            self.update_window_dims, rank, "scatter: update_window_dims", increasing=True
        )
        for ours, theirs in zip(self.update_window_dims, window, strict=True):
            size, bound = update.dimensions[ours], operand.dimensions[theirs]
            if size > bound != UNBOUNDED:
                raise ShapeError(
                    f"scatter: windows of {update.plain_text} are larger than {operand.plain_text}"
                )
        rest = [update.dimensions[d] for d in range(rank) if d not in self.update_window_dims]
        for size, (wanted, _) in zip(rest, indices.batch, strict=True):
            if not same_size(size, wanted):
                raise ShapeError(
                    f"scatter: updates are {update.plain_text},"
                    f" one window for each index of {index.plain_text} is wanted"
                )


def _check_live(values: Sequence[Array], opcode: str) -> None:
    sizes = dict.fromkeys(value.shape for value in values)
    if len(sizes) > 1:
        shown = " and ".join(str(list(size)) for size in sizes)
        raise EvaluationError(f"{opcode}: sizes {shown} are given, equal ones are wanted")


class GetDimensionSize(Op, opcode="get-dimension-size"):
    """The size that a dimension of its operand turns out to have."""

    category = Category.MOVEMENT
    arity = 1

    dimensions: int = attr(ONE_DIMENSION)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns `s32[]`."""
        operand = array(operands[0], "get-dimension-size: operand")
        check_dimension(self.dimensions, operand.rank, "get-dimension-size: dimension")
        return ArrayShape(S32)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns how many elements are live."""
        return np.asarray(operands[0].shape[self.dimensions], np.int32)


class SetDimensionSize(Op, opcode="set-dimension-size"):
    """Takes only as many elements of one dimension as its second operand says."""

    category = Category.MOVEMENT
    arity = 2

    dimensions: int = attr(ONE_DIMENSION)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape, layout included, with the dimension dynamic."""
        operand, size = arrays(operands, self.opcode)
        check_dimension(self.dimensions, operand.rank, "set-dimension-size: dimension")
        if not size.compatible(ArrayShape(S32)):
            raise ShapeError(f"set-dimension-size: size is {size.plain_text}, s32[] is wanted")
        dynamic = list(operand.dynamic_flags())
        dynamic[self.dimensions] = True
        return ArrayShape(operand.element_type, operand.dimensions, operand.layout, dynamic)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the first elements; those that were cut off before come back as 0."""
        operand, size = operands[0], int(operands[1])
        shape = array(frame.operand_shapes[0], "set-dimension-size: operand")
        bound = shape.dimensions[self.dimensions]
        live = operand.shape[self.dimensions]
        largest = live if bound == UNBOUNDED else bound
        if not 0 <= size <= largest:
            raise EvaluationError(f"{self.opcode}: size {size} is given, 0 to {largest} is wanted")
        if size > live:
            more = [(0, size - live if d == self.dimensions else 0) for d in range(operand.ndim)]
            return np.pad(operand, more)
        return operand[(slice(None),) * self.dimensions + (slice(size),)]
