"""Functions that sum tiles of many terms: made once for all kernels whose tiles have one form.

Distances and counts are arguments, so that convolutions of other sizes call the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2s

from hlotool.codegen.kernels.convolutions.pointers import Pointer
from hlotool.codegen.kernels.convolutions.sums import Parts, Sums
from hlotool.codegen.kernels.convolutions.taps import scaled
from hlotool.codegen.kernels.kernel import Callee
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import ElementType

_SIDE_BY_SIDE = 4
"""As many elements are read from one register with an address, and those of the distances."""
_ZERO = constant("i64", 0)

ARGUMENTS = (
    Argument("ptr", "lhs", "noalias readonly nocapture"),
    Argument("ptr", "rhs", "noalias readonly nocapture"),
    Argument("ptr", "sums", "noalias nocapture"),
    Argument("i1", "adds"),
    *(
        Argument("i64", name)
        for name in ("down", "across", "row", "features", "rhs_step", "taps", "lhs_tap", "rhs_tap")
    ),
)
"""Where the operands of the first tap and feature lie, and the first sum; whether there are sums
to add to. How far rows of the tile lie apart in the base, elements of a row, and rows of sums. The
number of features that are summed in rounds, and how far they lie apart in the kernel. The number
of taps in a row, and how far apart they lie in both operands."""


@dataclass(frozen=True)
class TileForm:
    """What a function is made for."""

    rows: int
    columns: int
    """Elements of the tile: all have the same kernel elements as factors."""
    widths: tuple[int, ...]
    """The vectors of channels of each."""
    unrolled: int
    """How many features are summed in a round."""
    rest: int
    """How many are left after all rounds."""
    lhs_step: int
    """From one feature to the next in the base."""
    ahead: int
    """How many features before they are needed those of the kernel are asked for; or 0."""


@dataclass(frozen=True)
class SumForm:
    """The arithmetic of sums, as `Sums` takes it, and the types that both operands lie there as."""

    held: tuple[ElementType, ElementType]
    operands: tuple[ElementType, ElementType]
    result: ElementType
    terms: int


@lru_cache(maxsize=4096)
def tile_function(form: TileForm, sums: SumForm, flags: str, native: frozenset[str]) -> Callee:
    """Returns the function of a form; its name says what is in it."""
    function = FunctionWriter("TILE", ARGUMENTS, flags=flags, native=native, linkage="hidden")
    _Tile(function, form, sums).write()
    text = function.text()
    name = f"tile.{blake2s(text.encode(), digest_size=8).hexdigest()}"
    types = ", ".join(one.type for one in ARGUMENTS)
    signature = f"declare hidden void @{name}({types})"
    declared = frozenset(function.declarations)
    return Callee(name, text.replace("@TILE(", f"@{name}("), signature, declared)


class _Tile:
    def __init__(self, function: FunctionWriter, form: TileForm, sums: SumForm) -> None:
        self._function = function
        self._form = form
        self._sums = Sums(function, sums.operands, sums.result, sums.terms)
        values = {one.name: one.value for one in ARGUMENTS}
        self._values = values
        self._lhs = Pointer(function, values["lhs"], sums.held[0])
        self._rhs = Pointer(function, values["rhs"], sums.held[1])
        self._elements = [(r, c) for r in range(form.rows) for c in range(form.columns)]
        self._memory = Memory(values["sums"], self._sums.held_type.component, is_written=True)
        # Elements in groups along the longer side: a group is reached from its first element.
        self._is_tall = _groups(form.rows) * form.columns < form.rows * _groups(form.columns)

    def write(self) -> None:
        """Writes the function."""
        self._function.branch(self._values["adds"], lambda: None, self._clear)
        totals, count = self._stored(), self._values["taps"]
        carried = (self._lhs.address, self._rhs.address, *_flat(totals))
        with self._function.loop(_ZERO, count, carried=carried) as loop:
            lhs, rhs = self._pointers(loop.carried[:2])
            found = self._over_features(lhs, rhs, self._again(loop.carried[2:]))
            steps = (self._values["lhs_tap"], self._values["rhs_tap"])
            moved = lhs.moved(steps[0]).address, rhs.moved(steps[1]).address
            loop.next = (*moved, *_flat(found))
        self._store(self._again(loop.results[2:]))

    def _over_features(self, lhs: Pointer, rhs: Pointer, totals: list[Parts]) -> list[Parts]:
        form, function = self._form, self._function
        bases = [lhs.moved(self._distance(*self._elements[first])) for first in self._firsts()]
        pointers = [*bases, rhs]
        carried = (*(one.address for one in pointers), *_flat(totals))
        count = len(pointers)
        with function.loop(_ZERO, self._values["features"], form.unrolled, carried) as loop:
            *inside, other = self._pointers(loop.carried[:count])
            found = self._again(loop.carried[count:])
            for feature in range(form.unrolled):
                found = self._feature(inside, other, feature, found)
                other = other.moved(self._values["rhs_step"])
            step = form.unrolled * form.lhs_step
            moved = (*(one.moved(step) for one in inside), other)
            loop.next = (*(one.address for one in moved), *_flat(found))
        *behind, other = self._pointers(loop.results[:count])
        found = self._again(loop.results[count:])
        for feature in range(form.rest):
            found = self._feature(behind, other, feature, found)
            other = other.moved(self._values["rhs_step"])
        return found

    def _pointers(self, addresses: Sequence[Value]) -> list[Pointer]:
        """Returns addresses in the base, and at last one in the kernel, as pointers."""
        types = [self._lhs.type] * (len(addresses) - 1) + [self._rhs.type]
        pairs = zip(addresses, types, strict=True)
        return [Pointer(self._function, address, one) for address, one in pairs]

    def _feature(
        self, bases: Sequence[Pointer], rhs: Pointer, feature: int, totals: list[Parts]
    ) -> list[Parts]:
        """Writes the sums with the products of one more feature."""
        form, sums = self._form, self._sums
        if form.ahead:
            ahead = scaled(self._function, self._values["rhs_step"], form.ahead)
            rhs.moved(ahead).prefetch(sum(form.widths))
        others, start = [], 0
        for width in form.widths:
            others.append(sums.taken(rhs.moved(start).element(width)))
            start += width
        found: list[Parts] = []
        for number in range(len(self._elements)):
            base, behind = self._place(number)
            one = bases[base].moved(self._times(behind)).moved(feature * form.lhs_step)
            value = sums.taken(one.element(1))
            for other in others:
                found.append(sums.added(totals[len(found)], value, other))
        return found

    def _firsts(self) -> list[int]:
        """Returns the numbers of the elements that groups begin with."""
        return [n for n in range(len(self._elements)) if self._place(n)[1] == 0]

    def _place(self, number: int) -> tuple[int, int]:
        """Returns the group of an element, and how many elements behind its first one it is."""
        row, column = self._elements[number]
        if self._is_tall:
            group, behind = divmod(row, _SIDE_BY_SIDE)
            return group * self._form.columns + column, behind
        group, behind = divmod(column, _SIDE_BY_SIDE)
        return row * _groups(self._form.columns) + group, behind

    def _times(self, behind: int) -> Value:
        """Writes a distance inside a group."""
        along = self._values["down" if self._is_tall else "across"]
        return scaled(self._function, along, behind)

    def _distance(self, row: int, column: int) -> Value:
        down = scaled(self._function, self._values["down"], row)
        across = scaled(self._function, self._values["across"], column)
        if not row or not column:
            return across if column else down
        return self._function.binary("add nsw", down, across)

    def _clear(self) -> None:
        """Writes zeros to all sums, in a loop over rows."""
        columns = len(self._vectors) // self._form.rows
        function = self._function
        with function.loop(_ZERO, constant("i64", self._form.rows)) as loop:
            first = function.binary("mul nsw", loop.index, self._values["row"])
            row = self._memory.at(function, first)
            for place, width in self._vectors[:columns]:
                self._put(Memory(row, self._memory.type), place[1], self._sums.zero(width)[0])

    def _stored(self) -> list[Parts]:
        found: list[Value] = []
        for (row, place), width in self._vectors:
            memory = self._row(row)
            found += memory.load_held(self._function, self._at(memory, place), width)
        return self._again(found)

    def _store(self, totals: list[Parts]) -> None:
        for ((row, place), width), part in zip(self._vectors, _flat(totals), strict=True):
            self._put(self._row(row), place, self._function.splat(part, width))

    def _row(self, number: int) -> Memory:
        """Writes where a row of sums begins."""
        places = scaled(self._function, self._values["row"], number)
        return replace(self._memory, address=self._memory.at(self._function, places))

    def _put(self, row: Memory, place: int, value: Value) -> None:
        self._function.store(value, self._at(row, place), align=row.part_bytes)

    def _at(self, row: Memory, place: int) -> Value:
        return row.at(self._function, constant("i64", place))

    @property
    def _vectors(self) -> list[tuple[tuple[int, int], int]]:
        """The row and place of each vector of sums, or of a part of them, and how wide it is."""
        parts, found = self._sums.part_count, []
        for row, column in self._elements:
            place = column * sum(self._form.widths) * parts
            for width in self._form.widths:
                for _ in range(parts):
                    found.append(((row, place), width))
                    place += width
        return found

    def _again(self, values: Sequence[Value]) -> list[Parts]:
        count = self._sums.part_count
        return [tuple(values[n : n + count]) for n in range(0, len(values), count)]


def _groups(count: int) -> int:
    return -(-count // _SIDE_BY_SIDE)


def _flat(totals: Sequence[Parts]) -> tuple[Value, ...]:
    return tuple(part for parts in totals for part in parts)
