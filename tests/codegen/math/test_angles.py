"""Angles next to multiples of pi/2, small and large, whose remainders are hard to see."""

import numpy as np
import pytest

from tests.codegen.compiling import DTYPES, Array, applied
from tests.codegen.math.references import LANES, compiled, error, exact, mp

HARDEST = {"float": 16367173.0 * 2.0**72, "double": 6381956970095103.0 * 2.0**797}
"""The numbers of each type that are nearest to a multiple of pi/2, for their size."""


def next_to_multiples(lane: str) -> Array:
    random = np.random.default_rng(9)
    found = [HARDEST[lane]]
    top = 120 if lane == "float" else 1000
    with mp.workprec(1400):
        for exponent in random.uniform(0, top, 400):
            multiple = mp.floor(mp.mpf(2) ** exponent * (1 + random.random()))
            found.append(float(multiple * mp.pi / 2))
    return np.array(found).astype(DTYPES[lane])


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", ["sine", "cosine", "tan"])
def test_next_to_multiples(name: str, lane: str) -> None:
    operands = next_to_multiples(lane)
    operands = np.concatenate([operands, -operands])
    (found,) = applied(compiled(name, lane), "function", [operands], [lane], LANES[lane])
    errors = [
        error(got, exact(name, (operand,)), lane)
        for got, operand in zip(found.tolist(), operands.tolist(), strict=True)
    ]
    place = int(np.argmax(errors))
    assert errors[place] <= 2.0, (operands[place], found[place])


@pytest.mark.parametrize("lane", LANES)
def test_lanes_of_all_sizes_stand_together(lane: str) -> None:
    operands = np.array([0.5, 1e6, np.inf, 3e38, -0.0, -1e12, np.nan, 2.0], DTYPES[lane])
    (found,) = applied(compiled("sine", lane), "function", [operands], [lane], LANES[lane])
    assert np.array_equal(np.isnan(found), ~np.isfinite(operands))
    for got, operand in zip(found.tolist(), operands.tolist(), strict=True):
        if np.isfinite(operand):
            assert error(got, exact("sine", (operand,)), lane) <= 2.0
    assert np.signbit(found[4])
