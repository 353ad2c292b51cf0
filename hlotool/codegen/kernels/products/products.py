"""Kernels of dots: blocks of tiles, then what is done with the sums before they are written."""

from __future__ import annotations

from typing import TypeAlias

from hlotool.codegen.elements.shapes import element_type_of
from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.indexing.places import divided
from hlotool.codegen.kernels.kernel import Kernel, Launch, kernel
from hlotool.codegen.kernels.products.axes import Axis
from hlotool.codegen.kernels.products.cuts import Cuts, by_size, cut_start
from hlotool.codegen.kernels.products.library import emit_library_product, library_product
from hlotool.codegen.kernels.products.packing import Packing, axis_values, pack, packed_panel
from hlotool.codegen.kernels.products.plan import Factor, Form, Plan, plan_for
from hlotool.codegen.kernels.products.tiles import Chunk, Tiles
from hlotool.codegen.kernels.results import ResultEmitter
from hlotool.codegen.kernels.views import place_in
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.memory import Memory
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import PRED
from hlotool.ops.contraction import Dot

_Range: TypeAlias = tuple[Value, Value]


@kernel(Dot)
def emit_products(kernel: Kernel) -> Launch:
    """Writes the kernel of a body that has one dot."""
    dots = [member for member in kernel.body.members if isinstance(member.op, Dot)]
    if len(dots) > 1:
        raise NotCompiled("two products in one kernel")
    product = library_product(kernel, dots[0])
    if product is not None:
        return emit_library_product(kernel, product)
    plan = plan_for(kernel, dots[0])
    pack(kernel, plan)
    return _Blocks(kernel, plan).write()


