"""What instructions want of the numbers they are given, so that a run means something.

A constraint is on one array. Its `source` is the instruction that wants it, for messages, and
makes no difference between constraints.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from hlotool.ir.frame import Array

SMALL = 0.0625
"""How far from zero, and from other ends of a domain, floats stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint(ABC):
    """Base of what an array must be like."""

    source: str = field(default="", compare=False)

    @property
    @abstractmethod
    def words(self) -> str:
        """What it asks for."""

    def is_kept_by(self, numbers: Array) -> bool:  # noqa: ARG002  # some look at nothing
        """Whether numbers in f64, s64, u64 or complex are so, as far as each one shows it."""
        return True


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

    @property
    def words(self) -> str:
        """What it asks for."""
        if self.low == -math.inf:
            return f"at most {self.high:g}"
        if self.high == math.inf:
            return f"at least {self.low:g}"
        return f"{self.low:g} to {self.high:g}"

    def is_kept_by(self, numbers: Array) -> bool:
        """Whether all numbers are in the range."""
        # No float in between: it would not hold the ends of 64-bit integers.
        low, high = numbers.min().item(), numbers.max().item()
        return bool(self.low <= low and high <= self.high)


@dataclass(frozen=True, slots=True)
class Nonzero(Constraint):
    """No number is zero, or so near that dividing by it yields a huge one."""

    @property
    def words(self) -> str:
        """What it asks for."""
        return "no zeros"

    def is_kept_by(self, numbers: Array) -> bool:
        """Whether no number is zero."""
        return bool((numbers != 0).all())


@dataclass(frozen=True, slots=True)
class Fixed(Constraint):
    """Every number is this one; infinities stand for the ends of the type's numbers."""

    value: float = 0.0

    @property
    def words(self) -> str:
        """What it asks for."""
        return f"{self.value:g}"


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

    @property
    def words(self) -> str:
        """What it asks for."""
        return f"indices of at most {', '.join(f'{high:g}' for high in self.highs)}"

    def is_kept_by(self, numbers: Array) -> bool:
        """Whether each place has numbers of its range."""
        lines = np.moveaxis(numbers, self.dimension, 0)
        flat = lines.reshape(len(lines), -1)
        lows, highs = (np.array(ends)[: len(flat), None] for ends in (self.lows, self.highs))
        return bool(((lows <= flat) & (flat <= highs)).all())


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

    @property
    def words(self) -> str:
        """What it asks for."""
        words = ["sorted"] * self.is_sorted + ["different"] * self.is_unique
        return f"{' and '.join(words)} indices"


@dataclass(frozen=True, slots=True)
class Unique(Constraint):
    """The numbers along one dimension all differ."""

    dimension: int = 0

    @property
    def words(self) -> str:
        """What it asks for."""
        return f"different numbers along dimension {self.dimension}"


class MatrixKind(Enum):
    """What a square matrix is like."""

    POSITIVE_DEFINITE = "positive definite"
    LOWER = "lower triangular"
    UPPER = "upper triangular"


@dataclass(frozen=True, slots=True)
class Matrices(Constraint):
    """The last two dimensions hold matrices that are far from singular."""

    kind: MatrixKind = MatrixKind.POSITIVE_DEFINITE

    @property
    def words(self) -> str:
        """What it asks for."""
        return f"{self.kind.value} matrices"


@dataclass(frozen=True, slots=True)
class GroupSizes(Constraint):
    """The numbers along the last dimension are at least zero and sum to `total`."""

    total: int = 0

    @property
    def words(self) -> str:
        """What it asks for."""
        return f"groups of {self.total} together"


@dataclass(frozen=True, slots=True)
class Weights(Constraint):
    """Sums of `count` products with these numbers should be no larger than the other factors.

    It is a matter of taste: where anything else is wanted it does not count.
    """

    count: int = 1

    @property
    def words(self) -> str:
        """What it asks for."""
        return "small numbers"


@dataclass(frozen=True, slots=True)
class Full(Constraint):
    """Dynamic dimensions are as long as they may be."""

    @property
    def words(self) -> str:
        """What it asks for."""
        return "full sizes"


def positive(source: str) -> Range:
    """Returns the range of numbers well above zero."""
    return Range(SMALL, is_comfort=True, source=source)
