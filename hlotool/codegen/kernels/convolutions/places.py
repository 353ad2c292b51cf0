"""Where the elements of a convolution's operands and results lie in memory."""

from __future__ import annotations

from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source, memory_order
from hlotool.codegen.indexing.index import Counter, index_of
from hlotool.codegen.kernels.convolutions.axes import Place
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.kernels.views import trial_place, viewed
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape


def place_in_memory(shape: ArrayShape) -> Place:
    """Returns how the elements of an array lie in memory."""
    strides = [0] * shape.rank
    stride = 1
    for dimension in reversed(memory_order(shape)):
        strides[dimension] = stride
        stride *= shape.dimensions[dimension]
    return Place(0, tuple(strides))


def place_of_operand(kernel: Kernel, instruction: Instruction) -> tuple[Source, Place] | None:
    """Returns the array that an operand is a view of, and how its elements lie there.

    `None` where it is computed, or its elements do not lie evenly.
    """
    sources = kernel.sources()
    held = viewed(instruction, sources)
    if held is None:
        return None
    counters = [Counter(size, splits=False) for size in array_shape(instruction).dimensions]
    place = trial_place(kernel, instruction, [index_of(counter) for counter in counters])
    strides = [0] * len(counters)
    for term, factor in place.terms:
        if not isinstance(term, Counter):
            return None
        strides[counters.index(term)] = factor
    return sources[held], Place(place.offset, tuple(strides))
