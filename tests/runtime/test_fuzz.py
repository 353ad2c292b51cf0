"""Modules made at random are compiled without a crash, and yield what the evaluator does."""

import pytest

from hlotool.runtime.compilation import compiled
from hlotool.text.parser import parse
from tests.runtime.fuzzing import compared, faults, runs_of
from tests.runtime.fuzzing_children import faults_of


@pytest.mark.parametrize(
    ("generator", "first", "count", "length"),
    [("modules", 0, 60, 8), ("kernels", 0, 50, 2)],
)
def test_some_modules(generator: str, first: int, count: int, length: int) -> None:
    assert faults_of(generator, first, count, length) == {}


LARGE = [
    ("modules", 100, 2400, 14),
    ("modules", 3400, 3500, 8),
    ("modules", 6900, 1100, 30),
    ("kernels", 0, 3000, 3),
]
PIECE = 250
LOOKED_AT = {
    ("modules", 7671): "a batch-norm that cancels: its bounds say nothing of the terms",
}
"""Differences that are none, by generator and seed, and why."""


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("generator", "first", "count", "length"),
    [
        (generator, begin, min(PIECE, first + count - begin), length)
        for generator, first, count, length in LARGE
        for begin in range(first, first + count, PIECE)
    ],
)
def test_ten_thousand_modules(generator: str, first: int, count: int, length: int) -> None:
    found = faults_of(generator, first, count, length)
    assert {seed: found[seed] for seed in found if (generator, seed) not in LOOKED_AT} == {}


def test_a_process_that_ends_is_told_of_and_the_run_goes_on() -> None:
    found = faults_of("crashing", 3, 4, 5)
    assert sorted(found) == [4, 6]
    assert "ended with -6" in found[4]
    assert "ended with -11" in found[6]


def test_differences_are_found() -> None:
    text = "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] negate(x)\n}\n"
    module = parse(f"HloModule m\n{text}")
    assert faults(module, 0) == []
    other = parse(f"HloModule m\n{text.replace('negate', 'abs')}")
    runs = runs_of(module, 0)
    assert "f32[2] of negate" in compared(module, compiled(other), runs)[0]
