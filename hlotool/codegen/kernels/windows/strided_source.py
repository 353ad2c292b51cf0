"""Arrays of which lanes read every other element: two loads, of which lanes are picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Index
from hlotool.codegen.llvm.value import constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory


@dataclass(frozen=True)
class StridedSource(Source):
    """A source that loads all that lies between the lanes' elements as well."""

    def load(self, function: FunctionWriter, index: Sequence[Index], lanes: int) -> Element:
        """Writes the load of an element, or of one for each lane."""
        place = self.place(index)
        step = place.step()
        if step != 2 or lanes == 1:
            return super().load(function, index, lanes)
        first = self.address(function, place)
        # The second load ends with the last element that is wanted, not behind it.
        more = Memory(first, self.memory.type).at(function, constant("i64", lanes - 1))
        one, other = (self.memory.load(function, at, lanes) for at in (first, more))
        picked = [2 * lane if 2 * lane < lanes else 2 * lane + 1 for lane in range(lanes)]
        pairs = zip(one.parts, other.parts, strict=True)
        return Element(one.type, tuple(function.shuffle(a, b, picked) for a, b in pairs))
