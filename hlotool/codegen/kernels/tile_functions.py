"""Functions that sum tiles of products in registers, made once for all kernels that call them.

Distances and counts are arguments, so that products and convolutions of many sizes have the same
functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2s
from typing import Protocol

from hlotool.codegen.indexing.places import scaled
from hlotool.codegen.kernels.kernel import Callee, Kernel
from hlotool.codegen.kernels.pointers import Pointer
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.element import Element, Parts
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import ElementType

_SIDE_BY_SIDE = 4
"""So many elements need one register: others are reached from its address by one, two or three
distances, for which there are registers as well."""
_SUMS_A_ROUND = ((200_000_000, 120), (32_000_000, 60), (0, 32))
"""About how many sums are added to in one round of a loop over terms, where a kernel has so many
products: each further round in one is a few percent faster, and text that takes time to compile."""
_ZERO = constant("i64", 0)


@dataclass(frozen=True)
class Distances:
    """What a function is told of the operands, in elements; constants or values (`i64`)."""

    down: int
    """From one row of the tile to the next in the base."""
    across: int
    """From one element of a row to the next in the base."""
    row: int
    """From one row of sums to the next."""
    terms: int
    """How many are summed one after the other: a multiple of those of a round, not 0."""
    base_step: int
    vectors_step: int
    """From one term to the next in both factors."""
    rounds: Value | int = 1
    """How many such rows of terms there are; not 0."""
    base_round: int = 0
    vectors_round: int = 0
    """From one row of terms to the next in both factors."""


_ARGUMENTS = (
    Argument("ptr", "base", "noalias readonly nocapture"),
    Argument("ptr", "vectors", "noalias readonly nocapture"),
    Argument("ptr", "sums", "noalias nocapture"),
    Argument("i1", "adds"),
    *(Argument("i64", one.name) for one in fields(Distances)),
)
"""Where the first factors and the first sum lie, and whether there are sums to add to."""


class Arithmetic(Protocol):
    """How products are summed. Functions are made once for all that are equal.

    Its `repr` says all that they depend on.
    """

    def __hash__(self) -> int: ...

    @property
    def held_type(self) -> ElementType:
        """The type of sums."""

    def zero(self, lanes: int, /) -> Parts:
        """Returns the sum of no terms."""

    def taken(self, function: FunctionWriter, element: Element, /) -> Parts:
        """Writes a factor in the type of sums."""

    def added(self, function: FunctionWriter, total: Parts, one: Parts, other: Parts, /) -> Parts:
        """Writes a sum with the product of two factors added."""


@dataclass(frozen=True)
class TileForm:
    """What a function is made for: a tile of elements, each of which is a row of vectors."""

    rows: int
    columns: int
    widths: tuple[int, ...]
    """The lanes of each vector."""
    unrolled: int
    """How many terms are summed in a round."""
    step: int
    """How far terms lie apart in the base, or 0 where an argument says it."""
    apart: int = 0
    """How far elements of a column lie apart in the base where no argument says it."""
    ahead: int = 0
    """How many terms before they are needed vectors are asked for; or 0."""


def unrolled_terms(count: int, sums: int, products: int) -> int:
    """Returns how many of some terms are summed in a round of a loop: none is left over.

    `products` is how many the kernel has in all.
    """
    most = next(most for least, most in _SUMS_A_ROUND if products >= least)
    return next(n for n in (4, 2, 1) if count % n == 0 and (n == 1 or n * sums <= most))


def call_tile(
    kernel: Kernel,
    form: TileForm,
    arithmetic: Arithmetic,
    pointers: tuple[Pointer, Pointer, Pointer],
    adds: Value,
    distances: Distances,
) -> None:
    """Writes the call that sums a tile: of a base and vectors to where the sums lie.

    `adds` (`i1`) says whether there are sums already.
    """
    function = kernel.function
    types = pointers[0].type, pointers[1].type
    callee = tile_function(form, arithmetic, types, function.flags, function.native)
    kernel.callees[callee.name] = callee
    numbers = (getattr(distances, one.name) for one in fields(Distances))
    function.call_pointer(
        Value(f"@{callee.name}", "ptr"),
        "void",
        *(one.address for one in pointers),
        adds,
        *(one if isinstance(one, Value) else constant("i64", one) for one in numbers),
    )


@lru_cache(maxsize=4096)
def tile_function(
    form: TileForm,
    arithmetic: Arithmetic,
    types: tuple[ElementType, ElementType],
    flags: str,
    native: frozenset[str],
) -> Callee:
    """Returns the function of a form. `types` are those of factors.

    It is written when its text is asked for. Raises `NotCompiled` where there is no code for it.
    """
    trial = FunctionWriter("trial", (), flags=flags, native=native)
    for one in types:
        arithmetic.taken(trial, Pointer(trial, Value("%factor", "ptr"), one).element(1))
    depends = repr((form, arithmetic, types, flags, sorted(native)))
    name = f"tile.{blake2s(depends.encode(), digest_size=16).hexdigest()}"

    def write() -> FunctionWriter:
        function = FunctionWriter(name, _ARGUMENTS, flags=flags, native=native, linkage="hidden")
        _Tile(function, form, arithmetic, types).write()
        return function

    listed = ", ".join(one.type for one in _ARGUMENTS)
    return Callee(name, f"declare hidden void @{name}({listed})", write)


class _Tile:
    def __init__(
        self,
        function: FunctionWriter,
        form: TileForm,
        arithmetic: Arithmetic,
        types: tuple[ElementType, ElementType],
    ) -> None:
        self._function = function
        self._form = form
        self._arithmetic = arithmetic
        values = {one.name: one.value for one in _ARGUMENTS}
        self._values = values
        self._base = Pointer(function, values["base"], types[0])
        self._other = Pointer(function, values["vectors"], types[1])
        self._elements = [(r, c) for r in range(form.rows) for c in range(form.columns)]
        # Elements in groups along the longer side: a group is reached from its first element.
        self._is_tall = _groups(form.rows) * form.columns < form.rows * _groups(form.columns)

    def write(self) -> None:
        """Writes the function."""
        self._function.branch(self._values["adds"], lambda: None, self._clear)
        begun, values = self._stored(), self._values
        carried = (self._base.address, self._other.address, *flat(begun))
        with self._function.loop(_ZERO, values["rounds"], carried=carried) as loop:
            base, other = self._pointers(loop.carried[:2])
            found = self._over_terms(base, other, regrouped(loop.carried[2:], begun))
            moved = base.moved(values["base_round"]), other.moved(values["vectors_round"])
            loop.next = (*(one.address for one in moved), *flat(found))
        self._store(regrouped(loop.results[2:], begun))

    def _over_terms(self, base: Pointer, other: Pointer, totals: list[Parts]) -> list[Parts]:
        form, function = self._form, self._function
        bases = [base.moved(self._distance(*self._elements[first])) for first in self._firsts()]
        pointers = [*bases, other]
        carried = (*(one.address for one in pointers), *flat(totals))
        count = len(pointers)
        with function.loop(_ZERO, self._values["terms"], form.unrolled, carried) as loop:
            inside = self._pointers(loop.carried[:count])
            found = regrouped(loop.carried[count:], totals)
            step = form.step or self._values["base_step"]
            for _ in range(form.unrolled):
                found = self._term(inside, found)
                *bases, other = inside
                moved = [one.moved(step) for one in bases]
                inside = [*moved, other.moved(self._values["vectors_step"])]
            loop.next = (*(one.address for one in inside), *flat(found))
        return regrouped(loop.results[count:], totals)

    def _pointers(self, addresses: Sequence[Value]) -> list[Pointer]:
        """Returns addresses in the base, and at last one of vectors, as pointers."""
        types = [self._base.type] * (len(addresses) - 1) + [self._other.type]
        pairs = zip(addresses, types, strict=True)
        return [Pointer(self._function, address, one) for address, one in pairs]

    def _term(self, pointers: Sequence[Pointer], totals: list[Parts]) -> list[Parts]:
        """Writes the sums with one more term."""
        *bases, other = pointers
        form, arithmetic, function = self._form, self._arithmetic, self._function
        if form.ahead:
            ahead = scaled(function, self._values["vectors_step"], form.ahead)
            other.moved(ahead).prefetch(sum(form.widths))
        vectors, start = [], 0
        for width in form.widths:
            vectors.append(arithmetic.taken(function, other.moved(start).element(width)))
            start += width
        found: list[Parts] = []
        for number in range(len(self._elements)):
            group, behind = self._place(number)
            value = arithmetic.taken(function, bases[group].moved(self._behind(behind)).element(1))
            for vector in vectors:
                found.append(arithmetic.added(function, totals[len(found)], value, vector))
        return found

    def _firsts(self) -> list[int]:
        """Returns the numbers of the elements that groups begin with."""
        return [n for n in range(len(self._elements)) if self._place(n)[1] == 0]

    def _place(self, number: int) -> tuple[int, int]:
        """Returns the group of an element, and how many elements behind its first one it is."""
        row, column = self._elements[number]
        if self._form.apart:
            return column, row
        if self._is_tall:
            group, behind = divmod(row, _SIDE_BY_SIDE)
            return group * self._form.columns + column, behind
        group, behind = divmod(column, _SIDE_BY_SIDE)
        return row * _groups(self._form.columns) + group, behind

    def _behind(self, count: int) -> Value | int:
        """Writes a distance inside a group."""
        if self._form.apart:
            return count * self._form.apart
        along = self._values["down" if self._is_tall else "across"]
        return scaled(self._function, along, count)

    def _distance(self, row: int, column: int) -> Value:
        down = scaled(self._function, self._values["down"], row)
        across = scaled(self._function, self._values["across"], column)
        if not row or not column:
            return across if column else down
        return self._function.binary("add nsw", down, across)

    def _clear(self) -> None:
        """Writes zeros to all sums, in a loop over rows."""
        function = self._function
        with function.loop(_ZERO, constant("i64", self._form.rows)) as loop:
            row = self._sums.moved(function.binary("mul nsw", loop.index, self._values["row"]))
            for place, width in self._row_vectors:
                self._put(row, place, self._arithmetic.zero(width), width)

    def _stored(self) -> list[Parts]:
        found = []
        for row, place, width in self._vectors:
            memory = Memory(self._sums.address, self._sums.type, is_written=True)
            address = self._row(row).moved(place).address
            found.append(memory.load(self._function, address, width).parts)
        return found

    def _store(self, totals: list[Parts]) -> None:
        for (row, place, width), total in zip(self._vectors, totals, strict=True):
            self._put(self._row(row), place, total, width)

    @property
    def _sums(self) -> Pointer:
        return Pointer(self._function, self._values["sums"], self._arithmetic.held_type)

    def _row(self, number: int) -> Pointer:
        return self._sums.moved(scaled(self._function, self._values["row"], number))

    def _put(self, row: Pointer, place: int, total: Parts, width: int) -> None:
        parts = tuple(self._function.splat(part, width) for part in total)
        row.moved(place).store(Element(row.type, parts))

    @property
    def _vectors(self) -> list[tuple[int, int, int]]:
        """The row and the place in it of each vector of sums, and how wide it is."""
        return [(row, *one) for row in range(self._form.rows) for one in self._row_vectors]

    @property
    def _row_vectors(self) -> list[tuple[int, int]]:
        found, place = [], 0
        for width in self._form.columns * self._form.widths:
            found.append((place, width))
            place += width
        return found


def _groups(count: int) -> int:
    return -(-count // _SIDE_BY_SIDE)


def flat(totals: Sequence[Parts]) -> tuple[Value, ...]:
    """Returns the values of all sums, one after the other."""
    return tuple(part for parts in totals for part in parts)


def regrouped(values: Sequence[Value], like: Sequence[Parts]) -> list[Parts]:
    """Returns values as sums again, as many parts each as those that they are like."""
    rest = iter(values)
    return [tuple(next(rest) for _ in parts) for parts in like]
