"""Threads that take turns: one runs until it waits for others, then the next one that can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event, Semaphore, Thread
from typing import Any

from hlotool.errors import EvaluationError

_POLL_SECONDS = 0.1
"""How long an interrupt may go unnoticed where waiting cannot be interrupted."""
_GRACE_SECONDS = 2.0
"""How long an interrupt waits for the thread that runs to notice it."""


class Stopped(Exception):  # noqa: N818  # no error: it unwinds a thread that has to end
    """The run is over for a reason that is not this thread's."""


class _Thread:
    """A thread with its state: `until` says whether what it waits for is there."""

    __slots__ = ("has_ended", "result", "turn", "until")

    def __init__(self) -> None:
        self.turn = Semaphore(0)
        self.until: Callable[[], bool] | None = None
        self.has_ended = False
        self.result: Any = None


class Turns:
    """Runs functions in threads of their own, one of them at a time.

    The turn goes to the first thread, in their order, that has what it waits for. So a run
    takes the same course whenever it is repeated, and nothing that threads share needs a lock.
    """

    def __init__(self, count: int, deadlock: Callable[[], BaseException]) -> None:
        self._threads = [_Thread() for _ in range(count)]
        self._deadlock = deadlock
        self._failure: BaseException | None = None
        self._is_stopped = False
        self._over = Event()

    def check(self) -> None:
        """Raises `Stopped` where the run is over."""
        if self._is_stopped:
            raise Stopped

    def wait(self, number: int, until: Callable[[], bool]) -> None:
        """Lets other threads go on until `until()`; raises `Stopped` where the run is over.

        It is called in the thread of that number. Where no thread can go on, the error of
        `deadlock()` ends the run.
        """
        if until():
            return
        thread = self._threads[number]
        thread.until = until
        self._pass_on()
        thread.turn.acquire()
        thread.until = None
        self.check()

    def run(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        """Returns what each job returns, one a thread; raises the first error of any.

        An error, and an interrupt of the caller, stop all threads.
        """
        pairs = zip(self._threads, jobs, strict=True)
        started = [Thread(target=self._work, args=pair, daemon=True) for pair in pairs]
        try:
            for begun in started:
                begun.start()
        except RuntimeError:
            for thread, begun in zip(self._threads, started, strict=True):
                thread.has_ended = not begun.is_alive()
            self._is_stopped = True
            self._pass_on()
            raise EvaluationError(f"the system has no {len(started)} threads for devices") from None
        self._pass_on()
        try:
            while not self._over.wait(_POLL_SECONDS):
                pass
        except BaseException:
            self._is_stopped = True
            self._over.wait(_GRACE_SECONDS)
            raise
        for begun in started:
            begun.join()
        if self._failure is not None:
            raise self._failure
        return [thread.result for thread in self._threads]

    def _work(self, thread: _Thread, job: Callable[[], Any]) -> None:
        thread.turn.acquire()
        try:
            self.check()
            thread.result = job()
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001  # the caller's thread raises it
            self._fail(error)
        thread.has_ended = True
        self._pass_on()

    def _pass_on(self) -> None:
        alive = [thread for thread in self._threads if not thread.has_ended]
        if not alive:
            self._over.set()
            return
        if not self._is_stopped:
            for thread in alive:
                if thread.until is None or thread.until():
                    thread.turn.release()
                    return
            self._fail(self._deadlock())
        # They end one by one, each of them at the place where it waits.
        alive[0].turn.release()

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
        self._is_stopped = True
