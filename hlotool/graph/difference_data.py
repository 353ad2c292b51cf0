"""The data of a page over two modules: `docs/viewer_data.md` says what each entry is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.analysis.differences import ComputationDifferences, ModuleDifferences
from hlotool.analysis.matching import Matching
from hlotool.graph.module_text import ModuleText
from hlotool.graph.page_states import PageStates
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module


def difference_document(
    old: Module, new: Module, differences: ModuleDifferences, titles: Sequence[str]
) -> dict[str, Any]:
    """Returns the document of a page over two modules; `titles` are what to call them."""
    entries = PageStates((old, new)).entries(0)
    return {
        **entries,
        "title": " and ".join(titles),
        "modules": entries["modules"][1:],
        "titles": [titles[1]],
        "difference": {"titles": list(titles), **_difference(old, new, differences)},
    }


class _Side:
    """Numbers of computations and instructions of one module, as its document has them."""

    def __init__(self, module: Module) -> None:
        text = ModuleText(module)
        self.computation = {one: number for number, one in enumerate(text.computations)}
        self.order = text.instructions
        self._numbers = {
            instruction: number
            for one in text.computations
            for number, instruction in enumerate(text.instructions[one])
        }

    def numbers(self, instructions: Sequence[Instruction]) -> list[int]:
        """Returns the numbers of instructions in their computation, ascending."""
        return sorted(map(self.number, instructions))

    def number(self, instruction: Instruction) -> int:
        """Returns the number of an instruction in its computation."""
        return self._numbers[instruction]

    def lone(self, computations: Sequence[Computation]) -> list[int]:
        """Returns the numbers of computations that have no counterpart."""
        return [self.computation[one] for one in computations]


def _difference(old: Module, new: Module, differences: ModuleDifferences) -> dict[str, Any]:
    before, after = _Side(old), _Side(new)
    matching = Matching(old, new)
    found = {one.old: one for one in differences.computations}
    removed, added, changed = differences.counts
    return {
        "equal": int(differences.is_equal),
        "header": list(differences.header),
        "counts": [removed, added, changed],
        "pairs": [
            {
                "old": before.computation[ours],
                "new": after.computation[theirs],
                "partners": [
                    after.number(matching.instructions[one]) if one in matching.instructions else -1
                    for one in before.order[ours]
                ],
                **_in_pair(found.get(ours), before, after),
            }
            for ours, theirs in matching.computations.items()
        ],
        "removed": before.lone(differences.removed),
        "added": after.lone(differences.added),
    }


def _in_pair(found: ComputationDifferences | None, before: _Side, after: _Side) -> dict[str, Any]:
    if found is None:
        return {"removed": [], "added": [], "changed": []}
    return {
        "removed": before.numbers(found.removed),
        "added": after.numbers(found.added),
        "changed": [
            {
                "old": before.number(one.old),
                "new": after.number(one.new),
                "words": list(one.differences),
            }
            for one in found.changed
        ],
    }
