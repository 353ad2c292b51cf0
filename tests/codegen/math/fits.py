"""Fits the polynomials of `hlotool/codegen/math/coefficients.py`, and prints that file.

Run by hand: `python tests/codegen/math/fits.py > hlotool/codegen/math/coefficients.py`, or with
names of fits to print only these. It needs mpmath, and some minutes.

A fit makes the largest weighted error least (Lawson's weights on Chebyshev nodes). Its first
coefficients are then rounded one after the other, and those behind are fitted again each time.
"""

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from mpmath import mp, mpf

Function = Callable[[mpf], mpf]

mp.prec = 240
TINY = mpf(2) ** -60


@dataclass(frozen=True)
class Fit:
    """A function, where it is fitted, and how many coefficients each type needs."""

    name: str
    meaning: str
    function: Function
    begin: dict[str, mpf]
    end: dict[str, mpf]
    count: dict[str, int]
    weight: Function = lambda _: mpf(1)


def rounded(lane: str, number: mpf) -> float:
    """Returns the number rounded to `float` or `double`."""
    if lane == "double":
        return float(number)
    found: float = struct.unpack("<f", struct.pack("<f", float(number)))[0]
    return found


def nodes(begin: mpf, end: mpf, count: int) -> list[mpf]:
    """Returns points of an interval, dense at both ends."""
    middle, half = (begin + end) / 2, (end - begin) / 2
    return [middle + half * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]


def least_squares(
    points: list[mpf], values: list[mpf], weights: list[mpf], count: int
) -> list[mpf]:
    """Returns the coefficients of the polynomial with the least weighted sum of squares."""
    middle = (points[0] + points[-1]) / 2
    half = abs(points[0] - points[-1]) / 2
    rows = [chebyshev((point - middle) / half, count) for point in points]
    matrix = mp.matrix(count, count)
    right = mp.matrix(count, 1)
    for row, value, weight in zip(rows, values, weights, strict=True):
        weighted = [weight * entry for entry in row]
        for i in range(count):
            right[i] += weighted[i] * value
            for j in range(i, count):
                matrix[i, j] += weighted[i] * row[j]
    for i in range(count):
        for j in range(i):
            matrix[i, j] = matrix[j, i]
    return monomials(list(mp.lu_solve(matrix, right)), middle, half)


def chebyshev(point: mpf, count: int) -> list[mpf]:
    """Returns the values of the first Chebyshev polynomials."""
    row = [mpf(1), point]
    while len(row) < count:
        row.append(2 * point * row[-1] - row[-2])
    return row[:count]


def monomials(series: list[mpf], middle: mpf, half: mpf) -> list[mpf]:
    """Returns a Chebyshev series in (x - middle) / half as coefficients of powers of x."""
    basis = [[mpf(1)], [-middle / half, 1 / half]]
    while len(basis) < len(series):
        last, before = basis[-1], basis[-2]
        moved = [2 * a for a in times_linear(last, -middle / half, 1 / half)]
        for i, a in enumerate(before):
            moved[i] -= a
        basis.append(moved)
    found = [mpf(0)] * len(series)
    for factor, polynomial in zip(series, basis, strict=False):
        for i, a in enumerate(polynomial):
            found[i] += factor * a
    return found


def times_linear(polynomial: list[mpf], constant: mpf, slope: mpf) -> list[mpf]:
    """Returns the product of a polynomial and `constant + slope * x`."""
    found = [constant * a for a in polynomial] + [mpf(0)]
    for i, a in enumerate(polynomial):
        found[i + 1] += slope * a
    return found


def horner(coefficients: list[mpf], point: mpf) -> mpf:
    """Returns the value of a polynomial, lowest power first."""
    found = mpf(0)
    for a in reversed(coefficients):
        found = found * point + a
    return found


def fitted(fit: Fit, lane: str) -> tuple[list[float], mpf]:
    """Returns the rounded coefficients, lowest power first, and the largest weighted error."""
    count = fit.count[lane]
    points = nodes(fit.begin[lane], fit.end[lane], max(60, 5 * count))
    values = [fit.function(point) for point in points]
    scale = [fit.weight(point) for point in points]
    lawson = [mpf(1)] * len(points)
    for _ in range(12):
        weights = [a * b * b for a, b in zip(lawson, scale, strict=True)]
        found = least_squares(points, values, weights, count)
        errors = [
            abs(s * (horner(found, p) - v)) for p, v, s in zip(points, values, scale, strict=True)
        ]
        largest = max(errors)
        lawson = [a * (e / largest + mpf(2) ** -40) for a, e in zip(lawson, errors, strict=True)]
        total = sum(lawson)
        lawson = [a / total for a in lawson]
    weights = [a * b * b for a, b in zip(lawson, scale, strict=True)]
    kept = settled(points, values, weights, found, lane)
    check = nodes(fit.begin[lane], fit.end[lane], 301)
    exact = [mpf(a) for a in kept]
    error = max(abs(fit.weight(p) * (horner(exact, p) - fit.function(p))) for p in check)
    return kept, error


