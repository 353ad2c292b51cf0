"""Memory of results and temporaries, arrays that are given away, and code that goes."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import hlotool
from hlotool.errors import EvaluationError, UsageError
from hlotool.runtime.memory import (
    LEAST_POOLED_BYTES,
    free_memory,
    idle_bytes,
    rounded_size,
)
from tests.runtime.modules import elementwise

SIZE = 100_000
X = np.ones(SIZE, np.float32)
Y = np.full(SIZE, 2, np.float32)


@pytest.fixture(scope="module")
def executable() -> hlotool.Executable:
    return hlotool.compile(elementwise(SIZE))


@pytest.fixture(scope="module")
def donating() -> hlotool.Executable:
    return hlotool.compile(elementwise(SIZE), donate=[0])


def test_sizes_of_blocks() -> None:
    for size in (1, 64, 65, 1000, LEAST_POOLED_BYTES, 123_456, 1 << 20, (1 << 20) + 1, 10**9):
        rounded = rounded_size(size)
        assert rounded % 64 == 0
        assert size <= rounded <= max(size * 9 // 8 + 64, 64)
        assert rounded_size(rounded) == rounded


def test_results_take_the_memory_of_those_that_are_gone(executable: hlotool.Executable) -> None:
    places = set()
    for _ in range(20):
        result = executable(X, Y)
        assert (result == 9).all()
        places.add(result.ctypes.data)
    assert len(places) <= 2
    assert all(place % 64 == 0 for place in places)


def test_results_that_live_are_apart(executable: hlotool.Executable) -> None:
    results = [executable(X, Y + n) for n in range(5)]
    for n, result in enumerate(results):
        assert (result == (3 + n) ** 2).all()
    view = results[0][10:20]
    del results
    # The view keeps the memory of the whole.
    for _ in range(5):
        executable(X, Y + 7)
    assert (view == 9).all()


def test_idle_memory_can_be_given_back(executable: hlotool.Executable) -> None:
    executable(X, Y)
    assert idle_bytes() >= X.nbytes
    free_memory()
    assert idle_bytes() == 0
    assert (executable(X, Y) == 9).all()


def test_results_outlive_the_module() -> None:
    executable = hlotool.compile(elementwise(SIZE))
    function = executable._function
    gone = weakref.ref(executable)
    result = executable(X, Y)
    del executable
    gc.collect()
    assert gone() is None
    # What Python calls keeps the code in memory.
    assert (function(X, Y) == 9).all()
    del function
    gc.collect()
    assert (result == 9).all()


def test_all_of_a_module_goes_without_the_collector() -> None:
    executable = hlotool.compile(elementwise(10))
    loaded = weakref.ref(executable._loaded)
    code = weakref.ref(executable._loaded._kept[0])
    gc.disable()
    try:
        del executable
        assert loaded() is None
        assert code() is None
    finally:
        gc.enable()


def test_given_arrays_become_results(donating: hlotool.Executable) -> None:
    x = X.copy()
    result = donating(x, Y)
    assert np.shares_memory(result, x)
    assert (x == 9).all()
    assert (result == 9).all()


def test_given_arrays_that_others_need_are_copied(donating: hlotool.Executable) -> None:
    x = X.copy()
    result = donating(x, x)
    assert (result == 4).all()
    assert (x == 1).all()
    both = np.ones(SIZE + 1, np.float32)
    result = donating(both[1:], both[:-1])
    assert (result == 4).all()
    assert (both == 1).all()


def test_given_arrays_that_cannot_be_written_are_copied(donating: hlotool.Executable) -> None:
    x = X.copy()
    x.flags.writeable = False
    assert (donating(x, Y) == 9).all()
    assert (x == 1).all()


def test_only_given_parameters_are_written_to() -> None:
    text = elementwise(SIZE).replace(
        "HloModule elementwise",
        "HloModule elementwise, input_output_alias={ {}: (0, {}, may-alias) }",
    )
    x = X.copy()
    result = hlotool.compile(text)(x, Y)
    assert (result == 9).all()
    assert (x == 1).all()
    result = hlotool.compile(text, donate=[0])(x, Y)
    assert (result == 9).all()
    assert (x == 9).all()


def test_parts_of_a_given_tuple() -> None:
    text = """HloModule update
ENTRY main {
  t = (f32[4], f32[3]) parameter(0)
  a = f32[4] get-tuple-element(t), index=0
  b = f32[3] get-tuple-element(t), index=1
  c = f32[4] add(a, a)
  d = f32[3] negate(b)
  ROOT r = (f32[3], f32[4]) tuple(d, c)
}
"""
    a, b = np.ones(4, np.float32), np.ones(3, np.float32)
    negated, doubled = hlotool.compile(text, donate=[0])((a, b))
    assert doubled.tolist() == [2] * 4
    assert negated.tolist() == [-1] * 3
    assert np.shares_memory(doubled, a)
    assert np.shares_memory(negated, b)


@pytest.mark.parametrize("result", ["f32[35184372088832]", "(f32[8], f32[35184372088832])"])
def test_results_that_are_too_large(result: str) -> None:
    root = "y" if result[0] == "f" else "(f32[8], f32[35184372088832]) tuple(x, y)"
    text = f"""HloModule large
ENTRY main {{
  x = f32[8] parameter(0)
  s = f32[] constant(1)
  {"ROOT " if root == "y" else ""}y = f32[35184372088832] broadcast(s), dimensions={{}}
  {"" if root == "y" else f"ROOT r = {root}"}
}}
"""
    executable = hlotool.compile(text)
    for _ in range(3):
        with pytest.raises(EvaluationError, match="out of memory for large"):
            executable(np.ones(8, np.float32))


@pytest.mark.parametrize("donate", [[2], [-1], ["x"]])
def test_donation_of_what_is_no_parameter(donate: list[int]) -> None:
    with pytest.raises(UsageError, match="donate names parameter"):
        hlotool.compile(elementwise(4), donate=donate)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_many_compilations_do_not_fill_memory() -> None:
    def compile_one(number: int) -> None:
        executable = hlotool.compile(elementwise(number + 100), cache=False)
        x = np.ones(number + 100, np.float32)
        assert (executable(x, x) == 4).all()

    for number in range(300):
        compile_one(number)
    before = resident_bytes()
    for number in range(300, 1300):
        compile_one(number)
    gc.collect()
    assert resident_bytes() - before < 40 << 20
