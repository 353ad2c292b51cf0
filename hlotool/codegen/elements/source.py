"""Arrays in memory, whose elements a kernel loads by their index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hlotool.codegen.elements.near_loads import (
    can_be_gathered,
    gathered_elements,
    is_near,
    near_elements,
)
from hlotool.codegen.indexing.index import Index, delinear, linear
from hlotool.codegen.indexing.index_values import first_value, lane_values
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.lanes import in_lanes
from hlotool.codegen.numbers.memory import Memory
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.shape import ArrayShape
from hlotool.ops.shape_checks import physical_order


@dataclass(frozen=True)
class Source:
    """An array of a shape at an address."""

    memory: Memory
    shape: ArrayShape

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The dimensions, the one that changes slowest in memory first."""
        return memory_order(self.shape)

    def place(self, index: Sequence[Index]) -> Index:
        """Returns the place of an element among all that lie in memory."""
        sizes = self.shape.dimensions
        return linear([index[d] for d in self.order], [sizes[d] for d in self.order])

    def index(self, place: Index) -> tuple[Index, ...]:
        """Returns the index of the element at a place among all that lie in memory."""
        found = delinear(place, tuple(self.shape.dimensions[d] for d in self.order))
        return tuple(found[self.order.index(d)] for d in range(self.shape.rank))

    def load(self, function: FunctionWriter, index: Sequence[Index], lanes: int) -> Element:
        """Writes the load of an element, or of one for each lane."""
        place = self.place(index)
        place.ask_for_splits()
        step = place.step()
        if step == 0:
            return self.memory.load(function, self.address(function, place), 1)
        if step == 1:
            return self.memory.load(function, self.address(function, place), lanes)
        if step is not None and is_near(step, lanes):
            first = self.address(function, place)
            return near_elements(function, self.memory, first, step, lanes)
        return self._one_by_one(function, place, lanes)

    def store(
        self, function: FunctionWriter, index: Sequence[Index], element: Element, lanes: int
    ) -> None:
        """Writes the store of an element, or of one for each lane, wherever they lie."""
        self.store_at(function, self.place(index), element, lanes)

    def store_at(
        self, function: FunctionWriter, place: Index, element: Element, lanes: int
    ) -> None:
        """Writes the store of an element, or of one for each lane, by its place in memory."""
        place.ask_for_splits()
        element = in_lanes(function, element, lanes)
        if lanes == 1 or place.step() == 1:
            self.memory.store(function, element, self.address(function, place))
            return
        for lane, address in enumerate(self._lane_addresses(function, place, lanes)):
            parts = tuple(function.extract(part, lane) for part in element.parts)
            self.memory.store(function, Element(element.type, parts), address)

    def address(self, function: FunctionWriter, place: Index) -> Value:
        """Writes the address of the element at a place, in the first lane.

        Outer loops are added to the array's address first, where they stand.
        """
        address = self.memory.address
        terms = sorted(place.terms, key=lambda term: first_value(function, Index((term,))).level)
        inner = [term for term in terms if _level(function, term) == _level(function, terms[-1])]
        outer = Index(tuple(term for term in terms if term not in inner), place.offset)
        if inner and outer != Index():
            address = self.memory.at(function, first_value(function, outer))
            moved = Memory(address, self.memory.type)
            return moved.at(function, first_value(function, Index(tuple(inner))))
        return self.memory.at(function, first_value(function, place))

    def _one_by_one(self, function: FunctionWriter, place: Index, lanes: int) -> Element:
        if place.step() is None and can_be_gathered(self.memory):
            return gathered_elements(function, self.memory, lane_values(function, place, lanes))
        return self.memory.load_each(function, self._lane_addresses(function, place, lanes))

    def _lane_addresses(self, function: FunctionWriter, place: Index, lanes: int) -> list[Value]:
        step = place.step()
        if step is None:
            places = lane_values(function, place, lanes)
            return [
                self.memory.at(function, function.extract(places, lane)) for lane in range(lanes)
            ]
        beside = Memory(self.address(function, place), self.memory.type)
        return [
            beside.at(function, first_value(function, Index((), step * lane)))
            for lane in range(lanes)
        ]


def memory_place(shape: ArrayShape, index: Sequence[Index]) -> Index:
    """Returns the place of an element of an array among all that lie in memory."""
    order = memory_order(shape)
    return linear([index[d] for d in order], [shape.dimensions[d] for d in order])


def memory_index(shape: ArrayShape, place: Index) -> tuple[Index, ...]:
    """Returns the index of the element that lies at a place in memory."""
    order = memory_order(shape)
    found = delinear(place, tuple(shape.dimensions[d] for d in order))
    return tuple(found[order.index(d)] for d in range(shape.rank))


def memory_order(shape: ArrayShape) -> tuple[int, ...]:
    """Returns the dimensions from the slowest to the fastest in memory.

    Raises `NotCompiled` for tiles, packed elements and dynamic dimensions.
    """
    layout = shape.layout
    if layout.tiles or layout.element_size_bits not in (0, 8 * shape.element_type.storage_bytes):
        raise NotCompiled(f"the layout {layout.text}")
    if not shape.is_static:
        raise NotCompiled(f"the dynamic dimensions of {shape.plain_text}")
    return tuple(reversed(physical_order(shape, "array")))


def _level(function: FunctionWriter, term: tuple[object, int]) -> int:
    return first_value(function, Index((term,))).level  # type: ignore[arg-type]
