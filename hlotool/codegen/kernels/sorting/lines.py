"""The lines of arrays along one dimension, as the bits that lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Counter, Index, Known, delinear, index_of
from hlotool.codegen.indexing.index_values import first_value
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, part_count
from hlotool.codegen.numbers.memory import in_register, memory_type
from hlotool.ir.element_type import ElementType
from hlotool.ir.shape import ArrayShape


def raw_bits(element_type: ElementType) -> int:
    """Returns how many bits an element takes in memory."""
    return 8 * element_type.component.storage_bytes * part_count(element_type)


def element_of_bits(function: FunctionWriter, element_type: ElementType, raw: Value) -> Element:
    """Writes the elements that bits in memory are."""
    kind = memory_type(element_type)
    if not element_type.is_complex:
        held = function.cast("bitcast", raw, kind)
        return Element(element_type, (in_register(function, element_type, held),))
    half = raw_bits(element_type) // 2
    parts = []
    for part in range(2):
        moved = function.binary("lshr", raw, constant(raw.type, half * part))
        bits = function.cast("trunc", moved, f"i{half}")
        parts.append(function.cast("bitcast", bits, kind))
    return Element(element_type, tuple(parts))


def place_of(position: Value, length: int) -> Index:
    """Returns a position of a line, as an index."""
    return index_of(Known(position, max(1, length - 1)))


class Numbering:
    """The lines of an array along a dimension: their number, and the one that is at hand."""

    def __init__(self, shape: ArrayShape, order: Sequence[int], dimension: int) -> None:
        self.dimension = dimension
        self._others = [d for d in order if d != dimension]
        self._sizes = tuple(shape.dimensions[d] for d in self._others)
        self.count = prod(self._sizes)
        self.counter = Counter(max(1, self.count), splits=False)

    def index(self, position: Index) -> list[Index]:
        """Returns the index of the element at a position of the line at hand."""
        found = delinear(index_of(self.counter), self._sizes)
        places = dict(zip(self._others, found, strict=True))
        places[self.dimension] = position
        return [places[d] for d in sorted(places)]


@dataclass(frozen=True)
class Line:
    """One array along the line at hand."""

    source: Source
    numbering: Numbering
    copy: Value | None = None
    """Where the line has been copied to, its elements side by side."""

    @property
    def type(self) -> ElementType:
        """The type of the elements."""
        return self.source.memory.type

    @property
    def length(self) -> int:
        """How many elements the line has."""
        return self.source.shape.dimensions[self.numbering.dimension]

    @property
    def is_contiguous(self) -> bool:
        """Whether elements of the line lie side by side."""
        is_fastest = self.source.order[-1] == self.numbering.dimension
        return self.copy is not None or is_fastest or self.source.shape.element_count == 1

    def load(self, function: FunctionWriter, position: Index, lanes: int) -> Value:
        """Writes the load of the bits of elements from a position on."""
        kind = f"i{raw_bits(self.type)}"
        read = function.load
        if self.copy is not None or self.source.memory.is_written:
            read = function.load_again
        return read(self._address(function, position), kind, lanes, align=self._alignment)

    def elements(self, function: FunctionWriter, position: Index, lanes: int) -> Element:
        """Writes the load of elements from a position on."""
        return element_of_bits(function, self.type, self.load(function, position, lanes))

    def store(self, function: FunctionWriter, raw: Value, position: Index) -> None:
        """Writes the store of the bits of elements from a position on."""
        function.store(raw, self._address(function, position), align=self._alignment)

    def copied_to(self, address: Value) -> Line:
        """Returns the line as a copy of it at an address."""
        return Line(self.source, self.numbering, address)

    @property
    def _alignment(self) -> int:
        return self.source.memory.part_bytes

    def _address(self, function: FunctionWriter, position: Index) -> Value:
        if self.copy is None:
            place = self.source.place(self.numbering.index(position))
            return self.source.address(function, place)
        return function.offset(
            self.copy, first_value(function, position), f"i{raw_bits(self.type)}"
        )
