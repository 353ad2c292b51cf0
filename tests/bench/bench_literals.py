"""Throughput of printing and reading constants of a million elements, in MB of text a second.

Run with `pytest --bench tests/bench/bench_literals.py`; times are CPU times, best of three.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest

from hlotool.ir.element_type import (
    BF16,
    C64,
    F8E4M3FN,
    F32,
    F64,
    PRED,
    S32,
    U64,
    ElementType,
)
from hlotool.ir.literal import Literal
from hlotool.ir.literal_text import literal_text
from hlotool.text.literal_reader import read_literal

T = TypeVar("T")
COUNT = 1_000_000
NORMAL = np.random.default_rng(1).standard_normal(COUNT)

CASES = {
    "f32": (F32, NORMAL),
    "f32 rows": (F32, NORMAL.reshape(1000, 1000)),
    "f32 pairs": (F32, NORMAL.reshape(-1, 2)),
    "f32 rank 4": (F32, NORMAL.reshape(10, 10, 100, 100)),
    "f32 exponents": (F32, NORMAL * 1e-6),
    "f32 short": (F32, np.round(NORMAL, 1)),
    "f32 infinities": (F32, np.where(NORMAL > 0, -np.inf, 0)),
    "f64": (F64, NORMAL),
    "bf16": (BF16, NORMAL),
    "f8e4m3fn": (F8E4M3FN, NORMAL),
    "c64": (C64, NORMAL + 1j),
    "s32": (S32, NORMAL * 1e8),
    "s32 short": (S32, NORMAL * 10),
    "u64": (U64, np.abs(NORMAL) * 4e18),
    "pred": (PRED, NORMAL > 0),
}


def best_of_three(work: Callable[[], T]) -> tuple[float, T]:
    times = []
    for _ in range(3):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


@pytest.mark.bench
@pytest.mark.parametrize("name", CASES)
def test_literals(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    element_type, array = CASES[name]
    literal = literal_of(array, element_type)
    printing, text = best_of_three(lambda: literal_text(literal, print_large=True))
    reading, again = best_of_three(lambda: read_literal(text, 0, len(text), literal.shape))
    size = len(text) / 1e6
    with capsys.disabled():
        sys.stdout.write(
            f"\n{name:15} {size:5.1f} MB  printed {size / printing:6.1f} MB/s  "
            f"read {size / reading:6.1f} MB/s"
        )
    np.testing.assert_array_equal(again.array(), literal.array())


def literal_of(
    array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], to: ElementType
) -> Literal:
    with np.errstate(invalid="ignore"):
        return Literal.from_array(array, to)
