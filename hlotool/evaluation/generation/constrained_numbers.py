"""Makes one array under constraints, and tells which of them it does not keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from hlotool.evaluation.constraints.kinds import (
    SMALL,
    Components,
    Constraint,
    Fixed,
    Full,
    GroupSizes,
    IndexOrder,
    Matrices,
    MatrixKind,
    Nonzero,
    Range,
    Unique,
    Weights,
)
from hlotool.evaluation.generation.random_numbers import (
    ANY,
    Bounds,
    Style,
    random_numbers,
    type_ends,
)
from hlotool.evaluation.generation.structured_numbers import (
    ImpossibleError,
    different,
    group_sizes,
    index_vectors,
    matrices,
)
from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.frame import Array

_Kind = TypeVar("_Kind", bound=Constraint)
_STRUCTURED = (Matrices, GroupSizes, IndexOrder, Unique)
_FEW = 16
"""Sums of up to so many products of plain numbers do not grow enough to matter."""
_AWAY = 0.5
"""What is added to numbers too near zero: every float type has it."""


class NumberMaker:
    """Makes an array of a type and sizes; `notes` then has what was wanted and is not so."""

    def __init__(
        self,
        element_type: ElementType,
        sizes: tuple[int, ...],
        constraints: Sequence[Constraint],
        style: Style,
        generator: np.random.Generator,
    ) -> None:
        self.notes: list[str] = []
        self._type = element_type
        self._sizes = sizes
        self._weights = [wish for wish in constraints if isinstance(wish, Weights)]
        self._constraints = [wish for wish in constraints if not isinstance(wish, Full | Weights)]
        self._style = style
        self._generator = generator
        self._settled: list[Constraint] = []
        """The structures that the array has, or that a note says it cannot have."""

    def numbers(self) -> Array:
        """Returns the array."""
        if self._style is Style.EDGES and self._constraints:
            self._style = Style.PLAIN
        bounds = self._bounds(self._all(Range))
        made = self._fixed()
        if made is None:
            made = self._structured(bounds)
        if made is None:
            made = self._unstructured(bounds)
        lost: dict[str, list[str]] = {}
        for wish in self._constraints:
            if not self._keeps(made, wish):
                lost.setdefault(wish.source, []).append(wish.words)
        self.notes += [
            f"{source} wants {_some(words)}, which other uses or the type rule out"
            for source, words in lost.items()
        ]
        return made

    def _all(self, kind: type[_Kind]) -> list[_Kind]:
        return [wish for wish in self._constraints if isinstance(wish, kind)]

    def _fixed(self) -> Array | None:
        fixed = self._all(Fixed)
        if not fixed:
            return None
        return np.full(self._sizes, self._fixed_value(fixed[0]), self._type.numpy)

    def _fixed_value(self, wish: Fixed) -> Array:
        value = wish.value
        if self._type.is_complex:
            return np.asarray(value, self._type.numpy)
        lowest, highest = type_ends(self._type)
        float_format = self._type.float_format
        if float_format is None or not float_format.has_infinity or not math.isinf(value):
            value = min(max(value, lowest), highest)
        if self._type.is_integer:
            # No float in between: it would not hold the ends of 64-bit integers.
            value = int(value)
        return np.asarray(np.array(value).astype(self._type.numpy))

    def _bounds(self, ranges: Sequence[Range]) -> Bounds:
        """Returns the bounds that ranges have in common, as many as agree, hard ones first."""
        found = ANY
        if self._type.is_complex:
            return found
        for wish in sorted(ranges, key=_urgency):
            # Adding makes -0.0 a zero like the other: to numpy, 0.0 to -0.0 has no length.
            closer = Bounds(
                max(found.low, wish.low) + 0.0,
                min(found.high, wish.high) + 0.0,
                found.is_hard or not wish.is_comfort,
            )
            if self._has_number(closer):
                found = closer
        return found

    def _has_number(self, bounds: Bounds) -> bool:
        lowest, highest = type_ends(self._type)
        low, high = max(lowest, bounds.low), min(highest, bounds.high)
        return low <= high if self._type.is_float else math.ceil(low) <= math.floor(high)

    def _structured(self, bounds: Bounds) -> Array | None:
        for wish in self._constraints:
            if not isinstance(wish, _STRUCTURED):
                continue
            alike = [other for other in self._constraints if _is_alike(wish, other)]
            self._settled += alike
            try:
                return self._of_structure(wish, alike, bounds)
            except ImpossibleError as fault:
                self.notes.append(f"{wish.source} wants {wish.words}: {fault}")
        return None

    def _of_structure(self, wish: Constraint, alike: Sequence[Constraint], bounds: Bounds) -> Array:
        if isinstance(wish, Matrices):
            # Positive definite ones have good triangles too.
            kinds = [other.kind for other in alike if isinstance(other, Matrices)]
            definite = MatrixKind.POSITIVE_DEFINITE
            kind = definite if definite in kinds else wish.kind
            return matrices(kind, self._type, self._sizes, self._generator)
        if isinstance(wish, GroupSizes):
            return group_sizes(wish.total, self._type, self._sizes, self._generator)
        if isinstance(wish, IndexOrder):
            order = wish
            for other in alike:
                if isinstance(other, IndexOrder):
                    order = order.joined(other)
            return index_vectors(
                self._within(order, bounds), self._type, self._sizes, self._generator
            )
        assert isinstance(wish, Unique)
        return different(wish.dimension, self._type, self._sizes, bounds, self._generator)

    def _within(self, wish: IndexOrder, bounds: Bounds) -> IndexOrder:
        highs = [bounds.high] * len(wish.counts)
        for other in self._all(Components):
            if other.dimension == wish.dimension and len(other.highs) == len(highs):
                highs = [min(pair) for pair in zip(highs, other.highs, strict=True)]
        counts = tuple(
            count if high == math.inf else max(1, min(count, math.floor(high) // step + 1))
            for count, step, high in zip(wish.counts, wish.steps, highs, strict=True)
        )
        return replace(wish, counts=counts)

    def _unstructured(self, bounds: Bounds) -> Array:
        components = self._all(Components)
        if components:
            return self._by_component(components, bounds)
        made = self._random(self._weighted() if bounds.is_open else bounds)
        return self._without_zeros(made, bounds) if self._all(Nonzero) else made

    def _random(self, bounds: Bounds) -> Array:
        return random_numbers(self._type, self._sizes, self._generator, self._style, bounds)

    def _weighted(self) -> Bounds:
        count = max((wish.count for wish in self._weights), default=0)
        has_small = self._type.is_float and self._type.bits > 8
        if count <= _FEW or not has_small or self._style is not Style.PLAIN:
            return ANY
        # Evenly between these ends, numbers have a variance of one part in `count`.
        size = math.sqrt(3 / count)
        return Bounds(-size, size, is_hard=True)

    def _by_component(self, components: Sequence[Components], bounds: Bounds) -> Array:
        dimension = components[0].dimension
        alike = [wish for wish in components if wish.dimension == dimension]
        count = self._sizes[dimension]
        places: dict[Bounds, list[int]] = {}
        for place in range(count):
            ranges = [
                Range(wish.lows[place], wish.highs[place])
                for wish in alike
                if place < len(wish.lows)
            ]
            own = self._bounds([Range(bounds.low, bounds.high), *ranges])
            places.setdefault(own, []).append(place)
        made = np.zeros(self._sizes, self._type.numpy)
        for own, chosen in places.items():
            index = (slice(None),) * dimension + (chosen,)
            made[index] = self._random(own)[index]
        return made

    def _without_zeros(self, made: Array, bounds: Bounds) -> Array:
        if self._type.kind is Kind.PRED:
            return np.ones_like(made)
        if self._type.is_complex:
            return np.asarray(np.where(np.abs(made) < SMALL, made + made.dtype.type(1), made))
        if not self._type.is_float:
            other = 1 if self._has_number(Bounds(max(1.0, bounds.low), bounds.high)) else -1
            return np.where(made == 0, np.array(other).astype(made.dtype), made)
        wide = made.astype(np.float64)
        away = np.where(np.signbit(wide), wide - _AWAY, wide + _AWAY)
        outside = (away < bounds.low) | (away > bounds.high)
        away = np.where(outside, -away, away)
        return np.asarray(np.where(np.abs(wide) < SMALL, away, wide).astype(made.dtype))

    def _keeps(self, made: Array, wish: Constraint) -> bool:
        """Whether an array is as wanted; of a structure, whether nothing else was made."""
        if self._type.is_complex and not isinstance(wish, Nonzero):
            return True
        if not made.size:
            return True
        if isinstance(wish, _STRUCTURED):
            return any(wish is other for other in self._settled)
        if isinstance(wish, Fixed):
            return bool((made == self._fixed_value(wish)).all())
        return wish.is_kept_by(self._wide(made))

    def _wide(self, made: Array) -> Array:
        if self._type.is_complex:
            return made
        if self._type.is_float:
            return made.astype(np.float64)
        return made.astype(np.uint64 if self._type.name == "u64" else np.int64)


def _is_alike(one: Constraint, other: Constraint) -> bool:
    """Whether one array can be as both want it."""
    if isinstance(one, IndexOrder) and isinstance(other, IndexOrder):
        places = [(o.dimension, o.batching, len(o.counts)) for o in (one, other)]
        return places[0] == places[1]
    return one == other or (isinstance(one, Matrices) and isinstance(other, Matrices))


def _urgency(wish: Range) -> tuple[bool, bool]:
    # Plain numbers are more use than those that a branch not taken wants.
    return wish.is_comfort, wish.low > 1 - SMALL or wish.high < SMALL - 1


def _some(words: Sequence[str]) -> str:
    shown = list(dict.fromkeys(words))
    more = [f"{len(shown) - 2} more"] if len(shown) > 3 else shown[2:]
    return " and ".join(shown[:2] + more)
