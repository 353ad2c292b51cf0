"""The program of the process in which `tests.oracle.xla` has modules run."""

from __future__ import annotations

import faulthandler
import pickle
import sys
from pathlib import Path
from typing import Any

from hlotool.evaluation.xla.child import StageError, Xla

DEVICES = 8
SECONDS = 15
"""A job that takes longer, as collectives that wait for each other do, ends the process."""


def results(
    xla: Xla, text: str, devices: int, tokens: list[bool], sets: list[Any]
) -> list[list[list[Any]]]:
    """Returns the arrays of each device for each set of arguments."""
    xla.devices = xla.jax.devices("cpu")[:devices]
    executable = xla.compiled(text, {}, None)
    found = []
    for arguments in sets:
        placed = [
            xla.placed([xla.numpy.asarray(a) for a in column])
            for column in zip(*arguments, strict=True)
        ]
        columns = xla.results(executable, placed, tokens)
        found.append([[column[device] for column in columns] for device in range(devices)])
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    jobs = pickle.loads((folder / "jobs").read_bytes())  # noqa: S301  # written by the test
    xla = Xla(DEVICES)
    with (folder / "answers").open("wb", buffering=0) as answers:
        for number, *job in jobs:
            answers.write(pickle.dumps(("begun", number)))
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                answer = results(xla, *job), ""
            except StageError as error:
                answer = [], str(error)
            except Exception as error:  # noqa: BLE001  # whatever is raised is the answer
                answer = [], f"place: {error}"
            answers.write(pickle.dumps(("ended", number, *answer)))


if __name__ == "__main__":
    main()
