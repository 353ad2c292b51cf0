"""Two arrays side by side: errors of all elements, counted in pieces so that memory is bounded.

NaN equals NaN; NaN beside a number and infinity beside another number are infinitely wrong.
Integers and flags are compared exactly. The error of a complex number is that of its distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isinf

import numpy as np

from hlotool.evaluation.comparison.number_text import Side
from hlotool.evaluation.comparison.tolerance import Tolerance
from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array
from hlotool.ops.numerics.widths import doubled

PIECE = 1 << 18
"""How many elements are looked at together."""
WORST_COUNT = 5
RELATIVE_EDGES = (0.0, 1e-15, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, inf)
"""The upper ends of the buckets of relative errors; the first holds elements without one."""
MAGNITUDE_EDGES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e2, 1e4, inf)
"""The upper ends of the buckets of expected magnitudes; the first holds zeros."""
_DIGITS, _POWERS = range(1, 10), range(-16, 1)
_CANDIDATES = np.array([0.0, *(float(f"{d}e{p}") for p in _POWERS for d in _DIGITS)])
"""The relative bounds that are tried as suggestions."""
_MOST_SUGGESTIONS = 5


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many elements lie above the bucket before and up to `end`, and how many are wrong."""

    end: float
    count: int
    mismatches: int


