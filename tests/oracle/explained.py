"""Why values differ: the rows of docs/differences.md, and how to know an element of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import NamedTuple

import ml_dtypes
import numpy as np

from hlotool.ir.frame import Array
from hlotool.ir.shape import ArrayShape
from hlotool.ops.numerics.widths import integer_limits
from hlotool.ops.reduction import Reduce
from tests.oracle.finding import Finding

LEAST_POWER = 2.0**-127
FLUSHED = {"float32", "float64", "bfloat16", "complex64", "complex128"}
SOLVERS = {"cholesky", "triangular-solve"}
COMPLEX_FUNCTIONS = {
    "abs", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "sqrt",
    "rsqrt", "cbrt", "sine", "cosine", "tan", "tanh", "power", "atan2", "sign", "divide",
}  # fmt: skip
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
    tiny = float(ml_dtypes.finfo(array.dtype).smallest_normal)  # type: ignore[no-untyped-call]
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
    mask = nothing(found)
    for operand in found.operands:
        mask |= np.asarray(flushed(operand) != operand) & ~np.isnan(parts(operand)).any(-1)
    return mask


def of_least_power(found: Finding) -> Array:
    arrays = [found.ours, *found.operands]
    narrow = [a for a in arrays if a.dtype.name == "float8_e8m0fnu"]
    mask = nothing(found)
    for array in narrow:
        mask |= array.astype(np.float64) <= LEAST_POWER
    return mask


def overflows(found: Finding) -> Array:
    """Covers sums of which a term, or the sum of all magnitudes, is beyond the type or infinite."""
    mask = ~np.isfinite(parts(found.ours)).all(-1) | ~np.isfinite(parts(found.theirs)).all(-1)
    other = found.with_arguments(magnitudes)
    if other is None or not is_float(found.ours):
        return np.zeros(found.ours.shape, bool)
    return np.asarray(mask & ~np.isfinite(parts(other)).all(-1))


def magnitudes(array: Array) -> Array:
    if array.dtype.kind == "c":
        made = np.empty_like(array)
        made.real, made.imag = np.abs(array.real), np.abs(array.imag)
        return made
    return np.abs(array) if is_float(array) else array


def not_finite(found: Finding) -> Array:
    return np.asarray(
        ~np.isfinite(parts(found.theirs)).all(-1) | ~np.isfinite(parts(found.ours)).all(-1)
    )


def only_large(found: Finding) -> Array:
    """Covers elements of which a part of an operand is infinite, NaN, or has a square that is."""
    mask = nothing(found)
    for operand in found.operands:
        if operand.dtype.kind == "c":
            large = np.sqrt(float(np.finfo(operand.real.dtype).max)) / 2
            mask |= ~(np.abs(parts(operand)) < large).all(-1)
    return mask


def beyond_complex(found: Finding) -> Array:
    is_complex = any(operand.dtype.kind == "c" for operand in found.operands)
    there = ~np.isfinite(parts(found.theirs)).all(-1)
    return np.asarray(only_large(found) | (there & is_complex))


def past_nan(found: Finding) -> Array:
    operand = found.operand(0)
    return np.full(found.ours.shape, operand is not None and np.isnan(parts(operand)).any())


def beside_padding(found: Finding) -> Array:
    kernel = found.operand(1)
    has_infinity = kernel is not None and not np.isfinite(parts(kernel)).all()
    return np.asarray(np.isnan(parts(found.theirs)).any(-1) & has_infinity)


def before_scaling(found: Finding) -> Array:
    """Covers results that are divided by their number after they have left the range."""
    operand = found.operand(0)
    given = found.case.arguments[found.number][found.device] if operand is None else [operand]
    sizes = [np.abs(parts(array)).sum() for array in given if isinstance(array, np.ndarray)]
    largest = float(np.finfo(found.element_type.component.numpy).max)
    return np.asarray(not_finite(found) & (not sum(sizes) < largest))


def zero_bases(found: Finding) -> Array:
    return np.asarray(found.operands[0] == 0) if found.operands else nothing(found)


def below_the_axis(found: Finding) -> Array:
    if not found.operands or found.operands[0].dtype.kind != "c":
        return nothing(found)
    (operand,) = found.operands
    return np.asarray((operand.real < 0) & (operand.imag == 0) & np.signbit(operand.imag))


def at_poles(found: Finding) -> Array:
    if len(found.operands) != 2:
        return nothing(found)
    y, x = (operand.astype(np.complex128) for operand in found.operands)
    if found.ours.dtype.kind != "c":
        return nothing(found)
    on_cut = np.isclose(np.abs(found.ours.real), np.pi) & np.isclose(
        np.abs(found.theirs.real), np.pi
    )
    return np.asarray((y * y + x * x == 0) | on_cut)


def of_long_exponents(found: Finding) -> Array:
    if is_float(found.ours) or not found.operands:
        return nothing(found)
    exponent = found.operands[1].astype(np.int64)
    return np.asarray((exponent < 0) | (exponent > 63))


def of_sign_bits(found: Finding) -> Array:
    if not found.operands:
        return nothing(found)
    return np.asarray(found.operands[0].astype(np.int64) < 0)


def of_largest_f4(found: Finding) -> Array:
    if not found.operands or found.operands[0].dtype.name != "float4_e2m1fn":
        return nothing(found)
    (operand,) = found.operands
    return np.asarray(np.abs(operand.astype(np.float64)) == 6)


def of_two_bits(found: Finding) -> Array:
    return np.full(found.ours.shape, found.element_type.bits == 2)


def of_f8(found: Finding) -> Array:
    return np.full(found.ours.shape, found.element_type.bits == 8)


def of_one_element(found: Finding) -> Array:
    root = found.instruction
    operand = root.operands[0].shape
    assert isinstance(root.op, Reduce)
    assert isinstance(operand, ArrayShape)
    count = prod(operand.dimensions[dimension] for dimension in root.op.dimensions)
    return np.full(found.ours.shape, count <= 1)


def beyond_the_type(found: Finding) -> Array:
    if is_float(found.ours):
        return nothing(found)
    ends = integer_limits(found.element_type)
    return np.asarray(np.isin(found.ours.astype(np.int64), ends))


def folded(found: Finding) -> Array:
    return np.full(found.ours.shape, found.folded)


def nothing(found: Finding) -> Array:
    return np.zeros(found.ours.shape, bool)


EXPLAINED = (
    Explanation("denormals", None, flushes),
    Explanation("functions of denormals", {"cbrt", "atan2", "remainder", "power"}, of_denormals),
    Explanation("2^-127 in f8e8m0fnu", None, of_least_power),
    Explanation("integers to powers of more than six bits", {"power"}, of_long_exponents),
    Explanation("`popcnt` of negative s4 and s2", {"popcnt"}, of_sign_bits),
    Explanation("f4e2m1fn 6 to integers", {"convert"}, of_largest_f4),
    Explanation("`reduce-precision` of f8", {"reduce-precision"}, of_f8),
    Explanation("complex zero to a complex power", {"power"}, zero_bases),
    Explanation(
        "complex functions of infinities, NaN and largest numbers",
        COMPLEX_FUNCTIONS,
        beyond_complex,
    ),
    Explanation("complex `sqrt` below the negative axis", {"sqrt"}, below_the_axis),
    Explanation("complex `sign` of large numbers", {"sign"}, only_large),
    Explanation("complex `atan2` of large numbers", {"atan2"}, only_large),
    Explanation("complex `atan2` at its poles and on its cut", {"atan2"}, at_poles),
    Explanation("complex division of infinities", {"divide"}, only_large),
    Explanation("instructions on constants alone", None, folded),
    Explanation("`reduce` over no more than one element", {"reduce"}, of_one_element),
    Explanation("`sort` of s2 and u2", {"sort"}, of_two_bits),
    Explanation("`convolution` of integers beyond the type", {"convolution"}, beyond_the_type),
    Explanation("`convolution` of padding with infinities", {"convolution"}, beside_padding),
    Explanation("`select-and-scatter` past NaN", {"select-and-scatter"}, past_nan),
    Explanation("`cholesky` and `triangular-solve` of infinities", SOLVERS, not_finite),
    Explanation("`batch-norm-training` far from zero", {"batch-norm-training"}, not_finite),
    Explanation("f8e5m2fnuz from 2^-15 to 2^-14 in total order", None, between_two_exponents),
    Explanation("sums that leave the range on the way", SUMS, overflows),
    Explanation("sums that leave the range on the way", {"fft"}, before_scaling),
)
"""The rows by which an element may be explained, one after the other."""

NOT_RUN_BY_XLA = {
    "all-gather-done": "written with dynamic dimensions, which its all-gather does not take",
    "all-gather-start": "the same",
    "collective-broadcast": "XLA:CPU has no code for it",
    "infeed": "nothing can be fed in from here",
    "mulhi": "StableHLO, through which modules go, has no such op",
    "outfeed": "nobody takes what is fed out",
    "ragged-all-to-all": "StableHLO cannot say its layouts",
    "ragged-dot": "XLA:CPU has no code for it",
    "recv": "there is no host on the other side",
    "recv-done": "the same",
    "rng": "draws what it likes",
    "rng-get-and-update-state": "the same",
    "scaled-dot": "StableHLO has no such op",
    "send": "there is no host on the other side",
    "send-done": "the same",
}
"""Opcodes of testdata/ops of which nothing can be compared, and why."""
