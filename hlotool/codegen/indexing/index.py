"""Indices: sums of counters times numbers, with quotients and remainders where they must be.

An index is known before there is code: what it can be is bounded, so that most quotients and
remainders of reshapes vanish, and comparisons at edges are decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.codegen.llvm.value import Value


class SplitNeeded(Exception):  # noqa: N818 - nothing is wrong: loops are made anew
    """A loop's counter must become two, so that an index is a sum of counters."""

    def __init__(self, counter: Counter, stride: int) -> None:
        super().__init__(f"the counter must be split at {stride}")
        self.counter = counter
        self.stride = stride


@dataclass(eq=False)
class Counter:
    """The counter of a loop, from 0 to `extent` - 1; `value` when code is being made.

    Where `lanes` is more than 1, `value` is the first of so many indices that are handled at
    once. `splits` says whether the loop may be made two loops.
    """

    extent: int
    value: Value | None = None
    lanes: int = 1
    splits: bool = True

    @property
    def high(self) -> int:
        """The largest value."""
        return self.extent - 1


@dataclass(frozen=True)
class Known:
    """A value that the kernel has computed, between 0 and `high`; it may have lanes."""

    value: Value
    high: int


@dataclass(frozen=True)
class Quotient:
    """An index divided by a number, rounded down; the index is not negative."""

    index: Index
    divisor: int

    @property
    def high(self) -> int:
        """The largest value."""
        return self.index.high // self.divisor


@dataclass(frozen=True)
class Remainder:
    """What is left of an index that is divided by a number; the index is not negative."""

    index: Index
    divisor: int

    @property
    def high(self) -> int:
        """The largest value."""
        return min(self.divisor - 1, self.index.high)


@dataclass(frozen=True)
class Bounded:
    """An index that lies between 0 and `high` where it is used: a branch has made sure of it."""

    index: Index
    high: int


Term: TypeAlias = Counter | Known | Quotient | Remainder | Bounded


