"""Documents of pages over several modules, taken apart as the page does it."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any


def own_entries(document: dict[str, Any], number: int = -1) -> dict[str, Any]:
    """Returns the entries of one of the modules of a page; -1 stands for the one shown first."""
    kept = None if number < 0 else document["modules"][number]
    if isinstance(kept, str):
        whole: dict[str, Any] = json.loads(kept)
        return whole
    numbers = document["own"] if kept is None else kept
    found: dict[str, Any] = json.loads("".join(document["pieces"][n] for n in accumulate(numbers)))
    return found
