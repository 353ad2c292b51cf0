"""The colours of nodes outside of pages: by category, or by sharding."""

from __future__ import annotations

from typing import Protocol

from hlotool.graph.model import ModuleGraph
from hlotool.graph.palette import LEGEND, LIGHT, Tint, mixed
from hlotool.ir.appearance import Category
from hlotool.ir.instruction import Instruction

_FILL = 0.78
"""How much paper is in the fill of a box whose border has the colour of a sharding."""


class Colours(Protocol):
    """Colours for the nodes of one picture; it remembers which it has given out."""

    def tint(self, instruction: Instruction) -> Tint:
        """Returns the colours of a node."""

    def legend(self) -> list[tuple[str, Tint]]:
        """Returns what the colours mean that were given out."""


def colours(graph: ModuleGraph, meaning: str) -> Colours:
    """Returns colours by `category` or by `sharding`."""
    return BySharding() if meaning == "sharding" else ByCategory(graph)


class ByCategory:
    """A colour for each category of ops, of the light theme."""

    def __init__(self, graph: ModuleGraph) -> None:
        self._graph = graph
        self._used: set[Category] = set()

    def tint(self, instruction: Instruction) -> Tint:
        """Returns the colours of the op's category."""
        category = self._graph.category(instruction)
        self._used.add(category)
        return LIGHT.tints[category]

    def legend(self) -> list[tuple[str, Tint]]:
        """Returns the categories that are in the picture, in the order of the palette."""
        return [(LEGEND[one], LIGHT.tints[one]) for one in LIGHT.tints if one in self._used]


class BySharding:
    """A colour for each sharding, in turn; what has none is grey."""

    def __init__(self) -> None:
        self._tints: dict[str, Tint] = {}

    def tint(self, instruction: Instruction) -> Tint:
        """Returns the colours of the instruction's sharding."""
        sharding = instruction.annotations.sharding
        text = "no sharding" if sharding is None else sharding.without_metadata().text
        if text not in self._tints:
            self._tints[text] = self._next(is_grey=sharding is None)
        return self._tints[text]

    def legend(self) -> list[tuple[str, Tint]]:
        """Returns the shardings that are in the picture, in the order in which they came."""
        return list(self._tints.items())

    def _next(self, *, is_grey: bool) -> Tint:
        if is_grey:
            return LIGHT.tints[Category.MOVEMENT]
        count = len(self._tints) - ("no sharding" in self._tints)
        line = LIGHT.kinds[count % len(LIGHT.kinds)]
        return Tint(mixed(line, LIGHT.named["paper"], _FILL), line, LIGHT.named["ink"])
