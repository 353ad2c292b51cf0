"""Tiles of a product: calls of functions that sum some rows and columns in registers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hlotool.codegen.indexing.places import scaled
from hlotool.codegen.kernels.kernel import NAME, Kernel
from hlotool.codegen.kernels.pointers import Pointer
from hlotool.codegen.kernels.products.numbers import added_up
from hlotool.codegen.kernels.products.plan import Form, Plan
from hlotool.codegen.kernels.tile_functions import (
    Distances,
    TileForm,
    call_tile,
    flat,
    regrouped,
    unrolled_terms,
)
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.element import Element, Parts
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import ElementType

_UNROLLED_SUMS = 60
"""About how many sums in lanes are added to in one round of a loop."""


class Tiles:
    """Writes the calls that compute the tiles of a kernel, and functions that only it has.

    These take the addresses of the first element of a row of the left factor, of a column of the
    right one, and of the first sum; rows of sums lie `stride` sums apart.
    """

    def __init__(self, kernel: Kernel, plan: Plan, stride: int) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._plan = plan
        self._stride = stride
        self._names: dict[tuple[int, int], str] = {}

    def call(self, rows: int, columns: int, terms: Chunk, addresses: tuple[Value, ...]) -> None:
        """Writes the computation of a tile from where it begins in both factors and in the sums."""
        plan = self._plan
        left, right, sums = (
            Pointer(self._function, address, one)
            for address, one in zip(
                addresses, (plan.left.type, plan.right.type, plan.sums.held_type), strict=True
            )
        )
        if not plan.depth:
            self._clear(rows, columns, sums)
        elif plan.form is Form.INNER:
            self._call_own(rows, columns, addresses)
        else:
            self._over_terms(0, _Part(rows, columns, left, right, sums), terms)

    def _call_own(self, rows: int, columns: int, addresses: tuple[Value, ...]) -> None:
        """Writes the call of a function that only this kernel has."""
        name = self._names.get((rows, columns))
        if name is None:
            name = self._names[rows, columns] = f"{NAME}.tile{len(self._names)}"
            flags, native = self._function.flags, self._function.native
            function = FunctionWriter(name, _ARGUMENTS, flags=flags, native=native)
            _Tile(function, self._plan, rows, columns, self._stride).write()
            self._kernel.functions.append(function.text())
            self._function.declarations |= function.declarations
        self._function.call_pointer(Value(f"@{name}", "ptr"), "void", *addresses)

    def _over_terms(self, level: int, part: _Part, terms: Chunk) -> None:
        """Writes loops around the calls of a function, which has loops over the last two axes."""
        function, plan = self._function, self._plan
        if level >= len(plan.tile_terms) - 2:
            self._call_shared(part, terms)
            return
        zero, end = constant("i64", 0), constant("i64", plan.tile_terms[level])
        with function.loop(zero, end) as loop:
            adds = function.binary("or", terms.adds, function.compare("ne", loop.index, zero))
            moved = replace(
                part,
                left=part.left.moved(scaled(function, loop.index, plan.left.term_strides[level])),
                right=part.right.moved(
                    scaled(function, loop.index, plan.right.term_strides[level])
                ),
            )
            self._over_terms(level + 1, moved, replace(terms, adds=adds))

    def _call_shared(self, part: _Part, terms: Chunk) -> None:
        """Writes the call of a function that other kernels have as well."""
        plan = self._plan
        widths = tuple(plan.widths(part.columns))
        count = terms.count if plan.chunk else (plan.tile_terms or [1])[-1]
        left, right = ([0, 0, *factor.term_strides] for factor in (plan.left, plan.right))
        sums = part.rows * len(widths) * plan.sums.parts
        unrolled = unrolled_terms(count, sums, plan.product_count)
        # Rows side by side, as in panels, are read by way of one address.
        step, apart = (0, 1) if plan.left.along == 1 else (left[-1], 0)
        form = TileForm(part.rows, 1, widths, unrolled, step, apart)
        rounds = plan.tile_terms[-2] if len(plan.tile_terms) > 1 else 1
        distances = Distances(
            down=plan.left.along,
            across=0,
            row=self._stride,
            terms=count,
            base_step=left[-1],
            vectors_step=right[-1],
            rounds=rounds,
            base_round=left[-2],
            vectors_round=right[-2],
        )
        pointers = part.left, part.right, part.sums
        call_tile(self._kernel, form, plan.sums, pointers, terms.adds, distances)

    def _clear(self, rows: int, columns: int, sums: Pointer) -> None:
        """Writes the sums of no terms."""
        for row in range(rows):
            place = row * self._stride
            for lanes in self._plan.widths(columns):
                zero = Element(sums.type, self._plan.sums.zero(lanes))
                sums.moved(place).store(zero)
                place += lanes


@dataclass(frozen=True)
class _Part:
    """A tile, and where both factors and the sums of it begin."""

    rows: int
    columns: int
    left: Pointer
    right: Pointer
    sums: Pointer


@dataclass(frozen=True)
class Chunk:
    """Some of the terms of each sum."""

    begin: Value
    count: int
    adds: Value
    """Whether there are sums of terms before these (`i1`)."""


_ARGUMENTS = (
    Argument("ptr", "left", "noalias readonly nocapture"),
    Argument("ptr", "right", "noalias readonly nocapture"),
    Argument("ptr", "sums", "noalias nocapture"),
)


@dataclass
class _Tile:
    """A function with terms in lanes."""

    function: FunctionWriter
    plan: Plan
    rows: int
    columns: int
    stride: int

    def write(self) -> None:
        """Writes the function."""
        self._store(self._sums_in_lanes(Value("%left", "ptr"), Value("%right", "ptr")))

    def _over_terms(
        self, level: int, left: Value, right: Value, totals: list[Parts]
    ) -> list[Parts]:
        """Writes loops over the terms, from an axis on."""
        terms = self.plan.tile_terms
        if level >= len(terms) - 1:
            return self._row_of_terms(terms[-1], left, right, totals)
        end = constant("i64", terms[level])
        with self.function.loop(constant("i64", 0), end, carried=flat(totals)) as loop:
            pointers = self._moved(level, left, right, loop.index)
            inside = regrouped(loop.carried, totals)
            loop.next = flat(self._over_terms(level + 1, *pointers, inside))
        return regrouped(loop.results, totals)

    def _innermost(
        self, extent: int, left: Value, right: Value, totals: list[Parts]
    ) -> list[Parts]:
        """Writes the loop over the last axis of terms, a vector of them after the other."""
        # What needs registers of its own is scheduled badly in long rounds.
        most = _UNROLLED_SUMS // (2 if self.plan.sums.registers else 1)
        lanes = self.plan.lanes
        unrolled = lanes * max(1, min(8, most // max(1, len(totals) * self.plan.sums.parts)))
        whole = extent // unrolled * unrolled
        if whole > unrolled:
            zero, end = constant("i64", 0), constant("i64", whole)
            with self.function.loop(zero, end, unrolled, flat(totals)) as loop:
                moved = self._moved(len(self.plan.tile_terms) - 1, left, right, loop.index)
                inside = regrouped(loop.carried, totals)
                for term in range(0, unrolled, lanes):
                    inside = self._add_vectors(*moved, term, inside, lanes)
                loop.next = flat(inside)
            totals = regrouped(loop.results, totals)
        else:
            whole = 0
        for term in range(whole, extent // lanes * lanes, lanes):
            totals = self._add_vectors(left, right, term, totals, lanes)
        return totals

    def _moved(self, level: int, left: Value, right: Value, index: Value) -> tuple[Value, Value]:
        function, plan = self.function, self.plan
        found = []
        for factor, pointer in ((plan.left, left), (plan.right, right)):
            places = scaled(function, index, factor.term_strides[level])
            found.append(Memory(pointer, factor.type).at(function, places))
        return found[0], found[1]

    def _loaded(self, held: ElementType, first: Value, place: int, lanes: int) -> Parts:
        memory = Memory(first, held)
        address = memory.at(self.function, constant("i64", place))
        return self.plan.sums.taken(self.function, memory.load(self.function, address, lanes))

    def _sums_in_lanes(self, left: Value, right: Value) -> list[Parts]:
        sums, lanes = self.plan.sums, self.plan.lanes
        count = self.rows * self.columns
        rest = self.plan.tile_terms[-1] % lanes
        zeros = [sums.zero(lanes)] * count + [sums.zero(rest)] * (count if rest else 0)
        totals = self._over_terms(0, left, right, zeros)
        found = [added_up(self.function, sums, total) for total in totals]
        if rest:
            pairs = zip(found[:count], found[count:], strict=True)
            found = [sums.joined(self.function, one, other) for one, other in pairs]
        return found

    def _row_of_terms(
        self, extent: int, left: Value, right: Value, totals: list[Parts]
    ) -> list[Parts]:
        lanes, count = self.plan.lanes, self.rows * self.columns
        whole, rest = totals[:count], totals[count:]
        whole = self._innermost(extent, left, right, whole)
        if rest:
            begin = extent // lanes * lanes
            rest = self._add_vectors(left, right, begin, rest, extent - begin)
        return whole + rest

    def _add_vectors(
        self, left: Value, right: Value, term: int, totals: list[Parts], lanes: int
    ) -> list[Parts]:
        plan, function = self.plan, self.function
        columns = [
            self._loaded(plan.right.type, right, place * plan.right.along + term, lanes)
            for place in range(self.columns)
        ]
        found = []
        for row in range(self.rows):
            value = self._loaded(plan.left.type, left, row * plan.left.along + term, lanes)
            for number, column in enumerate(columns):
                total = totals[row * len(columns) + number]
                found.append(plan.sums.added(function, total, value, column))
        return found

    def _store(self, totals: list[Parts]) -> None:
        plan, function = self.plan, self.function
        memory = Memory(Value("%sums", "ptr"), plan.sums.held_type, is_written=True)
        remaining = iter(totals)
        for row in range(self.rows):
            place = row * self.stride
            for lanes in plan.widths(self.columns):
                parts = tuple(function.splat(part, lanes) for part in next(remaining))
                address = memory.at(function, constant("i64", place))
                memory.store(function, Element(plan.sums.held_type, parts), address)
                place += lanes