@dataclass(frozen=True, slots=True)
class WorstElement:
    """One of the elements that are most wrong. `ulps` is `None` where no number can count them."""

    index: tuple[int, ...]
    actual: Side
    expected: Side
    absolute: float
    relative: float
    ulps: int | None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Absolute and relative bounds with which no element would break both."""

    absolute: float
    relative: float


@dataclass(frozen=True, slots=True)
class NotFinite:
    """How many elements of one side are NaN and infinite."""

    nan: int = 0
    infinite: int = 0


@dataclass(frozen=True, slots=True)
class Differences:
    """What a comparison of two arrays of one shape has found.

    `size` is the typical size of expected elements, `unspecified` counts those left out.
    """

    elements: int = 0
    unspecified: int = 0
    mismatches: int = 0
    nan_mismatches: int = 0
    zero_signs: int = 0
    size: float = 0.0
    largest_absolute: float = 0.0
    largest_relative: float = 0.0
    actual: NotFinite = NotFinite()
    expected: NotFinite = NotFinite()
    relative_errors: tuple[Bucket, ...] = ()
    magnitudes: tuple[Bucket, ...] = ()
    worst: tuple[WorstElement, ...] = ()
    suggestions: tuple[Bounds, ...] = ()


NOTHING_COMPARED = Differences()


def differences(
    actual: Array,
    expected: Array,
    element_type: ElementType,
    tolerance: Tolerance,
    unspecified: Array | None = None,
) -> Differences:
    """Returns how two arrays of the same dimensions and type differ.

    Elements where `unspecified` is true are left out.
    """
    ours, theirs = actual.reshape(-1), expected.reshape(-1)
    skipped = None if unspecified is None else np.broadcast_to(unspecified, actual.shape).ravel()
    tally = _Tally(element_type, tolerance)
    if tolerance.scaled:
        tally.size = _typical_size(theirs, skipped)
    for start in range(0, ours.size, PIECE):
        piece = slice(start, start + PIECE)
        tally.add(ours[piece], theirs[piece], start, None if skipped is None else skipped[piece])
    return tally.result(ours, theirs, actual.shape)


def _typical_size(array: Array, skipped: Array | None) -> float:
    count, largest = 0, 0.0
    for magnitude in _magnitudes(array, skipped):
        largest = max(largest, float(magnitude.max(initial=0.0)))
        count += magnitude.size
    if not largest:
        return 0.0
    # Squares of parts of the largest do not overflow.
    squares = sum(float(np.square(m / largest).sum()) for m in _magnitudes(array, skipped))
    return float(largest * np.sqrt(squares / count))


def _magnitudes(array: Array, skipped: Array | None) -> Iterator[Array]:
    for start in range(0, array.size, PIECE):
        piece = doubled(array[start : start + PIECE])
        if skipped is not None:
            piece = piece[~skipped[start : start + PIECE]]
        with np.errstate(all="ignore"):
            found = np.abs(piece)
        yield found[np.isfinite(found)]


class _Errors:
    """The errors of some elements: absolute, relative, and the magnitude of what is expected."""

    def __init__(self, actual: Array, expected: Array, element_type: ElementType) -> None:
        with np.errstate(all="ignore"):
            if element_type.is_float:
                theirs = doubled(expected)
                self.absolute = _distance(doubled(actual), theirs)
                self.magnitude = np.abs(theirs)
            elif element_type.is_complex:
                ours, theirs = doubled(actual), doubled(expected)
                self.absolute = np.hypot(
                    _distance(ours.real, theirs.real), _distance(ours.imag, theirs.imag)
                )
                # Beside an infinite or NaN part, the error of the other one is relative to itself.
                self.magnitude = np.hypot(_finite(theirs.real), _finite(theirs.imag))
            else:
                self.absolute = _whole_distance(actual, expected)
                self.magnitude = np.abs(expected.astype(np.float64))
            relative = self.absolute / self.magnitude
        relative[self.absolute == 0] = 0.0
        relative[np.isinf(self.absolute) | np.isnan(relative)] = inf
        self.relative = relative

    def fail(self, tolerance: Tolerance, size: float) -> Array:
        """Returns which elements are beyond the tolerance."""
        if tolerance.needs_both:
            return (self.absolute > tolerance.absolute) & (self.relative > tolerance.relative)
        with np.errstate(all="ignore"):
            bound = tolerance.absolute + tolerance.relative * self.magnitude
            if tolerance.scaled:
                bound += tolerance.scaled * np.maximum(self.magnitude, size)
            within = self.absolute <= bound
        return np.asarray((~within & (self.absolute > 0)) | np.isinf(self.absolute))


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, 0.0)


def _distance(actual: Array, expected: Array) -> Array:
    found: Array = np.abs(actual - expected)
    found[(actual == expected) | (np.isnan(actual) & np.isnan(expected))] = 0.0
    found[np.isnan(found)] = inf
    return found


def _whole_distance(actual: Array, expected: Array) -> Array:
    wide = np.uint64 if actual.dtype.name.startswith(("uint", "bool")) else np.int64
    ours, theirs = actual.astype(wide), expected.astype(wide)
    high, low = np.maximum(ours, theirs), np.minimum(ours, theirs)
    # The difference of any two fits 64 bits without a sign.
    return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)


class _Tally:
    """What has been counted of the pieces so far."""

    def __init__(self, element_type: ElementType, tolerance: Tolerance) -> None:
        self.element_type = element_type
        self.tolerance = tolerance
        self.size = 0.0
        self._has_bounds = element_type.is_float or element_type.is_complex
        self._counts = dict.fromkeys(
            ["elements", "unspecified", "mismatches", "nan_mismatches", "zero_signs"], 0
        )
        self._not_finite = np.zeros((2, 2), np.int64)
        self._largest = [0.0, 0.0]
        self._relative = np.zeros((2, len(RELATIVE_EDGES)), np.int64)
        self._magnitudes = np.zeros((2, len(MAGNITUDE_EDGES)), np.int64)
        self._needed = np.zeros(len(_CANDIDATES) + 1)
        self._worst: list[tuple[bool, float, float, int]] = []

    def add(self, actual: Array, expected: Array, start: int, skipped: Array | None) -> None:
        """Counts a piece that begins at element `start`."""
        places = np.arange(start, start + actual.size)
        if skipped is not None:
            self._counts["unspecified"] += int(np.count_nonzero(skipped))
            kept = ~skipped
            actual, expected, places = actual[kept], expected[kept], places[kept]
        self._counts["elements"] += actual.size
        if not actual.size:
            return
        errors = _Errors(actual, expected, self.element_type)
        fails = errors.fail(self.tolerance, self.size)
        self._counts["mismatches"] += int(np.count_nonzero(fails))
        if self._has_bounds:
            self._count_specials(actual, expected)
        self._largest[0] = max(self._largest[0], float(errors.absolute.max()))
        self._largest[1] = max(self._largest[1], float(errors.relative.max()))
        _count(self._relative, RELATIVE_EDGES, errors.relative, fails)
        _count(self._magnitudes, MAGNITUDE_EDGES, errors.magnitude, fails)
        self._note_needed(errors)
        self._note_worst(errors, fails, places)

    def _count_specials(self, actual: Array, expected: Array) -> None:
        ours, theirs = np.isnan(actual), np.isnan(expected)
        self._not_finite += np.array(
            [
                [np.count_nonzero(ours), np.count_nonzero(np.isinf(actual))],
                [np.count_nonzero(theirs), np.count_nonzero(np.isinf(expected))],
            ]
        )
        self._counts["nan_mismatches"] += int(np.count_nonzero(ours != theirs))
        if self.element_type.is_float and self.element_type.name != "f8e8m0fnu":
            zeros = (actual == 0) & (expected == 0)
            signs = np.signbit(actual[zeros]) != np.signbit(expected[zeros])
            self._counts["zero_signs"] += int(np.count_nonzero(signs))

    def _note_needed(self, errors: _Errors) -> None:
        wrong = errors.absolute > 0
        if wrong.any():
            buckets = np.searchsorted(_CANDIDATES, errors.relative[wrong], side="left")
            np.maximum.at(self._needed, buckets, errors.absolute[wrong])

    def _note_worst(self, errors: _Errors, fails: Array, places: Array) -> None:
        candidates = np.flatnonzero(fails if fails.any() else errors.absolute > 0)
        if not candidates.size:
            return
        relative, absolute = errors.relative[candidates], errors.absolute[candidates]
        order = np.lexsort((-places[candidates], absolute, relative))[-WORST_COUNT:]
        for at in candidates[order]:
            self._worst.append(
                (bool(fails[at]), float(errors.relative[at]), float(errors.absolute[at]),
                 -int(places[at]))
            )  # fmt: skip
        self._worst = sorted(self._worst, reverse=True)[:WORST_COUNT]

    def result(self, actual: Array, expected: Array, sizes: tuple[int, ...]) -> Differences:
        """Returns what was counted; the arrays are flat, `sizes` are their dimensions."""
        worst = [self._worst_element(actual, expected, sizes, *entry[1:]) for entry in self._worst]
        return Differences(
            **self._counts,
            size=self.size,
            largest_absolute=self._largest[0],
            largest_relative=self._largest[1],
            actual=NotFinite(*map(int, self._not_finite[0])),
            expected=NotFinite(*map(int, self._not_finite[1])),
            relative_errors=_buckets(self._relative, RELATIVE_EDGES),
            magnitudes=_buckets(self._magnitudes, MAGNITUDE_EDGES),
            worst=tuple(worst),
            # Bounds do not apply to integers.
            suggestions=_suggestions(self._needed) if self._has_bounds else (),
        )

    def _worst_element(
        self, actual: Array, expected: Array, sizes: tuple[int, ...],
        relative: float, absolute: float, negated_place: int,
    ) -> WorstElement:  # fmt: skip
        place = -negated_place
        ours = Side.of(actual[place : place + 1], self.element_type)
        theirs = Side.of(expected[place : place + 1], self.element_type)
        index = tuple(int(i) for i in np.unravel_index(place, sizes)) if sizes else ()
        return WorstElement(index, ours, theirs, absolute, relative, ours.ulps_to(theirs))


def _count(table: Array, edges: tuple[float, ...], values: Array, fails: Array) -> None:
    known = ~np.isnan(values)
    buckets = np.searchsorted(edges, values[known], side="left")
    table[0] += np.bincount(buckets, minlength=len(edges))
    table[1] += np.bincount(buckets[fails[known]], minlength=len(edges))


def _buckets(table: Array, edges: tuple[float, ...]) -> tuple[Bucket, ...]:
    columns = zip(edges, table[0], table[1], strict=True)
    return tuple(Bucket(end, int(count), int(wrong)) for end, count, wrong in columns)


def _suggestions(needed: Array) -> tuple[Bounds, ...]:
    """Returns pairs of bounds of which none is better than another in both.

    `needed` has the largest absolute error of elements whose relative error lies between two
    candidates: above a relative bound, the absolute one must hold all of those.
    """
    if not needed.any() or isinf(needed[-1]):
        return ()
    above = np.append(np.maximum.accumulate(needed[::-1])[::-1][1:], 0.0)[: len(_CANDIDATES)]
    found: list[Bounds] = []
    for relative, absolute in zip(_CANDIDATES, above, strict=True):
        bounds = Bounds(rounded_up(float(absolute)), float(f"{relative:.0e}"))
        # Bounds of nearly the same absolute part tell nothing new.
        if not found or bounds.absolute <= found[-1].absolute / 10 or not absolute:
            found.append(bounds)
        if not absolute:
            break
    if len(found) > _MOST_SUGGESTIONS:
        middle = found[1:-1]
        step = -(-len(middle) // (_MOST_SUGGESTIONS - 2))
        found = [found[0], *middle[::step], found[-1]]
    return tuple(found)


def rounded_up(value: float) -> float:
    """Returns the least number of one decimal digit that is not less."""
    if value == 0 or isinf(value):
        return value
    near = float(f"{value:.0e}")
    if near >= value:
        return near
    digit, _, power = f"{value:.0e}".partition("e")
    return float(f"{int(digit) + 1}e{power}")
