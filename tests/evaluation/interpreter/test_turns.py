"""Threads that take turns: their order, what ends them all, and how they end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from hlotool.evaluation.interpreter.turns import Stopped, Turns


def no_deadlock() -> BaseException:
    raise AssertionError("there is no deadlock")


def test_the_first_thread_that_can_go_on_does() -> None:
    turns = Turns(3, no_deadlock)
    course: list[str] = []
    steps = {0: 0, 1: 0, 2: 0}

    def reached(least: int) -> bool:
        return min(steps.values()) >= least

    def job(number: int) -> int:
        for step in range(2):
            course.append(f"{number}.{step}")
            steps[number] += 1
            turns.wait(number, partial(reached, step + 1))
        return number * number

    assert turns.run([partial(job, number) for number in range(3)]) == [0, 1, 4]
    # The last to come need not wait; then the first ones go on in order.
    assert course == ["0.0", "1.0", "2.0", "2.1", "0.1", "1.1"]


def test_the_first_error_ends_all_where_they_wait() -> None:
    turns = Turns(3, no_deadlock)
    unwound: list[int] = []

    def waiting(number: int) -> None:
        try:
            turns.wait(number, lambda: False)
        except Stopped:
            unwound.append(number)
            raise

    def failing() -> None:
        raise ValueError("first")

    jobs: list[Callable[[], None]] = [partial(waiting, 0), failing, partial(waiting, 2)]
    with pytest.raises(ValueError, match="first"):
        turns.run(jobs)
    # The third had not begun.
    assert unwound == [0]


def test_an_error_while_unwinding_is_not_the_first() -> None:
    turns = Turns(2, no_deadlock)

    def waiting() -> None:
        try:
            turns.wait(0, lambda: False)
        finally:
            raise KeyError("second")

    def failing() -> None:
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        turns.run([waiting, failing])


def test_where_nobody_can_go_on_the_run_ends() -> None:
    turns = Turns(2, lambda: TimeoutError("all wait"))
    with pytest.raises(TimeoutError, match="all wait"):
        turns.run([lambda: turns.wait(0, lambda: False), lambda: turns.wait(1, lambda: False)])
    turns = Turns(2, lambda: TimeoutError("one waits"))
    with pytest.raises(TimeoutError, match="one waits"):
        turns.run([lambda: turns.wait(0, lambda: False), lambda: None])


def test_check_lets_a_run_go_on() -> None:
    turns = Turns(1, no_deadlock)
    turns.check()
    assert turns.run([lambda: 5]) == [5]
