"""The child process that XLA runs in, as its parent sees it."""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Thread

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.xla import child

PYTHON_VARIABLE = "HLOTOOL_XLA_PYTHON"
"""The environment variable that names the Python whose environment has jaxlib."""
_SAID_CHARACTERS = 1500
"""How much of what XLA says an error repeats."""
_HELP = "install it with: pip install 'hlotool[xla]', or '.[xla]' in a checkout"
_ELSEWHERE = f"or name a Python that has it with --xla-python or {PYTHON_VARIABLE}"


class NoXlaError(UnsupportedError):
    """There is no jaxlib, or no Python to run it in."""


class XlaChild:
    """A process that does jobs in folders, all for equally many devices.

    Raises `NoXlaError` where it cannot be started.
    """

    def __init__(self, python: str, folder: Path, devices: int) -> None:
        self.devices = devices
        self._python = python
        # What is said may be more than a pipe holds while nobody reads it.
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  # until `end`
        # Without the script's folder in the path: its modules must not hide those of Python.
        command = [python, "-P", child.__file__, str(folder)]
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the user's own Python
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                text=True,
                errors="replace",
            )
        except OSError as error:
            self._said.close()
            raise NoXlaError(f"cannot run XLA with {python}: {error.strerror}") from None

    def give(self, folder: Path) -> None:
        """Hands the next job over."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{folder}\n")
            self._process.stdin.flush()
        except OSError:
            # It has ended; waiting for its answer says how.
            return

    def wait(self, timeout: float) -> bool:
        """Waits until the job is done; returns whether the process can do another one.

        Raises `UnsupportedError` where XLA does not take the module or jaxlib is missing,
        `EvaluationError` where the run fails, crashes or takes longer than `timeout` seconds.
        """
        assert self._process.stdout is not None
        lines: list[str] = []
        reader = Thread(target=lambda: lines.append(self._line()), daemon=True)
        reader.start()
        reader.join(timeout)
        if not lines:
            self.end()
            raise EvaluationError(f"XLA gave no answer within {timeout:g} s")
        if lines[0].strip() == child.DONE:
            return True
        status = self._process.wait()
        self._said.seek(0)
        said = self._said.read()
        self.end()
        if status:
            _raise_failure(status, said, self._python)
        return False

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream is not None:
                # What it has not read any more is of no use to anybody.
                with suppress(OSError):
                    stream.close()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def _raise_failure(status: int, said: str, python: str) -> None:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    ours = [line.removeprefix("hlotool: ") for line in lines if line.startswith("hlotool: ")]
    message = (ours or lines or ["no message"])[-1][:_SAID_CHARACTERS]
    if status == child.JAXLIB_MISSING:
        raise NoXlaError(
            f"the platform xla needs jaxlib: {message.removeprefix('import: ')}",
            notes=[_HELP, f"{_ELSEWHERE}; this was {python}"],
        )
    if status == child.REFUSED:
        stage, _, reason = message.partition(": ")
        raise UnsupportedError(f"XLA does not {stage} the module: {reason}")
    if status == child.FAILED:
        raise EvaluationError(f"XLA fails: {message.removeprefix('run: ')}")
    checks = [line for line in lines if "Check failed" in line or re.match(r"F\d{4} ", line)]
    notes = [line[:_SAID_CHARACTERS] for line in (checks or lines[-1:])[:3]]
    how = f"crashed with {_signal_name(-status)}" if status < 0 else f"ended with status {status}"
    raise EvaluationError(f"XLA {how}", notes=notes)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
