"""The identities of all ops that move elements, and of those that fold and contract them."""

from __future__ import annotations

from hlotool.passes.algsimp import (
    broadcasting,
    concatenating,
    contracting,
    convolving,
    copying,
    dynamic_slicing,
    ordering,
    padding,
    reducing,
    reshaping,
    slicing,
    transposing,
    windowing,
)
from hlotool.rewriting.patterns import PatternSet

patterns = PatternSet(
    "algsimp data movement",
    copying.patterns,
    reshaping.patterns,
    broadcasting.patterns,
    transposing.patterns,
    slicing.patterns,
    dynamic_slicing.patterns,
    padding.patterns,
    concatenating.patterns,
    ordering.patterns,
    reducing.patterns,
    windowing.patterns,
    contracting.patterns,
    convolving.patterns,
)
"""The identities in the order in which they are tried; each family's own come together."""
