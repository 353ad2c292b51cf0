"""Kernels of triangular-solve and cholesky: in f64 or c128, rounded once, row after row."""

from __future__ import annotations

from math import prod

from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.indexing.index import Counter, Index, index_of
from hlotool.codegen.indexing.places import decoded, divided
from hlotool.codegen.kernels.kernel import Kernel, Launch, kernel
from hlotool.codegen.kernels.products.cuts import by_size, cut_start, full_cuts
from hlotool.codegen.kernels.products.numbers import ComplexSums, FloatSums, Sums, added_up
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element, Parts
from hlotool.codegen.numbers.memory import Memory
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.element_type import C128, F64
from hlotool.ops.decomposition import Cholesky, TriangularSolve


class _Matrices:
    """What both kernels have: matrices as the last two dimensions, sums in twice the width."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.function = kernel.function
        self.emitter = ElementEmitter(kernel.function, kernel.target, kernel.sources())
        self.shape = kernel.output_shape(0)
        is_complex = self.shape.element_type.is_complex
        self.sums: Sums = ComplexSums(C128) if is_complex else FloatSums(F64)
        self.lanes = kernel.target.lanes(64)
        self.batch = self.shape.dimensions[:-2]
        self.batch_index: tuple[Index, ...] = ()
        self.zero = constant("i64", 0)

    def begin_matrix(self, number: Value) -> None:
        """Writes which matrix of the batch the code behind this is about."""
        places = decoded(self.function, number, self.batch)
        self.batch_index = tuple(map(self.place, places, self.batch))

    def element(self, number: int, index: tuple[Index, Index], lanes: int) -> Parts:
        """Writes an element of an operand in the type of the sums."""
        operand = self.kernel.body.instruction.operands[number]
        with self.emitter.with_lanes(lanes):
            element = self.emitter.element(operand, (*self.batch_index, *index))
        parts = self.sums.taken(self.function, element)
        return tuple(self.function.splat(part, lanes) for part in parts)

    def store(self, index: tuple[Index, Index], total: Parts, lanes: int) -> None:
        """Writes elements of the result."""
        element = self.sums.result(self.function, total, self.shape.element_type)
        place = (*self.batch_index, *index)
        self.kernel.destination(0).store(self.function, place, element, lanes)

    def place(self, value: Value, extent: int, lanes: int = 1) -> Index:
        """Returns a value as an index in a dimension."""
        return index_of(Counter(extent, value, lanes, splits=False))

    def held(self, memory: Memory, place: Value, lanes: int) -> Parts:
        """Writes the load of what this kernel has computed before."""
        return memory.load(self.function, memory.at(self.function, place), lanes).parts

    def hold(self, memory: Memory, place: Value, parts: Parts) -> None:
        """Writes the store of what this kernel needs later."""
        address = memory.at(self.function, place)
        memory.store(self.function, Element(memory.type, parts), address)

    def scaled(self, row: Value, size: int, column: Value | None = None) -> Value:
        """Writes row times size plus column."""
        place = self.function.binary("mul nsw", row, constant("i64", size))
        return place if column is None else self.function.binary("add nsw", place, column)

    def room(self, item: Value, elements: int, items: int) -> Memory:
        """Writes where the memory of an item lies, and asks for that of all."""
        size = elements * self.sums.held_type.storage_bytes
        begin = constant("i64", self.kernel.room(items * size))
        first = self.function.offset(self.kernel.workspace, begin)
        address = self.function.offset(first, self.scaled(item, size))
        return Memory(address, self.sums.held_type, is_written=True)


@kernel(TriangularSolve)
def emit_triangular_solve(kernel: Kernel) -> Launch:
    """Writes the solution of one matrix and some columns of the other side at a time."""
    if any(number == 0 for number, _ in kernel.shared):
        raise NotCompiled("a solution in the memory of its matrix")
    return _Solution(kernel).write()


class _Solution(_Matrices):
    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        op = kernel.body.instruction.op
        assert isinstance(op, TriangularSolve)
        self._op = op
        sizes = self.shape.dimensions[-2:]
        self._size, self._count = sizes if op.left_side else sizes[::-1]
        # x·a = b says the same as aᵀ·xᵀ = bᵀ.
        self._is_turned = (op.transpose_a in ("TRANSPOSE", "ADJOINT")) == op.left_side
        self._is_lower = op.lower != self._is_turned
        most = 4 if self._count >= 4 * self.lanes else 1
        width = most * self.lanes
        while width > self._count:
            width //= 2
        self._cuts = full_cuts(self._count, max(1, width))

    def write(self) -> Launch:
        """Writes the function, and says how it is run."""
        function, cuts, size = self.function, self._cuts, self._size
        items = prod(self.batch) * cuts.count
        with function.loop(self.kernel.begin, self.kernel.end) as loop, self.emitter.region():
            number, piece = divided(function, loop.index, cuts.count)
            self.begin_matrix(number)
            start = cut_start(function, cuts, piece)
            room = self.room(loop.index, size * cuts.first_size, items)
            by_size(function, cuts, piece, lambda lanes: self._columns(room, start, lanes))
        each = max(1.0, size * size * cuts.first_size * 0.5 * self.sums.parts**2 / self.lanes)
        return Launch.in_pieces(items, each)

    def _columns(self, room: Memory, start: Value, lanes: int) -> None:
        function = self.function
        end = constant("i64", self._size)
        with self.emitter.region(), function.loop(self.zero, end) as loop, self.emitter.region():
            step = loop.index
            row = self._row(step)
            there = (self.place(row, self._size), self.place(start, self._count, lanes))
            index = there if self._op.left_side else (there[1], there[0])
            total = self.element(1, index, lanes)
            is_later = function.compare("sgt", step, self.zero)
            total = function.branch(
                is_later, lambda: self._without_known(room, step, row, total), lambda: total
            )
            if not self._op.unit_diagonal:
                total = self._quotient(total, self._coefficient(row, row))
            self.hold(room, self.scaled(step, lanes), total)
            self.store(index, total, lanes)

    def _without_known(self, room: Memory, step: Value, row: Value, total: Parts) -> Parts:
        function, lanes = self.function, total[0].lanes
        with (
            self.emitter.region(),
            function.loop(self.zero, step, carried=total) as loop,
            self.emitter.region(),
        ):
            factor = tuple(map(function.negative, self._coefficient(row, self._row(loop.index))))
            known = self.held(room, self.scaled(loop.index, lanes), lanes)
            loop.next = self.sums.added(function, loop.carried, factor, known)
        return loop.results

    def _row(self, step: Value) -> Value:
        if self._is_lower:
            return step
        return self.function.binary("sub nsw", constant("i64", self._size - 1), step)

    def _coefficient(self, row: Value, column: Value) -> Parts:
        if self._is_turned:
            row, column = column, row
        index = (self.place(row, self._size), self.place(column, self._size))
        parts = self.element(0, index, 1)
        if self._op.transpose_a == "ADJOINT" and len(parts) == 2:
            return parts[0], self.function.negative(parts[1])
        return parts

    def _quotient(self, total: Parts, divisor: Parts) -> Parts:
        function = self.function
        if len(total) == 1:
            return (function.binary("fdiv", total[0], divisor[0]),)
        real, imaginary = divisor
        size = function.intrinsic(
            "fmuladd", real, real, function.binary("fmul", imaginary, imaginary)
        )
        turned = (real, function.negative(imaginary))
        product = self.sums.added(function, self.sums.zero(total[0].lanes), total, turned)
        return tuple(function.binary("fdiv", part, size) for part in product)


@kernel(Cholesky)
def emit_cholesky(kernel: Kernel) -> Launch:
    """Writes the factor of one matrix at a time."""
    return _Factor(kernel).write()


_ROWS = 4
"""How many rows of a factor are computed side by side."""


class _Factor(_Matrices):
    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        op = kernel.body.instruction.op
        assert isinstance(op, Cholesky)
        self._is_lower = op.lower
        self._size = self.shape.dimensions[-1]
        self._width = -(-self._size // self.lanes) * self.lanes

    def write(self) -> Launch:
        """Writes the function, and says how it is run."""
        function, size = self.function, self._size
        items = prod(self.batch)
        with function.loop(self.kernel.begin, self.kernel.end) as loop, self.emitter.region():
            self.begin_matrix(loop.index)
            elements = (size + _ROWS) * self._width
            factor = self.room(loop.index, elements, items)
            end = constant("i64", elements)
            with function.loop(self.zero, end, self.lanes) as clear:
                self.hold(factor, clear.index, self.sums.zero(self.lanes))
            is_definite = self._columns(factor)
            self._write_out(factor, is_definite)
        return Launch(items, 1, max(1.0, size**3 * 0.2 * self.sums.parts**2 / self.lanes))

    def _columns(self, factor: Memory) -> Value:
        """Writes the computation of all columns; yields whether the matrix is definite."""
        function, size = self.function, constant("i64", self._size)
        yes = constant("i1", 1)
        with function.loop(self.zero, size, carried=[yes]) as loop, self.emitter.region():
            column = loop.index
            (pivot, *_) = self._rest(factor, [column], column)[0]
            is_positive = function.compare("ogt", pivot, constant("double", 0))
            loop.next = (function.binary("and", loop.carried[0], is_positive),)
            root = function.intrinsic("sqrt", pivot)
            parts = (root, constant("double", 0))[: self.sums.parts]
            self.hold(factor, self.scaled(column, self._width, column), parts)
            below = function.binary("add nsw", column, constant("i64", 1))
            some = function.compare("slt", below, size)
            function.branch(some, lambda: self._below(factor, column, below, root))
        return loop.results[0]

    def _below(self, factor: Memory, column: Value, below: Value, root: Value) -> None:
        function = self.function
        end = constant("i64", self._size)
        with (
            self.emitter.region(),
            function.loop(below, end, _ROWS) as loop,
            self.emitter.region(),
        ):
            rows = [
                function.binary("add nsw", loop.index, constant("i64", n)) for n in range(_ROWS)
            ]
            for row, rest in zip(rows, self._rest(factor, rows, column), strict=True):
                found = tuple(function.binary("fdiv", part, root) for part in rest)
                self.hold(factor, self.scaled(row, self._width, column), found)

    def _rest(self, factor: Memory, rows: list[Value], column: Value) -> list[Parts]:
        """Writes elements of a column less the products of what is known of their rows."""
        function, lanes, parts = self.function, self.lanes, self.sums.parts
        zeros = [part for _ in rows for part in self.sums.zero(lanes)]
        with function.loop(self.zero, column, lanes, zeros) as loop:
            place = self.scaled(column, self._width, loop.index)
            other = self._conjugate(self.held(factor, place, lanes))
            found: list[Value] = []
            for number, row in enumerate(rows):
                one = self.held(factor, self.scaled(row, self._width, loop.index), lanes)
                total = loop.carried[number * parts : (number + 1) * parts]
                found += self.sums.added(function, total, one, other)
            loop.next = tuple(found)
        rests = []
        for number, row in enumerate(rows):
            total = loop.results[number * parts : (number + 1) * parts]
            known = added_up(function, self.sums, total)
            given = self._given(row, column)
            pairs = zip(given, known, strict=True)
            rests.append(tuple(function.binary("fsub", one, other) for one, other in pairs))
        return rests

    def _given(self, row: Value, column: Value) -> Parts:
        # Rows behind the last are computed as if they were the last, and not looked at.
        row = self.function.intrinsic("smin", row, constant("i64", self._size - 1))
        places = self.place(row, self._size), self.place(column, self._size)
        return self.element(0, places if self._is_lower else places[::-1], 1)

    def _conjugate(self, parts: Parts) -> Parts:
        return parts if len(parts) == 1 else (parts[0], self.function.negative(parts[1]))

    def _write_out(self, factor: Memory, is_definite: Value) -> None:
        function, size = self.function, self._size
        nan = constant("double", float("nan"))
        end = constant("i64", size)
        with self.emitter.region(), function.loop(self.zero, end) as rows, self.emitter.region():

            def columns(first: Value) -> None:
                lanes = self.emitter.lanes
                parts = self.held(factor, self.scaled(rows.index, self._width, first), lanes)
                parts = tuple(function.select(is_definite, part, nan) for part in parts)
                places = self.place(rows.index, size), self.place(first, size, lanes)
                self.store(places if self._is_lower else places[::-1], parts, lanes)

            each_strip(self.emitter, size, self.lanes, columns)
