"""Random numbers of each element type, plain ones, of the whole range, or at its edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np

from hlotool.evaluation.constraints.kinds import SMALL
from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.frame import Array

_PLAIN_INTEGER = 8
_PLAIN_EXPONENT = 3
_RARE = 1e-6
"""How often a number of the large range is zero, one or infinite, for each of the six."""


class Style(Enum):
    """What numbers are like where nothing is wanted of them."""

    ZERO = "zero"
    PLAIN = "plain"  # small: results stay finite, and differences show
    LARGE = "large"  # the whole range of the type, evenly over exponents
    EDGES = "edges"  # NaN, infinities, ends of ranges and their neighbours among plain ones


@dataclass(frozen=True, slots=True)
class Bounds:
    """The ends, both included, of what numbers may be; `is_hard` where others mean nothing."""

    low: float = -math.inf
    high: float = math.inf
    is_hard: bool = False

    @property
    def is_open(self) -> bool:
        """Whether every number is allowed."""
        return self.low == -math.inf and self.high == math.inf


ANY = Bounds()


def type_ends(element_type: ElementType) -> tuple[float, float]:
    """Returns the lowest and the highest finite number of a type that is not complex."""
    if element_type.kind is Kind.PRED:
        return 0, 1
    if element_type.is_integer:
        bits = element_type.bits - int(element_type.is_signed)
        return (-(1 << bits) if element_type.is_signed else 0), (1 << bits) - 1
    limits = _limits(element_type)
    return float(limits.min), float(limits.max)


def _limits(element_type: ElementType) -> Any:
    return ml_dtypes.finfo(element_type.numpy)  # type: ignore[no-untyped-call]  # theirs


def random_numbers(
    element_type: ElementType,
    sizes: tuple[int, ...],
    generator: np.random.Generator,
    style: Style,
    bounds: Bounds = ANY,
) -> Array:
    """Returns an array of random numbers within bounds, which hold some number of the type."""
    if element_type.is_complex:
        parts = [random_numbers(element_type.component, sizes, generator, style) for _ in range(2)]
        found = np.empty(sizes, element_type.numpy)
        found.real, found.imag = parts
        return found
    if element_type.is_float:
        return _floats(element_type, sizes, generator, style, bounds)
    return _integers(element_type, sizes, generator, style, bounds)


def _integers(
    element_type: ElementType,
    sizes: tuple[int, ...],
    generator: np.random.Generator,
    style: Style,
    bounds: Bounds,
) -> Array:
    lowest, highest = (int(end) for end in type_ends(element_type))
    # Comparing first keeps the ends exact: floats hold no 64-bit integers.
    low = lowest if bounds.low <= lowest else math.ceil(bounds.low)
    high = highest if bounds.high >= highest else math.floor(bounds.high)
    if style is Style.ZERO:
        return np.full(sizes, min(max(0, low), high)).astype(element_type.numpy)
    if style is Style.PLAIN or (style is Style.EDGES and not bounds.is_open):
        low, high = _plain_ends(low, high, bounds)
    wide = np.uint64 if high >= 1 << 63 else np.int64
    found = generator.integers(low, high, sizes, dtype=wide, endpoint=True)
    if style is Style.EDGES and bounds.is_open:
        edges = [lowest, lowest + 1, highest, highest - 1, highest // 2, 0, 1, 2]
        if element_type.is_signed:
            edges += [-1, -2, lowest // 2]
        inside = [edge for edge in edges if low <= edge <= high]
        found = _mixed(found, np.array(inside, wide), generator)
    return found.astype(element_type.numpy)


def _plain_ends(low: int, high: int, bounds: Bounds) -> tuple[int, int]:
    if bounds.low > -math.inf and bounds.high < math.inf and bounds.is_hard:
        return low, high
    # A window of plain numbers, as near to zero as the bounds let it be.
    start = min(max(low, -_PLAIN_INTEGER), max(low, high - 2 * _PLAIN_INTEGER + 1))
    if bounds.low > -_PLAIN_INTEGER or bounds.high < _PLAIN_INTEGER - 1:
        return start, min(high, start + 2 * _PLAIN_INTEGER - 1)
    return start, min(high, _PLAIN_INTEGER - 1)


def _floats(
    element_type: ElementType,
    sizes: tuple[int, ...],
    generator: np.random.Generator,
    style: Style,
    bounds: Bounds,
) -> Array:
    if style is Style.ZERO:
        # A type without signs has no zero either.
        is_signed = element_type.float_format is None or element_type.float_format.has_sign
        found = np.full(sizes, min(max(0.0 if is_signed else 1.0, bounds.low), bounds.high))
    elif element_type.bits <= 8 and bounds.is_open and _takes_all(element_type, style):
        return _any_bits(element_type, sizes, generator)
    elif style is Style.PLAIN or not bounds.is_open:
        found = _plain(element_type, sizes, generator, style, bounds)
    else:
        found = _OF_STYLE[style](element_type, sizes, generator)
    return _cast(found, element_type, bounds)


def _takes_all(element_type: ElementType, style: Style) -> bool:
    return element_type.bits == 4 or style is not Style.PLAIN


def _any_bits(
    element_type: ElementType, sizes: tuple[int, ...], generator: np.random.Generator
) -> Array:
    bits = generator.integers(0, 1 << element_type.bits, sizes, dtype=np.int64)
    return np.asarray(bits.astype(np.uint8)).view(element_type.numpy).reshape(sizes)


def _plain(
    element_type: ElementType,
    sizes: tuple[int, ...],
    generator: np.random.Generator,
    style: Style,
    bounds: Bounds,
) -> Array:
    low, high = _plain_float_ends(bounds)
    if element_type.float_format is not None and not element_type.float_format.has_sign:
        # There are only powers of two.
        exponents = generator.integers(-_PLAIN_EXPONENT, _PLAIN_EXPONENT, sizes, endpoint=True)
        return np.exp2(exponents.astype(np.float64))
    if style is Style.LARGE and bounds.low >= 0 and bounds.high == math.inf:
        return np.maximum(bounds.low, np.abs(_of_all_sizes(element_type, sizes, generator)))
    return generator.uniform(low, high, sizes)


def _plain_float_ends(bounds: Bounds) -> tuple[float, float]:
    is_finite = bounds.low > -math.inf and bounds.high < math.inf
    if is_finite and bounds.is_hard:
        return bounds.low, bounds.high
    low, high = max(bounds.low, -1.0), min(bounds.high, 1.0)
    if high - low >= SMALL:
        return low, high
    if bounds.low > -math.inf:
        return bounds.low, min(bounds.high, bounds.low + 1.0)
    return bounds.high - 1.0, bounds.high


def _of_all_sizes(
    element_type: ElementType, sizes: tuple[int, ...], generator: np.random.Generator
) -> Array:
    limits = _limits(element_type)
    lowest = math.log2(float(limits.smallest_normal))
    exponents = generator.uniform(lowest, math.log2(float(limits.max)), sizes)
    signs = generator.choice([-1.0, 1.0], sizes)
    return np.asarray(np.exp2(exponents) * signs)


def _large(
    element_type: ElementType, sizes: tuple[int, ...], generator: np.random.Generator
) -> Array:
    found = _of_all_sizes(element_type, sizes, generator)
    rare = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf])
    draw = generator.uniform(0.0, 1.0, sizes)
    places = np.minimum((draw / _RARE).astype(np.int64), len(rare))
    return np.where(places < len(rare), rare[np.minimum(places, len(rare) - 1)], found)


def _with_edges(
    element_type: ElementType, sizes: tuple[int, ...], generator: np.random.Generator
) -> Array:
    limits = _limits(element_type)
    smallest, normal, highest, epsilon = (
        float(value)
        for value in (limits.smallest_subnormal, limits.smallest_normal, limits.max, limits.eps)
    )
    sizes_of_edges = [
        0.0, smallest, normal - smallest, normal, 0.5, 0.5 - epsilon / 4, 1.0, 1.0 - epsilon / 2,
        1.0 + epsilon, 1.5, 2.0, 2.5, 88.0, 128.0, 2.0**31, 2.0**32, 2.0**63, highest / 2, highest,
        math.pi, math.pi / 2, math.inf, math.nan,
    ]  # fmt: skip
    edges = np.array(sizes_of_edges + [-size for size in sizes_of_edges])
    plain = generator.uniform(-1.0, 1.0, sizes)
    large = _of_all_sizes(element_type, sizes, generator)
    found = np.where(generator.uniform(0.0, 1.0, sizes) < 0.5, plain, large)
    return _mixed(found, edges, generator)


def _mixed(numbers: Array, edges: Array, generator: np.random.Generator) -> Array:
    """Returns numbers of which about half are replaced by edges."""
    chosen = edges[generator.integers(0, len(edges), numbers.shape)]
    return np.where(generator.uniform(0.0, 1.0, numbers.shape) < 0.5, chosen, numbers)


_OF_STYLE: dict[Style, Callable[[ElementType, tuple[int, ...], np.random.Generator], Array]] = {
    Style.LARGE: _large,
    Style.EDGES: _with_edges,
}


def _cast(numbers: Array, element_type: ElementType, bounds: Bounds) -> Array:
    """Returns numbers rounded to a type, but not out of their bounds."""
    with np.errstate(all="ignore"):
        found = numbers.astype(element_type.numpy)
        if bounds.is_open:
            return found
        wide = found.astype(np.float64)
        # NaN is outside too.
        outside = ~((bounds.low <= wide) & (wide <= bounds.high))
        if outside.any():
            found = np.where(outside, _inside(element_type, bounds), found)
    return np.asarray(found, element_type.numpy)


def _inside(element_type: ElementType, bounds: Bounds) -> Array:
    """Returns a number of the type within bounds: the first one of ends, middle and others."""
    low, high = _plain_float_ends(bounds)
    candidates = np.array([(low + high) / 2, low, high, high / 2, 1.0, 2.0]).astype(
        element_type.numpy
    )
    wide = candidates.astype(np.float64)
    good = (bounds.low <= wide) & (wide <= bounds.high)
    return np.asarray(candidates[int(np.argmax(good))])
