"""How far functions of complex numbers are from the exact values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hlotool.codegen.math.functions import COMPLEX_FUNCTIONS
from tests.codegen.compiling import DTYPES, Array, Compiled, applied, module_text
from tests.codegen.math.references import error, mp
from tests.codegen.math.test_lanes import PAIRS, complex_writer


def _angle(y: Any, x: Any) -> Any:
    return -1j * mp.log((x + 1j * y) / mp.sqrt(x * x + y * y))


EXACT: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "acos": mp.acos,
    "acosh": mp.acosh,
    "asin": mp.asin,
    "asinh": mp.asinh,
    "atan2": _angle,
    "atanh": mp.atanh,
    "cosh": mp.cosh,
    "cosine": mp.cos,
    "divide": lambda x, y: x / y,
    "exponential": mp.exp,
    "exponential-minus-one": lambda z: mp.exp(z) - 1,
    "log": mp.log,
    "log-plus-one": lambda z: mp.log(1 + z),
    "logistic": lambda z: 1 / (1 + mp.exp(-z)),
    "multiply": lambda x, y: x * y,
    "power": mp.power,
    "rsqrt": lambda z: 1 / mp.sqrt(z),
    "sign": lambda z: z / abs(z),
    "sine": mp.sin,
    "sinh": mp.sinh,
    "sqrt": mp.sqrt,
    "tan": mp.tan,
    "tanh": mp.tanh,
}
CANCELS = {
    "atan2": 128,
    "divide": 6,
    "exponential-minus-one": 6,
    "log-plus-one": 6,
    "logistic": 6,
    "multiply": 2,
    "power": 64,
}
"""Functions whose parts may be differences of rounded numbers: they are near as a whole.

Powers and `atan2` are made of functions of what is rounded before.
"""


def operands_of(name: str, lane: str, count: int) -> list[Array]:
    random = np.random.default_rng(11)
    found = []
    for _ in range(2 if name in PAIRS else 1):
        parts = random.normal(size=(count, 2)) * np.exp(random.uniform(-4, 2, (count, 2)))
        found.append(
            parts.astype(DTYPES[lane]).view(np.dtype(f"c{2 * int(DTYPES[lane][1])}"))[:, 0]
        )
    return found


def errors(name: str, lane: str, *, as_whole: bool) -> float:
    """Returns the largest error of a part, in its last place or in that of the whole number."""
    operands = operands_of(name, lane, 100)
    parts = [np.ascontiguousarray(part) for one in operands for part in (one.real, one.imag)]
    writer = complex_writer(name, lane, 4)
    compiled = Compiled(module_text(writer))
    real, imaginary = applied(compiled, writer.name, parts, [lane] * 2, 4)
    worst = 0.0
    for *numbers, x, y in zip(*(one.tolist() for one in operands), real, imaginary, strict=True):
        value = mp.mpc(EXACT[name](*(mp.mpc(number) for number in numbers)))
        for got, part in ((x, value.real), (y, value.imag)):
            if as_whole:
                unit = mp.ldexp(abs(value), -23 if lane == "float" else -52)
                now = float(abs(mp.mpf(float(got)) - part) / unit)
            else:
                now = error(float(got), part, lane)
            worst = max(worst, now)
    return worst


def test_every_function_has_an_exact_one() -> None:
    assert EXACT.keys() == COMPLEX_FUNCTIONS.keys()


@pytest.mark.parametrize("name", sorted(EXACT.keys() - CANCELS.keys()))
def test_parts_of_c64_are_rounded_once(name: str) -> None:
    assert errors(name, "float", as_whole=False) <= 0.501


@pytest.mark.parametrize("name", sorted(EXACT.keys() - CANCELS.keys()))
def test_parts_of_c128(name: str) -> None:
    assert errors(name, "double", as_whole=False) <= 6


@pytest.mark.parametrize("name", sorted(CANCELS))
def test_differences_are_near_as_a_whole(name: str) -> None:
    assert errors(name, "float", as_whole=True) <= 1
    assert errors(name, "double", as_whole=True) <= CANCELS[name]
