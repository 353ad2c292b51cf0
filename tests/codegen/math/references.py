"""Exact values of functions, points to compare at, and errors in units of the last place."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from hlotool.codegen.math.functions import FUNCTIONS
from tests.codegen.compiling import DTYPES, Array, Compiled, applied, elementwise, module_text

mp = mpmath.mp.clone()
mp.prec = 120
Exact = Callable[..., Any]
LANES = {"float": 8, "double": 4}


def _logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x)) if x > 0 else mp.exp(x) / (1 + mp.exp(x))


def _lgamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


EXACT: dict[str, Exact] = {
    "acos": mp.acos,
    "acosh": mp.acosh,
    "asin": mp.asin,
    "asinh": mp.asinh,
    "atan2": mp.atan2,
    "atanh": mp.atanh,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "cosh": mp.cosh,
    "cosine": mp.cos,
    "digamma": mp.digamma,
    "erf": lambda x: mp.erf(max(-100, min(x, 100))),
    "erf-inv": mp.erfinv,
    "erfc": lambda x: mp.erfc(max(-100, min(x, 100))),
    "exp2": lambda x: mp.power(2, x),
    "exponential": mp.exp,
    "exponential-minus-one": mp.expm1,
    "lgamma": _lgamma,
    "log": mp.log,
    "log-plus-one": mp.log1p,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "logistic": _logistic,
    "power": mp.power,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "sine": mp.sin,
    "sinh": mp.sinh,
    "sqrt": mp.sqrt,
    "tan": mp.tan,
    "tanh": mp.tanh,
}
"""What each function is; complex results stand for none."""

ANGLES = {"cosine", "sine", "tan"}
"""Functions that take up to some ten thousand turns apart by other formulas than more."""

OPERANDS = {"atan2": 2, "power": 2}
"""How many operands a function has that has more than one."""

RANGES: dict[str, tuple[float, float]] = {
    "acos": (-1.0, 1.0),
    "acosh": (1.0, 3.0),
    "asin": (-1.0, 1.0),
    "atanh": (-1.0, 1.0),
    "digamma": (-20.0, 20.0),
    "erf": (-6.0, 6.0),
    "erf-inv": (-1.0, 1.0),
    "erfc": (-6.0, 28.0),
    "lgamma": (-20.0, 20.0),
    "log-plus-one": (-1.0, 1.0),
    "sine": (-200.0, 200.0),
    "cosine": (-200.0, 200.0),
    "tan": (-200.0, 200.0),
}
"""Where a function has most of its shape, if that is not from -4 to 4."""

SEAMS = (
    0.25, 0.5, 0.64, 0.7071067811865476, 1.0, 1.4142135623730951, 1.5, 2.0, 2.5, 3.93, 5.0, 5.93,
    8.5, 10.0, 20.0, 30.0, 45.0, 0.34657359027997264, 0.6931471805599453, 1.0397207708399179,
    0.7853981633974483, 1.5707963267948966, 3.141592653589793, 6.283185307179586, 4.5, 16.0,
    88.72283172607422, 89.41598629223294, 87.33654475055311, 103.97207708399179, 150.0, 126.0,
    709.782712893384, 710.4758600739439, 708.3964185322641, 745.1332191019412, 1074.0, 1022.0,
    10.054, 27.226, 2.0**-24, 2.0**-53, 2.0**16, 2.0**30, 2.0**60, 2.0**-126, 2.0**-1022,
    0.9921567416492215, 0.9999998874648379,
)  # fmt: skip
"""Numbers where formulas change, or results reach the ends of a type."""


def points(name: str, lane: str, count: int, seed: int = 7) -> list[Array]:
    """Returns operands: all exponents, where the function has its shape, and next to seams."""
    random = np.random.default_rng(seed)
    found = [_points_of_one(name, lane, count, random) for _ in range(OPERANDS.get(name, 1))]
    if len(found) == 2:
        size = min(one.size for one in found)
        found = [found[0][:size], random.permutation(found[1])[:size]]
    if name == "power":
        _tame_powers(found, random)
    return found


def _points_of_one(name: str, lane: str, count: int, random: np.random.Generator) -> Array:
    dtype = np.dtype(DTYPES[lane])
    part = count // 4
    patterns = random.integers(0, 2 ** (8 * dtype.itemsize), part, np.uint64)
    everywhere = patterns.astype(f"u{dtype.itemsize}").view(dtype)
    low, high = RANGES.get(name, (-4.0, 4.0))
    shape = random.uniform(low, high, part)
    reach = 70000 if name in ANGLES else 104 if lane == "float" else 746
    wide = random.uniform(-1.05, 1.05, part) * reach
    ends = 1 + random.choice([-1, 1], part) * np.exp(random.uniform(-36, 0, part))
    at = np.array(SEAMS, dtype)
    near = [at]
    for _ in range(3):
        near = [np.nextafter(near[0], dtype.type(0)), *near, np.nextafter(near[-1], np.inf)]
    seams = np.concatenate(near).astype(dtype)
    parts = [everywhere, shape, wide, ends, seams, -seams]
    joined = np.concatenate([one.astype(dtype) for one in parts])
    finite: Array = joined[np.isfinite(joined) & (joined != 0)]
    judged: Array = finite[_is_judged(name, lane, finite)]
    return judged


def _is_judged(name: str, lane: str, operands: Array) -> Array:
    """Returns where the relative error of a function says something.

    Left of 0 and at their zeros the functions of the gamma function have absolute errors alone,
    which one sees in double width.
    """
    if name not in {"lgamma", "digamma"}:
        return np.ones(operands.shape, np.bool_)
    if lane == "float":
        judged: Array = (operands > 0) | ((operands > -30) & (operands != np.rint(operands)))
    else:
        judged = (operands > 0.5) & ((name == "lgamma") | (np.abs(operands - 1.46) > 0.2))
    return judged


def _tame_powers(operands: list[Array], random: np.random.Generator) -> None:
    """Makes most bases positive, and most results numbers that are not infinite."""
    base, exponent = operands
    is_tame = random.random(base.size) < 0.7
    limit = 104.0 if base.dtype == np.float32 else 745.0
    with np.errstate(all="ignore"):
        size = np.log(np.abs(base.astype(np.float64)))
        wanted = (random.uniform(-1, 1, base.size) * limit / size).astype(base.dtype)
    is_tame &= np.isfinite(wanted)
    operands[0] = np.where(is_tame, np.abs(base), base)
    operands[1] = np.where(is_tame, wanted, exponent)


def compiled(name: str, lane: str) -> Compiled:
    """Returns a function over arrays, as `function`."""
    count = OPERANDS.get(name, 1)
    writer = elementwise("function", FUNCTIONS[name], [lane] * count, [lane], LANES[lane])
    return Compiled(module_text(writer))


def exact(name: str, operands: tuple[float, ...]) -> Any:
    """Returns the exact value, `None` where there is none."""
    try:
        value = EXACT[name](*(mp.mpf(operand) for operand in operands))
    except (ValueError, ZeroDivisionError):
        return None
    return None if isinstance(value, mp.mpc) or mp.isnan(value) else value


def error(got: float, value: Any, lane: str) -> float:
    """Returns how far a result is from a value, in units of the value's last place.

    Infinity stands for the power of 2 behind the largest number.
    """
    if value is None:
        return 0.0 if got != got else mpmath.inf  # noqa: PLR0124 - NaN alone differs from itself
    if got != got:  # noqa: PLR0124 - see above
        return float("inf")
    mantissa, least, greatest = (23, -149, 128) if lane == "float" else (52, -1074, 1024)
    end = mp.ldexp(1, greatest)
    limited = [max(-end, min(end, mp.mpf(one))) for one in (got, value)]
    if limited[0] == limited[1]:
        return 0.0
    exponent = int(mp.frexp(limited[1])[1]) - 1 if limited[1] else least
    unit = mp.ldexp(1, max(min(exponent, greatest - 1) - mantissa, least))
    return float(abs(limited[0] - limited[1]) / unit)


def largest_error(name: str, lane: str, count: int) -> tuple[float, tuple[float, ...]]:
    """Returns the largest error of a function, and the operands that have it."""
    operands = points(name, lane, count)
    (found,) = applied(compiled(name, lane), "function", operands, [lane], LANES[lane])
    worst, where = -1.0, ()
    for got, *numbers in zip(found.tolist(), *(one.tolist() for one in operands), strict=True):
        now = error(got, exact(name, tuple(numbers)), lane)
        if now > worst:
            worst, where = now, tuple(numbers)
    return worst, where
