"""Tiles of a product: functions that sum the products for some rows and columns in registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.codegen.kernels.kernel import NAME, Kernel
from hlotool.codegen.kernels.products.numbers import Parts, added_up
from hlotool.codegen.kernels.products.plan import Factor, Form, Plan
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import ElementType

_Add: TypeAlias = Callable[[Value, Value, int, list[Parts]], list[Parts]]
"""Writes sums with one more term, or one in each lane: of both factors from a term on."""
_Innermost: TypeAlias = Callable[[int, Value, Value, list[Parts]], list[Parts]]
"""Writes sums with so many terms more, those of the last axis."""
_UNROLLED_SUMS = 60
"""About how many sums are added to in one round of a loop."""


class Tiles:
    """The functions of a kernel that compute tiles, one for each number of rows and columns.

    They take the addresses of the first element of a row of the left factor, of a column of the
    right one, and of the first sum; rows of sums lie `stride` sums apart.
    """

    def __init__(self, kernel: Kernel, plan: Plan, stride: int) -> None:
        self._kernel = kernel
        self._plan = plan
        self._stride = stride
        self._names: dict[tuple[int, int, int], str] = {}

    def call(self, rows: int, columns: int, terms: Chunk, addresses: tuple[Value, ...]) -> None:
        """Writes the computation of a tile from where it begins in both factors and in the sums."""
        key = (rows, columns, terms.count)
        name = self._names.get(key)
        if name is None:
            name = f"{NAME}.tile{len(self._names)}"
            self._names[key] = name
            function = FunctionWriter(name, _ARGUMENTS, flags=self._kernel.function.flags)
            _Tile(function, self._plan, *key, self._stride).write()
            self._kernel.functions.append(function.text())
            self._kernel.function.declarations |= function.declarations
        function = self._kernel.function
        function.call_pointer(Value(f"@{name}", "ptr"), "void", *addresses, terms.adds)


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
    Argument("i1", "adds"),
)


@dataclass
class _Tile:
    function: FunctionWriter
    plan: Plan
    rows: int
    columns: int
    terms: int
    stride: int

    def write(self) -> None:
        """Writes the function."""
        left, right = Value("%left", "ptr"), Value("%right", "ptr")
        if self.plan.form is Form.INNER:
            totals = self._sums_in_lanes(left, right)
        else:
            totals = self._sums(left, right)
        self._store(totals)

    def _sums(self, left: Value, right: Value) -> list[Parts]:
        widths = self.plan.widths(self.columns)
        zeros = [self.plan.sums.zero(lanes) for _ in range(self.rows) for lanes in widths]
        if not self.plan.depth:
            return zeros
        if self.plan.chunk:
            begun = self.function.branch(
                Value("%adds", "i1"), lambda: _flat(self._stored(widths)), lambda: _flat(zeros)
            )
            return self._innermost(self.terms, 1, left, right, self._again(begun, zeros), self._add)
        return self._over_terms(0, left, right, zeros, self._row_of_columns)

    def _stored(self, widths: list[int]) -> list[Parts]:
        """Writes the sums so far."""
        memory = Memory(Value("%sums", "ptr"), self.plan.sums.type, is_written=True)
        found = []
        for row in range(self.rows):
            place = row * self.stride
            for lanes in widths:
                address = memory.at(self.function, constant("i64", place))
                found.append(memory.load(self.function, address, lanes).parts)
                place += lanes
        return found

    def _over_terms(
        self, level: int, left: Value, right: Value, totals: list[Parts], innermost: _Innermost
    ) -> list[Parts]:
        """Writes loops over the terms, from an axis on."""
        terms = self.plan.tile_terms
        if level >= len(terms) - 1:
            return innermost(terms[-1] if terms else 1, left, right, totals)
        end = constant("i64", terms[level])
        with self.function.loop(constant("i64", 0), end, carried=_flat(totals)) as loop:
            pointers = self._moved(level, left, right, loop.index)
            inside = self._again(loop.carried, totals)
            loop.next = _flat(self._over_terms(level + 1, *pointers, inside, innermost))
        return self._again(loop.results, totals)

    def _row_of_columns(
        self, extent: int, left: Value, right: Value, totals: list[Parts]
    ) -> list[Parts]:
        return self._innermost(extent, 1, left, right, totals, self._add)

    def _innermost(
        self, extent: int, step: int, left: Value, right: Value, totals: list[Parts], add: _Add
    ) -> list[Parts]:
        """Writes the loop over the last axis of terms, `step` of them at once."""
        # What needs registers of its own is scheduled badly in long rounds.
        most = _UNROLLED_SUMS // (2 if self.plan.sums.registers else 1)
        unrolled = step * max(1, min(8, most // max(1, len(totals) * self.plan.sums.parts)))
        whole = extent // unrolled * unrolled
        if whole > unrolled:
            zero, end = constant("i64", 0), constant("i64", whole)
            with self.function.loop(zero, end, unrolled, _flat(totals)) as loop:
                moved = self._moved(len(self.plan.tile_terms) - 1, left, right, loop.index)
                inside = self._again(loop.carried, totals)
                for term in range(0, unrolled, step):
                    inside = add(*moved, term, inside)
                loop.next = _flat(inside)
            totals = self._again(loop.results, totals)
        else:
            whole = 0
        for term in range(whole, extent // step * step, step):
            totals = add(left, right, term, totals)
        return totals

    def _moved(self, level: int, left: Value, right: Value, index: Value) -> tuple[Value, Value]:
        function, plan = self.function, self.plan
        found = []
        for factor, pointer in ((plan.left, left), (plan.right, right)):
            stride = factor.term_strides[level] if factor.term_strides else 0
            places = function.binary("mul nsw", index, constant("i64", stride))
            found.append(Memory(pointer, factor.type).at(function, places))
        return found[0], found[1]

    def _add(self, left: Value, right: Value, term: int, totals: list[Parts]) -> list[Parts]:
        plan, function = self.plan, self.function
        place, columns = 0, []
        for lanes in plan.widths(self.columns):
            columns.append(self._read(plan.right, right, place, term, lanes))
            place += lanes
        found = []
        for row in range(self.rows):
            value = self._read(plan.left, left, row, term, 1)
            for number, column in enumerate(columns):
                total = totals[row * len(columns) + number]
                found.append(plan.sums.more(function, total, value, column))
        return found

    def _read(self, factor: Factor, first: Value, place: int, term: int, lanes: int) -> Parts:
        stride = factor.term_strides[-1] if factor.term_strides else 0
        return self._loaded(factor.type, first, place * factor.along + term * stride, lanes)

    def _loaded(self, held: ElementType, first: Value, place: int, lanes: int) -> Parts:
        memory = Memory(first, held)
        address = memory.at(self.function, constant("i64", place))
        return self.plan.sums.factor(self.function, memory.load(self.function, address, lanes))

    # Terms in lanes

    def _sums_in_lanes(self, left: Value, right: Value) -> list[Parts]:
        sums, lanes = self.plan.sums, self.plan.lanes
        count = self.rows * self.columns
        rest = self.plan.tile_terms[-1] % lanes
        zeros = [sums.zero(lanes)] * count + [sums.zero(rest)] * (count if rest else 0)
        totals = self._over_terms(0, left, right, zeros, self._row_of_terms)
        found = [added_up(self.function, sums, total) for total in totals]
        if rest:
            pairs = zip(found[:count], found[count:], strict=True)
            found = [sums.added(self.function, one, other) for one, other in pairs]
        return found

    def _row_of_terms(
        self, extent: int, left: Value, right: Value, totals: list[Parts]
    ) -> list[Parts]:
        lanes, count = self.plan.lanes, self.rows * self.columns
        whole, rest = totals[:count], totals[count:]
        whole = self._innermost(extent, lanes, left, right, whole, self._add_lanes)
        if rest:
            begin = extent // lanes * lanes
            rest = self._add_vectors(left, right, begin, rest, extent - begin)
        return whole + rest

    def _add_lanes(self, left: Value, right: Value, term: int, totals: list[Parts]) -> list[Parts]:
        return self._add_vectors(left, right, term, totals, self.plan.lanes)

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
                found.append(plan.sums.more(function, total, value, column))
        return found

    # Sums

    def _store(self, totals: list[Parts]) -> None:
        plan, function = self.plan, self.function
        memory = Memory(Value("%sums", "ptr"), plan.sums.type, is_written=True)
        remaining = iter(totals)
        for row in range(self.rows):
            place = row * self.stride
            for lanes in plan.widths(self.columns):
                parts = tuple(function.splat(part, lanes) for part in next(remaining))
                address = memory.at(function, constant("i64", place))
                memory.store(function, Element(plan.sums.type, parts), address)
                place += lanes

    def _again(self, values: tuple[Value, ...], like: list[Parts]) -> list[Parts]:
        remaining = iter(values)
        return [tuple(next(remaining) for _ in parts) for parts in like]


def _flat(totals: list[Parts]) -> tuple[Value, ...]:
    return tuple(part for parts in totals for part in parts)
