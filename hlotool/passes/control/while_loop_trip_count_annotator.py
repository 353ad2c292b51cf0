"""Trip counts, written where backends look for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from hlotool.analysis.trip_count import Counting, counting
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.passes.control.loops import loops_inside_out
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class WhileLoopTripCountAnnotator(Pass):
    """Notes in the backend_config of loops how often they run, where that is known."""

    name: ClassVar[str] = "while-loop-trip-count-annotator"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Adds `known_trip_count`, and with an induction variable where it is and how it grows."""
        changed = False
        for loop in loops_inside_out(module):
            found = counting(loop)
            if found is not None:
                changed |= _is_annotated(loop, found, journal)
        return changed


def _is_annotated(loop: Instruction, found: Counting, journal: Journal) -> bool:
    annotations = loop.annotations
    config = _config(annotations.backend_config)
    if config is None:
        journal.note("its backend_config is not JSON, so no trip count is added", loop)
        return False
    known = config | _facts(found)
    if known == config or not journal.hit("trip-count"):
        return False
    if not config:
        known = {"dynamic_variables": []} | known
    text = json.dumps(known, separators=(",", ":"))
    loop.annotations = annotations.replace(backend_config=text)
    return True


def _config(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _facts(found: Counting) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    variable = found.variable
    if variable is not None and len(variable.index) == 1:
        facts["known_induction_variable"] = {"tuple_index": str(variable.index[0])}
        facts["known_init_step"] = {"init": str(variable.init), "step": str(variable.step)}
    facts["known_trip_count"] = {"n": str(found.trip_count)}
    return facts
