"""Select-and-scatter: each element gathers the sources of the windows that picked it.

An element is in few windows. For each of them, in order, the window's pick is found anew; where
it is the element, the window's source value is combined. So every element is written once, by
whoever has it in its range, and the order of combining is that of the windows.
"""

from __future__ import annotations

from hlotool.codegen.elements.callee import applied
from hlotool.codegen.elements.choices import Condition, all_of
from hlotool.codegen.elements.emitter import ElementEmitter, Indices, element_rule
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.indexing.index import Index, linear
from hlotool.codegen.indexing.index_values import lane_values
from hlotool.codegen.kernels.window_folds import folded_over, shown_index, shown_place
from hlotool.codegen.kernels.windows.window_elements import widened
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.numbers.element import Element
from hlotool.ir.instruction import Instruction
from hlotool.ir.window import WindowDimension
from hlotool.ops.reduction import SelectAndScatter


def _covering(dimension: WindowDimension) -> int:
    """Returns how many windows along a dimension may show one element."""
    extent = (dimension.size - 1) * dimension.window_dilation
    return extent // dimension.stride + 1


@element_rule(SelectAndScatter)
def _select_and_scatter(
    emitter: ElementEmitter, instruction: Instruction, index: Indices
) -> Element:
    return _Scattered(emitter, instruction, index).element()


class _Scattered:
    def __init__(self, emitter: ElementEmitter, instruction: Instruction, index: Indices) -> None:
        op = instruction.op
        assert isinstance(op, SelectAndScatter)
        self._emitter = emitter
        self._function = emitter.function
        self._instruction = instruction
        self._index = index
        self._window = op.window
        self._sizes, self._source_sizes = (
            array_shape(operand).dimensions for operand in instruction.operands[:2]
        )

    def element(self) -> Element:
        """Writes the loop over the windows that may have picked the element."""
        emitter, lanes = self._emitter, self._emitter.lanes
        initial = emitter.operand(self._instruction, 2, ())
        begin = tuple(self._function.splat(part, lanes) for part in initial.parts)
        if 0 in self._source_sizes:
            return Element(initial.type, begin)
        counts = [_covering(dimension) for dimension in self._window]

        def one_round(numbers: Indices, carried: tuple[Value, ...]) -> tuple[Value, ...]:
            windows, flag = self._windows(numbers, counts)
            if flag is False:
                return carried
            picked = self._picked(windows)
            flag = all_of(self._function, [flag, self._is_own(picked)])
            return self._combined(windows, flag, Element(initial.type, carried))

        found = folded_over(emitter, counts, begin, one_round)
        return Element(initial.type, found)

    def _windows(self, numbers: Indices, counts: list[int]) -> tuple[Indices, Condition]:
        """Writes which windows are looked at: the last that shows the element, and those before."""
        found: list[Index] = []
        flag: Condition = True
        dimensions = zip(
            self._window, self._index, numbers, counts, self._source_sizes, strict=True
        )
        for dimension, index, number, count, windows in dimensions:
            place = index * dimension.base_dilation + dimension.padding_low
            step = dimension.stride
            shift = max(0, -(place.low // step))
            last = (place + shift * step) // step - shift
            at = last + number - (count - 1)
            # The windows are an array whose elements are seen one at a time.
            still = WindowDimension(1)
            one, is_there = shown_place(self._emitter, still, at, Index(), windows)
            found.append(one)
            flag = all_of(self._function, [flag, is_there])
        return tuple(found), flag

    def _picked(self, windows: Indices) -> Value:
        """Writes the place, among all elements, of what a window picks."""
        emitter, function, lanes = self._emitter, self._function, self._emitter.lanes
        select, _ = self._instruction.calls
        first = emitter.operand(self._instruction, 0, [Index()] * len(windows))
        held = [constant(part.type, 0, lanes) for part in first.parts]
        none = constant("i64", -1, lanes)

        def one_round(parts: Indices, carried: tuple[Value, ...]) -> tuple[Value, ...]:
            place, flag = shown_index(emitter, self._window, windows, parts, self._sizes)
            if flag is False:
                return carried
            element = emitter.operand(self._instruction, 0, place)
            *values, so_far = carried
            best = Element(element.type, tuple(values))
            (keeps,) = applied(emitter, select, [best, element])
            is_first = function.compare("slt", so_far, constant("i64", 0))
            is_other = function.binary("xor", keeps.value, constant("i1", 1))
            is_other, is_first = function.together(is_other, is_first)
            takes = all_of(function, [flag, function.binary("or", is_other, is_first)])
            assert isinstance(takes, Value)
            where = function.splat(self._flat(place), lanes)
            new = [*element.parts, where]
            pairs = zip(new, carried, strict=True)
            return tuple(function.select(takes, function.splat(n, lanes), o) for n, o in pairs)

        sizes = [dimension.size for dimension in self._window]
        *_, picked = folded_over(emitter, sizes, (*held, none), one_round)
        return picked

    def _flat(self, place: Indices) -> Value:
        return lane_values(self._function, linear(place, self._sizes), self._emitter.lanes)

    def _is_own(self, picked: Value) -> Value:
        own = lane_values(self._function, linear(self._index, self._sizes), self._emitter.lanes)
        return self._function.compare("eq", picked, own)

    def _combined(self, windows: Indices, flag: Condition, held: Element) -> tuple[Value, ...]:
        emitter, function = self._emitter, self._function
        _, scatter = self._instruction.calls
        source = widened(emitter, emitter.operand(self._instruction, 1, windows), held.type)
        (new,) = applied(emitter, scatter, [source, held])
        pairs = zip(new.parts, held.parts, strict=True)
        if flag is True:
            return tuple(function.splat(one, emitter.lanes) for one, _ in pairs)
        assert isinstance(flag, Value)
        return tuple(
            function.select(flag, function.splat(one, emitter.lanes), other) for one, other in pairs
        )
