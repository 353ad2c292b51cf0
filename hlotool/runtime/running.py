"""What one call of a compiled module is at any moment: host calls, polls, and their errors."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlotool.codegen.program.program import POLL, POLL_ROUNDS, Program
from hlotool.errors import EvaluationError
from hlotool.evaluation.interpreter.devices import MOST_ITERATIONS, LoneDevice
from hlotool.ir.instruction import Instruction
from hlotool.runtime.host_calls import HostCalls


@dataclass
class Stop:
    """Whether the calls of a module are to end."""

    count: int = 0
    """How often that was said."""


class Run:
    """One call of a module that calls its host."""

    def __init__(self, program: Program, stop: Stop, seed: int, max_steps: int | None) -> None:
        self._program = program
        self._stop = stop
        self._began = stop.count
        self._seed = seed
        self._max_steps = max_steps
        self._steps = 0
        self._host: HostCalls | None = None
        self.error: BaseException | None = None
        """What went wrong, when the module says that it has failed."""

    def answer(self, number: int, addresses: int | None) -> int:
        """Answers a host call: 0, or 1 where the module is to end."""
        try:
            if number <= POLL:
                self._poll(self._program.loops[POLL - number])
            else:
                self._evaluate(number, addresses)
        except BaseException as error:  # noqa: BLE001 - it is raised again behind the native code
            self.error = error
            return 1
        return 0

    def _poll(self, loop: Instruction) -> None:
        self._steps += POLL_ROUNDS
        if self._stop.count != self._began:
            raise EvaluationError("the module has been stopped")
        if self._max_steps is not None and self._steps > self._max_steps:
            more = f"compiled loops are looked at every {POLL_ROUNDS} rounds"
            raise EvaluationError(
                f"{loop.name}: loops have run {self._steps} rounds and go on",
                loop.location,
                notes=[f"an endless loop, or allow more with max_steps ({more})"],
            )

    def _evaluate(self, number: int, addresses: int | None) -> None:
        if self._host is None:
            most = MOST_ITERATIONS if self._max_steps is None else self._max_steps
            self._host = HostCalls(self._program.host_calls, LoneDevice(self._seed, most))
        # HLO says what each op yields for infinities and NaN; none of it is an incident.
        with np.errstate(all="ignore"):
            assert addresses is not None
            self._host.evaluate(number, addresses)


class _Runs(threading.local):
    """The calls that are going on in this thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Run] = []


_runs = _Runs()


def _answer(_: int | None, number: int, addresses: int | None) -> int:
    return _runs.stack[-1].answer(number, addresses)


HOST = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(_answer)
"""The function of C that answers the host calls of all modules."""


def run_with(run: Run, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Returns what a function that runs a module yields; raises what its host calls raise."""
    _runs.stack.append(run)
    try:
        result = function(*arguments)
    finally:
        _runs.stack.pop()
    if run.error is not None:
        raise run.error
    return result