class _Blocks:
    def __init__(self, kernel: Kernel, plan: Plan) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._plan = plan
        self._down, self._across = plan.blocks()
        self._repeats = plan.form is Form.OUTER and plan.repeats(plan.left)
        self._is_direct = not self._repeats and _is_direct(kernel, plan)
        height, width = plan.rows.first_size, plan.columns.first_size
        if plan.chunk:
            height, width = height * self._down, width * self._across
        self._stride = plan.left.free.stride("out0") if self._is_direct else width
        self._tiles = Tiles(kernel, plan, self._stride)
        self._emitter = ResultEmitter(kernel, kernel.function, plan.dot)
        self._values: dict[Axis, Index] = {}
        self._corner = constant("i64", 0)
        """The first column of a block."""
        if not self._is_direct:
            self._scratch = self._function.scratch("i8", height * width * plan.sum_bytes)
        self._left = self._local(plan.left, self._down)
        self._right = self._local(plan.right, 1)

    def write(self) -> Launch:
        """Writes the function, and says how it is run."""
        function, plan = self._function, self._plan
        row_blocks = -(-plan.rows.count // self._down)
        column_blocks = -(-plan.columns.count // self._across)
        with function.loop(self._kernel.begin, self._kernel.end) as loop:
            number, row_block = divided(function, loop.index, row_blocks)
            number, column_block = divided(function, number, column_blocks)
            self._values = axis_values(function, plan.outer, number)
            rows = self._range(row_block, self._down, plan.rows)
            columns = self._range(column_block, self._across, plan.columns)
            with self._emitter.region():
                self._block(rows, columns)
        each = plan.nanoseconds(self._down, self._across)
        count = plan.outer_count * row_blocks * column_blocks
        return Launch.in_pieces(count, each)

    def _local(self, factor: Factor, panels: int) -> Packing | None:
        """Returns how a factor is packed on the stack, if it is."""
        if not factor.is_local:
            return None
        function, plan = self._function, self._plan
        size = panels * plan.panel_elements(factor) * plan.sum_bytes
        return Packing(self._kernel, function, plan, factor, function.scratch("i8", size))

    def _block(self, rows: _Range, columns: _Range) -> None:
        function, plan = self._function, self._plan
        zero, never = constant("i64", 0), constant("i1", 0)
        if self._left is not None:
            with function.loop(*rows) as loop, self._emitter.region():
                number = function.binary("sub nsw", loop.index, rows[0])
                self._left.write_piece(self._values, loop.index, number)
        if not plan.chunk:
            self._pass(rows, columns, Chunk(zero, plan.depth, never), finishes=True)
            return
        self._corner = cut_start(function, plan.columns, columns[0])
        whole = (plan.depth - 1) // plan.chunk
        with function.loop(zero, constant("i64", whole)) as loop, self._emitter.region():
            begin = function.binary("mul nsw", loop.index, constant("i64", plan.chunk))
            adds = function.compare("ne", loop.index, zero)
            self._pass(rows, columns, Chunk(begin, plan.chunk, adds), finishes=False)
        done = whole * plan.chunk
        last = Chunk(constant("i64", done), plan.depth - done, constant("i1", 1))
        self._pass(rows, columns, last, finishes=True)

    def _pass(self, rows: _Range, columns: _Range, terms: Chunk, *, finishes: bool) -> None:
        """Writes a run over all tiles of a block, for all terms or some."""
        function, plan = self._function, self._plan
        with function.loop(*columns) as loop, self._emitter.region():
            panel = loop.index
            by_size(
                function,
                plan.columns,
                panel,
                lambda size: self._panel(panel, size, rows, terms, finishes=finishes),
            )

    def _range(self, block: Value, size: int, cuts: Cuts) -> tuple[Value, Value]:
        function = self._function
        begin = function.binary("mul nsw", block, constant("i64", size))
        end = function.binary("add nsw", begin, constant("i64", size))
        if cuts.count % size:
            end = function.intrinsic("smin", end, constant("i64", cuts.count))
        return begin, end

    def _panel(
        self, panel: Value, columns: int, rows: _Range, terms: Chunk, *, finishes: bool
    ) -> None:
        """Writes the tiles of some columns."""
        function, plan = self._function, self._plan
        start = cut_start(function, plan.columns, panel)
        if self._right is not None:
            right = self._right.panel(constant("i64", 0))
            self._right.write(self._values, columns, start, right)
        else:
            right = self._address(plan.right, panel, start, terms)
        with self._emitter.region(), function.loop(*rows) as loop, self._emitter.region():
            first = cut_start(function, plan.rows, loop.index)
            if self._left is not None:
                left = self._left.panel(function.binary("sub nsw", loop.index, rows[0]))
            else:
                left = self._address(plan.left, loop.index, first, terms)
            sums = self._sums(loop.index, rows[0], first, start)
            addresses = (left, right, sums)
            if self._repeats:
                self._tiles.call(plan.rows.first_size, columns, terms, addresses)
            else:
                by_size(
                    function,
                    plan.rows,
                    loop.index,
                    lambda size: self._tiles.call(size, columns, terms, addresses),
                )
            if finishes and not self._is_direct:
                self._finish(sums, loop.index, (first, start), columns)

    def _sums(self, tile: Value, begin: Value, row: Value, column: Value) -> Value:
        """Writes the address of the sums of a tile; `begin` is the number of the block's first."""
        if self._is_direct:
            return self._place(row, column)
        if not self._plan.chunk:
            return self._scratch
        function = self._function
        # All tiles have room for as many rows: one may hold a row that is not its own.
        down = function.binary("sub nsw", tile, begin)
        across = function.binary("sub nsw", column, self._corner)
        each = constant("i64", self._stride * self._plan.rows.first_size)
        place = function.binary("mul nsw", down, each)
        place = function.binary("add nsw", place, across)
        return Memory(self._scratch, self._plan.sums.held_type).at(function, place)

    def _address(self, factor: Factor, piece: Value, start: Value, terms: Chunk) -> Value:
        """Writes where a tile begins to read an operand."""
        function = self._function
        first = self._first_address(factor, piece, start)
        if terms.begin.integer == 0:
            return first
        stride = constant("i64", factor.term_strides[0])
        return Memory(first, factor.type).at(
            function, function.binary("mul nsw", terms.begin, stride)
        )

    def _first_address(self, factor: Factor, piece: Value, start: Value) -> Value:
        function = self._function
        if factor.is_packed:
            return packed_panel(function, self._plan, factor, self._values, piece)
        source = factor.operand.source
        if source is None or not self._plan.depth:
            return self._kernel.workspace  # nothing is read
        place = place_in(
            self._kernel, function, factor.operand.instruction, factor.operand.index({})
        )
        first = index_of(Counter(max(1, factor.free.extent), start, splits=False))
        for axis, value in {**self._values, factor.free: first}.items():
            place = place + value * axis.stride(factor.operand.name)
        return self._kernel.sources()[source].address(function, place)

    def _place(self, row: Value, column: Value) -> Value:
        """Writes the address of a sum that the only output is."""
        output = self._kernel.destination(0)
        place = Index()
        for axis, value in {**self._values, **self._here(row, column, 1)}.items():
            place = place + value * axis.stride("out0")
        return output.address(self._function, place)

    def _here(self, row: Value, column: Value, lanes: int) -> dict[Axis, Index]:
        left, right = self._plan.left.free, self._plan.right.free
        return {
            left: index_of(Counter(left.extent, row, splits=False)),
            right: index_of(Counter(right.extent, column, lanes, splits=False)),
        }

    def _finish(self, sums: Value, tile: Value, corner: tuple[Value, Value], columns: int) -> None:
        """Writes the loop over the rows of a tile that stores what is made of its sums."""
        function, plan = self._function, self._plan
        cuts = plan.rows
        count = constant("i64", cuts.first_size)
        if cuts.second_count:
            is_first = function.compare("slt", tile, constant("i64", cuts.first_count))
            count = function.select(is_first, count, constant("i64", cuts.second_size))
        with function.loop(constant("i64", 0), count) as loop, self._emitter.region():
            row = function.binary("add nsw", corner[0], loop.index)
            begin = function.binary("mul nsw", loop.index, constant("i64", self._stride))
            for offset in range(0, columns, plan.lanes):
                lanes = min(plan.lanes, columns - offset)
                place = function.binary("add nsw", begin, constant("i64", offset))
                column = function.binary("add nsw", corner[1], constant("i64", offset))
                address = Memory(sums, plan.sums.held_type).at(function, place)
                self._store(address, row, column, lanes)

    def _store(self, address: Value, row: Value, column: Value, lanes: int) -> None:
        function, plan = self._function, self._plan
        memory = Memory(address, plan.sums.held_type, is_written=True)
        total = memory.load(function, address, lanes)
        element = plan.sums.result(function, total.parts, element_type_of(plan.dot))
        index = plan.axes.result_index({**self._values, **self._here(row, column, lanes)})
        with self._emitter.with_lanes(lanes):
            self._emitter.store(index, element)


def _is_direct(kernel: Kernel, plan: Plan) -> bool:
    """Whether tiles can store their sums where the result lies."""
    shape = kernel.output_shape(0)
    if [one for one, _ in kernel.body.outputs] != [plan.dot]:
        return False
    if shape.element_type is not plan.sums.held_type or shape.element_type is PRED:
        return False
    row, column = plan.left.free, plan.right.free
    axes = [axis for axis in (*plan.outer, row, column) if axis.extent > 1]
    known = all("out0" in axis.strides for axis in axes)
    return known and (column.extent == 1 or column.stride("out0") == 1)