def settled(
    points: list[mpf], values: list[mpf], weights: list[mpf], found: list[mpf], lane: str
) -> list[float]:
    """Rounds coefficients one by one, and fits those behind again to make up for it."""
    kept: list[float] = []
    fixed = len(found) - 1 if lane == "float" else 4
    left = list(values)
    now = weights
    for _ in range(fixed):
        kept.append(rounded(lane, found[0]))
        left = [(v - kept[-1]) / p if p else mpf(0) for v, p in zip(left, points, strict=True)]
        now = [w * p * p for w, p in zip(now, points, strict=True)]
        found = least_squares(points, left, now, len(found) - 1)
    return kept + [rounded(lane, a) for a in found]


def both(number: mpf) -> dict[str, mpf]:
    """Returns the same number for both types."""
    return {"float": mpf(number), "double": mpf(number)}


def even(function: Function, limit: mpf) -> Function:
    """Returns (f(x)/x - 1)/z as a function of z = x * x; `limit` is its value at 0."""

    def quotient(z: mpf) -> mpf:
        if z < TINY:
            return limit
        x = mp.sqrt(z)
        return (function(x) / x - 1) / z

    return quotient


def cosine_part(z: mpf) -> mpf:
    if z < TINY:
        return mpf(1) / 24
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / (z * z)


def exponential(r: mpf) -> mpf:
    return (mp.expm1(r) - r) / (r * r) if abs(r) > TINY else mpf(1) / 2


def logarithm(f: mpf) -> mpf:
    if abs(f) < mpf(2) ** -30:
        return mpf(1) / 3 - f / 4 + f * f / 5
    return (mp.log1p(f) - f + f * f / 2) / f**3


def area_tangent(z: mpf) -> mpf:
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z if z > TINY else mpf(2) / 3


def inverse_root(r: mpf) -> mpf:
    return (1 / mp.sqrt(1 - r) - 1) / r if abs(r) > TINY else mpf(1) / 2


def area_tangent_tail(z: mpf) -> mpf:
    if z < TINY:
        return mpf(2) / 5
    return (area_tangent(z) - mpf(2) / 3) / z


def log_gamma(place: mpf) -> mpf:
    if abs(place) < mpf(2) ** -60:
        return 1 - mp.euler
    return mp.loggamma(place + 2) / (place * (place + 1))


def scaled_erfc(t: mpf) -> mpf:
    x = 2 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x) * 2 * x


def log_base_two(f: mpf) -> mpf:
    return mp.log1p(f) / f / mp.log(2) if abs(f) > TINY else 1 / mp.log(2)


def power_of_two(r: mpf) -> mpf:
    return mp.expm1(r * mp.log(2)) / r if abs(r) > TINY else mp.log(2)


def inverse_erf(w: mpf) -> mpf:
    if w < TINY:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    return root_of_erfc(mp.exp(-w) / (1 + x)) / x


def root_of_erfc(value: mpf) -> mpf:
    """Returns the x with erfc(x) = value, by Newton's steps."""
    x = mp.erfinv(1 - value) if value > mpf(2) ** -20 else mp.sqrt(-mp.log(value * 3))
    for _ in range(8):
        x += (mp.erfc(x) - value) * mp.exp(x * x) * mp.sqrt(mp.pi) / 2
    return x


def erf_exponent(lane: str, x: mpf) -> mpf:
    slope = 2 / mp.sqrt(mp.pi)
    return (mp.log(mp.erfc(x)) / x if x > TINY else -slope) + rounded(lane, slope)


def erf_weight(x: mpf) -> mpf:
    return x * mp.erfc(x) / mp.erf(x) if x > TINY else mp.sqrt(mp.pi) / 2


def erf_part(z: mpf) -> mpf:
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1 if z > TINY else 2 / mp.sqrt(mp.pi) - 1


