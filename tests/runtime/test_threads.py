"""The pool of threads: every item once, whatever happens around it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.errors import UsageError
from hlotool.runtime import cores as cores_of_process
from hlotool.runtime import threads
from hlotool.runtime.llvm import LoadedCode, host_target, object_code, parsed
from hlotool.runtime.native import native
from tests.runtime.modules import elementwise

COUNTING = """
; Adds 1 to each item of a range.
define void @count(ptr %table, i64 %begin, i64 %end) {
entry:
  %some = icmp ult i64 %begin, %end
  %items = load ptr, ptr %table
  br i1 %some, label %item, label %out
item:
  %number = phi i64 [ %begin, %entry ], [ %next, %item ]
  %place = getelementptr i32, ptr %items, i64 %number
  %old = load i32, ptr %place
  %new = add i32 %old, 1
  store i32 %new, ptr %place
  %next = add i64 %number, 1
  %more = icmp ult i64 %next, %end
  br i1 %more, label %item, label %out
out:
  ret void
}

define void @launch(ptr %parallel, ptr %threads, ptr %table, i64 %count, i64 %grain, i64 %times) {
entry:
  br label %again
again:
  %time = phi i64 [ 0, %entry ], [ %next, %again ]
  call void %parallel(ptr %threads, ptr @count, ptr %table, i64 %count, i64 %grain)
  %next = add i64 %time, 1
  %more = icmp ult i64 %next, %times
  br i1 %more, label %again, label %out
out:
  ret void
}
"""


@cache
def launcher() -> tuple[Callable[..., None], LoadedCode]:
    target = host_target()
    code = LoadedCode([object_code(parsed(COUNTING, target), target)], ["launch"])
    kinds = [*[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 3]
    return ctypes.CFUNCTYPE(None, *kinds)(code.address("launch")), code


def counted(members: int, count: int, grain: int, times: int) -> Any:
    """Launches work on items so often, and returns how often each was done."""
    items = np.zeros(max(1, count), np.int32)
    table = (ctypes.c_void_p * 1)(items.ctypes.data)
    most = ctypes.c_int64(members)
    launch, _ = launcher()
    parallel = native().address("hlotool_parallel")
    launch(parallel, ctypes.addressof(most), ctypes.addressof(table), count, grain, times)
    return items[:count]


@pytest.mark.parametrize("members", [1, 2, 3, 8, 40])
@pytest.mark.parametrize(("count", "grain"), [(0, 1), (1, 1), (2, 1), (97, 4), (1000, 1000)])
def test_each_item_is_done_once(members: int, count: int, grain: int) -> None:
    assert (counted(members, count, grain, 200) == 200).all()


def test_many_tiny_launches() -> None:
    assert (counted(2, 3, 1, 30_000) == 30_000).all()


def test_workers_that_sleep_are_woken() -> None:
    for _ in range(30):
        time.sleep(0.002)
        assert (counted(4, 50, 1, 3) == 3).all()


def together(count: int, job: Callable[[int], None]) -> None:
    """Runs a job on so many threads of Python; raises what one of them raises."""
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            job(number)
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            failures.append(error)

    started = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    if failures:
        raise failures[0]


def stressed(seconds: float) -> None:
    def job(number: int) -> None:
        generator = np.random.default_rng(number)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            members, grain, times = (int(generator.integers(1, most)) for most in (12, 50, 200))
            count = int(generator.integers(0, 3000))
            assert (counted(members, count, grain, times) == times).all()
            if generator.integers(20) == 0:
                time.sleep(0.001)

    together(6, job)


def test_many_callers_at_once() -> None:
    stressed(1.0)


@pytest.mark.slow
def test_many_callers_at_once_for_long() -> None:
    stressed(60.0)


SIZE = 1 << 18
X = np.linspace(-3, 3, SIZE, dtype=np.float32)


def work(size: int = SIZE) -> str:
    """Returns a module that computes elements of two results and the sums of rows."""
    return f"""HloModule work
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
ENTRY main {{
  x = f32[{size}] parameter(0)
  e = f32[{size}] exponential(x)
  t = f32[{size}] tanh(x)
  m = f32[{size}] multiply(e, t)
  rows = f32[512,{size // 512}] reshape(m)
  zero = f32[] constant(0)
  sums = f32[512] reduce(rows, zero), dimensions={{1}}, to_apply=add
  all = f32[] reduce(m, zero), dimensions={{0}}, to_apply=add
  ROOT r = (f32[{size}], f32[512], f32[]) tuple(m, sums, all)
}}
"""


def test_threads_change_no_bit() -> None:
    results = [hlotool.compile(work(), threads=count)(X) for count in (1, 2, 5)]
    for other in results[1:]:
        for one, same in zip(results[0], other, strict=True):
            assert one.tobytes() == same.tobytes()


def test_work_is_shared() -> None:
    executable = hlotool.compile(work(), threads=3)
    executable(X)
    assert executable.threads == 3
    assert threads.running_workers() >= 2
    assert "on up to 3 threads" in executable.explain()


def test_one_module_called_by_many_threads() -> None:
    executable = hlotool.compile(work(), threads=2)
    expected = [[one.tobytes() for one in executable(X * n)] for n in range(8)]

    def job(number: int) -> None:
        for _ in range(10):
            found = [one.tobytes() for one in executable(X * number)]
            assert found == expected[number]

    together(8, job)


def test_other_threads_run_meanwhile() -> None:
    executable = hlotool.compile(elementwise(1 << 22), threads=1)
    x = np.ones(1 << 22, np.float32)
    turns = 0
    is_over = False

    def count() -> None:
        nonlocal turns
        while not is_over:
            turns += 1
            time.sleep(0)

    # The other thread hands the interpreter over at each turn; this one only in calls.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    other = threading.Thread(target=count)
    other.start()
    try:
        is_let = False
        for _ in range(20):
            before = turns
            executable._function(x, x)
            is_let = is_let or turns > before
    finally:
        is_over = True
        sys.setswitchinterval(interval)
        other.join()
    assert is_let


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_start_threads_of_their_own() -> None:
    executable = hlotool.compile(work(), threads=3)
    expected = [one.tobytes() for one in executable(X)]
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        is_fresh = threads.running_workers() == 0
        found = [one.tobytes() for one in executable(X)]
        os._exit(0 if is_fresh and found == expected and threads.running_workers() == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [one.tobytes() for one in executable(X)] == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")
def test_children_compile_whatever_other_threads_were_at() -> None:
    said = run_python(
        "import os, signal, threading, time, warnings, hlotool\n"
        "from tests.runtime.test_threads import work\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "def for_ever():\n"
        "    while True: hlotool.compile(work(), cache=False)\n"
        "hlotool.compile(work(), cache=False)\n"
        "for _ in range(2): threading.Thread(target=for_ever, daemon=True).start()\n"
        "for _ in range(5):\n"
        "    time.sleep(0.1)\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        signal.alarm(30)\n"
        "        hlotool.compile(work(), cache=False)\n"
        "        os._exit(0)\n"
        "    print(os.waitpid(child, 0)[1], flush=True)\n"
        "os._exit(0)\n"
    )
    assert said == "0\n" * 5


def run_python(code: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def test_process_ends_while_threads_work() -> None:
    said = run_python(
        "import threading, time, hlotool, numpy as np\n"
        "from tests.runtime.test_threads import work, X\n"
        "executable = hlotool.compile(work(), threads=3)\n"
        "def for_ever():\n"
        "    while True: executable(X)\n"
        "for _ in range(3): threading.Thread(target=for_ever, daemon=True).start()\n"
        "time.sleep(0.5)\n"
        "kept = executable(X)\n"
        "print('end')"
    )
    assert said == "end\n"


@pytest.mark.parametrize("count", [0, -1, 5000, True, 1.5, "2"])
def test_numbers_of_threads_that_make_no_sense(count: Any) -> None:
    with pytest.raises(UsageError, match="a number from 1 to 1024 is wanted"):
        hlotool.compile(elementwise(4), threads=count)


def test_variable_names_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "7")
    assert threads.thread_count() == 7
    assert threads.thread_count(2) == 2
    assert hlotool.compile(elementwise(4)).threads == 7
    monkeypatch.setenv(threads.VARIABLE, "many")
    with pytest.raises(UsageError, match="HLOTOOL_THREADS is 'many'"):
        threads.thread_count()


@pytest.mark.parametrize(
    ("quota", "cores"), [("max 100000", 1000), ("150000 100000", 2), ("10 100000", 1), ("", 1000)]
)
def test_quota_bounds_the_cores(
    quota: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "cpu.max"
    place.write_text(quota, encoding="ascii")
    monkeypatch.setattr(cores_of_process, "_QUOTA", place)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(1000)), raising=False)
    assert cores_of_process.usable_cores() == cores
