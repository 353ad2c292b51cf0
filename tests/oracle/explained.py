"""Why values differ: the rows of docs/differences.md, and how to know an element of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import ml_dtypes
import numpy as np

from hlotool.ir.frame import Array
from tests.oracle.finding import Finding
from tests.oracle.value_cases import FOLDED

LEAST_POWER = 2.0**-127
FLUSHED = {"float32", "float64", "bfloat16", "complex64", "complex128"}
SUMS = {
    "dot", "convolution", "multiply", "divide", "reduce", "reduce-window", "scatter", "power",
    "all-reduce", "reduce-scatter", "select-and-scatter", "scan", "map", "fusion", "call",
    "batch-norm-training", "batch-norm-grad", "batch-norm-inference", "fft", "cholesky",
    "triangular-solve", "scaled-dot", "ragged-dot", "while", "tuple",
}  # fmt: skip


class Explanation(NamedTuple):
    """A row of the page, the opcodes that it is about, and which elements it covers."""

    row: str
    opcodes: set[str] | None
    covers: Callable[[Finding], Array]


def parts(array: Array) -> Array:
    """Returns an array of floats or complex numbers in f64, real parts and imaginary ones last."""
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], -1).astype(np.float64)
    return array.astype(np.float64)[..., None]


def is_float(array: Array) -> bool:
    return array.dtype.kind in "fc" or array.dtype.name.startswith(("bfloat", "float"))


def flushed(array: Array) -> Array:
    """Returns an array without denormals; their signs stay."""
    if array.dtype.name not in FLUSHED:
        return array
    if array.dtype.kind == "c":
        made = np.empty_like(array)
        made.real, made.imag = flushed(array.real), flushed(array.imag)
        return made
    tiny = float(ml_dtypes.finfo(array.dtype).smallest_normal)
    wide = array.astype(np.float64)
    small = (np.abs(wide) < tiny) & (wide != 0)
    return np.where(small, np.copysign(array.dtype.type(0), array), array).astype(array.dtype)


def flushes(found: Finding) -> Array:
    there = replace(found, theirs=flushed(found.theirs))
    alike = there.alike(flushed(found.ours))
    other = found.with_arguments(flushed)
    if other is not None:
        alike |= there.alike(other) | there.alike(flushed(other))
    return alike


def between_two_exponents(found: Finding) -> Array:
    """Covers what XLA takes for 2^-14, and orders it so."""
    mask = np.zeros(found.ours.shape, bool)
    if found.element_type.name == "f8e5m2fnuz":
        size = np.abs(found.ours.astype(np.float64))
        mask = (size >= 2.0**-15) & (size <= 2.0**-14)
    return mask


def of_denormals(found: Finding) -> Array:
    mask = np.zeros(found.ours.shape, bool)
    for operand in found.operands:
        mask |= np.asarray(flushed(operand) != operand) & ~np.isnan(parts(operand)).any(-1)
    return mask


def of_least_power(found: Finding) -> Array:
    arrays = [found.ours, *found.operands]
    narrow = [a for a in arrays if a.dtype.name == "float8_e8m0fnu"]
    mask = np.zeros(found.ours.shape, bool)
    for array in narrow:
        mask |= array.astype(np.float64) <= LEAST_POWER
    return mask if narrow else mask


def overflows(found: Finding) -> Array:
    """Covers sums of which a term, or the sum of all magnitudes, is beyond the type or infinite."""
    mask = ~np.isfinite(parts(found.ours)).all(-1) | ~np.isfinite(parts(found.theirs)).all(-1)
    other = found.with_arguments(magnitudes)
    if other is None or not is_float(found.ours):
        return np.zeros(found.ours.shape, bool)
    return mask & ~np.isfinite(parts(other)).all(-1)


def magnitudes(array: Array) -> Array:
    if array.dtype.kind == "c":
        made = np.empty_like(array)
        made.real, made.imag = np.abs(array.real), np.abs(array.imag)
        return made
    return np.abs(array) if is_float(array) else array


def not_finite(found: Finding) -> Array:
    return ~np.isfinite(parts(found.theirs)).all(-1) | ~np.isfinite(parts(found.ours)).all(-1)


def complex_specials(found: Finding) -> Array:
    """Covers elements of which a part of an operand is infinite, NaN, or nearly too large."""
    mask = np.zeros(found.ours.shape, bool)
    for operand in found.operands:
        if operand.dtype.kind == "c":
            large = np.sqrt(float(np.finfo(operand.real.dtype).max))
            mask |= ~(np.abs(parts(operand)) < large).all(-1)
    return mask


def complex_elements(found: Finding) -> Array:
    kinds = [array.dtype.kind for array in (found.ours, *found.operands)]
    return np.full(found.ours.shape, "c" in kinds)


def folded(found: Finding) -> Array:
    return np.full(found.ours.shape, found.folded and found.case.variant == FOLDED)


def any_of(found: Finding) -> Array:
    return np.ones(found.ours.shape, bool)


EXPLAINED = (
    Explanation("denormals", None, flushes),
    Explanation(
        "functions of denormals", {"cbrt", "atan2", "remainder", "power", "erf"}, of_denormals
    ),
    Explanation("the least f8e8m0fnu", None, of_least_power),
    Explanation("instructions on constants alone", None, folded),
    Explanation("f8e5m2fnuz from 2^-15 to 2^-14", None, between_two_exponents),
    Explanation("sums that leave the range on the way", SUMS, overflows),
)


NOT_RUN_BY_XLA = {}
