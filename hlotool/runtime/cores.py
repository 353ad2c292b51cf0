"""How much of the machine this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how much of the processor the containers of this process may take."""


def usable_cores() -> int:
    """Returns how many cores this process may use, whole ones of a quota counted up."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, math.ceil(min(cores, _quota())))


def _quota() -> float:
    try:
        most, period = _QUOTA.read_text(encoding="ascii").split()
        return int(most) / int(period)
    except (OSError, ValueError):
        # There is none, or it is `max`.
        return math.inf
