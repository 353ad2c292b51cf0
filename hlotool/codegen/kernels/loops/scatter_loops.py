"""The loops of a scatter: over updates, and over the elements of each one's window."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from hlotool.codegen.elements.callee import applied
from hlotool.codegen.elements.choices import Condition, all_of
from hlotool.codegen.elements.dynamic_indices import index_vector, wide
from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import ZERO, Counter, Index, Known, index_of
from hlotool.codegen.indexing.index_values import first_value
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.kernels.loops.work import lanes_for
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.numbers.conversion import converted
from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import Scatter


@dataclass
class _Along:
    """A dimension of a window: which one it is of the updates, and which one of the arrays."""

    ours: int
    theirs: int
    size: int


class ScatterLoops:
    """Writes the function of a kernel that scatters; `outputs` are where the arrays lie."""

    def __init__(self, kernel: Kernel, scatter: Instruction, outputs: Sequence[Source]) -> None:
        assert isinstance(scatter.op, Scatter)
        self._kernel = kernel
        self._function = kernel.function
        self._scatter = scatter
        self._op = scatter.op
        self._outputs = outputs
        self._count = len(outputs)
        self._emitter = ElementEmitter(self._function, kernel.target, kernel.sources())
        self._lanes = lanes_for(kernel.body, kernel.target)
        shape, updates = outputs[0].shape, array_shape(scatter.operands[-1])
        order = [d for d in outputs[0].order if shape.dimensions[d] > 1]
        self._slowest = order[0] if order else 0
        self.rows = shape.dimensions[self._slowest] if order else 1
        """The number of rows."""
        self._updates = updates
        self._sizes = self._op.window_sizes(shape, updates.dimensions)
        self._index: list[Index] = [ZERO] * updates.rank

    def write(self, kept: Collection[int]) -> None:
        """Writes it all; the outputs with the numbers `kept` hold their arrays already."""
        for number, output in enumerate(self._outputs):
            if number not in kept:
                self._copy(number, output)
        if self._updates.element_count:
            self._through_updates()

    def _copy(self, number: int, output: Source) -> None:
        """Writes the copy of an array into the rows of an output."""
        total = output.shape.element_count
        length = self._function.integer(total // self.rows)
        begin = self._function.binary("mul nsw", self._kernel.begin, length)
        end = self._function.binary("mul nsw", self._kernel.end, length)

        def step(first: Value, lanes: int) -> None:
            counter = Counter(total, first, lanes, splits=False)
            place = index_of(counter)
            index = output.index(place)
            with self._emitter.with_lanes(lanes):
                element = self._emitter.element(self._scatter.operands[number], index)
            output.store_at(self._function, place, element, lanes)

        self._through(begin, end, step)

    def _through(self, begin: Value, end: Value, step: Callable[[Value, int], None]) -> None:
        """Writes a loop over a range that is not empty, once for each element."""
        function, lanes = self._function, self._lanes
        if lanes == 1:
            self._loop(begin, end, 1, step)
            return
        length = function.binary("sub", end, begin)
        whole = function.binary("and", length, self._function.integer(-lanes))
        middle = function.binary("add", begin, whole)
        for first, last, count in ((begin, middle, lanes), (middle, end, 1)):
            is_any = function.compare("slt", first, last)
            self._emitter.branch(is_any, partial(self._loop, first, last, count, step))

    def _loop(
        self, begin: Value, end: Value, lanes: int, step: Callable[[Value, int], None]
    ) -> None:
        with self._function.loop(begin, end, lanes) as loop, self._emitter.region():
            step(loop.index, lanes)

    # Updates

    def _through_updates(self) -> None:
        """Writes the loops over all updates, in their order, and what is done for each."""
        window = self._op.update_window_dims
        batch = [d for d in range(self._updates.rank) if d not in window]
        last = max(batch, default=-1)
        self._nested(range(last + 1), self._one_update)

    def _nested(self, dimensions: Sequence[int], inside: Callable[[], None]) -> None:
        if not dimensions:
            inside()
            return
        first, *rest = dimensions
        size = self._updates.dimensions[first]
        if size == 1:
            self._index[first] = ZERO
            self._nested(rest, inside)
            return
        zero, end = self._function.integer(0), self._function.integer(size)
        with self._function.loop(zero, end) as loop, self._emitter.region():
            self._index[first] = index_of(Counter(size, loop.index, splits=False))
            self._nested(rest, inside)

    def _one_update(self) -> None:
        """Writes what is done for a window: nothing, unless all of it lies inside."""
        op, rank = self._op, self._updates.rank
        window = op.update_window_dims
        batch = [self._index[d] for d in range(rank) if d not in window]
        last = max((d for d in range(rank) if d not in window), default=-1)
        starts, conditions = self._starts(batch)
        along = self._alongs()
        opened = {one.theirs: self._index[one.ours] for one in along if one.ours <= last}
        inside = [one for one in along if one.ours > last and one.size > 1]
        for theirs, index in opened.items():
            starts[theirs] = starts[theirs] + index
        for one in along:
            if one.ours > last:
                self._index[one.ours] = ZERO
        is_row = all(one.theirs != self._slowest for one in inside)
        if is_row and self.rows > 1:
            conditions.append(self._is_own(starts[self._slowest]))
        condition = all_of(self._function, conditions)

        def write() -> None:
            self._window(starts, inside)

        if isinstance(condition, Value):
            self._emitter.branch(condition, write)
        elif condition:
            write()

    def _alongs(self) -> list[_Along]:
        """Returns the dimensions of a window, the slowest in memory first."""
        shape = self._outputs[0].shape
        theirs = self._op.dimension_map().window_dimensions(shape)
        order = self._outputs[0].order
        found = [
            _Along(one, other, self._sizes[other])
            for one, other in zip(self._op.update_window_dims, theirs, strict=True)
        ]
        return sorted(found, key=lambda one: order.index(one.theirs))

    def _starts(self, batch: Sequence[Index]) -> tuple[list[Index], list[Condition]]:
        """Returns where a window begins, and the conditions for it to lie inside."""
        op, function = self._op, self._function
        shape = self._outputs[0].shape
        dimensions = op.dimension_map()
        indices = self._scatter.operands[self._count]
        with self._emitter.with_lanes(1):
            numbers = index_vector(
                self._emitter, indices, batch, op.index_vector_dim, dimensions.index_map
            )
        starts = [ZERO] * shape.rank
        conditions: list[Condition] = []
        for dimension, number in numbers.items():
            high = shape.dimensions[dimension] - self._sizes[dimension]
            value = wide(function, number)
            # A negative number is a large one without its sign.
            conditions.append(function.compare("ule", value, self._function.integer(high)))
            starts[dimension] = index_of(Known(value, high))
        pairs = zip(dimensions.batching, dimensions.indices_batching, strict=True)
        for ours, theirs in pairs:
            starts[ours] = batch[theirs - (op.index_vector_dim < theirs)]
        return starts, conditions

    def _is_own(self, row: Index) -> Value:
        """Writes whether a row is one of the range."""
        function = self._function
        past = function.binary("sub", first_value(function, row), self._kernel.begin)
        count = function.binary("sub", self._kernel.end, self._kernel.begin)
        return function.compare("ult", past, count)

    # Windows

    def _window(self, starts: list[Index], inside: Sequence[_Along]) -> None:
        """Writes the loops over a window, from the dimension that is slowest in memory."""
        if not inside:
            self._combine(starts, 1)
            return
        along, *rest = inside
        if along.theirs == self._slowest and self.rows > 1:
            self._own_rows(starts, along, rest)
        elif rest:
            zero, end = self._function.integer(0), self._function.integer(along.size)
            with self._function.loop(zero, end) as loop, self._emitter.region():
                self._window(self._moved(starts, along, loop.index, 1), rest)
        else:
            self._line(starts, along)

    def _own_rows(self, starts: list[Index], along: _Along, rest: Sequence[_Along]) -> None:
        # Of the window only the rows that are in the range.
        function = self._function
        start = first_value(function, starts[along.theirs])
        low = function.binary("sub", self._kernel.begin, start)
        high = function.binary("sub", self._kernel.end, start)
        begin = function.intrinsic("smax", low, self._function.integer(0))
        end = function.intrinsic("smin", high, self._function.integer(along.size))

        def step(first: Value, lanes: int) -> None:
            self._window_or_combine(self._moved(starts, along, first, lanes), rest, lanes)

        def write() -> None:
            if rest or not self._is_dense(along):
                self._loop(begin, end, 1, step)
            else:
                self._through(begin, end, step)

        self._emitter.branch(function.compare("slt", begin, end), write)

    def _window_or_combine(self, starts: list[Index], rest: Sequence[_Along], lanes: int) -> None:
        if rest:
            self._window(starts, rest)
        else:
            self._combine(starts, lanes)

    def _line(self, starts: list[Index], along: _Along) -> None:
        """Writes the innermost loop of a window: vectors, then ever smaller ones."""
        begin, lanes = 0, self._lanes if self._is_dense(along) else 1

        def step(first: Value, lanes: int) -> None:
            self._combine(self._moved(starts, along, first, lanes), lanes)

        while begin < along.size:
            rounds = (along.size - begin) // lanes
            end = begin + rounds * lanes
            if rounds == 1:
                with self._emitter.region():
                    step(self._function.integer(begin), lanes)
            elif rounds:
                self._loop(self._function.integer(begin), self._function.integer(end), lanes, step)
            begin = end
            lanes = max(1, lanes // 2)

    def _is_dense(self, along: _Along) -> bool:
        """Whether elements along a dimension lie side by side in all arrays."""
        index = [ZERO] * self._outputs[0].shape.rank
        index[along.theirs] = index_of(Counter(max(2, along.size), None, 2))
        return all(output.place(index).step() == 1 for output in self._outputs)

    def _moved(
        self, starts: Sequence[Index], along: _Along, first: Value, lanes: int
    ) -> list[Index]:
        counter = index_of(Counter(along.size, first, lanes, splits=False))
        self._index[along.ours] = counter
        found = list(starts)
        found[along.theirs] = found[along.theirs] + counter
        return found

    def _combine(self, index: Sequence[Index], lanes: int) -> None:
        """Writes the combination of what is there with an update, of as many as there are lanes."""
        emitter, function = self._emitter, self._function
        places = [output.place(index) for output in self._outputs]
        with emitter.with_lanes(lanes):
            updates = [
                emitter.element(one, self._index)
                for one in self._scatter.operands[self._count + 1 :]
            ]
            there = [
                output.memory.load(function, output.address(function, place), lanes)
                for output, place in zip(self._outputs, places, strict=True)
            ]
            combiner = self._scatter.calls[0]
            arguments = [
                converted(function, one, array_shape(parameter).element_type)
                for one, parameter in zip([*there, *updates], combiner.parameters, strict=True)
            ]
            combined = applied(emitter, combiner, arguments)
        for output, place, element in zip(self._outputs, places, combined, strict=True):
            held = converted(function, element, output.memory.type)
            output.store_at(function, place, held, lanes)
