"""Ops that read and write parts of an array at indices known only when the module runs."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.attribute import BOOLEAN, INTEGER, INTEGERS, ONE_DIMENSION
from hlotool.ir.element_type import S32
from hlotool.ir.op import Op, Role, at_least
from hlotool.ir.record import REQUIRED, attr
from hlotool.ir.shape import UNBOUNDED, ArrayShape, ProgramShape, Shape
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
)


class DynamicSlice(Op, opcode="dynamic-slice"):
    """Takes a part of an array; operands after it give the first index of each dimension.

    The start is moved so far that the part lies inside. One vector may hold all indices.
    """

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


class DynamicUpdateSlice(Op, opcode="dynamic-update-slice"):
    """Yields an array with a part of it replaced by the second operand.

    Operands after these give the first index of each dimension, or one vector all of them. The
    start is moved so far that the part lies inside.
    """

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


class IndexVectors:
    """The array of index vectors of a gather or scatter, taken apart.

    `batch` has size and dynamic flag of each dimension but the one that runs through a vector;
    `length` is the number of indices in a vector, `UNBOUNDED` where it is not known.
    """

    __slots__ = ("batch", "length", "shape", "vector_dimension")

    def __init__(self, shape: ArrayShape, vector_dimension: int, opcode: str) -> None:
        check_kind(shape, INTEGER_KINDS, f"{opcode}: the array of indices")
        # Behind the last dimension it means that each index is a vector of its own.
        check_dimension(vector_dimension, shape.rank + 1, f"{opcode}: index_vector_dim")
        pairs = list(zip(shape.dimensions, shape.dynamic_flags(), strict=True))
        self.shape = shape
        self.vector_dimension = vector_dimension
        self.length = 1
        if vector_dimension < shape.rank:
            self.length = pairs.pop(vector_dimension)[0]
        self.batch = pairs


class DimensionMap:
    """How a gather or scatter maps dimensions of its operand; with names as in its attributes.

    `dropped` are dimensions of the operand where a window has one element and no dimension,
    `batching` those which go along with dimensions `indices_batching` of the indices, and
    `index_map` those that the numbers of an index vector stand for.
    """

    __slots__ = ("batching", "dropped", "index_map", "indices_batching", "names", "opcode")

    def __init__(
        self,
        opcode: str,
        names: tuple[str, str, str, str],
        lists: tuple[tuple[int, ...], ...],
    ) -> None:
        self.opcode = opcode
        self.names = names
        self.dropped, self.index_map, self.batching, self.indices_batching = lists

    def check(self, operand: ArrayShape, indices: IndexVectors) -> None:
        """Raises `ShapeError` for dimensions out of range, used twice, or not one an index."""
        names = [f"{self.opcode}: {name}" for name in self.names]
        dropped, index_map, batching, indices_batching = names
        check_dimensions(self.dropped, operand.rank, dropped, increasing=True)
        check_dimensions(self.batching, operand.rank, batching, increasing=True)
        check_dimensions(self.index_map, operand.rank, index_map)
        check_dimensions(self.indices_batching, indices.shape.rank, indices_batching)
        _check_apart(self.batching, self.dropped, f"{batching} and {self.names[0]}")
        _check_apart(self.batching, self.index_map, f"{batching} and {self.names[1]}")
        if indices.vector_dimension in self.indices_batching:
            raise ShapeError(
                f"{indices_batching} contains index_vector_dim {indices.vector_dimension}"
            )
        if indices.length != UNBOUNDED:
            check_length(self.index_map, indices.length, index_map)
        check_length(self.indices_batching, len(self.batching), indices_batching)
        self._check_batching(operand, indices.shape)

    def _check_batching(self, operand: ArrayShape, indices: ArrayShape) -> None:
        for ours, theirs in zip(self.batching, self.indices_batching, strict=True):
            if not same_size(operand.dimensions[ours], indices.dimensions[theirs]):
                raise ShapeError(
                    f"{self.opcode}: batching dimensions {ours} of {operand.plain_text} and"
                    f" {theirs} of {indices.plain_text} differ in size"
                )

    def window_dimensions(self, operand: ArrayShape) -> list[int]:
        """Returns the dimensions of the operand that a window has too, in order."""
        gone = {*self.dropped, *self.batching}
        return [dimension for dimension in range(operand.rank) if dimension not in gone]


def _check_apart(one: Sequence[int], other: Sequence[int], what: str) -> None:
    shared = sorted(set(one) & set(other))
    if shared:
        raise ShapeError(f"{what} both contain {INTEGERS.write(tuple(shared))}")


class Gather(Op, opcode="gather"):
    """Takes many windows of one size out of an array, each at a start that indices give.

    The second operand holds index vectors along `index_vector_dim`; `start_index_map` says
    which dimension each of their numbers counts. A start is moved so far that the window lies
    inside. `offset_dims` are the dimensions of the result that run through a window.
    """

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

    def _check_single(self) -> None:
        for dimension in (*self.collapsed_slice_dims, *self.operand_batching_dims):
            if self.slice_sizes[dimension] > 1:
                raise ShapeError(
                    f"gather: slice_sizes {INTEGERS.write(self.slice_sizes)} must be 1"
                    f" in dimension {dimension}, which the result does not have"
                )


class Scatter(Op, opcode="scatter"):
    """Combines windows of updates into an array, each at a start that indices give.

    Operands are n arrays, the indices, and n arrays of updates. Index vectors are read as by
    gather, but a window that does not lie inside is left out. `to_apply` gets the elements
    that are there and then the updates. `update_window_dims` run through a window.
    """

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


class GetDimensionSize(Op, opcode="get-dimension-size"):
    """The size that a dimension of its operand turns out to have."""

    arity = 1

    dimensions: int = attr(ONE_DIMENSION)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns `s32[]`."""
        operand = array(operands[0], "get-dimension-size: operand")
        check_dimension(self.dimensions, operand.rank, "get-dimension-size: dimension")
        return ArrayShape(S32)


class SetDimensionSize(Op, opcode="set-dimension-size"):
    """Takes only as many elements of one dimension as its second operand says."""

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
