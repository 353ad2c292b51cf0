"""How far functions are from the exact values, in units of the last place."""

import pytest

from hlotool.codegen.math.functions import FUNCTIONS
from tests.codegen.math.references import EXACT, LANES, error, largest_error
from tests.codegen.math.sweeps import is_swept, swept_error

BOUND = 2.5
TIGHT = {
    "cbrt": 0.51, "sqrt": 0.5, "exponential": 1.0, "exp2": 1.0, "log": 1.0, "log2": 1.2,
    "power": 1.1, "rsqrt": 1.6, "sine": 1.6, "cosine": 1.6, "tan": 2.3, "atan2": 1.8, "acos": 1.2,
    "exponential-minus-one": 1.5, "log-plus-one": 1.5, "cosh": 1.4, "sinh": 1.7, "erf": 1.6,
}  # fmt: skip
"""What is promised of functions that are better than all must be."""
LOOSE = {("lgamma", "double"): 6.0, ("digamma", "double"): 30.0}
SLOW_EXACT = {"erf-inv": 40, "digamma": 200, "lgamma": 300}
"""How many points there are for functions whose exact values take long."""


def bound(name: str, lane: str) -> float:
    return LOOSE.get((name, lane), TIGHT.get(name, BOUND))


def test_every_function_has_an_exact_one() -> None:
    assert EXACT.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_at_some_thousand_points(name: str, lane: str) -> None:
    worst, where = largest_error(name, lane, SLOW_EXACT.get(name, 800))
    assert worst <= bound(name, lane), (worst, where)


@pytest.mark.slow
@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_at_some_million_points(name: str, lane: str) -> None:
    if not is_swept(name, lane):
        pytest.skip("numpy has no function that is more exact")
    worst, where = swept_error(name, lane, 1 << 22)
    assert worst <= bound(name, lane), (worst, where)


def test_errors_are_measured_in_the_last_place() -> None:
    assert error(1.0 + 2.0**-23, 1.0, "float") == 1.0
    assert error(1.0, 1.0 + 2.0**-52, "double") == 1.0
    # Below 1 places are half as large; denormals have that of the least number.
    assert error(1.0, 1.0 - 2.0**-24, "float") == 1.0
    assert error(2.0**-149, 2.0**-150, "float") == 0.5
    assert error(float("inf"), 2.0**128, "float") == 0.0
    assert error(float("nan"), None, "float") == 0.0
    assert error(1.0, None, "float") == float("inf")
    assert error(float("nan"), 1.0, "float") == float("inf")
