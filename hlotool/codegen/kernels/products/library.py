"""Large products by a function of a library, some rows at a time.

Measured with one thread: with vectors of 32 bytes OpenBLAS is up to a tenth faster than tiles of
ours from 512 rows, columns and terms on; with wider vectors tiles are as fast or faster, and so
they are for everything smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.indexing.places import divided
from hlotool.codegen.kernels.kernel import Kernel, Launch
from hlotool.codegen.kernels.libraries import LibraryFunction, library_function
from hlotool.codegen.kernels.products.axes import Axes, Axis, Operand, Role, axes_of
from hlotool.codegen.kernels.products.cuts import by_size, cut_start, even_cuts
from hlotool.codegen.kernels.products.numbers import Sums, sums_for
from hlotool.codegen.kernels.products.packing import axis_values
from hlotool.codegen.kernels.results import ResultEmitter
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.kernels.views import place_in
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import F32, F64
from hlotool.ir.instruction import Instruction

LIBRARY_VECTOR_BYTES = 32
"""With wider vectors no product is left to a library."""
_FUNCTIONS = {F32: LibraryFunction.SGEMM, F64: LibraryFunction.DGEMM}
_LEAST = 512
"""How many rows, columns and terms a product must have."""
_ROWS = 256
"""How many rows one call computes at most."""
_ROW_MAJOR, _AS_IT_LIES, _TURNED = 101, 111, 112


@dataclass
class LibraryProduct:
    """A product that a library can compute from where its operands lie."""

    dot: Instruction
    axes: Axes
    sums: Sums
    outer: list[Axis]
    row: Axis
    column: Axis
    term: Axis


def library_product(kernel: Kernel, dot: Instruction) -> LibraryProduct | None:
    """Returns a product for a library, where that is the fastest way."""
    axes = axes_of(kernel, dot)
    types = [element_type_of(one) for one in (*dot.operands, dot)]
    function = _FUNCTIONS.get(types[0])
    if function is None or len(set(types)) > 1 or kernel.target.vector_bytes > LIBRARY_VECTOR_BYTES:
        return None
    if function.name.lower() not in kernel.target.libraries:
        return None
    longest = [_longest(axes, role) for role in (Role.LEFT, Role.RIGHT, Role.TERM)]
    if any(axis is None or axis.extent < _LEAST for axis in longest):
        return None
    row, column, term = (axis for axis in longest if axis is not None)
    if len(axes.of_role[Role.TERM]) > 1 or not _lie_as_matrices(kernel, axes, (row, column), term):
        return None
    outer = [
        axis
        for role in (Role.BATCH, Role.LEFT, Role.RIGHT)
        for axis in axes.of_role[role]
        if axis not in (row, column)
    ]
    return LibraryProduct(dot, axes, sums_for(types[:2], types[2]), outer, row, column, term)


def _longest(axes: Axes, role: Role) -> Axis | None:
    return max(axes.of_role[role], key=lambda axis: axis.extent, default=None)


def _lie_as_matrices(kernel: Kernel, axes: Axes, free: tuple[Axis, Axis], term: Axis) -> bool:
    sources = kernel.sources()
    for operand, axis in zip(axes.operands, free, strict=True):
        if operand.source is None or sources[operand.source].memory.is_written:
            return False
        along, across = axis.stride(operand.name), term.stride(operand.name)
        if not ((across == 1 and along >= term.extent) or (along == 1 and across >= axis.extent)):
            return False
    return True


def emit_library_product(kernel: Kernel, product: LibraryProduct) -> Launch:
    """Writes the kernel: an item is some rows of one matrix product, whatever the threads."""
    return _Calls(kernel, product).write()


class _Calls:
    def __init__(self, kernel: Kernel, product: LibraryProduct) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._product = product
        self._rows = even_cuts(product.row.extent, _ROWS)
        self._is_direct = self._lies_in_rows()
        self._emitter = ResultEmitter(kernel, kernel.function, product.dot)
        self._values: dict[Axis, Index] = {}

    def write(self) -> Launch:
        """Writes the function, and says how it is run."""
        function, product, cuts = self._function, self._product, self._rows
        items = cuts.count
        for axis in product.outer:
            items *= axis.extent
        with function.loop(self._kernel.begin, self._kernel.end) as loop, self._emitter.region():
            number, piece = divided(function, loop.index, cuts.count)
            self._values = axis_values(function, product.outer, number)
            start = cut_start(function, cuts, piece)
            sums = self._sums(loop.index, start, items)
            by_size(function, cuts, piece, lambda rows: self._some_rows(sums, start, rows))
        terms = cuts.first_size * product.column.extent * product.term.extent
        return Launch(items, 1, terms * self._size / 64)

    @property
    def _size(self) -> int:
        return self._product.sums.held_type.storage_bytes

    def _lies_in_rows(self) -> bool:
        body, product = self._kernel.body, self._product
        axes = (*product.outer, product.row, product.column)
        return (
            [one for one, _ in body.outputs] == [product.dot]
            and all("out0" in axis.strides for axis in axes)
            and product.column.stride("out0") == 1
            and product.row.stride("out0") >= product.column.extent
        )

    def _sums(self, item: Value, start: Value, items: int) -> Value:
        """Writes the address of the sums of an item: in the result, or in memory of the kernel."""
        function, product = self._function, self._product
        if not self._is_direct:
            size = self._rows.first_size * product.column.extent * self._size
            begin = constant("i64", self._kernel.room(items * size))
            first = function.offset(self._kernel.workspace, begin)
            return function.offset(first, function.binary("mul nsw", item, constant("i64", size)))
        place_of_row = index_of(Counter(product.row.extent, start, splits=False))
        place = Index()
        for axis, value in {**self._values, product.row: place_of_row}.items():
            place = place + value * axis.stride("out0")
        return self._kernel.destination(0).address(function, place)

    def _some_rows(self, sums: Value, start: Value, rows: int) -> None:
        product, zero = self._product, constant("i64", 0)
        lhs, rhs = product.axes.operands
        left, left_stride, left_way = self._matrix(lhs, product.row, start)
        right, right_stride, right_way = self._matrix(rhs, product.column, zero)
        # For the right matrix terms are rows.
        right_way = _AS_IT_LIES + _TURNED - right_way
        width = product.column.extent
        stride = product.row.stride("out0") if self._is_direct else width
        lane = product.sums.lane
        self._function.call_pointer(
            library_function(self._kernel, _FUNCTIONS[product.sums.held_type]),
            "void",
            *(constant("i32", number) for number in (_ROW_MAJOR, left_way, right_way)),
            *(constant("i64", number) for number in (rows, width, product.term.extent)),
            constant(lane, 1),
            left,
            constant("i64", left_stride),
            right,
            constant("i64", right_stride),
            constant(lane, 0),
            sums,
            constant("i64", stride),
        )
        if not self._is_direct:
            self._finish(sums, start, rows)

    def _matrix(self, operand: Operand, free: Axis, start: Value) -> tuple[Value, int, int]:
        """Writes where a matrix begins; also how far rows lie apart, and whether it is turned."""
        name, term = operand.name, self._product.term
        first = index_of(Counter(free.extent, start, splits=False))
        place = place_in(self._kernel, self._function, operand.instruction, operand.index({}))
        for axis, value in {**self._values, free: first}.items():
            place = place + value * axis.stride(name)
        assert operand.source is not None, "it lies in memory"
        address = self._kernel.sources()[operand.source].address(self._function, place)
        if term.stride(name) == 1:
            return address, free.stride(name), _AS_IT_LIES
        return address, term.stride(name), _TURNED

    def _finish(self, sums: Value, start: Value, rows: int) -> None:
        """Writes the loops that store what is made of the sums, which are in the cache."""
        function, width = self._function, self._product.column.extent
        lanes = self._kernel.target.lanes(8 * self._size)
        end = constant("i64", rows)
        with self._emitter.region(), function.loop(constant("i64", 0), end) as loop:
            row = function.binary("add nsw", start, loop.index)
            begin = function.binary("mul nsw", loop.index, constant("i64", width))
            each_strip(
                self._emitter,
                width,
                lanes,
                lambda column: self._store(sums, begin, row, column),
            )

    def _store(self, sums: Value, begin: Value, row: Value, column: Value) -> None:
        """Writes the stores of as many elements of a row as the emitter has lanes."""
        function, product, lanes = self._function, self._product, self._emitter.lanes
        memory = Memory(sums, product.sums.held_type, is_written=True)
        place = function.binary("add nsw", begin, column)
        total = memory.load(function, memory.at(function, place), lanes)
        element = product.sums.result(function, total.parts, element_type_of(product.dot))
        here = {
            product.row: index_of(Counter(product.row.extent, row, splits=False)),
            product.column: index_of(Counter(product.column.extent, column, lanes, splits=False)),
        }
        self._emitter.store(product.axes.result_index({**self._values, **here}), element)
