"""What becomes of the sums of a convolution: work on them while in registers, and stores."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.codegen.elements.emitter import ElementEmitter, Indices
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Counter, Index
from hlotool.codegen.indexing.index_values import first_value, lane_values
from hlotool.codegen.kernels.convolution_places import index_of_output
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.memory import Memory
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction


class _Finisher(ElementEmitter):
    """Writes elements of what follows a product, whose own element is given."""

    def __init__(self, kernel: Kernel, product: Instruction) -> None:
        super().__init__(kernel.function, kernel.target, kernel.sources())
        self._product = product
        self.given: tuple[Indices, Element] | None = None
        self._counters: dict[tuple[str, int], Counter] = {}

    def counter(self, value: Value, extent: int) -> Counter:
        """Returns the counter that a value is: always the same one, so that indices are equal."""
        return self._counters.setdefault((value.name, extent), Counter(extent, value, splits=False))

    def _made(self, instruction: Instruction, index: Indices) -> Element:
        if instruction is not self._product:
            return super()._made(instruction, index)
        assert self.given is not None
        place, element = self.given
        if place != index:
            raise NotCompiled("a product that is used at another index than its own")
        return element


class Results:
    """The outputs of a kernel with a product: `store` takes the product's elements."""

    def __init__(self, kernel: Kernel, product: Instruction) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._product = product
        self.emitter = _Finisher(kernel, product)
        self._outputs = [kernel.destination(n) for n in range(len(kernel.body.outputs))]

    def store(self, index: Indices, element: Element, lanes: int) -> None:
        """Writes all that follows an element of the product, and stores what it leads to."""
        emitter, body = self.emitter, self._kernel.body
        emitter.given = index, element
        found: list[tuple[Source, Indices, Element]] = []
        with emitter.region(), emitter.with_lanes(lanes):
            for (output, _), source in zip(body.outputs, self._outputs, strict=True):
                place = index_of_output(body, self._product, output, index)
                found.append((source, place, emitter.element(output, place)))
        # All values are there before the first is stored: an output may lie over an input.
        for source, place, one in found:
            store_elements(self._function, source, place, one, lanes)


def store_elements(
    function: FunctionWriter, source: Source, index: Indices, element: Element, lanes: int
) -> None:
    """Writes the store of an element, or of one for each lane, however far apart they lie."""
    place = source.place(index)
    parts = tuple(function.splat(part, lanes) for part in element.parts)
    element = Element(element.type, parts)
    step, memory = place.step(), source.memory
    if lanes == 1 or step == 1:
        memory.store(function, element, source.address(function, place))
        return
    if step is not None:
        beside = Memory(source.address(function, place), memory.type, is_written=True)
        steps = [first_value(function, Index((), step * lane)) for lane in range(lanes)]
        addresses = [beside.at(function, one) for one in steps]
    else:
        places = lane_values(function, place, lanes)
        addresses = [memory.at(function, function.extract(places, n)) for n in range(lanes)]
    for lane, address in enumerate(addresses):
        alone = tuple(function.extract(part, lane) for part in parts)
        memory.store(function, Element(element.type, alone), address)


def index_with(starts: Sequence[int]) -> list[Index]:
    """Returns an index that begins with numbers."""
    return [Index((), start) for start in starts]