class Index:
    """A sum of terms, each times a factor that is not 0, and a number. It never changes."""

    __slots__ = ("_hash", "high", "low", "offset", "terms")

    def __init__(self, terms: tuple[tuple[Term, int], ...] = (), offset: int = 0) -> None:
        self.terms = terms
        self.offset = offset
        low = high = offset
        for term, factor in terms:
            if factor > 0:
                high += factor * term.high
            else:
                low += factor * term.high
        self.low = low
        """The least that it can be."""
        self.high = high
        """The most that it can be."""
        self._hash = hash((terms, offset))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Index) and self.terms == other.terms and self.offset == other.offset
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Index({self.terms}, {self.offset})"

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return not self.terms

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.terms, self.offset + other) if other else self
        if not other.terms:
            return self + other.offset
        if not self.terms:
            return other + self.offset
        return _sum((*self.terms, *other.terms), self.offset + other.offset)

    def __mul__(self, factor: int) -> Index:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Index(tuple((t, f * factor) for t, f in self.terms), self.offset * factor)

    def __sub__(self, other: Index | int) -> Index:
        return self + (-other if isinstance(other, int) else other * -1)

    def __floordiv__(self, divisor: int) -> Index:
        """Returns the quotient, rounded down."""
        if divisor == 1:
            return self
        whole, rest = self._parts(divisor)
        if rest.low >= 0 and rest.high < divisor:
            return whole
        assert self.low >= 0, "a quotient is made of what is not negative"
        if rest.low < 0:
            whole, rest = ZERO, self
        return whole + Index(((_quotient(rest, divisor), 1),))

    def __mod__(self, divisor: int) -> Index:
        """Returns what is left of a division."""
        if divisor == 1:
            return ZERO
        _, rest = self._parts(divisor)
        if rest.low >= 0 and rest.high < divisor:
            return rest
        assert self.low >= 0, "a remainder is made of what is not negative"
        if rest.low < 0:
            rest = self
        return Index(((Remainder(rest, divisor), 1),))

    def _parts(self, divisor: int) -> tuple[Index, Index]:
        # What is a multiple of the divisor, divided by it, and what is left.
        whole = tuple((t, f // divisor) for t, f in self.terms if f % divisor == 0)
        rest = tuple((t, f) for t, f in self.terms if f % divisor)
        return Index(whole, self.offset // divisor), Index(rest, self.offset % divisor)

    def ask_for_splits(self) -> None:
        """Raises `SplitNeeded` where two counters instead of one would save a division."""
        for term, _ in self.terms:
            if isinstance(term, Quotient | Remainder):
                for counter, factor in term.index.terms:
                    if isinstance(counter, Counter) and counter.splits and factor > 0:
                        stride = term.divisor // factor
                        if term.divisor % factor == 0 and 1 < stride < counter.extent:
                            raise SplitNeeded(counter, stride)
            if isinstance(term, Quotient | Remainder | Bounded):
                term.index.ask_for_splits()

    def varies(self) -> bool:
        """Whether it differs between the lanes that are handled at once."""
        return any(_varies(term) for term, _ in self.terms)

    def step(self) -> int | None:
        """Returns by how much it grows from lane to lane; `None` where it is not even."""
        total = 0
        for term, factor in self.terms:
            if isinstance(term, Counter):
                total += factor if term.lanes > 1 else 0
            elif isinstance(term, Bounded) and (step := term.index.step()) is not None:
                total += factor * step
            elif _varies(term):
                return None
        return total


ZERO = Index()


def index_of(term: Term | int) -> Index:
    """Returns a counter, a computed value or a number as an index."""
    if isinstance(term, int):
        return Index((), term)
    return Index(((term, 1),)) if term.high > 0 else ZERO


def linear(index: Iterable[Index], sizes: Iterable[int]) -> Index:
    """Returns the place of an element among all, the last dimension being the fastest."""
    place = ZERO
    for one, size in zip(index, sizes, strict=True):
        place = place * size + one
    return place


def delinear(place: Index, sizes: tuple[int, ...]) -> tuple[Index, ...]:
    """Returns the index of the element at a place, the last dimension being the fastest."""
    found = []
    for size in reversed(sizes[1:]):
        found.append(place % size)
        place = place // size
    return (place, *reversed(found)) if sizes else ()


def _sum(terms: Iterable[tuple[Term, int]], offset: int) -> Index:
    factors: dict[Term, int] = {}
    for term, factor in terms:
        factors[term] = factors.get(term, 0) + factor
    kept = {term: factor for term, factor in factors.items() if factor}
    return Index(_joined(kept), offset)


def _joined(factors: dict[Term, int]) -> tuple[tuple[Term, int], ...]:
    # (i / d) * d + i % d is i again, as when a reshape is taken back.
    for term, factor in factors.items():
        if isinstance(term, Remainder):
            quotient = term.index // term.divisor
            wanted = {t: f * factor * term.divisor for t, f in quotient.terms}
            if wanted and all(factors.get(t) == f for t, f in wanted.items()):
                rest = {t: f for t, f in factors.items() if t is not term and t not in wanted}
                again = term.index * factor
                offset = again.offset - quotient.offset * factor * term.divisor
                if not offset:
                    return _sum((*rest.items(), *again.terms), 0).terms
    return tuple(factors.items())


def _quotient(index: Index, divisor: int) -> Term:
    # A quotient of a quotient is one.
    if len(index.terms) == 1 and not index.offset:
        ((term, factor),) = index.terms
        if factor == 1 and isinstance(term, Quotient):
            return Quotient(term.index, term.divisor * divisor)
    return Quotient(index, divisor)


def _varies(term: Term) -> bool:
    if isinstance(term, Counter):
        return term.lanes > 1
    if isinstance(term, Known):
        return term.value.lanes > 1
    return term.index.varies()
