"""Operands copied into panels: in the type of the sums, and in the order in which tiles read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.indexing.index_values import first_value
from hlotool.codegen.indexing.places import decoded, divided, increased, scaled
from hlotool.codegen.kernels.kernel import Kernel, Launch, Phase
from hlotool.codegen.kernels.products.axes import Axis
from hlotool.codegen.kernels.products.cuts import by_size, cut_start
from hlotool.codegen.kernels.products.plan import Factor, Form, Plan
from hlotool.codegen.kernels.strips import strips
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, Parts
from hlotool.codegen.numbers.memory import Memory

_ROWS_AT_ONCE = 4
"""How many elements of a column are moved in one round of a loop."""


def pack(kernel: Kernel, plan: Plan) -> None:
    """Adds a phase to a kernel that copies operands into panels, one for each cut."""
    function = kernel.phase()
    packings = [
        Packing(kernel, function, plan, factor, _begin(function, factor))
        for factor in (plan.left, plan.right)
        if factor.is_packed and not factor.is_local
    ]
    if not packings:
        return
    with function.loop(Value("%begin", "i64"), Value("%end", "i64")) as loop:
        _write_pieces(function, packings, loop.index)
    count = sum(packing.count for packing in packings)
    each = max(1.0, 0.3 * sum(packing.count * packing.size for packing in packings) / count)
    launch = Launch.in_pieces(count, each)
    kernel.phases.append(Phase(function, launch))


def _write_pieces(function: FunctionWriter, packings: list[Packing], item: Value) -> None:
    """Writes the copy of a piece of the first operand, or of those behind it."""
    first, *others = packings
    if not others:
        first.write_item(item)
        return

    def theirs() -> None:
        rest = function.binary("sub nsw", item, constant("i64", first.count))
        _write_pieces(function, others, rest)

    is_first = function.compare("slt", item, constant("i64", first.count))
    function.branch(is_first, lambda: first.write_item(item), theirs)


def axis_values(function: FunctionWriter, axes: list[Axis], number: Value) -> dict[Axis, Index]:
    """Writes the place in each axis from the place among all, the last axis being the fastest."""
    places = decoded(function, number, [axis.extent for axis in axes])
    return {
        axis: index_of(Counter(axis.extent, place, splits=False))
        for axis, place in zip(axes, places, strict=True)
    }


class Packing:
    """Copies pieces of a factor into panels, in a function of a kernel."""

    def __init__(
        self, kernel: Kernel, function: FunctionWriter, plan: Plan, factor: Factor, begin: Value
    ) -> None:
        self.function = function
        self._plan = plan
        self._factor = factor
        self._begin = begin
        self._cuts = plan.cuts(factor)
        self.count = factor.outer_count * self._cuts.count
        self.size = plan.panel_elements(factor)
        self._emitter = ElementEmitter(function, kernel.target, kernel.sources())
        self._panel = begin
        self._values: dict[Axis, Index] = {}
        self._term = constant("i64", 0)
        self._block: Value | None = None

    def panel(self, number: Value) -> Value:
        """Writes the address of a panel."""
        place = self.function.binary("mul nsw", number, constant("i64", self.size))
        return Memory(self._begin, self._plan.sums.held_type).at(self.function, place)

    def write_item(self, item: Value) -> None:
        """Writes the copy of a piece of any of the matrices that a factor is."""
        around, piece = divided(self.function, item, self._cuts.count)
        self.write_piece(axis_values(self.function, self._factor.outer, around), piece, item)

    def write_piece(self, values: dict[Axis, Index], piece: Value, number: Value) -> None:
        """Writes the copy of a piece to the panel with a number."""
        panel = self.panel(number)
        start = cut_start(self.function, self._cuts, piece)
        with self._emitter.region():
            if self._plan.repeats(self._factor):
                self.write(values, self._cuts.first_size, start, panel)
                return
            by_size(
                self.function,
                self._cuts,
                piece,
                lambda rows: self.write(values, rows, start, panel),
            )

    def write(self, values: dict[Axis, Index], rows: int, start: Value, panel: Value) -> None:
        """Writes the copy of so many rows, or columns, to an address.

        `values` are the places in the axes around, for which a factor is a matrix.
        """
        self._values, self._panel = dict(values), panel
        with self._emitter.region():
            if self._plan.form is Form.INNER:
                with self._loop(0, rows, 1) as row:
                    self._over_terms(partial(self._copy_row, row, start))
            elif self._factor.reads_terms:
                self._over_terms(lambda lanes: self._transpose(rows, start, lanes))
            else:
                self._over_terms(lambda _: self._copy_columns(rows, start), in_lanes=False)

    # Loops over terms

    def _over_terms(self, write: Callable[[int], None], *, in_lanes: bool = True) -> None:
        """Writes loops over all terms; `write` is given how many terms it handles at once."""
        self._term = constant("i64", 0)
        self._nested(0, write, in_lanes=in_lanes)

    def _nested(self, level: int, write: Callable[[int], None], *, in_lanes: bool) -> None:
        terms = self._plan.terms
        if level == len(terms):
            write(1)
            return
        axis, before = terms[level], self._term
        is_last = level == len(terms) - 1
        lanes = self._plan.lanes if is_last and in_lanes else 1
        for begin, end, step in strips(axis.extent, lanes):
            with self._loop(begin, end, step) as index:
                counter = Counter(axis.extent, index, step, splits=False)
                self._values[axis] = index_of(counter)
                outside = scaled(self.function, before, axis.extent)
                self._term = self.function.binary("add nsw", outside, index)
                if is_last:
                    write(step)
                else:
                    self._nested(level + 1, write, in_lanes=in_lanes)
        self._term = before

    @contextmanager
    def _loop(self, begin: int, end: int, step: int) -> Iterator[Value]:
        first, last = constant("i64", begin), constant("i64", end)
        with self.function.loop(first, last, step) as loop, self._emitter.region():
            yield loop.index

    # Copies

    def _copy_row(self, row: Value, start: Value, lanes: int) -> None:
        begin = scaled(self.function, row, self._plan.depth)
        place = self.function.binary("add nsw", self._term, begin)
        self._put(self._parts(row, start, lanes, along=1), place)

    def _copy_columns(self, rows: int, start: Value) -> None:
        place = self.function.binary("mul nsw", self._term, constant("i64", self._cuts.first_size))
        for begin in range(0, rows, self._plan.lanes):
            lanes = min(self._plan.lanes, rows - begin)
            there = self.function.binary("add nsw", place, constant("i64", begin))
            self._put(self._parts(constant("i64", begin), start, lanes, along=lanes), there)

    def _transpose(self, rows: int, start: Value, lanes: int) -> None:
        # By way of the stack: shuffles are no faster here, and take long to compile.
        function, kind = self.function, self._plan.sums.held_type
        if self._block is None:
            size = self._cuts.first_size * self._plan.lanes * kind.storage_bytes
            self._block = function.scratch("i8", size)
        block = Memory(self._block, kind, is_written=True)
        with self._loop(0, rows, 1) as row:
            parts = self._parts(row, start, lanes, along=1)
            address = block.at(function, scaled(function, row, lanes))
            block.store(function, Element(kind, parts), address)
        with self._loop(0, lanes, 1) as lane:
            begin = Memory(block.at(function, lane), kind, is_written=True)
            place = function.binary("add nsw", self._term, lane)
            place = scaled(function, place, self._cuts.first_size)
            for first, end, step in strips(rows, _ROWS_AT_ONCE):
                with self._loop(first, end, step) as row:
                    for number in range(step):
                        self._move(begin, lanes, place, increased(function, row, number))

    def _move(self, begin: Memory, lanes: int, place: Value, row: Value) -> None:
        """Writes the copy of the element of a row from the block to the panel."""
        function = self.function
        address = begin.at(function, scaled(function, row, lanes))
        parts = begin.load(function, address, 1).parts
        self._put(parts, function.binary("add nsw", place, row))

    def _parts(self, row: Value, start: Value, lanes: int, *, along: int) -> Parts:
        """Writes the elements of some rows or terms: `along` says how many rows."""
        function, factor = self.function, self._factor
        value = function.binary("add nsw", start, row)
        if self._plan.repeats(factor):
            last = constant("i64", factor.free.extent - 1)
            value = function.intrinsic("smin", value, last)
        counter = Counter(factor.free.extent, value, along, splits=False)
        values = {**self._values, factor.free: index_of(counter)}
        index = factor.operand.index(values)
        with self._emitter.with_lanes(lanes):
            element = self._emitter.element(factor.operand.instruction, index)
        parts = self._plan.sums.taken(function, element)
        return tuple(function.splat(part, lanes) for part in parts)

    def _put(self, parts: Parts, place: Value) -> None:
        memory = Memory(self._panel, self._plan.sums.held_type, is_written=True)
        address = memory.at(self.function, place)
        memory.store(self.function, Element(memory.type, parts), address)


def packed_panel(
    function: FunctionWriter, plan: Plan, factor: Factor, values: dict[Axis, Index], piece: Value
) -> Value:
    """Writes the address of the panel of a piece in the workspace."""
    number = Index()
    for axis in factor.outer:
        number = number * axis.extent + values[axis]
    count = constant("i64", plan.cuts(factor).count)
    panels = function.binary("mul nsw", first_value(function, number), count)
    panel = function.binary("add nsw", panels, piece)
    size = constant("i64", plan.panel_elements(factor))
    place = function.binary("mul nsw", panel, size)
    return Memory(_begin(function, factor), factor.type).at(function, place)


def _begin(function: FunctionWriter, factor: Factor) -> Value:
    return function.offset(Value("%workspace", "ptr"), constant("i64", factor.begin))
