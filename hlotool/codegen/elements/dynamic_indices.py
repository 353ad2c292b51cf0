"""Ops that yield elements at indices which are numbers of other arrays: parts and gathers."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.indexing.index import ZERO, Index, Known, index_of
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.element import Element, part_count, register_type
from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import DynamicSlice, Gather


@element_rule(DynamicSlice)
def _dynamic_slice(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, DynamicSlice)
    starts = part_starts(emitter, instruction, op.dynamic_slice_sizes, first=1)
    return emitter.operand(
        instruction, 0, [start + one for start, one in zip(starts, index, strict=True)]
    )


@element_rule(Gather)
def _gather(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Gather)
    operand = array_shape(instruction.operands[0])
    if 0 in op.slice_sizes:
        zero = constant(register_type(operand.element_type), 0)
        return Element(operand.element_type, (zero,) * part_count(operand.element_type))
    dimensions = op.dimension_map()
    batch = [one for d, one in enumerate(index) if d not in op.offset_dims]
    indices = instruction.operands[1]
    places = index_vector(emitter, indices, batch, op.index_vector_dim, op.start_index_map)
    limits = [size - taken for size, taken in zip(operand.dimensions, op.slice_sizes, strict=True)]
    found = [
        start_index(emitter.function, places[d], limit) if d in places else ZERO
        for d, limit in enumerate(limits)
    ]
    for ours, theirs in zip(dimensions.batching, dimensions.indices_batching, strict=True):
        found[ours] = batch[theirs - (op.index_vector_dim < theirs)]
    window = dimensions.window_dimensions(operand)
    for ours, theirs in zip(op.offset_dims, window, strict=True):
        found[theirs] = found[theirs] + index[ours]
    return emitter.operand(instruction, 0, found)


def part_starts(
    emitter: ElementEmitter, instruction: Instruction, sizes: Sequence[int], first: int
) -> list[Index]:
    """Returns where a part begins in each dimension of operand 0, moved so that it lies inside.

    The operands from number `first` on are the starts, or one vector of them.
    """
    bounds = array_shape(instruction.operands[0]).dimensions
    operands = instruction.operands[first:]
    is_vector = len(operands) == 1 and array_shape(operands[0]).rank == 1
    found = []
    for d, (size, bound) in enumerate(zip(sizes, bounds, strict=True)):
        if size == bound:
            found.append(ZERO)
            continue
        with emitter.with_lanes(1):
            start = (
                emitter.element(operands[0], (index_of(d),))
                if is_vector
                else emitter.element(operands[d], ())
            )
        found.append(start_index(emitter.function, start, bound - size))
    return found


def index_vector(
    emitter: ElementEmitter,
    indices: Instruction,
    batch: Sequence[Index],
    vector_dimension: int,
    index_map: Sequence[int],
) -> dict[int, Element]:
    """Returns the numbers of an index vector, by what `index_map` says each stands for."""
    has_dimension = vector_dimension < array_shape(indices).rank
    found = {}
    for number, dimension in enumerate(index_map):
        place = list(batch)
        if has_dimension:
            place.insert(vector_dimension, index_of(number))
        found[dimension] = emitter.element(indices, place)
    return found


def start_index(function: FunctionWriter, start: Element, high: int) -> Index:
    """Returns a start as an index, moved so far that it lies between 0 and `high`."""
    if high == 0:
        return ZERO
    value, kind = start.value, start.type
    number = value.integer
    if number is not None and kind.is_signed:
        return index_of(max(0, min(number, high)))
    # It is moved in its own width, which more lanes have in a register.
    largest = (1 << (kind.bits - kind.is_signed)) - 1
    if kind.is_signed:
        value = function.intrinsic("smax", value, constant(value.type, 0))
    if high < largest:
        value = function.intrinsic("umin", value, constant(value.type, high))
    return index_of(Known(function.cast("zext", value, "i64"), min(high, largest)))


def wide(function: FunctionWriter, number: Element) -> Value:
    """Writes an integer of any type as an `i64`; one of `u64` keeps its bits."""
    opcode = "sext" if number.type.is_signed else "zext"
    return function.cast(opcode, number.value, "i64")
