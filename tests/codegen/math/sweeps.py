"""Errors over millions of points, against numpy in wider types than the functions'."""

from collections.abc import Callable

import numpy as np
import scipy.special

from tests.codegen.compiling import DTYPES, Array, applied
from tests.codegen.math.references import LANES, OPERANDS, RANGES, compiled, points

WIDEST = np.longdouble
LONG: dict[str, Callable[..., Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cosh": np.cosh,
    "cosine": np.cos,
    "exp2": np.exp2,
    "exponential": np.exp,
    "exponential-minus-one": np.expm1,
    "log": np.log,
    "log-plus-one": np.log1p,
    "log2": np.log2,
    "logistic": lambda x: np.where(x < 0, np.exp(x), 1) / (1 + np.exp(-np.abs(x))),
    "power": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sine": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""Functions that numpy has in the widest type."""
DOUBLE: dict[str, Callable[..., Array]] = {
    "digamma": scipy.special.digamma,
    "erf": scipy.special.erf,
    "erf-inv": scipy.special.erfinv,
    "erfc": scipy.special.erfc,
    "lgamma": scipy.special.gammaln,
}
"""Functions that are known in double width, which is wide enough for `float`."""


def is_swept(name: str, lane: str) -> bool:
    """Whether there is a reference that is wide enough."""
    if name in DOUBLE:
        return lane == "float"
    return lane == "float" or np.finfo(WIDEST).nmant > 60


def swept_error(name: str, lane: str, count: int, seed: int = 1) -> tuple[float, list[float]]:
    """Returns the largest error in units of the last place, and the operands that have it."""
    compiled_function = compiled(name, lane)
    worst, where = -1.0, []
    for part in range(-(-count // _PART)):
        operands = swept_points(name, lane, min(count, _PART), seed + part)
        (found,) = applied(compiled_function, "function", operands, [lane], LANES[lane])
        errors = _errors(name, lane, operands, found)
        place = int(np.argmax(errors))
        if errors[place] > worst:
            worst = float(errors[place])
            where = [float(one[place]) for one in operands]
    return worst, where


_PART = 1 << 18


def swept_points(name: str, lane: str, count: int, seed: int) -> list[Array]:
    """Returns operands: those of `points`, and as many again close together."""
    found = points(name, lane, count // 2, seed)
    if name in OPERANDS:
        return found
    random = np.random.default_rng(seed + 1)
    low, high = RANGES.get(name, (-4.0, 4.0))
    dtype = DTYPES[lane]
    dense = random.uniform(low, high, count // 4).astype(dtype)
    small = (random.normal(size=count // 4) * np.exp(random.uniform(-12, 1, count // 4))).astype(
        dtype
    )
    if name == "acosh":
        small = (1 + np.abs(small)).astype(dtype)
    return [np.concatenate([found[0], dense, small])]


def _errors(name: str, lane: str, operands: list[Array], found: Array) -> Array:
    wide, function = (np.float64, DOUBLE[name]) if name in DOUBLE else (WIDEST, LONG[name])
    form = np.finfo(DTYPES[lane])
    with np.errstate(all="ignore"):
        value = np.asarray(function(*(one.astype(wide) for one in operands)), WIDEST)
        rounded = value.astype(DTYPES[lane])
        size = np.where(np.isfinite(value) & (value != 0), np.abs(value), WIDEST(1))
        exponent = np.frexp(size)[1] - 1
        unit = np.ldexp(WIDEST(1), np.maximum(exponent, form.minexp) - form.nmant)
        errors = np.abs(found.astype(WIDEST) - value) / unit
    is_same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    errors = np.where(is_same & ~np.isfinite(errors), 0, errors)
    # Next to poles of the gamma function the reference itself is lost.
    is_lost = np.isnan(errors) & (name in {"lgamma", "digamma"})
    return np.where(is_lost, 0, np.where(np.isnan(errors), np.inf, errors)).astype(np.float64)