def tail_fit(name: str, begin: float, ends: dict[str, float], counts: dict[str, int]) -> Fit:
    """Returns a fit of the inverse error function as a polynomial of sqrt(w) - 3."""
    return Fit(
        name,
        f"erfinv(x)/x, v = sqrt(w) - 3, w = -log(1 - x^2), {begin} <= w <= {max(ends.values())}",
        lambda v: inverse_erf((v + 3) ** 2),
        both(mp.sqrt(begin) - 3),
        {lane: mp.sqrt(end) - 3 for lane, end in ends.items()},
        counts,
        lambda v: 1 / inverse_erf((v + 3) ** 2),
    )


HALF_LN2 = mp.log(2) / 2 * mpf("1.0001")
FITS = [
    Fit(
        "EXPONENTIAL",
        "(e^r - 1 - r) / r^2, |r| <= ln(2)/2, for e^r",
        exponential,
        both(-HALF_LN2),
        both(HALF_LN2),
        {"float": 5, "double": 10},
        lambda r: r * r + TINY,
    ),
    Fit(
        "EXPONENTIAL_MINUS_ONE",
        "the same for e^r - 1",
        exponential,
        both(-HALF_LN2),
        both(HALF_LN2),
        {"float": 6, "double": 11},
        lambda r: abs(r) + TINY,
    ),
    Fit(
        "LOGARITHM",
        "(log(1+f) - f + f^2/2) / f^3, sqrt(1/2)-1 <= f <= sqrt(2)-1",
        logarithm,
        both(mp.sqrt(mpf(1) / 2) - 1),
        both(mp.sqrt(2) - 1),
        {"float": 8},
        lambda f: f * f + TINY,
    ),
    Fit(
        "AREA_TANGENT",
        "(2 atanh(s)/s - 2) / z, z = s^2, s <= 3 - sqrt(8)",
        area_tangent,
        both(0),
        both(mpf("0.02945")),
        {"float": 3, "double": 7},
    ),
    Fit(
        "SINE",
        "(sin(r)/r - 1) / z, z = r^2, r <= pi/4",
        even(mp.sin, -mpf(1) / 6),
        both(0),
        both((mp.pi / 4 * mpf("1.004")) ** 2),
        {"float": 3, "double": 6},
        lambda z: z + TINY,
    ),
    Fit(
        "COSINE",
        "(cos(r) - 1 + z/2) / z^2, z = r^2, r <= pi/4",
        cosine_part,
        both(0),
        both((mp.pi / 4 * mpf("1.004")) ** 2),
        {"float": 3, "double": 6},
        lambda z: z * z + TINY,
    ),
    Fit(
        "TANGENT",
        "(tan(r)/r - 1) / z, z = r^2, r <= pi/4",
        even(mp.tan, mpf(1) / 3),
        both(0),
        both((mp.pi / 4 * mpf("1.004")) ** 2),
        {"float": 6, "double": 14},
        lambda z: z + TINY,
    ),
    Fit(
        "ARC_SINE",
        "(asin(s)/s - 1) / z, z = s^2, s <= 1/2",
        even(mp.asin, mpf(1) / 6),
        both(0),
        both(mpf("0.25")),
        {"float": 5, "double": 13},
        lambda z: z + TINY,
    ),
    Fit(
        "ARC_TANGENT",
        "(atan(t)/t - 1) / z, z = t^2, t <= 1",
        even(mp.atan, -mpf(1) / 3),
        both(0),
        both(1),
        {"float": 9, "double": 20},
        lambda z: z + TINY,
    ),
    Fit(
        "AREA_SINE",
        "(asinh(x)/x - 1) / z, z = x^2, x <= 1",
        even(mp.asinh, -mpf(1) / 6),
        both(0),
        both(1),
        {"float": 8, "double": 20},
        lambda z: z + TINY,
    ),
    Fit(
        "HYPERBOLIC_SINE",
        "(sinh(x)/x - 1) / z, z = x^2, x <= 1",
        even(mp.sinh, mpf(1) / 6),
        both(0),
        both(1),
        {"float": 4, "double": 8},
        lambda z: z + TINY,
    ),
    Fit(
        "ERROR_FUNCTION",
        "erf(x)/x - 1, z = x^2, x <= 1/2",
        erf_part,
        both(0),
        both(mpf("0.25")),
        {"double": 9},
    ),
    Fit(
        "ERF_EXPONENT_SINGLE",
        "log(erfc(x))/x and the nearest float to 2/sqrt(pi), x <= 4, as exact as erf needs it",
        partial(erf_exponent, "float"),
        both(0),
        both(mpf("3.95")),
        {"float": 9},
        erf_weight,
    ),
    Fit(
        "ERF_EXPONENT_DOUBLE",
        "the same with the nearest double, x <= 6",
        partial(erf_exponent, "double"),
        both(0),
        both(mpf("5.95")),
        {"double": 24},
        erf_weight,
    ),
    Fit(
        "SCALED_ERFC",
        "2x erfc(x) e^(x^2), t = (x-2)/(x+2), 1/2 <= x <= 27.3",
        scaled_erfc,
        both(mpf("-0.6")),
        both(mpf("25.3") / mpf("29.3")),
        {"double": 24},
    ),
    Fit(
        "INVERSE_CUBE_ROOT",
        "m^(-1/3), 1 <= m <= 2",
        lambda m: m ** (-mpf(1) / 3),
        both(1),
        both(2),
        {"float": 5, "double": 6},
    ),
    Fit(
        "INVERSE_ROOT",
        "((1-r)^(-1/2) - 1) / r, for the first guess of roots, which is off by 0.035",
        inverse_root,
        both(mpf("-0.0725")),
        both(mpf("0.0725")),
        {"float": 5, "double": 5},
        lambda r: abs(r) + TINY,
    ),
    Fit(
        "AREA_TANGENT_TAIL",
        "((2 atanh(s)/s - 2)/z - 2/3) / z, as AREA_TANGENT, for exact powers",
        area_tangent_tail,
        both(0),
        both(mpf("0.02945")),
        {"double": 8},
        lambda z: z + TINY,
    ),
    Fit(
        "LOG_BASE_TWO",
        "log2(1+f)/f, sqrt(1/2)-1 <= f <= sqrt(2)-1, for powers of floats",
        log_base_two,
        both(mp.sqrt(mpf(1) / 2) - 1),
        both(mp.sqrt(2) - 1),
        {"double": 13},
    ),
    Fit(
        "POWER_OF_TWO",
        "(2^r - 1)/r, |r| <= 1/2, for powers of floats",
        power_of_two,
        both(-mpf(1) / 2),
        both(mpf(1) / 2),
        {"double": 7},
        lambda r: abs(r) + TINY,
    ),
    Fit(
        "INVERSE_ERF",
        "erfinv(x)/x, w - 2.5, w = -log(1 - x^2), w <= 5",
        lambda v: inverse_erf(v + mpf("2.5")),
        both(mpf("-2.5")),
        both(mpf("2.5")),
        {"float": 10, "double": 25},
        lambda v: 1 / inverse_erf(v + mpf("2.5")),
    ),
    tail_fit("INVERSE_ERF_TAIL", 5.0, {"float": 16.7, "double": 16.0}, {"float": 10, "double": 22}),
    tail_fit("INVERSE_ERF_FAR", 16.0, {"double": 37.0}, {"double": 19}),
    Fit(
        "LOG_GAMMA",
        "lgamma(x) / ((x-1) (x-2)), x - 2, 1.5 <= x <= 2.5",
        log_gamma,
        both(-mpf(1) / 2),
        both(mpf(1) / 2),
        {"double": 19},
    ),
]


HEAD = '''"""Coefficients of polynomials, lowest power first, for each float type.

Fitted by `tests/codegen/math/fits.py`, which prints this file: the largest error, weighted by what
the function that uses them can bear, is least. The string below each says what is approximated.
"""

from __future__ import annotations

Coefficients = dict[str, tuple[float, ...]]
'''


def printed(fit: Fit) -> str:
    """Returns the lines of a fit in the file of coefficients."""
    lines = [f"{fit.name}: Coefficients = {{"]
    for lane in fit.count:
        found, error = fitted(fit, lane)
        lines.append(f"    # Error at most 2^{float(mp.log(error, 2)):.1f}.")
        lines.append(f'    "{lane}": (')
        shown = [f"{number!r}," for number in found]
        lines += ["        " + " ".join(shown[at : at + 3]) for at in range(0, len(shown), 3)]
        lines.append("    ),")
    return "\n".join([*lines, "}  # fmt: skip", f'"""{fit.meaning}."""'])


def main(names: list[str]) -> None:
    """Prints the fits of these names, or all."""
    if not names:
        sys.stdout.write(HEAD)
    for fit in FITS:
        if not names or fit.name in names:
            sys.stdout.write(f"\n{printed(fit)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
