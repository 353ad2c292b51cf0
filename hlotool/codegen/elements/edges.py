"""Ops that put arrays beside each other or around one: pad, concatenate, an updated part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from hlotool.codegen.elements.choices import (
    Condition,
    all_of,
    bounded,
    branched,
    chosen,
    clamped,
    inside,
    is_zero,
)
from hlotool.codegen.elements.dynamic_indices import part_starts
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.indexing.cuts import ask_for_cuts
from hlotool.codegen.indexing.index import Index
from hlotool.codegen.indexing.index_values import in_range, lane_values
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.conversion import converted
from hlotool.codegen.numbers.element import Element
from hlotool.codegen.numbers.patterns import selected
from hlotool.ir.instruction import Instruction
from hlotool.ir.window import PaddingDimension
from hlotool.ops.indexing import DynamicUpdateSlice
from hlotool.ops.shape_changing import Concatenate, Pad


@element_rule(Pad)
def _pad(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Pad)
    sizes = array_shape(instruction.operands[0]).dimensions
    if 0 in sizes:
        return _operand(emitter, instruction, 1, ())
    places = []
    conditions: list[Condition] = []
    for one, size, padding in zip(index, sizes, op.padding, strict=True):
        place, between = _unpadded(one, size, padding)
        conditions.append(in_range(emitter.function, place, size, emitter.lanes))
        conditions.append(is_zero(emitter, between))
        places.append(place)

    def operand(lanes: Sequence[Value] | None) -> Element:
        found = [_safe(emitter, *pair, lanes) for pair in zip(places, sizes, strict=True)]
        return _operand(emitter, instruction, 0, found)

    condition = all_of(emitter.function, conditions)
    return chosen(emitter, condition, operand, lambda: _operand(emitter, instruction, 1, ()))


def _operand(
    emitter: ElementEmitter, instruction: Instruction, number: int, index: Sequence[Index]
) -> Element:
    """Writes an element of an operand, as the type of the result where it is another float."""
    found = emitter.operand(instruction, number, index)
    declared = array_shape(instruction).element_type
    if array_shape(instruction.operands[number]).element_type is declared:
        return found
    return converted(emitter.function, found, declared)


def _unpadded(index: Index, size: int, padding: PaddingDimension) -> tuple[Index, Index]:
    """Returns the operand's index, and what is 0 only where an element of it lies."""
    step = padding.interior + 1
    ask_for_cuts(index, [padding.low, padding.low + (size - 1) * step + 1])
    # Only what is not negative can be divided.
    before = max(0, -(-padding.low // step))
    moved = index + (before * step - padding.low)
    return moved // step - before, moved % step


def _safe(emitter: ElementEmitter, index: Index, size: int, lanes: Sequence[Value] | None) -> Index:
    """Returns an index inside of a dimension: moved there, where only some `lanes` are."""
    return bounded(index, size) if lanes is None else clamped(emitter, index, size)


@element_rule(Concatenate)
def _concatenate(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    op = instruction.op
    assert isinstance(op, Concatenate)
    joined, d = index[op.dimensions], op.dimensions
    lengths = [array_shape(operand).dimensions[d] for operand in instruction.operands]
    ends = list(accumulate(lengths, initial=0))
    pieces = [
        (number, begin, end)
        for number, (begin, end) in enumerate(pairwise(ends))
        if begin < end and joined.low < end and joined.high >= begin
    ]
    if len(pieces) > 1:
        ask_for_cuts(joined, ends)
    return _Joined(emitter, instruction, index, d).element(pieces)


class _Joined:
    def __init__(
        self, emitter: ElementEmitter, instruction: Instruction, index: Indices, dimension: int
    ) -> None:
        self._emitter = emitter
        self._instruction = instruction
        self._index = index
        self._dimension = dimension

    def element(self, pieces: Sequence[tuple[int, int, int]]) -> Element:
        """Writes the element, of one of the operands `pieces`: number, begin, end."""
        if len(pieces) == 1:
            return self._of(*pieces[0])
        half = len(pieces) // 2
        first, rest = pieces[:half], pieces[half:]
        joined = self._index[self._dimension]
        place = lane_values(self._emitter.function, joined, self._emitter.lanes)
        bound = constant("i64", rest[0][1])
        is_first = self._emitter.function.compare("slt", place, bound)
        if is_first.lanes == 1:
            return branched(
                self._emitter, is_first, lambda: self.element(first), lambda: self.element(rest)
            )
        return selected(self._emitter.function, is_first, self.element(first), self.element(rest))

    def _of(self, number: int, begin: int, end: int) -> Element:
        # In lanes that belong to another operand some element of this one is loaded.
        index = list(self._index)
        place = index[self._dimension] - begin
        index[self._dimension] = clamped(self._emitter, place, end - begin)
        return _operand(self._emitter, self._instruction, number, index)


@element_rule(DynamicUpdateSlice)
def _updated(emitter: ElementEmitter, instruction: Instruction, index: Indices) -> Element:
    sizes = array_shape(instruction.operands[1]).dimensions
    if 0 in sizes:
        return _operand(emitter, instruction, 0, index)
    starts = part_starts(emitter, instruction, sizes, first=2)
    places = [one - start for one, start in zip(index, starts, strict=True)]

    def update(lanes: Sequence[Value] | None) -> Element:
        found = [_safe(emitter, *pair, lanes) for pair in zip(places, sizes, strict=True)]
        return _operand(emitter, instruction, 1, found)

    condition = inside(emitter, places, sizes)
    return chosen(emitter, condition, update, lambda: _operand(emitter, instruction, 0, index))
