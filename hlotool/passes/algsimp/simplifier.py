"""The algebraic simplifier: the identities of every family together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.passes.algsimp import (
    arithmetic,
    bitwise,
    comparison,
    conversion,
    divisions,
    extremes,
    functions,
    moving,
    powers,
    products,
    scalars,
    selection,
)
from hlotool.passes.algsimp.regular import FAST_MATH, NO_NANS, NO_SIGNED_ZEROS
from hlotool.passes.pass_base import option
from hlotool.passes.pattern_pass import PatternPass
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import ROUNDS, rewrite

patterns = PatternSet(
    "algsimp",
    scalars.patterns,
    arithmetic.patterns,
    products.patterns,
    divisions.patterns,
    powers.patterns,
    extremes.patterns,
    bitwise.patterns,
    comparison.patterns,
    selection.patterns,
    conversion.patterns,
    functions.patterns,
    moving.patterns,
)
"""The identities in the order in which they are tried; each family's own come together."""


@dataclass(frozen=True)
class AlgebraicSimplifier(PatternPass):
    """Applies local identities until none matches.

    What could change NaN, infinity, the sign of zero or rounding is off by default.
    """

    name: ClassVar[str] = "algsimp"
    identities: ClassVar[PatternSet] = patterns

    max_rounds: int = option(ROUNDS, "how often instructions are gone through while they change")
    no_signed_zeros: bool = option(default=False, words="allow identities that take 0 for -0")
    no_nans: bool = option(
        default=False, words="allow those that hold for finite numbers, and that take 0 for -0"
    )
    fast_math: bool = option(
        default=False, words="allow all that hold for real numbers, whatever the rounding"
    )

    def run(self, module: Module, journal: Journal) -> bool:
        """Applies the identities that the options allow."""
        return rewrite(module, patterns, journal, rounds=self.max_rounds, allowed=self.allowed())

    def allowed(self) -> Collection[str]:
        """Returns what the options allow."""
        allowed = set()
        if self.no_signed_zeros or self.no_nans or self.fast_math:
            allowed.add(NO_SIGNED_ZEROS)
        if self.no_nans or self.fast_math:
            allowed.add(NO_NANS)
        if self.fast_math:
            allowed.add(FAST_MATH)
        return allowed
