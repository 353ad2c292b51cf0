"""What the host does for compiled modules: custom calls, random numbers, ends of long loops."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.errors import EvaluationError
from tests.evaluating import entry
from tests.runtime.modules import custom, loop

X = np.arange(4, dtype=np.float32)


@pytest.fixture
def registered() -> Iterator[Callable[[Callable[..., Any]], str]]:
    names: list[str] = []

    def register(function: Callable[..., Any]) -> str:
        names.append(f"runtime.test{len(names)}")
        hlotool.register_custom_call(names[-1], function)
        return names[-1]

    yield register
    for name in names:
        hlotool.unregister_custom_call(name)


def test_host_evaluates_what_is_not_compiled(registered: Any) -> None:
    executable = hlotool.compile(custom(registered(lambda x: x + 1)))
    assert executable(X).tolist() == (2 * X + 1).tolist()
    assert executable.run([X])[0].tolist() == (2 * X + 1).tolist()
    assert "evaluated by the host: custom-call r" in executable.explain()


def test_errors_of_the_host_are_those_of_the_call(registered: Any) -> None:
    class OwnError(Exception):
        pass

    def fail(x: Any) -> Any:
        if x[1] > 2:
            raise OwnError("too large")
        return x

    executable = hlotool.compile(custom(registered(fail)))
    for _ in range(3):
        with pytest.raises((OwnError, EvaluationError), match="too large"):
            executable(X * 2)
        assert executable(X).tolist() == (2 * X).tolist()


def test_host_may_call_the_module_again(registered: Any) -> None:
    depth = 0
    executables: list[hlotool.Executable] = []

    def again(x: Any) -> Any:
        nonlocal depth
        depth += 1
        return executables[0](x) if depth < 5 else x

    executables.append(hlotool.compile(custom(registered(again))))
    assert executables[0](X).tolist() == (32 * X).tolist()


def test_threads_have_errors_of_their_own(registered: Any) -> None:
    def fail(x: Any) -> Any:
        time.sleep(0.001)
        if x[0] < 0:
            raise ValueError(f"of {x[1]}")
        return x

    executable = hlotool.compile(custom(registered(fail)))
    found: dict[int, list[str]] = {n: [] for n in range(6)}

    def job(number: int) -> None:
        for _ in range(20):
            try:
                result = executable(np.array([-(number % 2), number, 0, 0], np.float32))
                found[number].append(str(result[1]))
            except (ValueError, EvaluationError) as error:
                found[number].append(str(error))

    started = [threading.Thread(target=job, args=(number,)) for number in found]
    for one in started:
        one.start()
    for one in started:
        one.join()
    for number, words in found.items():
        wanted = f"of {2.0 * number}" if number % 2 else str(2.0 * number)
        assert all(wanted in one for one in words)
        assert len(words) == 20


def test_random_numbers_follow_the_seed() -> None:
    text = entry(
        "low = f32[] constant(0)\nhigh = f32[] constant(1)\n"
        "ROOT r = f32[64] rng(low, high), distribution=rng_uniform"
    )
    executable = hlotool.compile(text)
    assert executable(seed=3).tolist() == executable(seed=3).tolist()
    assert executable(seed=3).tolist() != executable(seed=4).tolist()
    assert executable(seed=3).tolist() == hlotool.evaluate(text, seed=3).tolist()


def test_loops_run_to_their_end() -> None:
    count, value = hlotool.compile(loop(100_000))(8.0)
    assert (count, value) == (100_000, 0)
    count, value = hlotool.compile(loop(3))(8.0)
    assert (count, value) == (3, 1)


def test_rounds_may_be_limited() -> None:
    executable = hlotool.compile(loop(100_000))
    with pytest.raises(EvaluationError, match=r"\w+: loops have run 32768 rounds and go on") as c:
        executable(8.0, max_steps=20_000)
    assert c.value.location is not None
    assert "max_steps (compiled loops are looked at every 16384 rounds)" in c.value.notes[0]
    assert executable(8.0, max_steps=200_000)[0] == 100_000


def test_endless_loops_can_be_stopped() -> None:
    executable = hlotool.compile(loop(1, step=0))
    timer = threading.Timer(0.2, executable.stop)
    timer.start()
    with pytest.raises(EvaluationError, match="the module has been stopped"):
        executable(1.0)
    timer.join()
    # It can be called anew.
    with pytest.raises(EvaluationError, match="rounds and go on"):
        executable(1.0, max_steps=100_000)


def test_interrupts_end_endless_loops() -> None:
    executable = hlotool.compile(loop(1, step=0))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        executable(1.0)
    timer.join()
