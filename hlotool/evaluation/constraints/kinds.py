"""What instructions want of the numbers they are given, so that a run means something.

A constraint is on one array. Its `source` is the instruction that wants it, for messages, and
makes no difference between constraints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum

SMALL = 0.0625
"""How far from zero, and from other ends of a domain, floats stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """Base of what an array must be like."""

    source: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Range(Constraint):
    """Every number lies between two others, both included.

    `is_comfort` tells that other numbers have a meaning too, only not a finite one.
    """

    low: float = -math.inf
    high: float = math.inf
    is_comfort: bool = False

    def shifted(self, offset: float) -> Range:
        """Returns the range moved up."""
        return replace(self, low=self.low + offset, high=self.high + offset)

    def scaled(self, factor: float) -> Range:
        """Returns the range with both ends multiplied by a number other than 0."""
        ends = self.low * factor, self.high * factor
        return replace(self, low=min(ends), high=max(ends))


@dataclass(frozen=True, slots=True)
class Nonzero(Constraint):
    """No number is zero, or so near that dividing by it yields a huge one."""


@dataclass(frozen=True, slots=True)
class Fixed(Constraint):
    """Every number is this one; infinities stand for the ends of the type's numbers."""

    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Components(Constraint):
    """Along one dimension each place has a range of its own, ends included."""

    dimension: int = 0
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()

    @property
    def narrowest(self) -> Range:
        """The range that all places have in common."""
        return Range(max(self.lows), min(self.highs), source=self.source)


@dataclass(frozen=True, slots=True)
class IndexOrder(Constraint):
    """Index vectors along a dimension, or single indices for `None`, are sorted or all differ.

    `counts` is how many values each place of a vector can take; values are multiples of
    `steps`, so that windows at different vectors do not overlap. Dimensions `batching` have
    vectors of their own in each place.
    """

    dimension: int | None = None
    counts: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    batching: tuple[int, ...] = ()
    is_sorted: bool = False
    is_unique: bool = False

    def joined(self, other: IndexOrder) -> IndexOrder:
        """Returns the order that is as both are; they are of vectors of one length."""
        steps = tuple(map(max, self.steps, other.steps))
        lasts = [
            [(count - 1) * step for count, step in zip(order.counts, order.steps, strict=True)]
            for order in (self, other)
        ]
        counts = tuple(
            min(pair) // step + 1
            for pair, step in zip(zip(*lasts, strict=True), steps, strict=True)
        )
        return replace(
            self,
            counts=counts,
            steps=steps,
            is_sorted=self.is_sorted or other.is_sorted,
            is_unique=self.is_unique or other.is_unique,
        )


@dataclass(frozen=True, slots=True)
class Unique(Constraint):
    """The numbers along one dimension all differ."""

    dimension: int = 0


class MatrixKind(Enum):
    """What a square matrix is like."""

    POSITIVE_DEFINITE = "positive definite"
    LOWER = "lower triangular"
    UPPER = "upper triangular"


@dataclass(frozen=True, slots=True)
class Matrices(Constraint):
    """The last two dimensions hold matrices that are far from singular."""

    kind: MatrixKind = MatrixKind.POSITIVE_DEFINITE


@dataclass(frozen=True, slots=True)
class GroupSizes(Constraint):
    """The numbers along the last dimension are at least zero and sum to `total`."""

    total: int = 0


@dataclass(frozen=True, slots=True)
class Weights(Constraint):
    """Sums of `count` products with these numbers should be no larger than the other factors.

    It is a matter of taste: where anything else is wanted it does not count.
    """

    count: int = 1


@dataclass(frozen=True, slots=True)
class Full(Constraint):
    """Dynamic dimensions are as long as they may be."""


def positive(source: str) -> Range:
    """Returns the range of numbers well above zero."""
    return Range(SMALL, is_comfort=True, source=source)
