"""Writes what is needed to look at a difference again."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from hlotool.cli.inputs import reason
from hlotool.cli.modules import written
from hlotool.cli.outputs import write_file
from hlotool.errors import UsageError
from hlotool.evaluation.files.argument_files import RESULTS, write_npz

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hlotool.ir.frame import Value
    from hlotool.ir.module import Module

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
_MOST_CHARACTERS = 80


def save_mismatch(
    folder: str,
    module: Module,
    number: int,
    arguments: Sequence[Value],
    actual: Value,
    expected: Value,
) -> str:
    """Writes module, arguments and both results to files that begin alike; returns that.

    `number` tells runs apart. Raises `UsageError` where the folder cannot be written.
    """
    # A module's name is no path: whatever could lead out of the folder is replaced.
    name = _UNSAFE.sub("_", module.name)[:_MOST_CHARACTERS].lstrip(".") or "module"
    stem = os.path.join(folder, f"{name}.{number}")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {reason(error)}") from None
    write_file(f"{stem}.hlo", written(module, "hlo"))
    write_file(f"{stem}.in.npz", write_npz(arguments))
    write_file(f"{stem}.actual.npz", write_npz([actual], RESULTS))
    write_file(f"{stem}.expected.npz", write_npz([expected], RESULTS))
    return stem
